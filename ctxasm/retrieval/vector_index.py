"""Search by meaning: exact cosine over unit vectors in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ctxasm.model.errors import InvalidInput
from ctxasm.retrieval.bm25_index import Ranked, best_of


class VectorIndex:
    """Unit vectors (float32, texts × dimensions); results name texts by their position."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = np.ascontiguousarray(vectors, np.float32)

    @property
    def bytes(self) -> int:
        """How much memory the vectors take."""
        return int(self._vectors.nbytes)

    def cosines(self, question: Any) -> Any:
        """The cosine of every text with the unit vector of a question. Raises InvalidInput where dimensions differ."""
        vector = np.asarray(question, np.float32).reshape(-1)
        if len(self._vectors) and self._vectors.shape[1] != len(vector):
            raise InvalidInput(
                f"the embedder gave the question {len(vector)} dimensions and the texts {self._vectors.shape[1]}: both must have the same"
            )
        return self._vectors @ vector if len(self._vectors) else np.zeros(0, np.float32)

    def search(self, question: Any, limit: int) -> list[Ranked]:
        """The `limit` texts nearest to the vector of a question with their cosine, best first; ties by position."""
        return best_of(self.cosines(question), limit)
