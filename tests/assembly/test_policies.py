"""What each budget policy keeps, on documents that fit in twos and threes."""

from __future__ import annotations

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.events import Dropped
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

SENTENCE = "The quick brown fox jumps over the lazy dog again and again. "


def words(tokens: int, name: str) -> str:
    """A text of about that many tokens that says what nobody else says."""
    return "".join(f"{name} {n} {SENTENCE}" for n in range(max(1, tokens // 16)))


def run(sizes: dict[str, tuple[float, list[int]]], limit: int, **settings: object) -> Assembly:
    """Documents with a score and the tokens of their chunks; every chunk is a hit, each a little worse than the one before."""
    documents = [Document(name, name) for name in sizes]
    chunks = [Chunk(name, i, words(tokens, f"{name}{i}")) for name, (_, own) in sizes.items() for i, tokens in enumerate(own)]
    hits = tuple(Hit(name, i, score - i * 0.01) for name, (score, own) in sizes.items() for i, _ in enumerate(own))
    source = FakeSource(documents, chunks, COUNTER)
    return assemble(Query("q", hits), source, AssemblySettings(expand_window=0, **settings), COUNTER, FakeClock(), limit)


def kept(done: Assembly) -> list[tuple[str, tuple[int, ...]]]:
    return [(c.document_id, c.chunk_indexes) for c in done.citations]


FOUR = {"a": (0.9, [600]), "b": (0.8, [1040]), "c": (0.7, [500]), "d": (0.6, [480])}


def test_whole_documents_leave_from_the_tail_and_leave_room_unused():
    done = run(FOUR, 1600)
    assert kept(done) == [("a", (0,))]
    assert done.unused_tokens > 900
    assert done.trace.regret.regret > 0


def test_greedy_cuts_the_first_that_does_not_fit_and_stops():
    done = run(FOUR, 1600, budget_policy="greedy")
    assert kept(done) == [("a", (0,)), ("b", (0,))]
    assert {fate.document_id: fate.fate for fate in done.trace.fates} == {"a": "kept", "b": "truncated", "c": "dropped", "d": "dropped"}
    assert done.unused_tokens < 20


def test_greedy_cuts_nothing_where_too_little_room_is_left():
    done = run(FOUR, 700, budget_policy="greedy", min_chunk_tokens=40)
    assert [fate.fate for fate in done.trace.fates] == ["kept", "dropped", "dropped", "dropped"]


def test_greedy_skip_passes_over_what_does_not_fit():
    done = run(FOUR, 1700, budget_policy="greedy_skip")
    assert kept(done) == [("a", (0,)), ("c", (0,)), ("d", (0,))]
    b = next(fate for fate in done.trace.fates if fate.document_id == "b")
    assert b.missing_tokens is not None
    assert kept(run(FOUR, 1700 + b.missing_tokens, budget_policy="greedy_skip"))[:2] == [("a", (0,)), ("b", (0,))]


def test_pack_keeps_the_most_value_and_the_best_hit():
    done = run(FOUR, 1700, budget_policy="pack")
    assert kept(done) == [("a", (0,)), ("c", (0,)), ("d", (0,))]
    assert done.trace.regret.regret == 0


def test_pack_says_why_a_document_was_left():
    sizes = {**FOUR, "b": (0.8, [900]), "e": (0.5, [1040]), "f": (0.4, [1800])}
    why = {fate.document_id: fate.reason for fate in run(sizes, 1700, budget_policy="pack").trace.fates}
    assert why == {"a": None, "b": "outbid", "c": None, "d": None, "e": "crowded_out", "f": "budget"}
    best_alone = run({"a": (0.9, [600, 600]), "b": (0.8, [40])}, 500, budget_policy="pack")
    assert {fate.reason for fate in best_alone.trace.fates if fate.fate == "dropped"} == {"crowded_out"}
    events = [event for record in best_alone.trace.stages for event in record.events if isinstance(event, Dropped)]
    assert {event.reason for event in events} == {"crowded_out"}


def test_a_copy_was_left_for_the_same_reason_as_what_it_repeats():
    text = words(900, "b0")
    chunks = [Chunk("a", 0, words(600, "a0")), Chunk("b", 0, text), Chunk("c", 0, words(500, "c0")), Chunk("d", 0, words(480, "d0"))]
    chunks.append(Chunk("e", 0, text))
    hits = tuple(Hit(chunk.document_id, 0, 0.9 - at / 10) for at, chunk in enumerate(chunks))
    settings = AssemblySettings(expand_window=0, budget_policy="pack")
    done = assemble(Query("q", hits), FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), 1700)
    assert {fate.document_id: fate.reason for fate in done.trace.fates} == {"a": None, "b": "outbid", "c": None, "d": None, "e": "outbid"}


def test_segments_say_that_a_chunk_did_not_fit_beside_the_others():
    done = run({"a": (0.9, [600]), "b": (0.8, [600]), "c": (0.7, [600])}, 1400, budget_policy="segments")
    assert [fate.reason for fate in done.trace.fates] == [None, None, "crowded_out"]


def test_segments_take_a_run_over_scattered_chunks():
    done = run({"a": (0.9, [200, 200, 200]), "b": (0.2, [200])}, 720, budget_policy="segments")
    assert kept(done)[0] == ("a", (0, 1, 2))


CHUNKWISE = ["greedy", "greedy_skip", "pack", "segments", "learned"]


@pytest.mark.parametrize("policy", CHUNKWISE)
def test_small_chunks_are_passed_over_but_never_the_best(policy):
    sizes = {"a": (0.9, [16, 300, 16])}
    done = run(sizes, 8000, budget_policy=policy, min_chunk_tokens=100)
    assert [(fate.fate, fate.reason) for fate in done.trace.fates] == [("kept", None), ("kept", None), ("dropped", "degenerate")]
    assert "degenerate" not in {fate.reason for fate in run(sizes, 8000, min_chunk_tokens=100).trace.fates}


@pytest.mark.parametrize("policy", CHUNKWISE)
def test_a_small_chunk_stays_where_both_its_neighbours_do(policy):
    sizes = {"a": (0.9, [300, 16, 16, 300]), "b": (0.5, [16, 300])}
    done = run(sizes, 8000, budget_policy=policy, min_chunk_tokens=100)
    assert kept(done) == [("a", (0, 1, 2, 3)), ("b", (1,))]
    assert "[…]" not in done.text
    assert done.token_count == COUNTER.count(done.text)
    # One side alone does not bring it.
    tight = run(sizes, 400, budget_policy=policy, min_chunk_tokens=100, overflow="stop")
    assert ("a", (0,)) in kept(tight)


@pytest.mark.parametrize("policy", CHUNKWISE)
def test_a_small_chunk_that_is_shown_elsewhere_is_not_shown_again(policy):
    chunks = [Chunk(name, i, text) for name in "ab" for i, text in enumerate((words(60, f"{name}0"), "Overview", words(60, f"{name}2")))]
    hits = tuple(Hit(chunk.document_id, chunk.chunk_index, 1 - place / 10) for place, chunk in enumerate(chunks))
    source = FakeSource([Document("a"), Document("b")], chunks, COUNTER)
    settings = AssemblySettings(expand_window=0, budget_policy=policy, pack_unit="passage")
    done = assemble(Query("q", hits), source, settings, COUNTER, FakeClock())
    assert done.text.count("Overview") == 1
    assert [(f.document_id, f.fate) for f in done.trace.fates if f.chunk_index == 1] == [("a", "kept"), ("b", "duplicate_of")]


@pytest.mark.parametrize("policy", ["drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"])
def test_a_best_chunk_that_is_too_large_is_cut_and_never_lost(policy):
    done = run({"a": (0.9, [2000]), "b": (0.8, [30])}, 300, budget_policy=policy)
    assert kept(done)[0] == ("a", (0,))
    assert 200 < done.token_count <= 300


@pytest.mark.parametrize("policy", ["drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"])
def test_a_limit_in_characters_binds_besides_that_in_tokens(policy):
    done = run(FOUR, 8000, budget_policy=policy, max_chars=3000)
    assert 0 < len(done.text) <= 3000
    assert len(run(FOUR, 8000, budget_policy=policy).text) > 3000
    assert all(fate.missing_tokens is None for fate in done.trace.fates)


def test_hits_below_the_floor_never_count_but_may_come_back_as_neighbours():
    documents = [Document("a")]
    chunks = [Chunk("a", i, words(60, f"a{i}")) for i in range(6)]
    query = Query("q", (Hit("a", 0, 0.9), Hit("a", 1, 0.2), Hit("a", 4, 0.1)))
    source = FakeSource(documents, chunks, COUNTER)
    done = assemble(query, source, AssemblySettings(relevance_floor=0.5), COUNTER, FakeClock())
    fates = {fate.chunk_index: (fate.fate, fate.reason, fate.retrieved) for fate in done.trace.fates}
    assert fates == {0: ("kept", None, True), 1: ("kept", None, False), 4: ("dropped", "floor", True)}


@pytest.mark.parametrize("policy", ["drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"])
def test_the_successor_of_the_best_chunk_is_the_best_and_never_too_small(policy):
    documents = [Document("old", "Rates", date="2024-01-01"), Document("new", "Rates", date="2026-01-01")]
    chunks = [Chunk("old", 0, words(48, "rates")), Chunk("new", 0, words(48, "rates")), Chunk("old", 4, words(80, "other"))]
    query = Query("q", (Hit("old", 0, 0.9), Hit("new", 0, 0.2), Hit("old", 4, 0.1)))
    chosen = AssemblySettings(dedup_keep="newest", min_chunk_tokens=1000, budget_policy=policy)
    done = assemble(query, FakeSource(documents, chunks, COUNTER), chosen, COUNTER, FakeClock())
    fates = {(fate.document_id, fate.chunk_index): fate for fate in done.trace.fates}
    assert fates["new", 0].fate == "kept"
    assert fates["old", 0].of == ("new", 0)
    assert fates["old", 4].fate == ("kept" if policy == "drop_documents" else "dropped")


@pytest.mark.parametrize("policy", ["pack", "segments", "learned"])
def test_the_best_hit_is_kept_where_another_of_its_document_has_the_better_score(policy):
    documents = [Document("a", "a")]
    chunks = [Chunk("a", i, words(100, f"a{i}")) for i in range(3)]
    query = Query("q", (Hit("a", 0, 0.3, 1), Hit("a", 1, 0.9, 2), Hit("a", 2, 0.8, 3)))
    chosen = AssemblySettings(budget_policy=policy, expand_window=0)
    done = assemble(query, FakeSource(documents, chunks, COUNTER), chosen, COUNTER, FakeClock(), 150)
    assert kept(done) == [("a", (0,))]


def test_what_is_far_beyond_the_limit_is_not_asked_what_it_lacks():
    sizes = {f"d{n}": (0.9 - n / 1000, [40]) for n in range(130)}
    done = run(sizes, 300, budget_policy="greedy")
    dropped = [fate for fate in done.trace.fates if fate.fate == "dropped"]
    said = [fate for fate in dropped if fate.missing_tokens is not None]
    assert 90 <= len(said) <= 100 < len(dropped)
    assert kept(run(sizes, 300 + (said[-1].missing_tokens or 0), budget_policy="greedy"))[-1][0] == said[-1].document_id


@pytest.mark.parametrize("policy", ["drop_documents", "greedy", "pack", "segments", "learned"])
def test_no_packing_holds_more_of_a_document_than_a_limit_can(policy):
    done = run({"a": (0.9, [300, 300, 300])}, 500, budget_policy=policy)
    assert done.trace.regret.regret == 0
    assert done.trace.regret.kept > 0


@pytest.mark.parametrize("window", [0, 1])
def test_every_document_that_fits_is_kept_to_the_token(window):
    """Documents far behind the limit are not even written: none of those that fit may be among them."""
    step, body = 120, [f"page {n} tells of {n * 37} things and asks for {n * 91} more, so there. " for n in range(400)]
    chunks = []
    for number in range(12):
        text = "".join(body[number * 30 : number * 30 + 30])
        places = range(0, 960, step)
        chunks += [Chunk(f"d{number}", i, text[low : low + 160], low, low + 160) for i, low in enumerate(places)]
    hits = tuple(Hit(f"d{number}", i, 0.9 - number / 100) for number in range(12) for i in (1, 2, 5))
    source, chosen = (
        FakeSource([Document(f"d{n}", f"Page {n}") for n in range(12)], chunks, COUNTER),
        AssemblySettings(expand_window=window),
    )
    ends = [size.end for size in assemble(Query("q", hits), source, chosen, COUNTER, FakeClock(), 10**9).trace.sizes]
    assert len(ends) == 12
    assert ends == sorted(ends)
    for count, end in enumerate(ends, 1):
        for limit, there in ((end, count), (end - 1, count - 1)):
            done = assemble(Query("q", hits), source, chosen, COUNTER, FakeClock(), limit)
            assert len(done.citations) == max(1, there)
            assert [size.end for size in done.trace.sizes] == ends
            assert done.token_count <= limit
