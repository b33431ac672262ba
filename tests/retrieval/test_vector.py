"""Search by meaning over a handful of vectors."""

from __future__ import annotations

import numpy as np
import pytest

from ctxasm.model.errors import InvalidInput
from ctxasm.retrieval.indexes import VectorIndex


def test_the_nearest_texts_come_first_and_ties_keep_their_place() -> None:
    found = VectorIndex([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert found.search([1.0, 0.0], 3) == [(0, 2.0), (2, 1.0), (3, 1.0)]


def test_no_texts_and_another_embedder() -> None:
    assert VectorIndex(np.zeros((0, 0))).search([1.0], 3) == []
    with pytest.raises(InvalidInput, match="2 dimensions and the texts 3"):
        VectorIndex([[1.0, 0.0, 0.0]]).cosines([1.0, 0.0])
