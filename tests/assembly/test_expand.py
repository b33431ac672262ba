"""Stage 1 at its bounds: who counts as a hit, what is read, and what a neighbour scores."""

from __future__ import annotations

import sys
from math import copysign

import pytest

from ctxasm.assembly.expand import expand, expansion_events, plan_expansion, rank_hits
from ctxasm.model.events import Absent, Added, Dropped, Repeated
from ctxasm.model.ports import Window
from ctxasm.model.records import Chunk, Hit, Query
from ctxasm.model.settings import AssemblySettings
from tests.fakes import FakeSource
from tests.strategies import COUNTER


def keys(hits: tuple[Hit, ...]) -> list[tuple[str, int, int | None]]:
    return [(hit.document_id, hit.chunk_index, hit.rank) for hit in hits]


def test_hits_without_ranks_follow_score_then_document_then_index() -> None:
    query = Query("q", (Hit("b", 1, 0.5), Hit("a", 2, 0.5), Hit("a", 1, 0.5), Hit("z", 9, 0.9, 3), Hit("c", 0, 0.1)))
    ranked = rank_hits(query, None)
    assert keys(ranked.hits) == [("z", 9, 1), ("a", 1, 2), ("a", 2, 3), ("b", 1, 4), ("c", 0, 5)]
    assert ranked.beyond == ranked.below == ()
    assert ranked.times == {}


def test_ranks_that_all_have_are_kept_whatever_the_scores() -> None:
    query = Query("q", (Hit("b", 1, 0.1, 1), Hit("a", 2, 0.9, 2)))
    assert keys(rank_hits(query, None).hits) == [("b", 1, 1), ("a", 2, 2)]


def test_a_repeat_keeps_the_best_score_and_the_best_rank() -> None:
    query = Query("q", (Hit("a", 1, 0.4, 1), Hit("a", 1, 0.6, 3), Hit("b", 1, 0.5, 2), Hit("a", 1, 0.5, 4)))
    ranked = rank_hits(query, None)
    assert [(*each, hit.score) for each, hit in zip(keys(ranked.hits), ranked.hits, strict=True)] == [("a", 1, 1, 0.6), ("b", 1, 2, 0.5)]
    assert ranked.times == {("a", 1): 3}


def test_what_scores_exactly_the_floor_counts_and_the_floor_is_before_top_k() -> None:
    query = Query("q", (Hit("a", 1, 0.9), Hit("a", 2, 0.5), Hit("a", 3, 0.4), Hit("a", 4, 0.6)))
    ranked = rank_hits(query, 2, 0.5)
    assert keys(ranked.hits) == [("a", 1, 1), ("a", 4, 2)]
    assert keys(ranked.beyond) == [("a", 2, 3)]
    assert keys(ranked.below) == [("a", 3, 4)]
    assert keys(rank_hits(query, None, 0.0).hits) == keys((*ranked.hits, *ranked.beyond, *ranked.below))
    negative = Query("q", (Hit("a", 1, 0.0), Hit("a", 2, -0.1)))
    assert keys(rank_hits(negative, None, 0.0).hits) == [("a", 1, 1)]
    assert keys(rank_hits(negative, None, 0.0).below) == [("a", 2, 2)]


def test_nought_has_no_sign() -> None:
    ranked = rank_hits(Query("q", (Hit("a", 1, -0.0), Hit("b", 1, 0.5))), None)
    assert [copysign(1, hit.score) for hit in ranked.hits] == [1, 1]


@pytest.mark.parametrize(
    ("indexes", "window", "windows"),
    [
        ((0,), 1, ((0, 1),)),
        ((1,), 1, ((0, 2),)),
        ((2,), 1, ((1, 3),)),
        ((2,), 0, ((2, 2),)),
        ((0, 3), 1, ((0, 4),)),  # they touch
        ((0, 4), 1, ((0, 1), (3, 5))),  # one lies between
        ((9, 5, 7), 1, ((4, 10),)),
        ((5, 6), 3, ((2, 9),)),
    ],
)
def test_windows_that_touch_are_read_as_one(indexes: tuple[int, ...], window: int, windows: tuple[tuple[int, int], ...]) -> None:
    planned = plan_expansion([Hit("a", index, 0.5) for index in indexes], window)
    assert planned == tuple(Window("a", *each) for each in windows)


