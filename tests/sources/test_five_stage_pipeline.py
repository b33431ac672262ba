"""The five-stage pipeline: its configuration, its badges, its chunk sizes. Its stages are in tests/assembly/test_worked_examples.py."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ctxasm.app.fates import steps
from ctxasm.app.ui.frame.layout import found_badges
from ctxasm.app.ui.frame.session import Scene
from ctxasm.data.documents.chunking import chunk_text
from ctxasm.model.errors import InvalidSetting
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.settings import DUTCH_TEMPLATE, AssemblySettings
from ctxasm.model.settings_text import from_environment
from tests.sources.worked import run
from tests.strategies import COUNTER


def test_its_three_settings_have_its_names_defaults_and_ranges() -> None:
    settings = AssemblySettings()
    assert (settings.enabled, settings.expand_window, settings.max_tokens) == (True, 1, 8000)
    assert (settings.encoding, settings.decay, settings.min_overlap_chars) == ("cl100k_base", 0.5, 20)
    written = {"CONTEXT_ASSEMBLY_ENABLED": "false", "CONTEXT_ASSEMBLY_EXPAND_WINDOW": "3", "CONTEXT_ASSEMBLY_MAX_TOKENS": "500"}
    assert from_environment(written) == AssemblySettings(enabled=False, expand_window=3, max_tokens=500)
    assert AssemblySettings(expand_window=0, max_tokens=16000).max_tokens == 16000


@pytest.mark.parametrize("beyond", [{"expand_window": 4}, {"expand_window": -1}, {"max_tokens": 499}, {"max_tokens": 16001}])
def test_beyond_its_ranges_is_refused(beyond: dict[str, int]) -> None:
    with pytest.raises(InvalidSetting):
        AssemblySettings(**beyond)  # type: ignore[arg-type]


def test_its_badges_are_in_the_funnel() -> None:
    """Search method, BM25 matches, and "7 → 12 chunks"."""
    chunks = [Chunk("a", index, f"Alinea {index} van de brochure.") for index in range(40)]
    hits = [Hit("a", index, 1.0 - index / 100) for index in (0, 3, 7, 11, 15, 19, 23)]
    done = run(chunks, hits, documents=[Document("a")])
    query = Query("Wat breng ik mee?", tuple(hits), "q", search_method="hybrid_bm25_vector", bm25_matches=5)
    badges = found_badges(Scene("d", query, AssemblySettings()))
    assert badges == ["<b>hybrid: BM25 + vector</b>", "5 matches by words (BM25)"]
    assert [(step.label, step.value) for step in steps(done)[:2]] == [("found", "7"), ("with neighbours", "20")]


def test_a_page_summary_reads_as_its_own() -> None:
    summary = "Deze pagina beschrijft de afdeling Cardiologie van ZOL, inclusief de artsen, behandelingen en consultatiemogelijkheden."
    text = "De raadpleging duurt gemiddeld 30 minuten. U brengt best uw identiteitskaart en verwijsbrief mee."
    done = run([Chunk("a", 0, text)], [Hit("a", 0, 1.0)], documents=[Document("a", "Cardiologie", summary=summary)])
    assert DUTCH_TEMPLATE.replace("{summary}", summary) in done.text
    assert f"[Pagina context: {summary}]\n{text}" in done.text


def test_chunks_of_350_tokens_with_70_of_overlap() -> None:
    text = " ".join(f"Zin nummer {number} van deze lange brochure over de opname." for number in range(200))
    chunks = chunk_text(text, tokenizer=COUNTER)
    assert len(chunks) > 5
    assert all(COUNTER.count(chunk.text) <= 350 for chunk in chunks)
    assert all(first.end > second.start for first, second in pairwise(chunks))
