"""Everything that fills a store: files, documents, a user's tables, enrichment."""
