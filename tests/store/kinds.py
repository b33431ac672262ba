"""The kinds of stores that every law of the store is tried on."""

from __future__ import annotations

from ctxasm.store.database import Store
from ctxasm.store.memory import MemoryStore

AnyStore = Store | MemoryStore
KINDS = ("memory", "sqlite file", "sqlite in memory", "postgresql")
