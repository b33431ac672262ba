"""The numbers that the budget policies were tuned to, at their bounds: with one more or one less, another choice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxasm.assembly import packing
from ctxasm.assembly.chunk_sets import ChunkSet, by_standing, fill
from ctxasm.assembly.deduplicate import deduplicate
from ctxasm.assembly.expand import expand
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.packing import RunChunk, RunField, Unit, best_runs, pack_units, packing_regret, refilled, unit_of, value_of
from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.policies import choose
from ctxasm.assembly.stages import OVER, Extract, group
from ctxasm.model.events import Dropped
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly, Candidate
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.tokens.counter import open_counter
from ctxasm.text.tokens.estimate import EstimateCounter
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER


def text(name: str, sentences: int = 1) -> str:
    """No two words alike: nothing repeats anything."""
    return "".join(f"{name}x{n} {name}y{n} {name}z{n}. " for n in range(sentences))


def weighed(documents: dict[str, int], limit: int, **chosen: object) -> Scales:
    """Documents of one hit each, so many sentences long, the best first."""
    settings = AssemblySettings(expand_window=0, min_chunk_tokens=1, **chosen)
    chunks = [Chunk(name, 0, text(name, sentences)) for name, sentences in documents.items()]
    hits = tuple(Hit(name, 0, 1 - place / 1000) for place, name in enumerate(documents))
    found = expand(Query("q", hits), FakeSource([], chunks, COUNTER), settings, COUNTER)
    return Scales(group(deduplicate(found, settings, None)), settings, COUNTER, limit)


def test_candidates_are_valued_once_whatever_the_limit() -> None:
    scales = weighed({"a": 1, "b": 1}, 100, budget_policy="learned")
    assert scales.under(scales.settings, 50).valued() is scales.valued()


def assembled(documents: dict[str, int], limit: int, **chosen: object) -> Assembly:
    chunks = [Chunk(name, 0, text(name, sentences)) for name, sentences in documents.items()]
    hits = tuple(Hit(name, 0, 1 - place / 1000) for place, name in enumerate(documents))
    settings = AssemblySettings(expand_window=0, **chosen)
    return assemble(Query("q", hits), FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), limit)


def fates(done: Assembly) -> dict[str, str]:
    return {fate.document_id: fate.fate for fate in done.trace.fates}


def test_greedy_cuts_where_more_than_three_times_the_least_remains() -> None:
    first = assembled({"a": 9}, 8000).token_count
    for left, fate in ((60, "dropped"), (61, "truncated")):
        done = assembled({"a": 9, "b": 40}, first + left, budget_policy="greedy", min_chunk_tokens=20)
        assert fates(done) == {"a": "kept", "b": fate}
    stopped = assembled({"a": 9, "b": 40}, first + 90, budget_policy="greedy", min_chunk_tokens=20, overflow="stop")
    assert fates(stopped) == {"a": "kept", "b": "dropped"}


def test_what_a_chunk_must_count_at_least() -> None:
    tokens = COUNTER.count(text("b", 3))
    for least, fate in ((tokens, "kept"), (tokens + 1, "dropped")):
        done = assembled({"a": 9, "b": 3}, 8000, budget_policy="greedy", min_chunk_tokens=least)
        assert fates(done) == {"a": "kept", "b": fate}


@pytest.mark.parametrize("fitting", [0, 5])
def test_greedy_says_what_a_hundred_chunks_lack(fitting: int) -> None:
    """Whether the limit lies between two sizes or is that of so many chunks to the token."""
    documents = {f"d{n:03}": 1 for n in range(115)}
    limit = assembled(dict([*documents.items()][:fitting]), 8000).token_count if fitting else 100
    done = choose(weighed(documents, limit, budget_policy="greedy", overflow="stop"))
    assert len({key for ahead in done.ahead() for key in ahead.whole} - {j.chunk[:2] for j in done.final}) == 100


def test_what_is_cut_at_a_higher_limit_is_not_whole_there() -> None:
    ahead = [*choose(weighed({"a": 12, "b": 1}, 2, budget_policy="greedy")).ahead()]
    assert [(len(each.whole), each.cut) for each in ahead][:2] == [(0, ("a", 0)), (1, None)]


def test_greedy_skip_tries_twelve_higher_limits() -> None:
    done = choose(weighed({"a": 1} | {f"d{n:02}": 20 - n % 19 for n in range(40)}, 60, budget_policy="greedy_skip"))
    assert len([*done.ahead()]) == 12


def test_greedy_skip_looks_at_three_thousand_chunks_to_say_what_others_lack() -> None:
    sizes = {f"d{n:03}": 1 for n in range(251)}
    for name in [*sizes][1:20]:
        sizes[name] = int(name[1:]) + 5
    for count, tried in ((250, 12), (251, 11)):
        done = choose(weighed(dict([*sizes.items()][:count]), 60, budget_policy="greedy_skip"))
        assert len([*done.ahead()]) == tried


def test_two_hundred_units_are_offered_what_is_left() -> None:
    scales = weighed({"a": 1, "b": 1, "big": 60}, 120)
    first, small, big = (unit_of(scales, name, [0], 0) for name in ("a", "b", "big"))
    for refused, shown in ((199, 2), (200, 1)):
        assert len(refilled(scales, [first], [*[big] * refused, small])) == shown


def test_what_surely_is_too_much_is_not_counted() -> None:
    scales = weighed({"a": 12, "b": 12}, 8000)
    (first,), (second,) = (own.values() for own in scales.own.values())
    whole = ChunkSet(scales)
    whole.add(second)
    inside = COUNTER.inside(second.chunk.text, COUNTER.count(second.chunk.text))
    assert scales.least(whole.plans()[0]) == inside - 16
    for more, counted in ((-1, 0), (0, 1)):
        scales = weighed({"a": 12, "b": 12}, 8000)
        chosen = ChunkSet(scales)
        chosen.add(first)
        limit, before = chosen.size() + inside - 16 + more, len(scales._sizes)
        assert not chosen.takes([second], limit)
        assert len(scales._sizes) - before == counted
        assert chosen.keys() == {("a", 0)}
        assert chosen.size() == scales.budgeted(chosen.plans())


def test_two_are_tried_at_once_where_sixteen_tokens_are_left() -> None:
    documents = {"a": 9, "b": 9, "c": 9}
    whole = assembled(documents, 8000).token_count
    for left, counted in ((16, 3), (15, 4)):  # nothing, a, all; else with b alone as well
        scales = weighed(documents, 8000)
        groups = [[*own.values()] for own in scales.own.values()]
        assert fill(ChunkSet(scales), groups, whole + left) == [0, 1, 2]
        assert len(scales._sizes) == counted


def test_of_equal_scores_a_hit_stands_before_a_neighbour_then_the_better_rank_then_its_place() -> None:
    def candidate(name: str, index: int, retrieved: bool, score: float, rank: int) -> Candidate:
        return Candidate(FetchedChunk(name, index, "x"), retrieved, score, rank)

    ordered = [
        candidate("z", 9, False, 0.9, 9),
        candidate("z", 1, True, 0.5, 7),
        candidate("y", 2, False, 0.5, 1),
        candidate("a", 3, False, 0.5, 2),
        candidate("b", 1, False, 0.5, 2),
        candidate("b", 2, False, 0.5, 2),
        candidate("a", 1, True, -0.5, 1),
    ]
    assert by_standing(ordered[::-1]) == ordered


def test_a_set_knows_its_chunks_and_forgets_those_given_back() -> None:
    chosen = ChunkSet(weighed({"a": 1}, 100))
    candidate = Candidate(FetchedChunk("a", 0, "x"), True, 1.0, 1)
    assert candidate.key not in chosen
    chosen.add(candidate)
    assert candidate.key in chosen
    assert ("a", 1) not in chosen
    assert ("b", 0) not in chosen
    assert chosen.keys() == {("a", 0)}
    chosen.drop(candidate)
    assert chosen.keys() == set()
    assert candidate.key not in chosen


@pytest.mark.parametrize("policy", ["greedy", "greedy_skip", "pack", "segments", "learned"])
def test_where_only_chunk_text_counts_no_frame_gives_way(policy: str) -> None:
    documents, chunks = [Document("a", "A long title of the page " * 20, None, "A summary. " * 20)], [Chunk("a", 0, text("a", 30))]
    for scope, kept in (("chunks", True), ("rendered", False)):
        settings = AssemblySettings(budget_policy=policy, budget_scope=scope, expand_window=0)
        done = assemble(Query("q", (Hit("a", 0, 0.5),)), FakeSource(documents, chunks, COUNTER), settings, COUNTER, FakeClock(), 60)
        assert ("A summary." in done.text) == kept
        assert ("A long title of the page A long" in done.text) == kept
        assert done.trace.fates[0].fate == "truncated"


def test_of_a_title_that_gives_way_eight_characters_for_a_token_are_read() -> None:
    """Whatever more of long words would fit."""
    source = FakeSource([Document("a", "responsibility " * 100)], [Chunk("a", 0, "Yes.")], COUNTER)
    done = assemble(Query("q", (Hit("a", 0, 0.9),)), source, AssemblySettings(), COUNTER, FakeClock(), 40)
    title = done.text.removeprefix("[1] Source: ").partition("…")[0]
    assert done.token_count < 35
    assert 8 * 40 - len("responsibility") < len(title) < 8 * 40


def test_the_value_of_a_hit_is_that_of_reciprocal_rank_fusion() -> None:
    assert value_of([1]) == 1 / 61
    assert value_of([1, 2]) == pytest.approx(1 / 61 + 1 / 62)
    assert AssemblySettings().pack_k == 60


def test_the_largest_table_has_sixteen_million_cells() -> None:
    """Two hundred sizes that no search can tell apart: all hold sevens, and no sum of them fills either limit."""
    units = [Unit(f"d{place:03}", 7 * (150 + place), 7.0 * (150 + place)) for place in range(200)]
    assert pack_units(units, None, 80_000).exact
    assert not pack_units(units, None, 80_001).exact


def test_without_a_table_what_the_search_cannot_prove_is_bounded_from_above() -> None:
    units = [Unit(f"d{place:03}", 7 * (150 + place), 7.0 * (150 + place)) for place in range(200)]
    regret = packing_regret(units, None, 80_000, 0.0)
    assert not regret.exact
    assert 79_996 <= regret.best == pytest.approx(80_000, abs=1)


@pytest.mark.parametrize("hit", [0, 2])
def test_a_third_of_a_value_reaches_the_next_chunk_and_a_ninth_the_one_behind_it(hit: int) -> None:
    for value, order in ((0.34, [0, None, 1, 2]), (0.33, [0, 1, None, 2]), (0.11, [0, 1, 2, None])):
        chunks = [RunChunk(index, 100, float(index == hit)) for index in range(3)]
        singles = best_runs({"a": chunks, "b": [RunChunk(0, 100, value)]}, 1)[-4:]
        assert [abs(run.indexes[0] - hit) if run.document_id == "a" else None for run in singles] == order


def test_a_run_opens_with_thirty_tokens_where_nothing_else_is_known() -> None:
    documents = {"a": [RunChunk(0, 100, 1.0)], "b": [RunChunk(0, 100, 0.5)]}
    for limit, runs in ((260, 2), (259, 1)):
        assert len(best_runs(documents, limit)) == runs + 2
    for limit, runs in ((207, 2), (206, 1)):
        assert len(best_runs(documents, limit, {"a": 3, "b": 4})) == runs + 2


def outcome(scales: Scales) -> dict[str, bool]:
    """The chunks that are shown, and whether whole."""
    return {j.chunk.document_id: j.end == len(j.chunk.text) for j in choose(scales).final}


@pytest.mark.parametrize("limit", [12, 40, 200])
@pytest.mark.parametrize(
    ("policy", "more"),
    [
        ("drop_documents", {}),
        ("drop_documents", {"oversized": "drop"}),
        ("drop_documents", {"budget_scope": "chunks"}),
        ("greedy", {}),
        ("greedy", {"overflow": "stop"}),
        ("greedy", {"budget_scope": "chunks"}),
        ("greedy_skip", {}),
        ("greedy_skip", {"budget_scope": "chunks"}),
        ("greedy_skip", {"ordering": "bookend"}),
    ],
)
def test_what_higher_limits_show_is_what_they_show_and_not_one_token_earlier(policy: str, more: dict[str, object], limit: int) -> None:
    documents = {"a": 12, "b": 3, "c": 30, "d": 1, "e": 2}
    ahead = [*choose(weighed(documents, limit, budget_policy=policy, **more)).ahead()]
    limits = [each.limit for each in ahead]
    assert limits == sorted(set(limits))
    assert all(each > limit for each in limits)
    before = outcome(weighed(documents, limit, budget_policy=policy, **more))
    seen: set[str] = set()
    for each in ahead:
        earlier, there = (outcome(weighed(documents, each.limit - less, budget_policy=policy, **more)) for less in (1, 0))
        seen |= {key[0] for key in each.whole}
        assert all(there[key[0]] for key in each.whole)
        assert each.cut is None or there[each.cut[0]] is False
        assert earlier != there or (len(there) >= len(earlier) and "oversized" in more)
    assert {name for name, whole in outcome(weighed(documents, 10_000, budget_policy=policy, **more)).items() if whole} == set(documents)
    assert seen | {name for name, whole in before.items() if whole} == set(documents)


@pytest.mark.parametrize("policy", ["greedy", "greedy_skip"])
def test_the_best_chunk_is_whole_from_the_limit_on_that_its_smallest_frame_needs(policy: str) -> None:
    chunks = [Chunk("a", 0, text("a", 12)), Chunk("b", 0, text("b", 3))]
    query, settings = Query("q", (Hit("a", 0, 0.9), Hit("b", 0, 0.5))), AssemblySettings(budget_policy=policy, expand_window=0)
    found = expand(query, FakeSource([Document("a", "A long title " * 9)], chunks, COUNTER), settings, COUNTER)
    grouped = group(deduplicate(found, settings, None))
    ahead = [*choose(Scales(grouped, settings, COUNTER, 20)).ahead()]
    for each in ahead:
        there = outcome(Scales(grouped, settings, COUNTER, each.limit))
        assert {key[0] for key in each.whole} == {name for name, is_whole in there.items() if is_whole}
        assert each.cut is None or there[each.cut[0]] is False
    squeezed = [each.limit for each in ahead if each.whole == {("a", 0)}]
    assert len(squeezed) == 2
    assert outcome(Scales(grouped, settings, COUNTER, squeezed[0] - 1)) == {"a": False}


@pytest.mark.parametrize("policy", ["drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"])
def test_what_comes_after_a_copy_is_taken_all_the_same(policy: str) -> None:
    chunks = [Chunk("a", 0, text("a", 4)), Chunk("b", 0, text("a", 4)), Chunk("c", 0, text("c", 4)), Chunk("c", 1, text("cc", 4))]
    query = Query("q", tuple(Hit(name, 0, 1 - place / 10) for place, name in enumerate("abc")))
    done = assemble(query, FakeSource([], chunks, COUNTER), AssemblySettings(budget_policy=policy), COUNTER, FakeClock())
    assert [fate.fate for fate in done.trace.fates] == ["kept", "duplicate_of", "kept", "kept"]


def test_what_fits_to_the_token_is_not_ahead() -> None:
    limit = assembled({"b": 3}, 8000).token_count
    ahead = [*choose(weighed({"a": 12, "b": 3}, limit, oversized="drop")).ahead()]
    assert ahead
    assert all(each.limit > limit for each in ahead)


@pytest.mark.parametrize("chosen", [{"budget_policy": "greedy_skip"}, {"oversized": "drop"}])
def test_what_only_the_limit_in_characters_leaves_out_is_ahead_of_no_other_limit(chosen: dict[str, object]) -> None:
    for documents in ({"a": 80, "b": 1}, {"b": 1, "a": 80}):
        limits = [each.limit for each in choose(weighed(documents, 8000, max_chars=500, **chosen)).ahead()]
        assert all(limit < OVER for limit in limits)


def test_a_frame_gives_way_no_further_than_to_the_token() -> None:
    chunks, query = [Chunk("a", 0, text("a", 9))], Query("q", (Hit("a", 0, 0.5),))

    def shown(summary: str | None, limit: int) -> Assembly:
        source = FakeSource([Document("a", "The title", None, summary)], chunks, COUNTER)
        return assemble(query, source, AssemblySettings(), COUNTER, FakeClock(), limit)

    bare = shown(None, 8000)
    assert shown("All about the desk.", bare.token_count).text == bare.text
    assert "The title" not in shown("All about the desk.", bare.token_count - 1).text


def test_where_the_best_chunk_is_too_large_it_is_cut_and_not_the_one_before_it() -> None:
    chunks = [Chunk("a", index, text(f"a{index}", 20)) for index in (0, 1)]
    query = Query("q", (Hit("a", 0, 0.1), Hit("a", 1, 0.9)))
    done = assemble(query, FakeSource([], chunks, COUNTER), AssemblySettings(), COUNTER, FakeClock(), 60)
    assert [fate.fate for fate in done.trace.fates] == ["dropped", "truncated"]


def test_a_document_lacks_what_the_first_of_its_chunks_lacks() -> None:
    chunks = [Chunk("a", 0, text("a", 9)), Chunk("b", 0, text("b", 9)), Chunk("b", 4, text("bb", 9))]
    query = Query("q", (Hit("a", 0, 0.9), Hit("b", 0, 0.8), Hit("b", 4, 0.7)))
    settings = AssemblySettings(expand_window=0, budget_policy="greedy", overflow="stop")
    limit = assembled({"a": 9}, 8000).token_count
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), limit)
    _, first, second = (fate.missing_tokens for fate in done.trace.fates)
    assert first is not None
    assert second is not None
    assert done.trace.sizes[1].missing_tokens == first < second


@pytest.mark.parametrize("policy", ["pack", "segments"])
def test_where_a_larger_chunk_says_what_the_best_one_says_it_stands_for_it(policy: str) -> None:
    chunks = [Chunk("a", 0, f"{text('before')}{text('a', 5)}"), Chunk("a", 5, text("a", 5))]
    query = Query("q", (Hit("a", 0, 0.5, 2), Hit("a", 5, 0.9, 1)))
    settings = AssemblySettings(budget_policy=policy, dedup_near=True, min_chunk_tokens=1)
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), 8000)
    assert [(fate.fate, fate.of) for fate in done.trace.fates] == [("kept", None), ("duplicate_of", ("a", 0))]


def test_no_better_packing_is_told_where_all_documents_fit() -> None:
    for documents in ({"a": 5}, {"a": 5, "b": 5}, {"a": 5, "b": 5, "c": 5}):
        whole = assembled(documents, 8000)
        regret = assembled(documents, whole.token_count).trace.regret
        assert (regret.regret, regret.exact, regret.documents) == (0, True, tuple(documents))
        assert regret.kept == value_of(range(1, len(documents) + 1))


@pytest.mark.parametrize("count", [2, 3])
def test_what_fits_by_its_chunks_alone_may_be_more_than_any_packing_of_whole_texts(count: int) -> None:
    documents = dict.fromkeys("abc"[:count], 5)
    spent = sum(COUNTER.count(text(name, 5)) for name in documents)
    done = assembled(documents, spent, budget_scope="chunks")
    assert len(done.citations) == count
    assert done.token_count > spent
    assert done.trace.regret.documents == tuple(documents)[:-1]
    assert done.trace.regret.regret == 0


def test_what_is_shown_in_part_is_packed_as_it_is_shown() -> None:
    """Of a document that no limit so small can hold, what is kept is taken as given; one that would fit is packed whole or not."""
    least = assembled({"b": 40}, 8000).token_count
    for limit, packed in ((least - 1, ("a", "b")), (least, ("a",))):
        done = assembled({"a": 1, "b": 40}, limit, budget_policy="greedy", min_chunk_tokens=1)
        assert fates(done) == {"a": "kept", "b": "truncated"}
        assert done.trace.regret.documents == packed
        assert done.trace.regret.regret == 0


def test_what_was_left_of_the_only_document_is_no_regret() -> None:
    chunks = [Chunk("a", 0, text("a", 20)), Chunk("a", 1, "tiny"), Chunk("a", 2, "near"), Chunk("b", 0, text("b", 90))]
    query = Query("q", (Hit("a", 0, 0.9), Hit("a", 1, 0.8), Hit("b", 0, 0.7)))
    settings = AssemblySettings(budget_policy="greedy", overflow="stop", min_chunk_tokens=10)
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), 600)
    assert [fate.fate for fate in done.trace.fates] == ["kept", "dropped", "dropped", "dropped"]
    assert (done.trace.regret.kept, done.trace.regret.regret) == (value_of([1]), 0)
    assert done.trace.regret.documents == ("a",)


def test_a_neighbour_is_worth_nothing_to_a_packing() -> None:
    chunks = [Chunk(name, index, text(f"{name}{index}", 8)) for name in "ab" for index in range(3)]
    query = Query("q", (Hit("a", 1, 0.9), Hit("b", 1, 0.8)))
    done = assemble(query, FakeSource([], chunks, COUNTER), AssemblySettings(), COUNTER, FakeClock(), 450)
    assert {fate.document_id: fate.fate for fate in done.trace.fates} == {"a": "kept", "b": "dropped"}
    assert done.trace.regret.kept == done.trace.regret.best == value_of([1])


EVERY = ["drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"]


@pytest.mark.parametrize("policy", EVERY)
@pytest.mark.parametrize("unit", ["document", "passage"])
def test_all_that_fits_to_the_token_is_kept(policy: str, unit: str) -> None:
    documents = {"a": 6, "b": 5, "c": 4}
    chosen = {"budget_policy": policy, "pack_unit": unit, "overflow": "stop", "min_chunk_tokens": 1}
    whole = assembled(documents, 8000).token_count
    assert set(fates(assembled(documents, whole, **chosen)).values()) == {"kept"}
    assert fates(assembled(documents, whole - 1, **chosen)) == {"a": "kept", "b": "kept", "c": "dropped"}


def test_all_that_fits_to_the_character_is_kept_where_tokens_are_estimated() -> None:
    """No part of an estimate stands for itself, so that every block is counted with its number: the tenth has two digits."""
    counter, chunks = EstimateCounter("cl100k_base", ""), [Chunk(f"d{number}", 0, text("x", 4)) for number in range(9)]
    query = Query("q", tuple(Hit(chunk.document_id, 0, 1 - place / 100) for place, chunk in enumerate(chunks)))

    def kept(max_chars: int | None) -> Assembly:
        settings = AssemblySettings(expand_window=0, dedup_exact=False, max_chars=max_chars)
        return assemble(query, FakeSource([], chunks, counter), settings, counter, FakeClock(), 8000)

    whole = kept(None)
    assert whole.token_count == counter.count(whole.text)
    assert [len(kept(len(whole.text) - less).citations) for less in (0, 1)] == [9, 8]


@pytest.mark.parametrize("policy", EVERY)
def test_documents_stand_on_the_token_axis_as_they_are_written(policy: str) -> None:
    documents = {"a": 6, "b": 30, "c": 4}
    ends = [assembled(dict([*documents.items()][:count]), 8000).token_count for count in (1, 2, 3)]
    done = assembled(documents, ends[0] + 40, budget_policy=policy, overflow="stop", min_chunk_tokens=1)
    sizes = done.trace.sizes
    assert [(size.document_id, size.end) for size in sizes] == [*zip(documents, ends, strict=True)]
    assert [size.tokens for size in sizes] == [ends[0], ends[1] - ends[0], ends[2] - ends[1]]
    assert [size.kept for size in sizes] == [name in {c.document_id for c in done.citations} for name in documents]
    assert sizes[0].kept
    assert not sizes[1].kept
    assert [size.missing_tokens for size in sizes] == [fate.missing_tokens for fate in done.trace.fates]


def test_sets_that_do_not_stand_by_document_are_counted_one_by_one() -> None:
    chunks = [Chunk("a", 0, text("a", 4)), Chunk("a", 5, text("aa", 4)), Chunk("b", 0, text("b", 5)), Chunk("c", 0, text("c", 6))]
    hits = (Hit("a", 0, 0.9), Hit("b", 0, 0.8), Hit("c", 0, 0.7), Hit("a", 5, 0.6))
    source, settings = FakeSource([], chunks, COUNTER), AssemblySettings(expand_window=0, ordering="bookend")
    heads = [Query("q", tuple(hit for hit in hits if hit.document_id in names)) for names in ("a", "ab", "abc")]
    found = [assemble(query, source, settings, COUNTER, FakeClock()) for query in heads]
    assert [size.end for size in found[-1].trace.sizes] == [done.token_count for done in found]


def test_what_changes_its_tokens_with_both_its_neighbours_is_counted_between_them() -> None:
    """All three come to a token more than what the pairs of them say."""
    counter = open_counter("o200k_base")
    chunks = [Chunk("a", 0, "It opens at nine.\n"), Chunk("b", 0, "//"), Chunk("c", 0, "a/1")]
    query = Query("q", tuple(Hit(chunk.document_id, 0, 1 - place / 10) for place, chunk in enumerate(chunks)))
    settings = AssemblySettings(format="minimal", block_separator=".", budget_policy="greedy", min_chunk_tokens=0)
    done = assemble(query, FakeSource([], chunks, counter), settings, counter, FakeClock(), 8000)
    assert done.trace.sizes[-1].end == done.token_count == counter.count(done.text)


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_documents_far_beyond_the_limit_stand_on_the_token_axis_as_well(unit: str) -> None:
    chunks = [Chunk("a", 0, text("a", 4)), Chunk("a", 5, text("aa", 4)), *(Chunk(name, 0, text(name, 40)) for name in "bcd")]
    hits = tuple(Hit(chunk.document_id, chunk.chunk_index, 1 - place / 10) for place, chunk in enumerate(chunks))
    source, settings = FakeSource([], chunks, COUNTER), AssemblySettings(expand_window=0, citation_unit=unit)
    first = assemble(Query("q", hits[:2]), source, settings, COUNTER, FakeClock(), 8000).token_count
    ends = [assemble(Query("q", hits[:count]), source, settings, COUNTER, FakeClock(), 8000).token_count for count in (2, 3, 4, 5)]
    done = assemble(Query("q", hits), source, settings, COUNTER, FakeClock(), first)
    assert [size.end for size in done.trace.sizes] == ends


@pytest.mark.parametrize("scope", ["rendered", "chunks"])
def test_of_a_document_that_is_too_large_as_many_chunks_stay_as_fit_to_the_token(scope: str) -> None:
    chunks = [Chunk("a", index, text(f"a{index}", 5 + index)) for index in (0, 2, 4)]
    hits = (Hit("a", 0, 0.9), Hit("a", 2, 0.8), Hit("a", 4, 0.7))
    source, settings = FakeSource([], chunks, COUNTER), AssemblySettings(budget_scope=scope, expand_window=0)

    def shown(count: int, limit: int) -> list[int]:
        done = assemble(Query("q", hits[:count]), source, settings, COUNTER, FakeClock(), limit)
        return [fate.chunk_index for fate in done.trace.fates if fate.fate == "kept"]

    for count in (1, 2):
        rendered = assemble(Query("q", hits[:count]), source, AssemblySettings(expand_window=0), COUNTER, FakeClock()).token_count
        size = rendered if scope == "rendered" else sum(COUNTER.count(chunk.text) for chunk in chunks[:count])
        assert shown(3, size) == [0, 2, 4][:count]
        assert len(shown(3, size - 1)) == count - 1
    lacking = assemble(Query("q", hits), source, settings, COUNTER, FakeClock(), 20).trace
    missing = [fate.missing_tokens for fate in lacking.fates]
    assert [fate.fate for fate in lacking.fates] == ["truncated", "dropped", "dropped"]
    for count in (2, 3):
        lacks = missing[count - 1]
        assert lacks is not None
        assert shown(3, 20 + lacks) == [0, 2, 4][:count]
        assert shown(3, 20 + lacks - 1) == [0, 2, 4][: count - 1]
    assert lacking.sizes[0].missing_tokens == missing[2]


def test_a_document_without_value_is_not_taken_where_others_leave_room() -> None:
    chunks = [Chunk("a", 0, text("a", 5)), Chunk("b", 1, text("b", 20)), Chunk("b", 0, text("bb", 5)), Chunk("b", 2, text("bbb", 5))]
    query = Query("q", (Hit("a", 0, 0.9), Hit("b", 1, 0.5)))
    settings = AssemblySettings(budget_policy="pack", pack_unit="passage", min_chunk_tokens=100)
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock())
    assert {fate.chunk_index: fate.fate for fate in done.trace.fates if fate.document_id == "b"} == {0: "dropped", 1: "kept", 2: "dropped"}
    # The neighbours of a hit that is itself too small.
    chunks = [chunks[0], Chunk("b", 1, text("b")), Chunk("b", 0, text("bb", 20)), Chunk("b", 2, text("bbb", 20))]
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock())
    assert [fate.reason for fate in done.trace.fates] == [None, "no_value", "degenerate", "no_value"]


def reached(chunks: list[Chunk], limit: int) -> int:
    """How many documents are written to learn their sizes: all chunks are hits, documents in their order."""
    hits = tuple(Hit(chunk.document_id, chunk.chunk_index, 1 - place / 1000) for place, chunk in enumerate(chunks))
    found = expand(Query("q", hits), FakeSource([], chunks, COUNTER), SETTINGS, COUNTER)
    scales = Scales(group(deduplicate(found, SETTINGS, None)), SETTINGS, COUNTER, limit)
    return len(scales.near_sizes(scales.grouped.resolution))


SETTINGS = AssemblySettings(expand_window=0)


def surely(tokens: int) -> int:
    """What of a chunk's tokens is left whatever merges at its edges: 16 of 17, less 16."""
    return max(0, tokens * 16 // 17 - 16)


def test_documents_behind_what_surely_fills_the_limit_are_not_written() -> None:
    chunks = [Chunk(name, 0, text(name, 20)) for name in "abcd"] + [Chunk("e", 0, text("e"))]
    sums = [0]
    for chunk in chunks:
        sums.append(sums[-1] + surely(COUNTER.count(chunk.text)))
    assert sums[-1] == sums[-2] > 0  # a chunk so small surely takes nothing
    for count in (1, 2, 3):
        assert reached(chunks, sums[count]) == count
        assert reached(chunks, sums[count] - 1) == count - 1
    assert reached(chunks, sums[4]) == 5


@pytest.mark.parametrize(
    ("places", "fresh"),
    [
        (((0, 300), (250, 600)), (300, 300)),  # what the first has shown counts once
        (((0, 300), (300, 600)), (300, 300)),
        (((0, 300), (100, 200), (180, 600)), (300, 0, 0)),  # what is shared with more than the one before is not known
    ],
)
def test_what_neighbours_share_surely_counts_once(places: tuple[tuple[int, int], ...], fresh: tuple[int, ...]) -> None:
    whole = text("a", 60)
    chunks = [Chunk("a", index, whole[low:high], low, high) for index, (low, high) in enumerate(places)]
    own = []
    for (low, high), chars in zip(places, fresh, strict=True):
        own.append(surely(COUNTER.count(whole[low:high]) - COUNTER.count(whole[low : high - chars])) if chars else 0)
    behind = [Chunk("b", 0, text("b", 3))]
    assert reached([*chunks, *behind], sum(own)) == 1
    assert reached([*chunks, *behind], sum(own) - 1) == 0


@pytest.mark.parametrize("policy", ["pack", "segments", "learned"])
def test_the_best_hit_is_in_wherever_its_document_stands(policy: str) -> None:
    """By rank, not by score: it may stand in the second document."""
    chunks = [Chunk(name, 0, text(name, 12)) for name in "abc"]
    query = Query("q", (Hit("a", 0, 0.9, 2), Hit("b", 0, 0.5, 1), Hit("c", 0, 0.95, 3)))
    alone = assembled({"b": 12}, 8000).token_count
    settings = AssemblySettings(budget_policy=policy, expand_window=0)
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), alone + 5)
    assert [citation.document_id for citation in done.citations] == ["b"]


