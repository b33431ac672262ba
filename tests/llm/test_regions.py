"""What a threshold means, in words; and the embedder that is really there."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.data.files import load_bundle
from ctxasm.llm.embedding import SLIDER, THRESHOLDS, meaning_of, threshold_of
from ctxasm.llm.embedding.local import EMBEDDERS, embedder_name, open_vectors
from ctxasm.model.errors import InvalidInput
from ctxasm.model.events import Promoted
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter

SAMPLE = Path(__file__).parents[2] / "sample_data" / "hospital-nl"


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
    monkeypatch.setattr("ctxasm.llm.embedding.local.EMBEDDERS", {"wordllama": "no_such_package"})
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


@pytest.mark.skipif(not find_spec("wordllama"), reason="wordllama is not installed")
def test_the_page_of_2023_gives_way_to_that_of_2026() -> None:
    """The staleness case on the own sample: the old visiting hours score better, by luck, and are not shown all the same."""
    counter = open_counter("cl100k_base")
    store = MemoryStore(counter)
    store.add(load_bundle(SAMPLE))
    hits = (Hit("bezoekuren-2023", 0, 0.9), Hit("bezoekuren-2023", 1, 0.8), Hit("parkeren", 0, 0.7), Hit("bezoekuren-2026", 0, 0.3))
    settings = AssemblySettings().replace(dedup_semantic=True, semantic_threshold=0.94, dedup_keep="newest")
    done = assemble(Query("Wat zijn de bezoekuren?", hits), store, settings, counter, vectors=open_vectors(store, "wordllama"))
    fates = {(fate.document_id, fate.chunk_index): fate for fate in done.trace.fates}
    old = fates["bezoekuren-2023", 0]
    assert (old.fate, old.of, old.likeness) == ("duplicate_of", ("bezoekuren-2026", 0), "semantic")
    assert Promoted("bezoekuren-2026", 0, "bezoekuren-2023", 0, 0.9) in done.trace.stage("deduplicate").events
    assert done.citations[0].document_id == "bezoekuren-2026"
    assert ("bezoekuren-2023", 0) in done.citations[0].also_in
    best = assemble(
        Query("Wat zijn de bezoekuren?", hits), store, settings.replace(dedup_keep="best"), counter, vectors=open_vectors(store)
    )
    assert best.citations[0].document_id == "bezoekuren-2023"
