"""From documents to chunks: what a user gives is collected, read apart by kind, and cut into chunks with exact offsets.

Start at `ingest`.
"""