@pytest.mark.parametrize("policy", ["pack", "segments"])
@pytest.mark.parametrize("unit", ["document", "passage"])
def test_what_the_best_hit_stands_inside_is_in_for_it(policy: str, unit: str) -> None:
    """However little it is worth itself, and cut down to it where there is no room for what stands beside it."""
    inside = text("in", 12)
    chunks = [Chunk("a", 0, f"{text('o', 3)}{inside}{text('p', 3)}"), Chunk("a", 1, text("aa", 12)), Chunk("a", 4, inside)]
    chunks.append(Chunk("b", 0, text("b", 12)))
    hits = (Hit("b", 0, 0.95, 2), Hit("a", 4, 0.7, 1), Hit("a", 1, 0.6, 3), Hit("a", 0, 0.5, 4))
    settings = AssemblySettings(budget_policy=policy, pack_unit=unit, expand_window=0, dedup_near=True)
    source = FakeSource([], chunks, COUNTER)
    alone = assemble(Query("q", hits[3:]), source, settings, COUNTER, FakeClock()).token_count
    for query in (Query("q", hits), Query("q", tuple([replace(hit, score=1 - (hit.rank or 0) / 10) for hit in hits]))):
        done = assemble(query, source, settings, COUNTER, FakeClock(), alone)
        assert {(f.document_id, f.chunk_index) for f in done.trace.fates if f.fate == "kept"} == {("a", 0)}
        assert {f.fate for f in done.trace.fates if (f.document_id, f.chunk_index) == ("a", 4)} == {"duplicate_of"}


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_what_pack_leaves_room_for_is_offered_to_the_richest_that_has_value(unit: str) -> None:
    """Additive costs say a little too much: what fits by the exact count comes in after all, best first, and only once."""
    documents = {"a": 8, "b": 8, "c": 8, "d": 2}
    sizes = {count: assembled(dict([*documents.items()][:count]), 8000).token_count for count in (1, 2, 3, 4)}
    for count in (1, 2, 3, 4):
        done = assembled(documents, sizes[count], budget_policy="pack", pack_unit=unit, min_chunk_tokens=1)
        names = [citation.document_id for citation in done.citations]
        assert names[0] == "a"
        assert len(names) == len(set(names)) >= count
        assert done.trace.regret.kept >= value_of(range(1, count + 1))


