"""Which candidates `learned` should choose among: `pytest -m bench -s tests/bench/test_pools.py`.

Windows beside the section of a hit and its whole document up to a size, and what a gate by corpus could bring at most. The weights of each
pool are fitted on the first half of the questions of the other three corpora, so that no corpus is judged by weights that saw it;
reported is its second half, 20 hits, the mean of four limits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from statistics import mean
from typing import NamedTuple

import pytest

from ctxasm.assembly.context_head import summarise
from ctxasm.assembly.deduplicate import deduplicate
from ctxasm.assembly.expand import expand
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.order import order
from ctxasm.assembly.policies import choose
from ctxasm.assembly.stages import Found, group
from ctxasm.assembly.values import Weights
from ctxasm.model.records import Query
from ctxasm.model.results import Candidate
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.evidence import evidence_documents
from ctxasm.tuning.fit import HITS as FITTED
from ctxasm.tuning.fit import Pool, pool_of, weights_of
from tests.bench.contest import chosen_queries, half_of
from tests.bench.found_text import Corpus, holds_evidence
from tests.bench.peers.ours import COUNTER, Ours, source_text
from tests.bench.peers.peer import BUDGETS
from tests.bench.recall import needed
from tests.bench.tables import show
from tests.bench.test_retrieval import resampled
from tests.real_data import REAL, load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="the real bundles are not beside the project")]
WIDEST = 60
USED = 6
"""The window of the preset `recommended`, with which every other pool is compared."""


class Around(NamedTuple):
    """What a rule may know of a candidate: steps to the nearest hit, whether it is in the section of one, its document's chunks."""

    distance: int
    same_section: bool
    chunks: int


Rule = Callable[[Around], bool]


def window(steps: int) -> Rule:
    return lambda at: at.distance <= steps


def document_up_to(most: int) -> Rule:
    return lambda at: at.distance <= USED or at.chunks <= most


POOLS: Mapping[str, Rule] = {
    "window 3": window(3),
    "window 6": window(USED),
    "window 8": window(8),
    "window 12": window(12),
    "section": lambda at: at.distance == 0 or at.same_section,
    "section or window 6": lambda at: at.distance <= USED or at.same_section,
    "document up to 12": document_up_to(12),
    "document up to 25": document_up_to(25),
    "document up to 50": document_up_to(50),
}


class Wide:
    """One corpus, whose candidates reach as far as any rule."""

    def __init__(self, name: str) -> None:
        self.corpus = Corpus(load_real(name))
        self.peer = Ours(self.corpus)
        self.source = self.peer.store.dataset()
        self.settings = AssemblySettings(budget_policy="learned")
        object.__setattr__(self.settings, "pool_window", WIDEST)  # wider than a user may ask for

    def found(self, query: Query) -> Found:
        return expand(query, self.source, self.settings, COUNTER)

    def narrowed(self, found: Found, rule: Rule) -> Found:
        hits: dict[str, list[Candidate]] = defaultdict(list)
        for candidate in found.candidates.values():
            if candidate.retrieved:
                hits[candidate.chunk.document_id].append(candidate)
        kept = {
            key: candidate
            for key, candidate in found.candidates.items()
            if rule(around(candidate, hits[key[0]], len(self.corpus.chunks[key[0]])))
        }
        return replace(found, candidates=kept)

    def judge(self, query: Query, found: Found, weights: Weights) -> float:
        grouped = group(deduplicate(found, self.settings, None))
        whole = 0
        for limit in BUDGETS:
            settings = replace(self.settings, pool_window=None, max_tokens=limit)
            scales = Scales(grouped, settings, COUNTER, limit, query.query, weights)
            led = summarise(order(choose(scales), settings, scales.candidates))
            written = scales.write(led.blocks, led.lead)
            assert written.size.tokens <= limit
            whole += holds_evidence(source_text(written, scales), query, self.corpus)
        return whole / len(BUDGETS)


