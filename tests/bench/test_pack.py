"""Choosing by value: the most value of 200 units, relevant runs of 200 chunks, and the regret shown beside every policy:
`pytest -m bench -s tests/bench/test_pack.py`."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence

import pytest

from ctxasm import MemoryStore
from ctxasm.assembly.packing import RunChunk, Unit, best_runs, pack_units, packing_regret, value_of
from ctxasm.assembly.packing import run_value as value_of_hit
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.tokens import open_counter
from tests.bench.corpora import made_bundle, random_queries
from tests.bench.tables import in_turns, show

pytestmark = pytest.mark.bench
UNITS, ROUNDS = 200, 15
LIMITS = (2000, 8000, 16000, 64000)
Size = Callable[[random.Random], int]
KINDS: dict[str, tuple[Size, Callable[[int, int], float]]] = {
    "hits": (lambda r: r.randint(50, 700), lambda tokens, rank: value_of([rank])),
    "one value per token": (lambda r: r.randint(50, 700), lambda tokens, rank: tokens / 1000),
    "even sizes, odd limit": (lambda r: 2 * r.randint(25, 350), lambda tokens, rank: tokens / 1000),
    "value grows with size": (lambda r: r.randint(50, 700), lambda tokens, rank: (tokens + 100) / 1000),
    "value lags behind size": (lambda r: r.randint(50, 700), lambda tokens, rank: (tokens - 49) / 1000),
    "four in five worth nothing": (lambda r: r.randint(50, 700), lambda tokens, rank: 0.0 if rank % 5 else value_of([rank])),
    "all the same": (lambda r: 400, lambda tokens, rank: value_of([9])),
    "tiny": (lambda r: r.randint(1, 90), lambda tokens, rank: value_of([rank])),
}


def units_of(kind: str, count: int, seed: int) -> list[Unit]:
    size, value = KINDS[kind]
    choose = random.Random(seed)
    return [Unit(f"d{rank:03}", tokens := size(choose), value(tokens, rank)) for rank in range(1, count + 1)]


def timed(runs: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """Median and longest, in milliseconds of this process: other work on the machine does not count."""
    times = []
    for run in runs:
        began = time.process_time()
        run()
        times.append((time.process_time() - began) * 1000)
    return statistics.median(times), max(times)


def test_the_most_value_of_two_hundred_units(capsys):
    rows = []
    for kind in KINDS:
        cells: list[object] = []
        for limit in LIMITS:
            made = [units_of(kind, UNITS, seed) for seed in range(ROUNDS)]
            odd = limit - 1 if "odd" in kind else limit
            found = [pack_units(units, 0, odd) for units in made]
            for units, packing in zip(made, found, strict=True):
                assert sum(units[place].tokens for place in packing.chosen) <= odd
            median, longest = timed([lambda units=units, odd=odd: pack_units(units, 0, odd) for units in made])
            gap = max(packing.bound / packing.value - 1 for packing in found)
            cells.append(f"{median:.2f} {longest:.2f} {sum(p.exact for p in found)}/{ROUNDS}{f' gap {gap:.1%}' if gap else ''}")
        rows.append((kind, *cells))
    with capsys.disabled():
        show(f"{UNITS} units: ms median, longest, proven the best", ("values", *(f"limit {limit:,}" for limit in LIMITS)), rows)


def test_regret_beside_every_policy(capsys):
    rows = []
    for count in (10, 20, 50, 100):
        made = [units_of("hits", count, seed) for seed in range(10 * ROUNDS)]
        exact = sum(packing_regret(units, "d001", 4000, 0.0).exact for units in made)
        median, longest = timed([lambda units=units: packing_regret(units, "d001", 4000, 0.0) for units in made])
        rows.append((count, median, longest, f"{exact}/{len(made)}"))
    with capsys.disabled():
        show("Packing regret at 4,000 tokens, ms", ("documents", "median", "longest", "proven"), rows)


def test_relevant_runs(capsys):
    rows = []
    for hits, window in ((10, 1), (10, 3), (50, 1), (200, 0), (100, 3)):
        made = [run_chunks(hits, window, seed) for seed in range(ROUNDS)]
        count = statistics.mean(sum(len(own) for own in documents.values()) for documents in made)
        cells = [timed([lambda documents=documents, limit=limit: best_runs(documents, limit) for documents in made])[0] for limit in LIMITS]
        rows.append((f"{hits} hits, window {window}", f"{count:.0f}", *cells))
    with capsys.disabled():
        show("Relevant runs, ms (median)", ("candidates", "chunks", *(f"limit {limit:,}" for limit in LIMITS)), rows)


def run_chunks(hits: int, window: int, seed: int) -> dict[str, list[RunChunk]]:
    choose = random.Random(seed)
    values: dict[tuple[str, int], float] = {}
    for rank in range(1, hits + 1):
        document_id, index = f"d{choose.randrange(hits // 2)}", choose.randrange(3, 40)
        for near in range(index - window, index + window + 1):
            values.setdefault((document_id, near), 0.0)
        values[document_id, index] = max(values[document_id, index], value_of_hit(rank))
    documents: dict[str, list[RunChunk]] = {}
    for (document_id, index), value in values.items():
        documents.setdefault(document_id, []).append(RunChunk(index, choose.randint(50, 500), value))
    return documents


def test_whole_assembly_by_policy(capsys):
    """200 candidates: the choice, its exact measure and its repair, with the trace."""
    counter, store = open_counter(), MemoryStore()
    bundle = made_bundle(2000, "made")
    store.add(bundle)
    dataset = store.dataset()
    policies = ("drop_documents", "greedy", "greedy_skip", "pack", "segments")
    rows = []
    for hits, window in ((20, 1), (70, 1), (200, 0)):
        queries = random_queries(bundle, hits, ROUNDS)
        chosen = {policy: AssemblySettings(budget_policy=policy, expand_window=window) for policy in policies}
        chosen["pack by passage"] = chosen["pack"].replace(pack_unit="passage")
        times = in_turns({name: lambda i, s=s, q=queries: assemble(q[i], dataset, s, counter) for name, s in chosen.items()}, ROUNDS - 2)
        rows.append((f"{hits} hits, window {window}", *times.values()))
    with capsys.disabled():
        show("Whole assembly at 8,000 tokens, ms (median, in turns)", ("candidates", *times), rows)