def test_what_pack_leaves_because_sums_are_rounded_comes_in_by_the_exact_count() -> None:
    """Estimates are rounded up, of three documents three times, and of all of them once."""
    counter, settings = EstimateCounter("cl100k_base", ""), AssemblySettings(budget_policy="pack", expand_window=0, min_chunk_tokens=0)
    source = FakeSource([], [Chunk(name, 0, text(name, 2)) for name in "abc"], counter)
    hits = tuple(Hit(name, 0, 1 - place / 100) for place, name in enumerate("abc"))
    sizes = [assemble(Query("q", some), source, settings, counter, FakeClock()).token_count for some in (hits, *((hit,) for hit in hits))]
    assert sizes[0] < sum(sizes[1:]) + 2 * counter.count("\n\n")
    done = assemble(Query("q", hits), source, settings, counter, FakeClock(), sizes[0])
    assert [citation.document_id for citation in done.citations] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("second", "others", "expected"),
    [
        (2, (3, 4), "a0 b0 c0"),  # the poorest for its tokens leaves, not the one worth least
        (2, (100, 101), "a0 a2 b0"),  # it is worth more than all of them, and what still fits comes back, the best first
    ],
)
def test_where_what_stands_between_two_passages_makes_a_packing_too_large(second: int, others: tuple[int, int], expected: str) -> None:
    """What is too small to be chosen comes in with both its neighbours, which no sum of costs knows."""
    hits = (Hit("a", 0, 0.9, 1), Hit("a", 2, 0.8, second), Hit("b", 0, 0.7, others[0]), Hit("c", 0, 0.6, others[1]))
    chunks = [Chunk("a", 0, text("a", 4)), Chunk("a", 2, text("aa", 12)), Chunk("b", 0, text("b", 3)), Chunk("c", 0, text("c", 3))]
    settings = AssemblySettings(budget_policy="pack", pack_unit="passage", min_chunk_tokens=20)
    without = assemble(Query("q", hits), FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock()).token_count
    source = FakeSource([], [*chunks, Chunk("a", 1, text("between"))], COUNTER)
    done = assemble(Query("q", hits), source, settings, COUNTER, FakeClock(), without)
    shown = [f"{f.document_id}{f.chunk_index}" for f in done.trace.fates if f.fate == "kept" and f.chunk_index != 1]
    assert shown == expected.split()


