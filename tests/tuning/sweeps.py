"""A small dataset with evidence, and what counting it takes."""

from __future__ import annotations

from functools import cache

from ctxasm.assembly.budget.values import Weights
from ctxasm.assembly.extracts import Compressor
from ctxasm.data.files import load_bundle
from ctxasm.model.ports import ChunkVectors, TokenCounter
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.memory import MemoryStore
from ctxasm.text.tokens import open_counter


class PlainTools:
    """The tools of settings that need neither an embedder nor a model."""

    def counter(self, encoding: str) -> TokenCounter:
        return open_counter(encoding)

    def vectors(self, settings: AssemblySettings) -> ChunkVectors | None:
        return None

    def compressor(self, settings: AssemblySettings) -> Compressor | None:
        return None

    def weights(self) -> Weights | None:
        return None


@cache
def sample_store() -> MemoryStore:
    """The data that ships, read once. Tests that keep outcomes make a store of their own."""
    return new_store()


def new_store() -> MemoryStore:
    store = MemoryStore(open_counter("cl100k_base"))
    store.add(load_bundle("sample_data/hospital"))
    return store
