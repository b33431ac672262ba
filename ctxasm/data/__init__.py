"""Everything that fills a store: files, documents, a user's tables, enrichment.

Each has a room of its own with its own door: `files.load_paths`, `documents.ingest`, `tables.link`, `enrich.enrich`.
"""