def test_hits_that_do_not_count_are_read_without_neighbours() -> None:
    planned = plan_expansion([Hit("a", 5, 0.5)], 1, [Hit("a", 8, 0.1), Hit("b", 3, 0.1)])
    assert planned == (Window("a", 4, 6), Window("a", 8, 8), Window("b", 3, 3))


def found(hits: tuple[Hit, ...], stored: range | list[int], **chosen: object) -> dict[int, tuple[bool, float, int, tuple[int, ...]]]:
    source = FakeSource([], [Chunk("a", index, f"text {index}") for index in stored], COUNTER)
    candidates = expand(Query("q", hits), source, AssemblySettings(**chosen), COUNTER).candidates
    return {key[1]: (c.retrieved, c.score, c.rank, c.parents) for key, c in candidates.items()}


def test_a_neighbour_takes_the_best_that_any_of_its_hits_lends_it() -> None:
    hits = (Hit("a", 2, 0.4), Hit("a", 4, 0.8))
    assert found(hits, range(8), expand_window=2, decay_mode="per_step") == {
        0: (False, 0.1, 2, (2,)),
        1: (False, 0.2, 2, (2,)),
        2: (True, 0.4, 2, ()),
        3: (False, 0.4, 1, (2, 4)),
        4: (True, 0.8, 1, ()),
        5: (False, 0.4, 1, (4,)),
        6: (False, 0.2, 1, (4,)),
    }
    flat = found(hits, range(8), expand_window=2, decay_mode="flat")
    assert {index: each[1] for index, each in flat.items()} == {0: 0.2, 1: 0.2, 2: 0.4, 3: 0.4, 4: 0.8, 5: 0.4, 6: 0.4}


def test_a_negative_score_sinks_and_none_sinks_below_the_lowest() -> None:
    assert found((Hit("a", 1, -0.4),), range(3), expand_window=1)[0][1] == -0.8
    assert found((Hit("a", 1, 0.0),), range(3), expand_window=1)[0][1] == 0.0
    lowest = -sys.float_info.max
    assert found((Hit("a", 1, -1e308),), range(3), expand_window=1, decay=0.1)[0][1] == lowest
    assert found((Hit("a", 40, -1.0),), range(80), expand_window=3, decay=1e-200, decay_mode="per_step")[37][1] == lowest


def test_switched_off_the_hits_stand_alone_whatever_they_score() -> None:
    assert found((Hit("a", 1, 0.2),), range(3), enabled=False, relevance_floor=0.5) == {1: (True, 0.2, 1, ())}


def test_what_was_lost_and_why() -> None:
    chunks = [Chunk("a", index, " \n" if index in (2, 3) else f"text {index}") for index in (0, 1, 2, 3, 6, 8)]
    hits = (Hit("a", 2, 0.9), Hit("a", 4, 0.8), Hit("a", 1, 0.7), Hit("a", 1, 0.6), Hit("a", 6, 0.5), Hit("a", 8, 0.1))
    settings = AssemblySettings(expand_window=2, top_k=4, relevance_floor=0.2)
    everything = expand(Query("q", hits), FakeSource([], chunks, COUNTER), settings, COUNTER)
    assert everything.lost == {("a", 2): "empty", ("a", 4): "missing", ("a", 3): "empty"}
    assert [key[1] for key in everything.candidates] == [0, 1, 6, 8]
    events = expansion_events(everything)
    assert [event for event in events if isinstance(event, Repeated)] == [Repeated("a", 1, 2)]
    assert [(event.chunk_index, event.parents) for event in events if isinstance(event, Added)] == [(0, (1,)), (8, (6,))]
    assert [event.chunk_index for event in events if isinstance(event, Absent)] == [4, 5, 7]
    assert {(event.chunk_index, event.reason) for event in events if isinstance(event, Dropped)} == {
        (2, "empty"),
        (4, "missing"),
        (3, "empty"),
    }


def test_an_index_before_the_first_or_behind_the_last_is_not_absent() -> None:
    source = FakeSource([], [Chunk("a", index, f"text {index}") for index in (3, 5)], COUNTER)
    hits = (Hit("a", 3, 0.9), Hit("a", 5, 0.8))
    everything = expand(Query("q", hits), source, AssemblySettings(expand_window=2), COUNTER)
    assert [event for event in expansion_events(everything) if isinstance(event, Absent)] == [Absent("a", 4)]
