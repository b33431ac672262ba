"""What holds for every policy, order and format, as laws over random corpora."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st

from ctxasm.assembly.chunk_sets import ChunkSet, Repeats, by_standing, fill, in_sequence
from ctxasm.assembly.deduplicate import by_document, deduplicate
from ctxasm.assembly.expand import expand
from ctxasm.assembly.measure import EDGES, Scales
from ctxasm.assembly.order import ORDERINGS
from ctxasm.assembly.stages import NO_RELATIONS, Found, Grouped, RankedHits, Resolution, group
from ctxasm.model import events as ev
from ctxasm.model.ports import Fetched, Window
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly, Candidate
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.tokens import open_counter
from tests.assembly.test_promises import PLAIN, law, run
from tests.fakes import FakeSource
from tests.strategies import LIMITS, Case, cases, settings_

PLENTY = 10**9
PRESENT = ("kept", "truncated", "merged", "duplicate_of")
ALONE = {"dedup_exact": False, "dedup_near": False, "min_chunk_tokens": 0, "budget_scope": "rendered", **PLAIN}
"""Every chunk speaks for itself."""


def present(done: Assembly) -> set[tuple[str, int]]:
    return {(f.document_id, f.chunk_index) for f in done.trace.fates if f.fate in PRESENT}


@law(cases(), settings_(), st.sampled_from(["cl100k_base", "o200k_base", "p50k_base", "r50k_base"]), st.randoms(use_true_random=False))
def test_blocks_are_measured_as_they_are_written(case, chosen, encoding, shuffler):
    counter = open_counter(encoding)
    windows = [Window(document.document_id, 0, 99) for document in case.documents]
    fetched = FakeSource(case.documents, case.chunks, counter, case.with_facts).fetch(windows, encoding)
    found = [Candidate(chunk, True, shuffler.random(), 1 + at) for at, chunk in enumerate(fetched.chunks) if shuffler.random() < 0.7]
    own = by_document(found)
    documents = {document.document_id: document for document in case.documents}
    brought = Found(RankedHits(()), 0, Fetched((), documents, 0, 0, 0.0), documents, {}, {c.key: c for c in found}, {})
    grouped = Grouped(brought, NO_RELATIONS, own, Resolution((), {}, {}, frozenset(), {}, {}), tuple(own))

    def scales():
        return Scales(grouped, chosen, counter, 500)

    measuring = scales()
    plans = [measuring.planned(document_id, tuple(each)) for document_id, each in own.items()]
    # Every set that grows by a document is measured, as a policy does it, before the whole is held to the written text.
    for count in range(1, len(plans) + 1):
        blocks = measuring.blocks(plans[:count])
        ends = measuring.renderer.ends(blocks)
        written = scales().renderer.write(blocks)
        assert ends[-1] == written.size
        assert written.size.tokens == counter.count(written.text)
        if chosen.budget_scope == "rendered" and chosen.max_chars is None:
            assert all(scales().renderer.ends_after(blocks, ends[:known]) == ends for known in range(len(ends) + 1))
        assert [end.tokens for end in ends[:-1]] == [counter.count(scales().renderer.write(blocks[:n]).text) for n in range(1, len(blocks))]


@law(
    cases(),
    st.one_of(settings_(), settings_(ordering="document_first", citation_unit="document", budget_scope="rendered", max_chars=None)),
    st.integers(1, 400),
    st.integers(1, 30),
    st.sampled_from(["cl100k_base", "o200k_base", "p50k_base", "r50k_base"]),
    st.sampled_from([AssemblySettings().gap_mark, "(what stood here in between was left out of it) " * 3]),
)
def test_chunks_tried_together_or_not_counted_are_those_that_fit_one_by_one(case, chosen, limit, least, encoding, gap):
    chosen, counter = replace(chosen, min_chunk_tokens=least, gap_mark=gap), open_counter(encoding)
    source = FakeSource(case.documents, case.chunks, counter, case.with_facts)
    grouped = group(deduplicate(expand(case.query, source, chosen, counter), chosen, None))

    def scales():
        return Scales(grouped, chosen, counter, limit)

    sequence = in_sequence(scales())
    assume(sequence)
    together, repeats = ChunkSet(scales()), Repeats(scales())
    fill(together, [[each] for each in sequence], limit, lambda each: repeats.takes(each[0], together))
    one, every = ChunkSet(scales()), ChunkSet(scales())
    repeats = Repeats(scales())
    for candidate in sequence:
        size, before = every.size(), dict(every._unchanged)
        every.add(candidate)
        # What is not counted comes to no less than is said, and what is counted only with the next to hardly more than with it.
        assert every._at_least(size, before, [candidate]) <= every.size()
        assert not scales().adds_up or size <= every.size() + EDGES
        if not repeats.takes(candidate, one):
            one.add(candidate)
            if one.size() > limit:
                one.drop(candidate)
    assert together.keys() == one.keys()
    assert together.size() == one.size() == scales().budgeted(one.plans())


@law(
    cases(),
    st.sampled_from(["greedy", "greedy_skip", "pack", "segments", "learned"]).flatmap(
        lambda policy: settings_(budget_policy=policy, compression="off", citation_unit="document")
    ),
    st.integers(0, 40),
    LIMITS,
)
def test_no_small_chunk_is_missing_between_two_that_are_shown(case, chosen, least, limit):
    done = run(case, replace(chosen, min_chunk_tokens=least), limit)
    whole = {(f.document_id, f.chunk_index) for f in done.trace.fates if f.fate in ("kept", "merged")}
    small = [(f.document_id, f.chunk_index) for f in done.trace.fates if f.reason == "degenerate"]
    assert not [(name, index) for name, index in small if {(name, index - 1), (name, index + 1)} <= whole]


@law(
    cases(),
    st.sampled_from(["greedy", "greedy_skip", "pack", "segments", "learned", "drop_documents"]).flatmap(
        lambda policy: settings_(budget_policy=policy, budget_scope="rendered", oversized="trim", dedup_keep="best")
    ),
    st.integers(40, 400),
)
def test_the_best_chunk_is_always_there(case, chosen, limit):
    done = run(case, chosen, limit)
    candidates = done.trace.candidates.values()
    hits = [candidate for candidate in candidates if candidate.retrieved]
    assume(hits)
    best = by_standing(candidates)[0]
    if chosen.budget_policy in ("pack", "segments", "learned"):
        best = min(hits, key=lambda c: (c.rank, -c.score, *c.key))
    fate = next(f for f in done.trace.fates if (f.document_id, f.chunk_index) == best.key)
    assert fate.fate in PRESENT or fate.reason == "no_room", fate
    assert bool(done.text) or limit < 60


@law(cases(), settings_(budget_policy="greedy", **ALONE), LIMITS)
def test_greedy_keeps_a_head_of_the_sequence(case, chosen, limit):
    done = run(case, chosen, limit)
    kept = present(done)
    assert kept == {c.key for c in by_standing(done.trace.candidates.values())[: len(kept)]}
    assert sum(f.fate == "truncated" for f in done.trace.fates) <= 1


@law(cases(), settings_(budget_policy="greedy_skip", ordering="document_first", **ALONE), LIMITS)
def test_greedy_skip_keeps_at_least_the_head_that_fits(case, chosen, limit):
    skipping, greedy = run(case, chosen, limit), run(case, chosen.replace(budget_policy="greedy"), limit)
    whole = {(f.document_id, f.chunk_index) for f in greedy.trace.fates if f.fate in ("kept", "merged")}
    assert whole <= present(skipping)


@law(cases(), settings_(budget_policy="pack", pack_unit="document", top_k=None, relevance_floor=None, **ALONE), LIMITS)
def test_pack_is_worth_no_less_than_any_document_that_fits_beside_the_best_hit(case, chosen, limit):
    done = run(case, chosen, limit)
    hits = [candidate for candidate in done.trace.candidates.values() if candidate.retrieved]
    assume(hits)
    best = min(hits, key=lambda c: (c.rank, -c.score, *c.key))
    names = {c.chunk.document_id for c in hits} - {best.chunk.document_id}
    ranks = {c.key: c.rank for c in hits}
    reasons: dict[str, set[str | None]] = {}
    for fate in done.trace.fates:
        reasons.setdefault(fate.document_id, set()).add(fate.reason)
    for name in names:
        pair = {best.chunk.document_id, name}
        own = [
            replace(hit, rank=ranks[hit.document_id, hit.chunk_index])
            for hit in case.query.retrieved
            if hit.document_id in pair and (hit.document_id, hit.chunk_index) in ranks
        ]
        two = run(replace(case, query=replace(case.query, retrieved=tuple(own))), chosen, limit)
        # What is not there to be shown does not say that the rest did not fit.
        fits = all(f.fate in ("kept", "merged") or f.reason in ("empty", "missing") for f in two.trace.fates)
        assert ("budget" if fits else "outbid") not in reasons[name]
        if fits:
            worth = sum(1 / (chosen.pack_k + ranks[key]) for key in present(two) if key in ranks)
            assert done.trace.regret.kept >= worth - 1e-9, (name, done.trace.regret)


def test_packing_gives_up_the_document_that_is_worth_least_where_one_too_many_was_taken():
    """Alone the three add up to the limit, together they take two tokens more; the poorest for its tokens is not the poorest."""
    texts = {"d0": "De arts", "d1": "D", "d2": "D"}
    hits = (Hit("d2", 0, 3.0, 1), Hit("d0", 0, 2.0, 2), Hit("d1", 0, 1.0, 3))
    chunks = tuple(Chunk(name, 0, text, 0, len(text)) for name, text in texts.items())
    case = Case(tuple(map(Document, texts)), chunks, texts, Query("Arts?", hits), False)
    chosen = AssemblySettings(budget_policy="pack", pack_unit="document", format="grouped", **{**ALONE, "expand_window": 0})
    alone = [run(replace(case, query=Query("Arts?", (hit,))), chosen).token_count for hit in hits]
    assert sum(alone) == 16 < run(case, chosen).token_count
    done = run(case, chosen, 16)
    assert {f.document_id for f in done.trace.fates if f.fate == "kept"} == {"d0", "d2"}
    assert done.token_count <= 16


@law(cases(), settings_(compression="off", max_chars=None), st.sampled_from(["document_first", "chronological", *ORDERINGS]))
def test_where_everything_fits_the_order_changes_nothing_that_is_chosen(case, chosen, ordering):
    one, other = run(case, chosen.replace(ordering="document_first"), PLENTY), run(case, chosen.replace(ordering=ordering), PLENTY)
    assert present(one) == present(other)
    places = [event for record in other.trace.stages if record.stage == "order" for event in record.events if isinstance(event, ev.Ordered)]
    assert [event.position for event in places] == list(range(1, len(other.citations) + 1))
    standing = {(s.document_id, s.chunk_index) for s in one.trace.stages[-3].after}
    assert standing == {(s.document_id, s.chunk_index) for s in other.trace.stages[-3].after}
