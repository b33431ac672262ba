"""What the pages draw, as data: everything adds up, for every corpus and setting that Hypothesis finds."""

from __future__ import annotations

import dataclasses
import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxasm.app.fates import SENT, steps
from ctxasm.app.ui.context_marks import runs
from ctxasm.app.ui.frame.browser import said_clicks
from ctxasm.app.ui.inspect.budget import summaries_html, token_axis
from ctxasm.app.ui.inspect.budget_bar import Bar, budget_bar, shown_axis
from ctxasm.app.ui.inspect.change import ledger
from ctxasm.app.ui.inspect.chunks import chunk_life, chunk_map, chunk_map_html, hit_rows, hit_words, hits_html, methods_of
from ctxasm.app.ui.inspect.copies import copies, overlap_pairs, seam_html, seams_html
from ctxasm.app.ui.inspect.order import LEAST_BUNDLE, Thread, ThreadBundle, bundles_html, citation_shift, grouping
from ctxasm.app.ui.inspect.page import PICTURES, time_html
from ctxasm.app.ui.markup import Expected, pick_of, picked_key, picked_text
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.events import stage_name
from ctxasm.model.records import Chunk, Hit, Query
from ctxasm.model.settings import AssemblySettings
from tests.app.ui.builders import HOSTILE, assembled, empty
from tests.app.ui.test_html import Page
from tests.examples import examples
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER, LIMITS, Case, cases, settings_

quiet = [HealthCheck.filter_too_much]
law = settings(max_examples=examples(40), suppress_health_check=quiet)


@pytest.mark.parametrize(("axis", "shown"), [(3990, 3990), (4000, 4000), (4200, 4200), (4201, 4000), (9000, 4000)])
def test_a_bar_ends_at_twice_its_limit_unless_little_lies_beyond(axis, shown):
    assert shown_axis(Bar((), 1900, 2000, axis)) == shown


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
    points = {(fate.document_id, fate.chunk_index) for row in chunk_map(done).rows for fate in row}
    for fate in done.trace.fates:
        key = (fate.document_id, fate.chunk_index)
        steps = chunk_life(done, key)
        assert key in points
        assert len(steps) == len(done.trace.stages) + 2
        assert (steps[-1].look == "gone") == (fate.fate not in SENT)


def test_the_funnel_says_what_every_stage_left():
    shown = {step.name: step for step in steps(assembled())}
    assert list(shown) == ["found", "widened", "repeats", "grouped", "fits", "prefixed", "sources"]
    assert [shown[name].value for name in ("found", "widened", "grouped", "sources")] == ["6", "11", "3", "3"]
    assert shown["sources"].tokens == assembled().token_count
    assert "neighbour" in shown["widened"].does


@pytest.mark.parametrize(
    ("settings", "there", "gone"),
    [
        ({"enabled": False}, {"found", "widened", "sources"}, {"repeats", "grouped", "fits", "prefixed"}),
        ({"ordering": "bookend"}, {"ordered"}, {"shortened"}),
        ({"compression": "extractive"}, {"shortened"}, {"ordered"}),
    ],
)
def test_the_funnel_has_the_steps_that_are_on(settings, there, gone):
    names = {step.name for step in steps(assembled(**settings))}
    assert there <= names
    assert not gone & names


@law
@given(cases(), settings_(), LIMITS)
def test_the_funnel_ends_with_what_is_sent(case: Case, chosen, limit):
    done = assemble(case.query, case.source(), chosen, COUNTER, FakeClock(), limit)
    shown = steps(done)
    assert (shown[-1].tokens, shown[-1].value) == (done.token_count, str(len(done.citations)))
    assert {step.name for step in shown} <= set(PICTURES)


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
    pairs = overlap_pairs(assembled(offsets=False, min_overlap_chars=100))
    assert {pair.verdict for pair in pairs} == {"below", "none"}
    assert {pair.verdict for pair in overlap_pairs(assembled(min_overlap_chars=100))} == {"stripped", "none"}


def test_a_seam_behind_a_header_shows_the_header_on_one_side_only():
    header, (one, shared, two) = "# Rules\n", (f"{word} is told in a sentence of its own. " for word in ("This", "That", "Much"))
    chunks = [Chunk("a", 0, header + one * 2 + shared), Chunk("a", 1, header + shared + two)]
    query = Query("?", (Hit("a", 0, 1.0), Hit("a", 1, 0.9)))
    (pair,) = overlap_pairs(assemble(query, FakeSource([], chunks, COUNTER), AssemblySettings(), COUNTER, FakeClock()))
    assert (pair.verdict, pair.chars, pair.header, pair.head, pair.rest) == ("stripped", len(header + shared), 8, header + shared, two)
    assert f"{one}<mark>{shared}</mark></p><p" in seam_html(pair, 20)
    assert f"<del>{header}{shared}</del>{two}" in seam_html(pair, 20)


