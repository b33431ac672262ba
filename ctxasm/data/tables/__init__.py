"""A user's own tables in PostgreSQL or SQLite, read where they are and never written.

Start at `link`, which makes a table a dataset by a `TableMapping`, and `LinkedDataset`, which reads it; `copy_table` loads its rows.
"""
