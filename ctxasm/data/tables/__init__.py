"""A user's own tables in PostgreSQL or SQLite, read where they are and never written."""