def around(candidate: Candidate, hits: Sequence[Candidate], chunks: int) -> Around:
    index, section = candidate.chunk.chunk_index, candidate.chunk.section
    same = section is not None and any(hit.chunk.section == section for hit in hits)
    return Around(min(abs(index - hit.chunk.chunk_index) for hit in hits), same, chunks)


def fitted_pools(name: str, rule: str) -> list[Pool]:
    """What one corpus brings to the weights of a rule: the first half of its questions."""
    wide, pools = Wide(name), list[Pool]()
    for query in chosen_queries(wide.corpus.bundle, 0):
        need = needed(query, {each: wide.source.document_chunks(each) for each in evidence_documents(query)})
        if half_of(query.query_id) == "tune" and need is not None:
            for hits in FITTED:
                found = wide.found(replace(query, retrieved=query.retrieved[:hits]))
                pools += pool_of(need, query.query, wide.narrowed(found, POOLS[rule]))
    return pools


def shares(name: str, rule: str, weights: Weights) -> list[tuple[str, float, int]]:
    """Of every question: its half, its share, and how many candidates it had."""
    wide, told = Wide(name), []
    for query in chosen_queries(wide.corpus.bundle, 0):
        found = wide.narrowed(wide.found(query), POOLS[rule])
        told.append((half_of(query.query_id), wide.judge(query, found, weights), len(found.candidates)))
    return told


def test_which_pool(capsys: pytest.CaptureFixture[str]) -> None:
    tasks = list(product(REAL, POOLS))
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        brought = dict(zip(tasks, pool.map(fitted_pools, *zip(*tasks, strict=True)), strict=True))
        weights = [weights_of([each for other in REAL if other != name for each in brought[other, rule]], USED) for name, rule in tasks]
        judged = dict(zip(tasks, pool.map(shares, *zip(*tasks, strict=True), weights), strict=True))
    rows = []
    for rule in POOLS:
        gains = [gains_of(judged[name, rule], judged[name, "window 6"]) for name in REAL]
        own = [mean(share for half, share, _ in judged[name, rule] if half == "judge") for name in REAL]
        many = mean(count for name in REAL for _, _, count in judged[name, rule])
        rows.append([rule, many, *own, mean(own), mean(map(mean, gains)), *resampled(gains)])
    with capsys.disabled():
        counts = ", ".join(f"{name} {sum(half == 'judge' for half, _, _ in judged[name, 'window 6'])}" for name in REAL)
        show(
            f"All evidence in the context by pool, mean of {len(BUDGETS)} limits, second halves ({counts})",
            ("pool", "candidates", *REAL, "mean", "to window 6", "low", "high"),
            rows,
        )
        show("What a gate by corpus brings", ("gate", *REAL, "gain", "low", "high"), list(gates(judged)))


Judged = Mapping[tuple[str, str], Sequence[tuple[str, float, int]]]


def gates(judged: Judged) -> Iterator[list[object]]:
    """Pools chosen for a corpus, by what the others or its own first half say; reported on its second half."""

    def best(names: Sequence[str]) -> str:
        def first(rule: str) -> float:
            return mean(mean(share for half, share, _ in judged[name, rule] if half == "tune") for name in names)

        return max(POOLS, key=first)

    for title, chosen in (
        ("the best of the other three corpora", [best([other for other in REAL if other != name]) for name in REAL]),
        ("the best on its own first half (labels needed)", [best([name]) for name in REAL]),
    ):
        gains = [gains_of(judged[name, rule], judged[name, "window 6"]) for name, rule in zip(REAL, chosen, strict=True)]
        yield [title, *chosen, mean(map(mean, gains)), *resampled(gains)]


def gains_of(ours: Sequence[tuple[str, float, int]], others: Sequence[tuple[str, float, int]]) -> list[float]:
    return [share - other for (half, share, _), (_, other, _) in zip(ours, others, strict=True) if half == "judge"]
