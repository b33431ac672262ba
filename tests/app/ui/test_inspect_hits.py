"""What each method said of each hit: laws over any scores, and the words of it on the pages."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from ctxasm.app.ui.inspect.hits import hit_rows, hit_words, hits_html, methods_of
from ctxasm.app.ui.inspect.life import chunk_life
from ctxasm.app.ui.widgets.expected import Expected
from ctxasm.model.records import Hit, Query
from tests.app.ui.builders import HOSTILE, assembled

scores = st.dictionaries(st.sampled_from(["bm25", "vector", "rrf", "rerank", "splade"]), st.floats(-50, 50), max_size=5)
hits = st.lists(
    st.builds(Hit, st.sampled_from("abc"), st.integers(0, 5), st.floats(-9, 9), st.none() | st.integers(1, 9), scores), max_size=8
)


@given(hits)
def test_every_hit_has_a_row_and_every_score_a_place(found):
    query = Query("?", tuple(found))
    rows = hit_rows(query)
    assert sorted(row.key for row in rows) == sorted((hit.document_id, hit.chunk_index) for hit in found)
    assert all(set(row.methods) <= set(methods_of(query)) for row in rows)
    for method in methods_of(query):
        judged = [row.methods[method] for row in rows if method in row.methods]
        assert all(one.rank is None for one in judged) == (method == "rrf")
        for one in judged:
            if one.rank is not None:
                assert one.rank == 1 + sum(other.score > one.score for other in judged)


SEARCHED = Query(
    "Hoe laat?",
    (
        Hit("visit", 1, 0.03, 1, {"bm25": 12.4, "bm25_rank": 3, "vector": 0.81, "vector_rank": 7, "rrf": 0.03}),
        Hit("scan", 1, 0.02, 2, {"vector": 0.9, "vector_rank": 1, "rrf": 0.02}),
    ),
)


def test_a_rank_that_is_given_stands():
    first, second = hit_rows(SEARCHED)
    assert (first.methods["bm25"].rank, first.methods["vector"].rank) == (3, 7)
    assert "bm25" not in second.methods
    assert hit_words(SEARCHED, ("visit", 1)) == "BM25 rank 3 (12.4) · vector rank 7 (0.81) · fused (0.03)"
    assert hit_words(SEARCHED, ("scan", 1)) == "vector rank 1 (0.9) · fused (0.02) · not found by BM25"
    assert hit_words(SEARCHED, ("scan", 2)) == ""


def test_the_pages_say_it():
    shown = dataclasses.replace(assembled(), query=SEARCHED)
    assert "BM25 rank 3 (12.4)" in chunk_life(shown, ("visit", 1))[0].sentence
    table = hits_html(shown, Expected())
    assert "<b>3</b>" in table
    assert "Bezoek" in table
    assert "not found by this method" in table


def test_a_hostile_method_stays_text():
    shown = dataclasses.replace(assembled(), query=Query("?", (Hit("visit", 1, 1.0, 1, {HOSTILE: 1.0}),)))
    assert "<script" not in hits_html(shown, Expected())
    assert "<img" not in hits_html(shown, Expected())
