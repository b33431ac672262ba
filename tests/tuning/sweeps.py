"""A small dataset with evidence, and what counting it takes."""

from __future__ import annotations

from functools import cache

from ctxasm.data.files import load_bundle
from ctxasm.store.memory import MemoryStore
from ctxasm.text.tokens import open_counter


@cache
def sample_store() -> MemoryStore:
    """The data that ships, read once. Tests that keep outcomes make a store of their own."""
    return new_store()


def new_store() -> MemoryStore:
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(load_bundle("sample_data/hospital"))
    return store
