"""What the trace says in figures: each one counted again, by hand."""

from __future__ import annotations

import pytest

from ctxasm.assembly.pipeline import Recorder, assemble
from ctxasm.model.errors import InvalidInput
from ctxasm.model.events import (
    Dropped,
    Duplicate,
    Numbered,
    Ordered,
    Overshot,
    Placed,
    Prefixed,
    Returned,
    Stripped,
    Supplemented,
    Truncated,
    Unstripped,
)
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly, StageRecord
from ctxasm.model.settings import AssemblySettings
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

TEXT = "The desk opens at nine. It closes at five. On Sundays nobody is there at all. Ring the bell twice. "
MORE = TEXT[50:] + "Then wait for the porter to come down. He takes his time about it, as he always did. "
OTHER = "Parking costs two euros an hour behind the old mill, and nothing at night or on feast days. "
CHUNKS = [Chunk("a", 0, TEXT), Chunk("a", 1, MORE), Chunk("a", 7, "[1] Source: x"), Chunk("b", 0, OTHER), Chunk("c", 4, TEXT)]
DOCUMENTS = [Document("a", "Desk", "desk.md", "All about the desk."), Document("b", "Parking")]
HITS = (Hit("a", 0, 0.4), Hit("a", 1, 0.9), Hit("b", 0, 0.8), Hit("c", 4, 0.3), Hit("z", 0, 0.2))
SUPPLEMENT = "Doctor Janssens, third floor."


def assembled(limit: int | None = None, **chosen: object) -> Assembly:
    query = Query("q", HITS, supplement=SUPPLEMENT)
    settings = AssemblySettings(supplement_mode="always", **chosen)
    return assemble(query, FakeSource(DOCUMENTS, CHUNKS, COUNTER), settings, COUNTER, FakeClock(), limit)


def records(done: Assembly) -> dict[str, StageRecord]:
    return {record.stage: record for record in done.trace.stages}


def count(*texts: str) -> int:
    return sum(COUNTER.count(text) for text in texts)


def test_the_tokens_that_each_stage_takes_and_returns() -> None:
    done = assembled(expand_window=0)
    stages = records(done)
    grown = {kind: sum(s.tokens for s in done.segments if s.kind == kind) for kind in ("chunk", "prefix", "supplement")}
    retrieved = count(TEXT, MORE, OTHER, TEXT)
    shown = count(TEXT, OTHER) + count(MORE) - count(TEXT[50:])
    outs = {stage: (record.tokens_in, record.tokens_out) for stage, record in stages.items()}
    assert outs == {
        "expand": (retrieved, retrieved),
        "deduplicate": (retrieved, shown),
        "group": (shown, shown),
        "budget": (shown, grown["chunk"]),
        "order": (grown["chunk"], grown["chunk"]),
        "summarise": (grown["chunk"], grown["chunk"] + grown["prefix"]),
        "supplement": (grown["chunk"] + grown["prefix"], sum(grown.values())),
        "render": (sum(grown.values()), done.token_count),
        "cite": (done.token_count, done.token_count),
    }
    assert [record.elapsed_ms for record in stages.values()] == pytest.approx([1.0] * len(stages))
    assert done.token_count == count(done.text)


def test_what_each_stage_says_it_did() -> None:
    stages = records(assembled(expand_window=0))
    events = {stage: record.events for stage, record in stages.items()}
    done = assembled(expand_window=0)
    tokens = {kind: next(s.tokens for s in done.segments if s.kind == kind) for kind in ("prefix", "supplement")}
    assert events["expand"] == (Dropped("z", 0, "missing"),)
    assert [event for event in events["deduplicate"] if isinstance(event, Stripped)] != []
    assert events["group"] == (Placed("a", 1, 0.9), Placed("b", 2, 0.8))
    assert events["budget"] == ()
    assert events["order"] == (Ordered(1, "a", (0, 1), 0.9, 1), Ordered(2, "b", (0,), 0.8, 2))
    assert events["summarise"] == (Prefixed("a", tokens["prefix"]),)
    assert events["supplement"] == (Supplemented(True, "always", tokens["supplement"]),)
    assert events["render"] == ()
    assert events["cite"] == (Numbered(1, "a", (0, 1)), Numbered(2, "b", (0,)))