def test_copies_name_both_places():
    assert [(copy.copy, copy.kept, copy.returned) for copy in copies(assembled())] == [(("park", 0), ("visit", 9), False)]


def test_every_hit_goes_to_one_document():
    threads, bundles = grouping(assembled())
    assert sorted(index for bundle in bundles for index in bundle.threads) == list(range(len(threads))) == list(range(6))
    assert {bundle.kind for bundle in bundles} == {"found"}
    assert "gone" in {bundle.kind for bundle in grouping(assembled(limit=230))[1]}


def test_sixty_documents_are_drawn_close_and_whole():
    threads = [Thread(str(n), f"hit {n}", "found", (f"d{n}", 0)) for n in range(60)]
    bundles = [ThreadBundle(str(n + 1), f"Document {n}", "", "found", (59 - n,)) for n in range(60)]
    drawn = bundles_html(threads, bundles, "rank", "documents", "60 hits")
    assert 'class="cx-bundles compact"' in drawn
    height = int(re.search(r"height:(\d+)px\" data-threads", drawn).group(1))
    tops = [int(top) for top in re.findall(r'class="cx-bundle found" style="top:(\d+)px', drawn)]
    assert tops == sorted(set(tops))
    assert len(tops) == 60
    assert tops[-1] + LEAST_BUNDLE <= height


def test_citation_shift_finds_the_numbers_that_would_be_wrong():
    shifts = citation_shift(assembled())
    assert [shift.before for shift in shifts] == list(range(1, len(shifts) + 1))
    assert any(shift.wrong for shift in shifts)
    assert not shifts[0].wrong


def test_summaries_are_listed_once_per_document():
    assert re.findall(r'data-at="([^"]+)"', summaries_html(assembled())) == ["[&quot;visit&quot;]", "[&quot;park&quot;]"]


def test_every_stage_has_its_time():
    done = assembled()
    assert re.findall(r"<td[^>]*>([A-Z][\w ]+)</td>", time_html(done)) == [stage_name(stage.stage) for stage in done.trace.stages]
    assert f"<b>{sum(stage.elapsed_ms for stage in done.trace.stages):.2f}</b>" in time_html(done)


@pytest.mark.parametrize("rows", [budget_bar, chunk_map, overlap_pairs, copies, grouping, citation_shift, steps, token_axis, runs, ledger])
def test_zero_hits_are_drawn_as_nothing(rows):
    assert rows(empty()) is not None
    assert ledger(empty()).balances


def test_the_map_has_a_square_for_every_candidate_that_names_it():
    done = assembled()
    page = Page(chunk_map_html(chunk_map(done), Expected()))
    cells, document = {}, ""
    for tag, attrs in page.tags:
        document = attrs.get("data-document") or document
        if tag == "button":
            cells[document, int(attrs["data-chunk"])] = attrs
    assert sorted(cells) == sorted((f.document_id, f.chunk_index) for f in done.trace.fates)
    for fate in done.trace.fates:
        look = cells[fate.document_id, fate.chunk_index]["class"]
        assert ("k-retrieved" in look) is fate.retrieved
    assert any(": neighbour of #" in attrs["title"] for attrs in cells.values())


def test_a_break_stands_where_a_document_goes_on_unread():
    page = Page(chunk_map_html(chunk_map(assembled()), Expected()))
    titles = [attrs.get("title", "") for _, attrs in page.tags if attrs.get("class") == "cx-break"]
    assert any("not read" in title for title in titles)


def test_seams_show_what_both_sides_share_and_near_misses_come_first():
    drawn = seams_html(overlap_pairs(assembled(offsets=False, min_overlap_chars=100)), 100)
    page = Page(drawn)
    verdicts = [attrs["data-verdict"] for _, attrs in page.tags if "data-verdict" in attrs]
    assert verdicts == sorted(verdicts, key=["below", "none"].index)
    assert "near miss, kept" in page.text
    assert "<del>" not in drawn
    assert "<del>" in seams_html(overlap_pairs(assembled()), 20)


def test_a_click_names_its_chunk_whatever_it_is_called():
    attributes = dict(Page(f"<i {pick_of((HOSTILE, 3))}></i>").tags[0][1])
    assert picked_key(attributes["data-pick"]) == (HOSTILE, 3)
    for said in ("", "{", "[1]", '["a"]', '["a", "b"]', "1", "[" * 100_000):
        assert picked_key(said) is None
        assert picked_text(said) is None


@pytest.mark.parametrize("picked", [None, 7, "ab", [1], [[1]], [[1, 5]], [["1", "a"]], [[True, "a"]], [None], {"1": "a"}])
def test_only_what_a_page_can_say_is_heard(picked):
    assert said_clicks(picked) == []


def test_clicks_are_heard_in_their_order():
    assert said_clicks([[1, "a"], [2], [3, "b"]]) == [(1, "a"), (3, "b")]


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
