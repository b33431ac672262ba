"""The record on contextual embeddings: the filter at query time that it names beside its enrichment. The rest is in tests/data/enrich."""

from __future__ import annotations

from ctxasm.model.presets import preset
from ctxasm.model.records import Chunk, Hit
from tests.sources.worked import cited, fate, run

FILLER = "Het ziekenhuis ligt aan de rand van het park en heeft een grote tuin. " * 60


def test_the_filter_at_query_time_works_on_its_own() -> None:
    """Filtering by lexical overlap what was retrieved, with all the room there is: fewer tokens, and the evidence stays."""
    chunks = [Chunk("a", 0, f"{FILLER}U brengt best uw identiteitskaart mee. {FILLER}"), Chunk("b", 0, FILLER)]
    hits = [Hit("a", 0, 0.9), Hit("b", 0, 0.8)]
    whole, done = run(chunks, hits), run(chunks, hits, **preset("query_filter").changed())
    assert "U brengt best uw identiteitskaart mee." in done.text
    assert done.token_count < 0.6 * whole.token_count < 8000
    assert cited(done) == ["a"]
    assert (fate(done, "b").reason, fate(done, "b").stage) == ("irrelevant", "compress")
