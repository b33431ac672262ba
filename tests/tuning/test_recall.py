"""Recall of rankings, by hand and against sets of characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.model.records import Chunk, GoldChunk, Query, Span
from ctxasm.tuning.recall import mean_recall, needed, recall

CHUNKS = {
    "d": [Chunk("d", index, "x" * 10, start, start + 10) for index, start in enumerate((0, 8, 20))],
    "e": [Chunk("e", 0, "x" * 9, 0, 9)],
}


def share(query: Query, *hits: tuple[str, int]) -> float:
    need = needed(query, CHUNKS)
    assert need is not None
    return recall(need, hits)


def test_a_span_over_two_chunks_needs_both_unless_one_holds_it() -> None:
    over = Query("q", spans=(Span("d", 5, 15),))
    assert share(over, ("d", 0)) == 0.0
    assert share(over, ("d", 0), ("d", 1)) == 1.0
    assert share(Query("q", spans=(Span("d", 8, 10),)), ("d", 1)) == 1.0


def test_white_space_between_chunks_is_not_asked_for() -> None:
    assert share(Query("q", spans=(Span("d", 16, 22),)), ("d", 1), ("d", 2)) == 1.0


def test_another_place_that_says_the_same_does() -> None:
    query = Query("q", spans=(Span("d", 0, 5, (Span("e", 0, 5),)), Span("d", 20, 25)))
    assert share(query, ("e", 0)) == 0.5
    assert share(query, ("e", 0), ("d", 2)) == 1.0


def test_gold_chunks_count_where_there_are_no_spans() -> None:
    gold = (GoldChunk("d", 0), GoldChunk("e", 0))
    assert share(Query("q", gold=gold), ("e", 0)) == 0.5
    assert share(Query("q", gold=gold, spans=(Span("d", 0, 1),)), ("d", 0)) == 1.0


def test_what_needs_nothing_is_not_judged() -> None:
    assert needed(Query("q"), CHUNKS) is None
    assert needed(Query("q", spans=(Span("nowhere", 0, 4),)), CHUNKS) is None


def test_the_mean_is_over_questions() -> None:
    needs = [need for need in (needed(Query("q", spans=(Span(name, 0, 5),)), CHUNKS) for name in "de") if need]
    rankings = [[("d", 0), ("e", 0)], [("d", 0), ("e", 0)]]
    assert mean_recall(needs, rankings, 1) == 0.5
    assert mean_recall(needs, rankings, 2) == 1.0
    assert mean_recall([], [], 5) == 0.0


@given(st.integers(0, 29), st.integers(1, 15), st.sets(st.sampled_from([("d", 0), ("d", 1), ("d", 2), ("e", 0)])))
def test_a_span_is_recalled_when_the_hits_hold_all_its_characters(start: int, size: int, hits: set[tuple[str, int]]) -> None:
    held = {chunk.chunk_index: set(range(chunk.start or 0, chunk.end or 0)) for chunk in CHUNKS["d"]}
    wanted = set(range(start, start + size)) & set().union(*held.values())
    need = needed(Query("q", spans=(Span("d", start, start + size),)), CHUNKS)
    if not wanted:
        assert need is None
        return
    assert need is not None
    there = set().union(*(held[index] for name, index in hits if name == "d"))
    assert recall(need, hits) == pytest.approx(float(wanted <= there))


def test_any_one_of_alternatives_is_enough_and_what_is_lost_is_never_recalled() -> None:
    choice, lost = GoldChunk("a", 0, also=(GoldChunk("b", 1),)), GoldChunk("a", 2, text="went", lost=True)
    need = needed(Query("?", gold=(choice,)), {})
    assert need is not None
    assert [recall(need, hits) for hits in ([("b", 1)], [("a", 0)], [("a", 2)])] == [1.0, 1.0, 0.0]
    half = needed(Query("?", gold=(choice, lost)), {})
    assert half is not None
    assert recall(half, [("a", 0), ("a", 2)]) == 0.5
    none = needed(Query("?", gold=(lost,)), {})
    assert none is not None
    assert recall(none, [("a", 2)]) == 0.0
    span = needed(Query("?", spans=(Span("a", 0, 5, (), "went", True),)), {"a": [Chunk("a", 0, "other", 0, 5)]})
    assert span is not None
    assert recall(span, [("a", 0)]) == 0.0