def test_where_two_that_were_packed_do_not_fit_another_may() -> None:
    chunks = [Chunk("a", 0, text("a", 4)), Chunk("a", 2, text("aa", 9)), Chunk("b", 0, text("b", 3))]
    hits = (Hit("a", 0, 0.9, 1), Hit("a", 2, 0.8, 2), Hit("b", 0, 0.7, 3))
    settings = AssemblySettings(budget_policy="pack", pack_unit="passage", min_chunk_tokens=20)
    two = assemble(Query("q", hits[:2]), FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock()).token_count
    source = FakeSource([], [*chunks, Chunk("a", 1, text("between"))], COUNTER)
    done = assemble(Query("q", hits), source, settings, COUNTER, FakeClock(), two)
    assert [(c.document_id, c.chunk_indexes) for c in done.citations] == [("a", (0,)), ("b", (0,))]


def test_a_header_costs_its_first_passage_and_no_other() -> None:
    chunks = [Chunk("a", index, text(f"a{index}", 6)) for index in (0, 5, 9)]
    hits = tuple(Hit("a", chunk.chunk_index, 0.9 - place / 10) for place, chunk in enumerate(chunks))
    source = FakeSource([Document("a", "A rather long title that takes some room " * 3)], chunks, COUNTER)
    settings = AssemblySettings(budget_policy="pack", pack_unit="passage", expand_window=0)
    whole = assemble(Query("q", hits[:2]), source, settings, COUNTER, FakeClock()).token_count
    done = assemble(Query("q", hits), source, settings, COUNTER, FakeClock(), whole)
    assert done.citations[0].chunk_indexes == (0, 5)
    assert done.token_count == whole


