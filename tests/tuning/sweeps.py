"""A small dataset with evidence, and what counting it takes."""

from __future__ import annotations

from functools import cache

from ctxasm.data.files import load_bundle
from ctxasm.model.records import Bundle
from ctxasm.store.memory import MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.engines import PlainTools


@cache
def sample_store() -> MemoryStore:
    """The data that ships, read once. Tests that keep outcomes make a store of their own."""
    return new_store()


@cache
def sample() -> Bundle:
    return load_bundle("sample_data/hospital-nl")


def new_store() -> MemoryStore:
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(sample())
    return store


def plain_tools() -> PlainTools:
    """No embedder, no model, the weights that ship."""
    return PlainTools({encoding: open_counter(encoding) for encoding in ("cl100k_base", "o200k_base")}, None)