def test_what_became_of_each_chunk() -> None:
    fates = {(fate.document_id, fate.chunk_index): fate for fate in assembled(expand_window=0).trace.fates}
    assert list(fates) == [("a", 0), ("a", 1), ("b", 0), ("c", 4), ("z", 0)]
    first, second, other, copy, lost = fates.values()
    assert (first.fate, first.stage, first.tokens, first.stripped_chars, first.block, first.rank) == (
        "kept",
        "render",
        count(TEXT),
        0,
        1,
        3,
    )
    assert (second.fate, second.tokens, second.stripped_chars, second.block, second.rank) == ("kept", count(MORE), len(TEXT) - 50, 1, 1)
    assert (other.fate, other.block, other.score) == ("kept", 2, 0.8)
    assert (copy.fate, copy.stage, copy.of, copy.block, copy.likeness) == ("duplicate_of", "deduplicate", ("a", 0), 1, "exact")
    assert (lost.fate, lost.stage, lost.reason, lost.tokens, lost.score, lost.rank) == ("dropped", "expand", "missing", 0, 0.2, 5)
    assert [fate.compressed for fate in fates.values()] == [None] * 5


@pytest.mark.parametrize("policy", ["drop_documents", "greedy"])
def test_a_text_that_is_over_its_limit_says_by_how_much(policy: str) -> None:
    settings = AssemblySettings(budget_scope="chunks", budget_policy=policy, expand_window=0)
    source = FakeSource(DOCUMENTS, CHUNKS, COUNTER)
    spent = count(OTHER)
    done = assemble(Query("q", (Hit("b", 0, 0.8),)), source, settings, COUNTER, FakeClock(), spent)
    assert records(done)["render"].events == (Overshot(done.token_count - spent),)
    exact = assemble(Query("q", (Hit("b", 0, 0.8),)), source, settings, COUNTER, FakeClock(), done.token_count)
    assert records(exact)["render"].events == ()


def test_the_supplement_stands_where_all_fits_with_it_to_the_token() -> None:
    done = assembled(expand_window=0)
    assert SUPPLEMENT in assembled(done.token_count, expand_window=0).text
    without = assembled(done.token_count - 1, expand_window=0)
    assert SUPPLEMENT not in without.text
    assert len(without.citations) == 2
    assert records(without)["supplement"].events == (Supplemented(False, "no_room", 0),)


def test_a_chunk_that_is_cut_says_where() -> None:
    done = assembled(60, expand_window=0, budget_policy="greedy", min_chunk_tokens=1)
    cut = next(fate for fate in done.trace.fates if fate.fate == "truncated")
    shown = next(each for each in records(done)["budget"].after if each[:2] == (cut.document_id, cut.chunk_index))
    events = [event for event in records(done)["budget"].events if isinstance(event, Truncated)]
    assert events == [Truncated(cut.document_id, cut.chunk_index, shown.end)]
    assert not [event for event in records(done)["budget"].events if isinstance(event, Stripped)]


def test_a_document_that_comes_back_has_a_place() -> None:
    chunks = [Chunk("a", 0, OTHER * 9), Chunk("a", 1, TEXT), Chunk("b", 0, TEXT)]
    query, settings = Query("q", (Hit("a", 0, 0.9), Hit("a", 1, 0.8), Hit("b", 0, 0.7))), AssemblySettings(oversized="drop")
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), 60)
    events = [event for event in records(done)["budget"].events if not isinstance(event, Dropped | Duplicate)]
    assert events == [Returned("b", 0), Placed("b", 1, 0.0)]


def test_a_copy_is_left_for_what_the_chunk_is_left_for_that_it_waits_for() -> None:
    chunks = [Chunk("a", 0, OTHER), Chunk("a", 4, TEXT), Chunk("b", 0, TEXT)]
    query, settings = Query("q", (Hit("a", 0, 0.9), Hit("a", 4, 0.8), Hit("b", 0, 0.7))), AssemblySettings(expand_window=0)
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), 40)
    assert [(fate.fate, fate.reason) for fate in done.trace.fates] == [("kept", None), ("dropped", "oversized"), ("dropped", "oversized")]


