"""What a threshold means, in words; and the embedder that is really there."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from ctxasm.embedding import SLIDER, THRESHOLDS, meaning_of, threshold_of
from ctxasm.meaning import EMBEDDERS, embedder_name, open_vectors
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import FetchedChunk
from ctxasm.store.memory import MemoryStore


@pytest.mark.parametrize("embedder", [None, "unheard of", *EMBEDDERS])
def test_every_threshold_has_its_words(embedder: str | None) -> None:
    steps = [round(low / 100, 2) for low in range(round(SLIDER[0] * 100), round(SLIDER[1] * 100) + 1)]
    words = [meaning_of(step, embedder) for step in steps]
    assert len(dict.fromkeys(words)) >= 3
    assert meaning_of(0.0, embedder).startswith("far too low")
    assert meaning_of(1.0, embedder) == words[-1]


def test_thresholds() -> None:
    assert set(THRESHOLDS) == set(EMBEDDERS)
    assert threshold_of("unheard of") == 0.92
    assert "recommend" in meaning_of(0.92)


def test_an_embedder_that_is_not_there() -> None:
    with pytest.raises(InvalidInput, match="one of wordllama, multilingual-e5-small, got 'nope'"):
        open_vectors(MemoryStore(), "nope")


def test_none_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxasm.meaning.EMBEDDERS", {"wordllama": "no_such_package"})
    assert embedder_name() is None
    with pytest.raises(InvalidInput, match="need an embedder: pip install"):
        open_vectors(MemoryStore())
    with pytest.raises(InvalidInput, match="needs the package no_such_package"):
        open_vectors(MemoryStore(), "wordllama")


@pytest.mark.skipif(not find_spec("wordllama"), reason="wordllama is not installed")
def test_reworked_copies_lie_above_the_threshold_and_other_texts_far_below() -> None:
    rule = "Bezoekers zijn elke dag welkom van 14 tot 20 uur, met hoogstens twee tegelijk, en verlaten het gebouw langs de hoofdingang."
    moved = "Elke dag zijn bezoekers van 14 tot 20 uur welkom, met hoogstens twee tegelijk, en ze verlaten het gebouw langs de hoofdingang."
    other = "Parking is free for the first half hour; after that the machines by the exit take two euros for every hour."
    vectors = open_vectors(MemoryStore(), "wordllama")
    rows = vectors.vectors([FetchedChunk("a", at, text) for at, text in enumerate((rule, moved, other))])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert rows[0] @ rows[1] >= vectors.threshold
    assert rows[0] @ rows[2] < 0.6
