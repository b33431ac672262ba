"""Where datasets live: SQLite (a file, the default) or PostgreSQL in `database`, plain records in `memory`.

Importing this package loads no database library: `ctxasm.store.database` does.
"""

from ctxasm.model.datasets import DatasetInfo, QueryEntry
from ctxasm.store.memory import MemorySource, MemoryStore

__all__ = ["DatasetInfo", "MemorySource", "MemoryStore", "QueryEntry"]