@pytest.mark.parametrize(("policy", "reason"), [("greedy", "budget"), ("pack", "no_value")])
def test_a_neighbour_is_no_orphan_where_its_hit_repeats_its_own_document(policy: str, reason: str) -> None:
    chunks = [Chunk("a", 0, TEXT), Chunk("a", 5, TEXT), Chunk("a", 6, OTHER)]
    query = Query("q", (Hit("a", 0, 0.9), Hit("a", 5, 0.5)))
    settings = AssemblySettings(budget_policy=policy, pack_unit="passage", overflow="stop", min_chunk_tokens=1)
    done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock(), count(TEXT) + 12)
    assert [(fate.fate, fate.reason) for fate in done.trace.fates] == [("kept", None), ("duplicate_of", None), ("dropped", reason)]


def test_a_chunk_whose_neighbour_is_left_out_shows_its_head_again() -> None:
    chunks = [Chunk("a", 0, TEXT), Chunk("a", 1, MORE)]
    query = Query("q", (Hit("a", 1, 0.9), Hit("a", 0, 0.1)))
    done = assemble(query, FakeSource([], chunks, COUNTER), AssemblySettings(expand_window=0), COUNTER, FakeClock(), count(MORE) + 12)
    assert MORE.strip() in done.text
    assert Unstripped("a", 1, len(TEXT) - 50) in records(done)["budget"].events
    assert [fate.fate for fate in done.trace.fates] == ["dropped", "kept"]
    assert [fate.stripped_chars for fate in done.trace.fates] == [0, 0]


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_a_limit_is_a_whole_number_of_at_least_one(limit: object) -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        assembled(limit)  # type: ignore[arg-type]
    assert assembled(1).limit == 1
    assert assembled(None, max_tokens=501).limit == 501


def test_a_window_needs_the_limit_that_its_zones_leave() -> None:
    with pytest.raises(InvalidInput, match="budget_mode=window"):
        assembled(budget_mode="window")
    assert assembled(500, budget_mode="window").limit == 500
    assert assembled(budget_mode="window", enabled=False).text


def test_a_stage_takes_as_long_as_the_clock_says() -> None:
    record = Recorder(iter([1.0, 1.25, 2.0, 2.5]).__next__)
    assert record("one", lambda value: value, 7) == 7
    assert record("two", lambda *, named: named, named=8) == 8
    assert record.elapsed_ms == {"one": 250.0, "two": 500.0}


def test_switched_off_nothing_was_chosen_and_nothing_regretted() -> None:
    regret = assembled(enabled=False).trace.regret
    assert (regret.kept, regret.best, regret.exact, regret.documents) == (0.0, 0.0, True, ())


def test_what_was_retrieved_is_the_whole_of_what_is_stored() -> None:
    before = records(assembled(expand_window=0))["expand"].before
    assert [tuple(each) for each in before] == [
        ("a", 1, 0, len(MORE)),
        ("b", 0, 0, len(OTHER)),
        ("a", 0, 0, len(TEXT)),
        ("c", 4, 0, len(TEXT)),
        ("z", 0, 0, 0),
    ]


def test_a_marker_in_a_title_over_quiet_text_is_defused() -> None:
    source = FakeSource([Document("a", "See [2] there")], [Chunk("a", 0, "Quite plain.")], COUNTER)
    done = assemble(Query("q", (Hit("a", 0, 0.5),)), source, AssemblySettings(), COUNTER, FakeClock())
    assert "See" in done.text
    assert "[2]" not in done.text


