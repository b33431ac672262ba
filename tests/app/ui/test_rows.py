"""What the pages draw, as data: everything adds up, for every corpus and setting that Hypothesis finds."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings

from ctxasm.app.ui.inspect.accounting import ledger
from ctxasm.app.ui.inspect.budget_bar import budget_bar, header_figures, token_axis
from ctxasm.app.ui.inspect.copies import copies
from ctxasm.app.ui.inspect.deduplicate import overlap_pairs
from ctxasm.app.ui.inspect.elapsed import latencies
from ctxasm.app.ui.inspect.expand import chunk_map
from ctxasm.app.ui.inspect.group import citation_shift, slope
from ctxasm.app.ui.inspect.life import chunk_life
from ctxasm.app.ui.inspect.prefixes import prefixes
from ctxasm.app.ui.widgets.context_marks import runs
from ctxasm.app.ui.widgets.fates import SENT
from ctxasm.assembly.pipeline import assemble
from tests.app.ui.builders import assembled, empty
from tests.examples import examples
from tests.fakes import FakeClock
from tests.strategies import COUNTER, LIMITS, Case, cases, settings_

quiet = [HealthCheck.filter_too_much]
law = settings(max_examples=examples(40), suppress_health_check=quiet)


@law
@given(cases(), settings_(), LIMITS)
def test_the_accounting_line_balances(case: Case, chosen, limit):
    account = ledger(assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit))
    assert account.balances, account


@law
@given(cases(), settings_(enabled=False), LIMITS)
def test_the_accounting_line_balances_without_assembly(case: Case, chosen, limit):
    account = ledger(assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit))
    assert account.balances, account


@law
@given(cases(), settings_(), LIMITS)
def test_the_bar_shows_every_token_and_every_dropped_chunk(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    bar = budget_bar(done)
    assert sum(document.tokens for document in bar.kept) == done.token_count == bar.used
    assert bar.axis >= bar.limit
    shown = {(d.document_id, part.chunk_index) for d in bar.dropped for part in d.parts}
    assert shown == {(f.document_id, f.chunk_index) for f in done.trace.fates if f.fate == "dropped" and f.stage == "budget"}


@law
@given(cases(), settings_(oversized="trim", budget_scope="rendered", budget_policy="drop_documents"), LIMITS)
def test_what_is_kept_is_a_prefix_of_the_documents(case: Case, chosen, limit):
    """Under the default policy: the documents of the bar that are kept are the first ones of the order."""
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    states = [size.kept for size in done.trace.sizes]
    assert states == sorted(states, reverse=True)


@law
@given(cases(), settings_(), LIMITS)
def test_runs_join_to_the_text_and_the_axis_ends_at_its_tokens(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    assert "".join(run.text for run in runs(done)) == done.text
    axis = token_axis(done)
    assert (axis[-1].end if axis else 0) == done.token_count
    assert all(before.end == after.start for before, after in pairwise(axis))


@law
@given(cases(), settings_(), LIMITS)
def test_every_candidate_has_a_life_and_a_place_on_the_map(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    points = {(point.document_id, point.chunk_index) for point in chunk_map(done).points}
    for fate in done.trace.fates:
        key = (fate.document_id, fate.chunk_index)
        steps = chunk_life(done, key)
        assert key in points
        assert len(steps) == len(done.trace.stages) + 2
        assert (steps[-1].look == "gone") == (fate.fate not in SENT)


def test_the_header_says_what_happened():
    figures = {figure.name: (figure.value, figure.note) for figure in header_figures(assembled())}
    assert figures["retrieved"] == (6, "chunks")
    assert figures["expanded"] == (11, "+5")
    assert figures["documents"] == (3, "of 3")
    assert figures["tokens"][1].endswith(" left")


def test_a_dropped_document_says_what_it_needs():
    done = assembled(limit=230)
    gone = budget_bar(done).dropped
    assert gone
    for document in gone:
        assert document.missing_tokens is not None
        more = assembled(limit=230 + document.missing_tokens)
        assert document.document_id in {segment.document_id for segment in more.segments}


def test_overlap_pairs_show_the_same_text_on_both_sides():
    pairs = {(pair.document_id, pair.second): pair for pair in overlap_pairs(assembled())}
    stripped = pairs["scan", 1]
    assert (stripped.verdict, stripped.chars) == ("stripped", 40)
    texts = assembled().trace.candidates
    assert texts["scan", 0].chunk.text.endswith(stripped.tail + stripped.head)
    assert texts["scan", 1].chunk.text.startswith(stripped.head + stripped.rest)


def test_overlap_below_the_threshold_is_shown_as_kept():
    pairs = overlap_pairs(assembled(min_overlap_chars=100))
    assert {pair.verdict for pair in pairs} == {"below", "none"}


def test_copies_name_both_places():
    assert [(copy.copy, copy.kept, copy.returned) for copy in copies(assembled())] == [(("park", 0), ("visit", 9), False)]


def test_the_slope_is_by_chunk_for_few_and_by_document_for_many():
    few, many = slope(assembled()), slope(assembled(expand_window=3))
    assert {line.chunk_index for line in few} != {None}
    assert sorted(line.by_score for line in few) == list(range(1, 12))
    assert len(few) <= 15
    assert len(many) <= 15 or {line.chunk_index for line in many} == {None}


def test_citation_shift_finds_the_numbers_that_would_be_wrong():
    shifts = citation_shift(assembled())
    assert [shift.before for shift in shifts] == list(range(1, len(shifts) + 1))
    assert any(shift.wrong for shift in shifts)
    assert not shifts[0].wrong


def test_prefixes_are_listed_once_per_document():
    rows = prefixes(assembled())
    assert sorted(row.document_id for row in rows) == ["park", "visit"]
    assert all(row.tokens > 0 for row in rows)


def test_latency_stands_beside_the_published_figures():
    rows = {row.stage: row for row in latencies(assembled())}
    assert {name: rows[name].published_ms for name in ("expand", "deduplicate", "group", "budget")} == {
        "expand": 40.0,
        "deduplicate": 5.0,
        "group": 2.0,
        "budget": 15.0,
    }
    assert rows["render"].published_ms is None


@pytest.mark.parametrize("rows", [budget_bar, chunk_map, overlap_pairs, copies, slope, citation_shift, prefixes, token_axis, runs, ledger])
def test_zero_hits_are_drawn_as_nothing(rows):
    assert rows(empty()) is not None
    assert ledger(empty()).balances
