"""Vectors made once per text: kept by what the text says and by embedder, read back in one statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ctxasm.model.datasets import VectorShelf
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import FetchedChunk
from ctxasm.text.chunk_facts import duplicate_key

BATCH = 64
"""Texts that are embedded and kept at a time, where the embedder names no other number in `batch`."""


class Embedder(Protocol):
    """Texts in, one unit vector each out (an array of shape texts × dimensions)."""

    def embed_passages(self, texts: Sequence[str]) -> Any: ...


def nothing_told(done: int, total: int) -> None:
    """Tells nobody."""


class KeptVectors:
    """The vectors of chunks by one embedder. A `ChunkVectors`.

    Texts that differ only in white space have one vector. `edition` goes into the name under which vectors are kept: those of
    another edition of the embedder are never mixed with these.
    """

    def __init__(self, embedder: Embedder, shelf: VectorShelf, name: str, threshold: float, edition: str = "") -> None:
        self.name, self.threshold = name, threshold
        self._embedder, self._shelf = embedder, shelf
        self._kept_as = f"{name} {edition}".strip()

    @property
    def kept_as(self) -> str:
        """The name, with the edition, under which vectors are kept."""
        return self._kept_as

    def vectors(self, chunks: Sequence[FetchedChunk]) -> Any:
        """A float32 array of shape chunks × dimensions; what is not kept yet is embedded, in batches, and kept after each."""
        return self.of_texts([chunk.duplicate_key or duplicate_key(chunk.text) for chunk in chunks], [chunk.text for chunk in chunks])

    def question(self, text: str) -> Any:
        """The unit vector of a question (float32, dimensions)."""
        text = " ".join(text.split())
        embed = getattr(self._embedder, "embed_query", None)
        return np.asarray(embed(text) if embed is not None else self._embedder.embed_passages([text])[0], np.float32)

    def of_texts(self, keys: Sequence[bytes], texts: Sequence[str], told: Callable[[int, int], None] = nothing_told) -> Any:
        """The vectors of texts by the keys of what they say. `told` hears before each batch how many of how many are made, and
        may raise to end the work: what was made until then is kept.
        """
        if not keys:
            return np.zeros((0, 0), np.float32)
        known = _sound(self._shelf.read_vectors(self._kept_as, list(dict.fromkeys(keys))))
        missing = {key: " ".join(text.split()) for key, text in zip(keys, texts, strict=True) if key not in known}
        # Texts of like length together: an embedder fills up the shorter ones.
        todo = sorted(missing, key=lambda key: (len(missing[key]), key))
        keeps, step = True, int(getattr(self._embedder, "batch", BATCH))
        for start in range(0, len(todo), step):
            told(start, len(todo))
            batch = todo[start : start + step]
            made = np.asarray(self._embedder.embed_passages([missing[key] for key in batch]), dtype="<f4")
            fresh = {key: row.tobytes() for key, row in zip(batch, made, strict=True)}
            # A database that is locked is waited for once, not once a batch.
            keeps = keeps and self._shelf.keep_vectors(self._kept_as, fresh)
            known |= fresh
        told(len(todo), len(todo))
        if len({len(known[key]) for key in keys}) > 1:
            raise InvalidInput(f"the embedder {self.name} gave vectors of different dimensions: choose another one")
        return np.frombuffer(b"".join([known[key] for key in keys]), "<f4").reshape(len(keys), -1)


def _sound(found: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The vectors that can be ones: of the usual length, and every number finite. The others are made anew."""
    if not found:
        return {}
    lengths = Counter(len(vector) for vector in found.values())
    usual = max(lengths, key=lambda length: (lengths[length], length))
    whole = {key: vector for key, vector in found.items() if len(vector) == usual and usual % 4 == 0 and usual}
    return {key: vector for key, vector in whole.items() if np.isfinite(np.frombuffer(vector, "<f4")).all()}
