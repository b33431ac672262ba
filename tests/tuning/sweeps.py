"""A small dataset with evidence, and what counting it takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ctxasm.data.files import load_bundle
from ctxasm.model.records import Bundle, Query
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.counting import Tools
from ctxasm.tuning.engines import PlainTools
from ctxasm.tuning.sweep import SweepContext


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


def context(queries: Sequence[Query], tools: Tools | None = None, version: str = "1", **options: Any) -> SweepContext:
    """These questions of the sample, by default counted in this process and kept nowhere."""
    return SweepContext(sample_store().dataset(), queries, tools or plain_tools(), version, **options)