@pytest.mark.parametrize("ordering", ["document_first", "relevance"])
def test_a_limit_in_characters_is_met_to_the_character(ordering: str) -> None:
    documents = {"a": 30, "b": 12, "c": 9}
    chars = len(assembled(documents, 8000).text)
    for less, names in ((0, "abc"), (1, "ab")):
        done = assembled(documents, 8000, ordering=ordering, max_chars=chars - less)
        assert "".join(citation.document_id for citation in done.citations) == names


def test_a_run_costs_its_header_and_one_more_and_a_neighbour_is_worth_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, object]] = []

    def noted(chunks: dict[str, list[RunChunk]], openings: dict[str, int]) -> RunField:
        asked.append((chunks, openings))
        return RunField(chunks, openings)

    monkeypatch.setattr(packing, "RunField", noted)
    texts = {("a", 0): text("a", 9), ("a", 1): text("aa", 12), ("b", 1): text("b", 9)}
    chunks = [Chunk(*key, said) for key, said in texts.items()]
    query = Query("q", (Hit("a", 0, 0.9), Hit("b", 1, 0.8)))
    settings, source = AssemblySettings(budget_policy="segments"), FakeSource([], chunks, COUNTER)
    assemble(query, source, settings, COUNTER, FakeClock(), 2000)
    count = {key: COUNTER.count(said) for key, said in texts.items()}
    alone = {
        name: assemble(Query("q", (hit,)), source, AssemblySettings(), COUNTER, FakeClock()).token_count
        for name, hit in zip("ab", query.retrieved, strict=True)
    }
    openings = {"a": alone["a"] - count["a", 0] - count["a", 1] + 1, "b": alone["b"] - count["b", 1] + 1}
    runs = {"a": [RunChunk(0, count["a", 0], 1.0), RunChunk(1, count["a", 1], 0.0)], "b": [RunChunk(1, count["b", 1], 0.5)]}
    assert asked == [(runs, openings)]


def test_any_trace_of_compression_counts_as_compressed() -> None:
    grouped = weighed({"a": 1}, 100).grouped
    assert not grouped.was_compressed
    assert replace(grouped, extracts={("a", 0): Extract("extractive")}).was_compressed
    assert replace(grouped, irrelevant=frozenset([("a", 0)])).was_compressed
    assert replace(grouped, notes=(Dropped("a", 0, "irrelevant"),)).was_compressed


def test_without_hits_nothing_is_read() -> None:
    fetch = assembled({}, 100).trace.fetch
    assert (fetch.statements, fetch.document_statements, fetch.rows, fetch.elapsed_ms) == (0, 0, 0, 0.0)