def test_an_orphan_is_a_neighbour_whose_hits_repeat_another_document() -> None:
    chunks = [Chunk("a", 0, TEXT), Chunk("b", 3, TEXT), Chunk("b", 4, OTHER)]
    query = Query("q", (Hit("a", 0, 0.9), Hit("b", 3, 0.5)))
    for policy in ("drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned"):
        settings = AssemblySettings(budget_policy=policy, min_chunk_tokens=1)
        done = assemble(query, FakeSource([], chunks, COUNTER), settings, COUNTER, FakeClock())
        assert [(fate.fate, fate.reason) for fate in done.trace.fates] == [
            ("kept", None),
            ("duplicate_of", None),
            ("dropped", "parent_duplicate"),
        ]


def test_a_gap_mark_that_reads_as_a_marker_is_defused() -> None:
    chunks = [Chunk("a", 0, "Quite plain."), Chunk("a", 5, "As plain.")]
    query = Query("q", (Hit("a", 0, 0.5), Hit("a", 5, 0.4)))
    done = assemble(query, FakeSource([], chunks, COUNTER), AssemblySettings(gap_mark="[7]"), COUNTER, FakeClock())
    assert "Quite plain." in done.text
    assert "[7]" not in done.text


def test_a_line_that_reads_as_the_separator_of_blocks_is_defused_in_quiet_text() -> None:
    source = FakeSource([], [Chunk("a", 0, "Quite plain.\n=====\nAs plain."), Chunk("b", 0, "Other.")], COUNTER)
    query = Query("q", (Hit("a", 0, 0.5), Hit("b", 0, 0.4)))
    done = assemble(query, source, AssemblySettings(block_separator="====="), COUNTER, FakeClock())
    assert done.text.count("\n=====\n") == 1


def test_a_block_in_xml_has_the_best_score_of_its_chunks() -> None:
    chunks = [Chunk("a", 0, TEXT), Chunk("a", 1, OTHER)]
    query = Query("q", (Hit("a", 0, 0.25), Hit("a", 1, 0.75)))
    done = assemble(query, FakeSource([], chunks, COUNTER), AssemblySettings(format="xml"), COUNTER, FakeClock())
    assert "0.75" in done.text
    assert "0.25" not in done.text
    assert [segment.start for segment in done.segments] == [0, *[segment.end for segment in done.segments][:-1]]


def test_a_chunk_without_text_is_dropped_and_takes_no_tokens() -> None:
    chunks = [Chunk("a", 0, "It opens at nine."), Chunk("b", 0, "")]
    query = Query("q", (Hit("a", 0, 0.9), Hit("b", 0, 0.8)))
    done = assemble(query, FakeSource([], chunks, COUNTER), AssemblySettings(expand_window=0), COUNTER, FakeClock(), 100)
    assert [(fate.document_id, fate.reason, fate.tokens) for fate in done.trace.fates] == [("a", None, 5), ("b", "empty", 0)]


def test_a_neighbour_without_text_has_no_score_and_no_rank() -> None:
    chunks = [Chunk("a", 0, "It opens at nine."), Chunk("a", 1, "")]
    done = assemble(Query("q", (Hit("a", 0, 0.9),)), FakeSource([], chunks, COUNTER), AssemblySettings(), COUNTER, FakeClock(), 100)
    fate = done.trace.fates[1]
    assert (fate.chunk_index, fate.retrieved, fate.score, fate.rank, fate.reason, fate.tokens) == (1, False, 0.0, 0, "empty", 0)


@pytest.mark.parametrize(
    "text",
    [
        "As it was told [1] in the first place by all of them, and then [22] once more.",
        "As it was told [1], " + "and all of them knew, " * 9 + "it was told [2] to each and then [22] once more.",
    ],
)
def test_what_was_defused_in_several_places_is_counted_in_each(text: str) -> None:
    query, settings = Query("q", (Hit("a", 0, 0.9),)), AssemblySettings(marker_collisions="neutralise")
    done = assemble(query, FakeSource([], [Chunk("a", 0, text)], COUNTER), settings, COUNTER, FakeClock(), 200)
    assert "[22]" not in done.text
    assert done.token_count == sum(segment.tokens for segment in done.segments) == count(done.text)
    (chunk,) = [segment for segment in done.segments if segment.kind == "chunk"]
    assert chunk.tokens == count(done.text[: chunk.end]) - count(done.text[: chunk.start])
