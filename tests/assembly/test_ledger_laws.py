"""One ledger for every policy: fates, what is missing, and what is cited beside a chunk follow from what is shown."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.stages import OVER
from ctxasm.model import events as ev
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.model.settings import AssemblySettings
from tests.assembly.test_promises import law, run
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER, LIMITS, cases, crowded, settings_

POLICIES = ("drop_documents", "greedy", "greedy_skip", "pack", "segments", "learned")
SINGLE = ("pack", "segments", "learned")
"""What a packing or a run lacks is no single number."""
WHOLE = ("kept", "merged")
RENDERED = ("kept", "merged", "truncated")
PRESENT = (*RENDERED, "duplicate_of")


CASES = st.one_of(cases(), crowded(), crowded())


def ledger(done: Assembly) -> dict[Key, Fate]:
    return {(fate.document_id, fate.chunk_index): fate for fate in done.trace.fates}


def said_by(done: Assembly, key: Key) -> str:
    """The text of a candidate as duplicates are told by."""
    return " ".join(done.trace.candidates[key].chunk.text.split())


@law(CASES, settings_(dedup_exact=True, compression="off"), LIMITS)
def test_an_exact_copy_of_shown_text_is_a_duplicate_and_cited_beside_it(case, chosen, limit):
    done = run(case, chosen, limit)
    fates = ledger(done)
    shown = {said_by(done, key): key for key, fate in fates.items() if fate.fate in WHOLE and fate.likeness is None}
    cited = {key: citation for citation in done.citations for key in citation.also_in}
    for key, fate in fates.items():
        if key in done.trace.candidates and fate.fate not in RENDERED and said_by(done, key) in shown:
            assert fate.fate == "duplicate_of", (fate, shown[said_by(done, key)])
        if fate.fate == "duplicate_of":
            assert fates[fate.of].fate in WHOLE
            assert cited[key].document_id == fate.of[0]
            assert fate.of[1] in cited[key].chunk_indexes
            assert cited[key].number == fate.block
    assert set(cited) == {key for key, fate in fates.items() if fate.fate == "duplicate_of"}


@law(CASES, settings_(), LIMITS)
def test_what_a_chunk_lacks_is_true_or_not_said(case, chosen, limit):
    done = run(case, chosen, limit)
    lacking = [fate for fate in done.trace.fates if fate.missing_tokens is not None]
    assert chosen.budget_policy not in SINGLE or not lacking
    for fate in lacking[:6]:
        assert fate.fate == "dropped"
        assert fate.missing_tokens > 0
        for more, there in ((fate.missing_tokens, True), (fate.missing_tokens - 1, False)):
            found = ledger(run(case, chosen, limit + more))[fate.document_id, fate.chunk_index]
            assert (found.fate in PRESENT) == there, (fate, more, found)


@law(CASES, settings_(), LIMITS)
def test_no_document_lacks_more_than_a_limit_can_give(case, chosen, limit):
    done = run(case, chosen, limit)
    for size in done.trace.sizes:
        assert size.missing_tokens is None or 0 < size.missing_tokens < OVER - limit
        assert not (size.kept and chosen.oversized == "drop" and size.missing_tokens is not None)


@law(CASES, settings_(), LIMITS)
def test_a_neighbour_is_left_out_with_its_parents_only_where_what_is_shown_repeats_them(case, chosen, limit):
    fates = ledger(run(case, chosen, limit))
    for fate in fates.values():
        if fate.reason == "parent_duplicate":
            assert fate.parents
            for parent in fate.parents:
                assert fates[fate.document_id, parent].fate == "duplicate_of", (fate, fates[fate.document_id, parent])


@law(CASES, settings_(), LIMITS)
def test_every_dropped_chunk_has_its_tokens(case, chosen, limit):
    done = run(case, chosen, limit)
    texts = {(chunk.document_id, chunk.chunk_index): chunk.text for chunk in case.chunks}
    for key, fate in ledger(done).items():
        if fate.reason == "missing":
            assert fate.tokens == 0
            assert key not in texts
        elif fate.reason is not None:
            # A hit beyond the first or below the floor need not be stored.
            assert fate.tokens == COUNTER.count(texts.get(key, "")), fate


@law(CASES, settings_(enabled=False, relevance_floor=None), LIMITS, st.sampled_from([-1.0, 0.4, 0.6, 25.0]))
def test_the_baseline_knows_no_floor(case, chosen, limit, floor):
    one, other = run(case, chosen, limit), run(case, chosen.replace(relevance_floor=floor), limit)
    assert (one.text, one.citations, one.trace.fates) == (other.text, other.citations, other.trace.fates)


@law(CASES, settings_(), LIMITS)
def test_no_stage_after_the_grouping_sorts_the_documents_again(case, chosen, limit):
    done = run(case, chosen, limit)
    grouped = done.trace.stage("group")
    order = {event.document_id: event.position for event in grouped.events} if grouped else {}
    for record in done.trace.stages:
        if record.stage in ("group", "compress", "budget"):
            places = [order.get(each.document_id, len(order) + 1) for each in record.after]
            assert places == sorted(places), (record.stage, record.after, order)
    if chosen.enabled and chosen.ordering == "document_first":
        cited = [order.get(citation.document_id, len(order) + 1) for citation in done.citations]
        assert cited == sorted(cited)


@law(CASES, settings_(compression="off"), LIMITS)
def test_what_the_budget_says_of_a_chunk_is_its_fate(case, chosen, limit):
    done = run(case, chosen, limit)
    fates = ledger(done)
    record = done.trace.stage("budget")
    for event in record.events if record else ():
        match event:
            case ev.Dropped(document_id, index, reason, missing):
                fate = fates[document_id, index]
                assert (fate.fate, fate.reason, fate.missing_tokens) == ("dropped", reason, missing)
            case ev.Duplicate(document_id, index, of_document_id, of_index):
                fate = fates[document_id, index]
                assert (fate.fate, fate.of) == ("duplicate_of", (of_document_id, of_index))


BODY = "The clinic is open on weekdays from nine to five and closed on public holidays. "


def policy_run(policy: str, hits: tuple[Hit, ...], chunks: list[Chunk], limit: int, **settings: object) -> Assembly:
    documents = [Document(name, name) for name in dict.fromkeys(chunk.document_id for chunk in chunks)]
    chosen = replace(AssemblySettings(expand_window=0, min_chunk_tokens=0, budget_policy=policy), **settings)
    return assemble(Query("q", hits), FakeSource(documents, chunks, COUNTER), chosen, COUNTER, FakeClock(), limit)


def test_a_copy_in_a_document_that_is_trimmed_away_is_cited_beside_what_is_shown():
    chunks = [Chunk("a", i, f"{name} {BODY * 4}") for i, name in enumerate(("one", "two", "three"))]
    chunks.append(Chunk("b", 0, chunks[0].text))
    hits = (Hit("a", 0, 0.9), Hit("a", 1, 0.8), Hit("a", 2, 0.7), Hit("b", 0, 0.6))
    for policy in POLICIES:
        done = policy_run(policy, hits, chunks, 100)
        fate = ledger(done)["b", 0]
        assert (fate.fate, fate.of) == ("duplicate_of", ("a", 0)), policy
        assert done.citations[0].also_in == (("b", 0),)


def test_what_the_floor_and_the_first_hits_leave_out_has_its_tokens():
    chunks = [Chunk("a", i, f"{i} {BODY}") for i in (0, 3, 6)]
    hits = (Hit("a", 0, 0.9), Hit("a", 3, 0.8), Hit("a", 6, 0.1))
    done = policy_run("drop_documents", hits, chunks, 8000, top_k=1, relevance_floor=0.5)
    lost = {fate.chunk_index: (fate.reason, fate.tokens) for fate in done.trace.fates if fate.fate == "dropped"}
    assert lost == {3: ("top_k", COUNTER.count(chunks[1].text)), 6: ("floor", COUNTER.count(chunks[2].text))}


def test_skipping_does_not_put_a_document_before_a_better_one():
    chunks = [
        Chunk("a", 0, f"first {BODY * 9}"),
        Chunk("a", 1, f"last {BODY}"),
        Chunk("b", 0, f"other {BODY}"),
        Chunk("c", 0, f"best {BODY}"),
    ]
    hits = (Hit("c", 0, 0.95), Hit("a", 0, 0.9), Hit("b", 0, 0.8), Hit("a", 1, 0.7))
    done = policy_run("greedy_skip", hits, chunks, 100)
    assert [citation.document_id for citation in done.citations] == ["c", "a", "b"]
