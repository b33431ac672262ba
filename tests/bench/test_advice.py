"""What the advisor is worth on questions whose evidence it is not shown: `pytest -m bench -s tests/bench/test_advice.py`.

The first piece of advice is applied blind; the evidence then says whether the context holds more of it. Both halves of the
questions are reported; thresholds of the rules were looked at on both.

Then what it buys to give only advice that helps other questions: it is counted on the questions of one half, and applied to the other.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.memory import MemoryDataset, MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.advice import Advice, advise
from ctxasm.tuning.advice_set import SetEffect
from ctxasm.tuning.evidence import evidence_documents, evidence_states
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="no folder of real bundles")]
LIMITS = (1000, 2000, 4000)
HITS = 10
MOST = 60
COUNTER = open_counter()


class Tried(NamedTuple):
    """One question: whether all its evidence was in the context before and after, the time of the advice (ms), and its rule."""

    half: int
    before: bool
    after: bool
    elapsed_ms: float
    rule: str


def questions(name: str) -> list[Query]:
    """At most `MOST` of a corpus, by a digest of their ids, with their first hits."""
    labelled = [query for query in load_real(name).queries if query.is_labelled]
    chosen = sorted(labelled, key=lambda query: hashlib.sha256(query.query_id.encode()).digest())[:MOST]
    return [replace(query, retrieved=tuple(sorted(query.retrieved, key=lambda hit: hit.rank or 0)[:HITS])) for query in chosen]


def whole(assembly: Assembly, dataset: MemoryDataset) -> bool:
    stored = {document: dataset.document_chunks(document) for document in evidence_documents(assembly.query)}
    return all(state.state == "found" for state in evidence_states(assembly, stored))


def tried(name: str, limit: int) -> Iterator[Tried]:
    store = MemoryStore(COUNTER)
    store.add(load_real(name))
    dataset, settings = store.dataset(name), AssemblySettings(max_tokens=limit)

    def under(query: Query, chosen: AssemblySettings) -> Assembly:
        return assemble(query, dataset, chosen, COUNTER)

    for query in questions(name):
        blind = replace(query, gold=(), spans=())
        assembly = under(blind, settings)
        began = time.process_time()
        given: tuple[Advice, ...] = advise(assembly, assemble_with=lambda chosen, blind=blind: under(blind, chosen))
        elapsed = 1000 * (time.process_time() - began)
        changed = settings.replace(**given[0].changes) if given else settings
        half = hashlib.sha256(query.query_id.encode()).digest()[-1] % 2
        before, after = (whole(under(query, chosen), dataset) for chosen in (settings, changed))
        yield Tried(half, before, after, elapsed, given[0].rule if given else "-")


def test_advice_given_blind() -> None:
    """Over all corpora and limits more questions gain all their evidence than lose it."""
    rows, gained, lost = [], 0, 0
    for name in REAL:
        for limit in LIMITS:
            found = list(tried(name, limit))
            gained += sum(each.after and not each.before for each in found)
            lost += sum(each.before and not each.after for each in found)
            halves = [[each for each in found if each.half == half] for half in (0, 1)]
            shares = [f"{sum(e.before for e in own)} → {sum(e.after for e in own)} of {len(own)}" for own in halves]
            times = sorted(each.elapsed_ms for each in found)
            rows.append((name, limit, sum(e.rule != "-" for e in found), *shares, f"{times[len(times) // 2]:.0f}", f"{times[-1]:.0f}"))
    heads = ("corpus", "limit", "advised", "whole evidence, half 0", "half 1", "ms median", "ms max")
    show(f"Advice given blind: {gained} questions gained all evidence, {lost} lost it", heads, rows)
    assert gained > lost


class Given(NamedTuple):
    """Pieces of evidence that one question holds: under the settings, with the first advice, with the first that helps others."""

    before: int
    first: int
    helping: int


def counted_elsewhere(name: str, limit: int) -> Iterator[Given]:
    """For the questions of each half, advice given blind and counted on the other half."""
    store = MemoryStore(COUNTER)
    store.add(load_real(name))
    dataset, settings = store.dataset(name), AssemblySettings(max_tokens=limit)
    held: dict[tuple[str, AssemblySettings], tuple[int, int]] = {}

    def of(query: Query, chosen: AssemblySettings) -> tuple[int, int]:
        """Pieces of evidence and tokens in the context."""
        if (key := (query.query_id, chosen)) not in held:
            done = assemble(query, dataset, chosen, COUNTER)
            stored = {document: dataset.document_chunks(document) for document in evidence_documents(query)}
            held[key] = sum(state.state == "found" for state in evidence_states(done, stored)), done.token_count
        return held[key]

    def effect(others: list[Query], chosen: AssemblySettings) -> SetEffect:
        pairs = [(query.query_id, of(query, settings), of(query, chosen)) for query in others]
        better = tuple(name for name, before, after in pairs if after[0] > before[0])
        worse = tuple(name for name, before, after in pairs if after[0] < before[0])
        return SetEffect(len(others), better, worse, sum(after[1] - before[1] for _, before, after in pairs) / len(others))

    halves: tuple[list[Query], list[Query]] = ([], [])
    for query in questions(name):
        halves[hashlib.sha256(query.query_id.encode()).digest()[-1] % 2].append(query)
    for own, others in (halves, halves[::-1]):
        for query in own:
            blind = replace(query, gold=(), spans=())
            again: Callable[[AssemblySettings], Assembly] = lambda chosen, blind=blind: assemble(blind, dataset, chosen, COUNTER)  # noqa: E731
            changed = [(each, settings.replace(**each.changes)) for each in advise(again(settings), assemble_with=again)]
            helping = [to for each, to in changed if effect(others, to).helps_others(each.severity, query.query_id)]
            shown = (settings, changed[0][1] if changed else settings, helping[0] if helping else settings)
            yield Given(*(of(query, chosen)[0] for chosen in shown))


def test_advice_that_helps_other_questions() -> None:
    """Counted on other questions, advice loses evidence of fewer questions for each one that it brings evidence."""
    rows, sums = [], [0, 0, 0, 0]
    for name in REAL:
        for limit in LIMITS:
            found = list(counted_elsewhere(name, limit))
            pairs = [(each.before, after) for each in found for after in (each.first, each.helping)]
            row = [sum(a > b for b, a in pairs[::2]), sum(a < b for b, a in pairs[::2])]
            row += [sum(a > b for b, a in pairs[1::2]), sum(a < b for b, a in pairs[1::2])]
            rows.append((name, limit, len(found), *row))
            sums = [total + each for total, each in zip(sums, row, strict=True)]
    heads = ("corpus", "limit", "questions", "first: gained", "lost", "helps others: gained", "lost")
    show(
        f"Advice counted on other questions: {sums[2]} gained, {sums[3]} lost; the first piece: {sums[0]} gained, {sums[1]} lost",
        heads,
        rows,
    )
    assert sums[3] * max(sums[0], 1) <= sums[1] * max(sums[2], 1)
