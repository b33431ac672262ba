"""Where datasets live: a SQLite file (the default), SQLite in memory, or PostgreSQL. Importing this package loads no database library."""
