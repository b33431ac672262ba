"""The promises of the assembly, as laws over random corpora, settings and limits.

The default run uses few examples; `CTXASM_LAW_EXAMPLES=10000 pytest tests/assembly/test_promises.py` runs ten thousand of each.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxasm.assembly.pipeline import assemble
from ctxasm.model import events as ev
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Document, Hit, Query
from ctxasm.model.results import Assembly, Shown
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.formats import has_markers
from ctxasm.text.markers.collisions import find_forged_headers, find_marker_forms
from tests.examples import examples
from tests.fakes import FakeClock
from tests.strategies import COUNTER, LIMITS, Case, cases, settings_


def law(*strategies):
    """A property over random input: few examples by default, as many as CTXASM_LAW_EXAMPLES asks for."""
    quiet = [HealthCheck.filter_too_much]
    wanted = os.environ.get("CTXASM_LAW_EXAMPLES")
    # The default run is the same every time: a check that fails by chance stops people who changed nothing.
    law = settings(max_examples=examples(50), derandomize=wanted is None, suppress_health_check=quiet)
    return lambda check: law(given(*strategies)(check))


def run(case: Case, chosen: AssemblySettings, limit: int = 8000) -> Assembly:
    return assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)


PLAIN = {"max_chars": None, "compression": "off"}
"""Without a second limit and without shortened chunks: where text and limits can be compared from one limit to the next."""


# 1 ------------------------------------------------------------------------------------------------------------------------


@law(cases(), settings_(), LIMITS)
def test_segments_join_to_the_text_and_tokens_add_up(case, chosen, limit):
    done = run(case, chosen, limit)
    at, whole = 0, ""
    for segment in done.segments:
        assert segment.start == at < segment.end
        at = segment.end
        whole += done.text[segment.start : segment.end]
        if segment.kind == "chunk":
            text = done.trace.candidates[segment.document_id, segment.chunk_index].chunk.text[segment.chunk_start : segment.chunk_end]
            shown = done.text[segment.start : segment.end]
            assert len(shown) == len(text)
            assert (shown == text) != segment.neutralised
    assert whole == done.text
    assert sum(segment.tokens for segment in done.segments) == done.token_count == COUNTER.count(done.text)


@law(cases(), settings_(), LIMITS)
def test_segment_tokens_are_the_growth_of_the_exact_count(case, chosen, limit):
    done = run(case, chosen, limit)
    total = 0
    for segment in done.segments:
        total += segment.tokens
        assert COUNTER.count(done.text[: segment.end]) == total


@law(cases(), settings_(budget_scope="rendered"), LIMITS)
def test_the_limit_holds_for_the_rendered_text(case, chosen, limit):
    assert COUNTER.count(run(case, chosen, limit).text) <= limit


@law(cases(), settings_(budget_scope="rendered", oversized="trim"), st.integers(60, 8000))
def test_a_hit_never_leads_to_an_empty_context(case, chosen, limit):
    done = run(case, chosen, limit)
    assert bool(done.text) == bool(done.trace.candidates)


# 2 ------------------------------------------------------------------------------------------------------------------------


@law(cases(), settings_(), LIMITS)
def test_every_candidate_has_exactly_one_fate(case, chosen, limit):
    done = run(case, chosen, limit)
    fates = [(fate.document_id, fate.chunk_index) for fate in done.trace.fates]
    assert len(fates) == len(set(fates))
    hits = {(hit.document_id, hit.chunk_index) for hit in case.query.retrieved}
    added = {
        (event.document_id, event.chunk_index) for record in done.trace.stages for event in record.events if isinstance(event, ev.Added)
    }
    empties = {(f.document_id, f.chunk_index) for f in done.trace.fates if f.reason == "empty"}
    assert hits | added <= set(fates) <= hits | added | empties
    rendered = {(s.document_id, s.chunk_index) for s in done.segments if s.kind == "chunk"}
    cited = {(c.document_id, index) for c in done.citations for index in c.chunk_indexes}
    for fate in done.trace.fates:
        key = (fate.document_id, fate.chunk_index)
        shown = fate.fate in ("kept", "truncated")
        assert shown == (key in rendered), fate
        assert (shown or fate.fate == "merged") == (key in cited), fate
        assert (fate.reason is None) == (fate.fate != "dropped"), fate
        if fate.fate == "duplicate_of":
            assert fate.of in cited
        if fate.fate == "merged":
            assert fate.of in rendered


@law(cases(), settings_(), LIMITS)
def test_a_duplicate_repeats_a_chunk_that_is_kept(case, chosen, limit):
    done = run(case, chosen, limit)
    by_key = {(f.document_id, f.chunk_index): f for f in done.trace.fates}
    for key, fate in by_key.items():
        if fate.fate == "duplicate_of":
            assert by_key[fate.of].fate in ("kept", "merged")
            texts = [" ".join(done.trace.candidates[k].chunk.text.split()) for k in (key, fate.of)]
            assert (texts[0] == texts[1]) >= (fate.likeness == "exact")
            assert 0 < fate.similarity <= 1


# 3 ------------------------------------------------------------------------------------------------------------------------


@law(cases(), settings_(compression="off"), LIMITS)
def test_no_character_is_lost_inside_a_passage(case, chosen, limit):
    done = run(case, chosen, limit)
    segments: dict[tuple[str, int], list] = {}
    for segment in done.segments:
        if segment.kind == "chunk":
            segments.setdefault((segment.document_id, segment.chunk_index), []).append(segment)
    for fate in done.trace.fates:
        key = (fate.document_id, fate.chunk_index)
        if fate.fate not in ("kept", "merged"):
            continue
        text = done.trace.candidates[key].chunk.text
        start = fate.stripped_chars
        own = "".join(text[s.chunk_start : s.chunk_end] for s in segments.get(key, []))
        assert own == text[start:]
        if start:
            shown = "".join(
                done.trace.candidates[s.document_id, s.chunk_index].chunk.text[s.chunk_start : s.chunk_end]
                for s in done.segments
                if s.kind == "chunk" and key in s.shared_with
            )
            assert shown == text[:start], (key, shown, text[:start])


# 4 ------------------------------------------------------------------------------------------------------------------------


def said(done: Assembly) -> dict[tuple[str, int], str]:
    """What the context holds of each chunk: what is shown of it, or all of it where another says the same."""
    held = {}
    for fate in done.trace.fates:
        key = (fate.document_id, fate.chunk_index)
        if fate.fate in ("kept", "merged", "duplicate_of"):
            held[key] = done.trace.candidates[key].chunk.text
        elif fate.fate == "truncated":
            ends = [s.chunk_end for s in done.segments if (s.document_id, s.chunk_index) == key and s.kind == "chunk"]
            held[key] = done.trace.candidates[key].chunk.text[: max(ends)]
    return held


@law(
    cases(),
    st.sampled_from(["drop_documents", "greedy"]).flatmap(
        lambda policy: settings_(budget_scope="rendered", oversized="trim", budget_policy=policy, **PLAIN)
    ),
    LIMITS,
    st.integers(1, 200),
)
def test_more_budget_never_loses_text(case, chosen, limit, more):
    small, large = said(run(case, chosen, limit)), said(run(case, chosen, limit + more))
    for key, text in small.items():
        assert key in large
        assert large[key].startswith(text)


@law(cases(), settings_(), st.integers(0, 2))
def test_a_larger_window_never_loses_a_hit_before_the_budget(case, chosen, window):
    hits = {(hit.document_id, hit.chunk_index) for hit in case.query.retrieved}
    present = []
    for width in (window, window + 1):
        fates = run(case, chosen.replace(expand_window=width), 10**9).trace.fates
        present.append({(f.document_id, f.chunk_index) for f in fates if f.fate != "dropped"} & hits)
    assert present[0] <= present[1]


# 5 ------------------------------------------------------------------------------------------------------------------------


@law(cases(), settings_(), LIMITS, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(case, chosen, limit, shuffler):
    first = run(case, chosen, limit).to_dict()
    hits = list(case.query.retrieved)
    shuffler.shuffle(hits)
    chunks = list(case.chunks)
    shuffler.shuffle(chunks)
    again = replace(case, chunks=tuple(chunks), query=replace(case.query, retrieved=tuple(hits)))
    second = run(again, chosen, limit).to_dict()
    assert json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


@law(cases(), settings_(), LIMITS)
def test_stored_facts_and_facts_found_on_the_fly_agree(case, chosen, limit):
    stored = run(case, chosen, limit)
    bare = run(replace(case, with_facts=False), chosen, limit)
    assert stored.text == bare.text
    assert stored.trace.fates == bare.trace.fates


@pytest.mark.system
def test_the_hash_seed_does_not_matter():
    program = (
        "import random\n"
        "from tests.fakes import FakeSource, FakeClock\n"
        "from ctxasm.model.records import *\n"
        "from ctxasm.model.settings import AssemblySettings\n"
        "from ctxasm.assembly.pipeline import assemble\n"
        "from ctxasm.text.tokens import open_counter\n"
        "r = random.Random(7)\n"
        "C = open_counter()\n"
        "chunks = [Chunk(f'd{d}', i, f'Tekst {r.randrange(6)} van de pagina. ' * 3) for d in range(9) for i in range(6)]\n"
        "hits = tuple(Hit(f'd{d}', i, 0.5) for d in range(9) for i in (1, 4))\n"
        "a = assemble(Query('q', hits), FakeSource([], chunks, C), AssemblySettings(), C, FakeClock())\n"
        "print(repr(a.to_dict()))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


# 6 ------------------------------------------------------------------------------------------------------------------------


@law(cases(), settings_(), LIMITS)
def test_markers_are_the_blocks_in_order(case, chosen, limit):
    done = run(case, chosen, limit)
    assert [citation.number for citation in done.citations] == list(range(1, len(done.citations) + 1))
    headers = [done.text[s.start : s.end] for s in done.segments if s.kind == "header"]
    if has_markers(chosen.format):
        assert [int(re.search(r"\d+", header)[0]) for header in headers] == [c.number for c in done.citations]
    for segment in done.segments:
        if segment.kind == "chunk":
            citation = done.citations[segment.block - 1]
            assert citation.document_id == segment.document_id
            assert segment.chunk_index in citation.chunk_indexes


@law(cases(), settings_(marker_collisions="neutralise", format="numbered"), LIMITS)
def test_source_text_forges_no_marker_and_no_header(case, chosen, limit):
    done = run(case, chosen, limit)
    for number in range(1, len(done.citations) + 1):
        parts = [s for s in done.segments if s.block == number]
        header, body = done.text[parts[0].start : parts[0].end], done.text[parts[0].end : parts[-1].end]
        assert find_marker_forms(header[len(f"[{number}] ") :]) == []
        assert find_marker_forms(body) == []
        assert find_forged_headers(body) == []
    assert len(find_forged_headers(done.text)) == len(done.citations)


# 7 and the explanation ----------------------------------------------------------------------------------------------------


def replay(before: tuple[Shown, ...], events: tuple[ev.Event, ...], lengths: dict[tuple[str, int], int]) -> dict[tuple[str, int], Shown]:
    """The state that the events turn `before` into (without the order)."""
    state = {(s.document_id, s.chunk_index): s for s in before}
    for event in events:
        match event:
            case ev.Added(document_id, index) | ev.Returned(document_id, index):
                state[document_id, index] = Shown(document_id, index, 0, lengths[document_id, index])
            case ev.Dropped(document_id, index) | ev.Duplicate(document_id, index):
                state.pop((document_id, index), None)
            case ev.Stripped(document_id, index, chars) | ev.Merged(document_id, index, chars):
                state[document_id, index] = state[document_id, index]._replace(start=chars)
            case ev.Unstripped(document_id, index, chars):
                was = state[document_id, index]
                state[document_id, index] = was._replace(start=was.start - chars)
            case ev.Compressed(document_id, index, _, _, kept):
                state[document_id, index] = Shown(document_id, index, 0, kept)
            case ev.Truncated(document_id, index, kept):
                state[document_id, index] = state[document_id, index]._replace(end=kept)
            case _:
                pass
    return state


@law(cases(), settings_(), LIMITS)
def test_events_applied_to_what_a_stage_was_given_yield_what_it_returned(case, chosen, limit):
    done = run(case, chosen, limit)
    lengths = {key: len(candidate.chunk.text) for key, candidate in done.trace.candidates.items()}
    for record in done.trace.stages:
        after = {(s.document_id, s.chunk_index): s for s in record.after}
        assert replay(record.before, record.events, lengths) == after, record.stage


@law(cases(), settings_(), LIMITS)
def test_documents_stand_in_the_places_that_events_gave_them(case, chosen, limit):
    done = run(case, chosen, limit)
    order: list[str] = []
    for record in done.trace.stages:
        placed = [event.document_id for event in record.events if isinstance(event, ev.Placed)]
        order = placed or order
        if record.stage in ("group", "compress", "budget"):
            there = list(dict.fromkeys(s.document_id for s in record.after))
            assert there == [document_id for document_id in order if document_id in there]


@law(cases(), settings_(budget_scope="rendered", **PLAIN), LIMITS)
def test_missing_tokens_are_the_smallest_limit_that_keeps_a_chunk(case, chosen, limit):
    done = run(case, chosen, limit)
    lacking = [fate for fate in done.trace.fates if fate.missing_tokens is not None]
    for fate in lacking[:4]:
        for more, wanted in ((fate.missing_tokens, True), (fate.missing_tokens - 1, False)):
            if limit + more < 1:
                continue
            again = {(f.document_id, f.chunk_index): f for f in run(case, chosen, limit + more).trace.fates}
            found = again[fate.document_id, fate.chunk_index]
            assert (found.fate != "dropped" or found.reason == "parent_duplicate") == wanted, (fate, more, found)
    for fate in done.trace.fates:
        if chosen.budget_policy not in ("drop_documents", "greedy"):
            # What a packing or a run lacks is no single number; for skipped chunks it is looked for, up to a point.
            continue
        if fate.fate == "dropped" and fate.reason in ("budget", "oversized", "no_room") and fate.missing_tokens is None:
            # Only where no limit would keep it: a neighbour that only a copy brought.
            without = {(f.document_id, f.chunk_index): f for f in run(case, chosen, 10**9).trace.fates}
            assert without[fate.document_id, fate.chunk_index].reason == "parent_duplicate", fate


@law(cases(), settings_(enabled=False), LIMITS)
def test_the_baseline_is_the_hits_in_retrieval_order(case, chosen, limit):
    done = run(case, chosen, limit)
    blocks = [(c.document_id, c.chunk_indexes) for c in done.citations]
    hits = [
        (s.document_id, (s.chunk_index,)) for s in done.trace.stages[0].before if (s.document_id, s.chunk_index) in done.trace.candidates
    ]
    assert blocks == hits
    assert all(segment.kind in ("header", "chunk", "separator") for segment in done.segments)
    assert {record.stage for record in done.trace.stages} == {"expand", "render", "cite"}


@law(cases(), settings_(), LIMITS)
def test_the_json_is_strict_and_complete(case, chosen, limit):
    done = json.loads(json.dumps(run(case, chosen, limit).to_dict(), allow_nan=False))
    assert {"query_id", "query", "settings", "text", "token_count", "exact", "encoding", "max_tokens", "segments", "citations"} <= set(done)
    assert {"citations_before_assembly", "stages", "fates", "fetch"} <= set(done)


@law(cases(), settings_(), LIMITS)
def test_one_fetch_however_many_hits(case, chosen, limit):
    source = case.source()
    assemble(case.query, source, chosen, COUNTER, FakeClock(), limit)
    assert len(source.asked) <= 1


@pytest.mark.parametrize(
    ("query", "word"),
    [
        (Query(""), "query"),
        (Query("  "), "query"),
        (Query("q", (Hit("d", 0, float("nan")),)), "score"),
        (Query("q", (Hit("d", 0, float("inf")),)), "score"),
        (Query("q", (Hit("d", 0, True),)), "score"),
        (Query("q", (Hit("d", -1, 1.0),)), "chunk_index"),
        (Query("q", (Hit("d", 1.5, 1.0),)), "chunk_index"),
        (Query("q", (Hit("d", 0, 1.0, 0),)), "rank"),
        (Query("q", (Hit("", 0, 1.0),)), "document_id"),
    ],
)
def test_an_unusable_query_is_refused_by_name(query, word):
    from tests.fakes import FakeSource

    with pytest.raises(InvalidInput, match=word):
        assemble(query, FakeSource([Document("d")], [], COUNTER), AssemblySettings(), COUNTER)


def test_zero_hits_is_a_valid_assembly():
    from tests.fakes import FakeSource

    done = assemble(Query("q"), FakeSource([], [], COUNTER), AssemblySettings(), COUNTER)
    assert (done.text, done.token_count, done.citations, done.trace.fates) == ("", 0, (), ())
