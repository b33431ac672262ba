"""What a sweep takes and what a recommendation is worth: `pytest -m bench -s tests/bench/test_tuning.py`."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ctxasm import open_store
from ctxasm.assembly.pipeline import assemble
from ctxasm.model.datasets import Dataset
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.tuning.engines import AllCores
from ctxasm.tuning.evidence import evidence_documents, evidence_states
from ctxasm.tuning.recommend import LIMITS, PriorChoice, curated_settings, decide, shipped_prior
from ctxasm.tuning.statistics import max_t_p
from ctxasm.tuning.sweep import SweepContext, grid_of, settings_of, sweep
from ctxasm.tuning.sweep_results import SweepResult
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder
from tests.strategies import COUNTER
from tests.tuning.sweeps import plain_tools

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="the real bundles do not lie beside the project")]
DRAWS = 60
OWN_LIMIT = 4000


@cache
def dataset(name: str) -> Dataset:
    store = MemoryStore(COUNTER)
    store.add(load_real(name))
    return store.dataset()


@cache
def counted(name: str) -> SweepResult:
    """Curated settings at every limit, the five stages at 4,000 tokens as the start."""
    start = AssemblySettings(max_tokens=OWN_LIMIT)
    tried = [each.on(start).replace(max_tokens=limit) for each in curated_settings() for limit in LIMITS if limit <= OWN_LIMIT]
    return sweep(SweepContext(dataset(name), dataset(name).queries(), plain_tools(), "bench", engine=AllCores()), grid_of(start, tried, {}))


def only(found: SweepResult, labelled: np.ndarray) -> SweepResult:
    """The sweep over some of its labelled questions."""
    places = [found.labelled[at] for at in labelled]
    ids = tuple(found.query_ids[at] for at in places)
    return replace(found, query_ids=ids, outcomes=found.outcomes[:, places], ceiling=found.ceiling[places])


def test_a_recommendation_on_a_corpus_that_its_prior_has_not_seen() -> None:
    """Decided on n questions with the prior of the other corpora, judged on the rest at 4,000 tokens: gain over the five stages in points
    and in tokens, that of the plain best of the n questions, and how often something is taken, and is worse on the rest."""
    rows = []
    for n in (20, 50, 120):
        for corpus in REAL:
            found = counted(corpus)
            many = len(found.labelled)
            if many < n + 20:
                continue
            prior = shipped_prior().without(corpus)
            best = found.settings.index(prior.ranked()[0].on(found.settings[found.start]))
            gain = prior.value(prior.ranked()[0].name) - prior.value("five_stage")
            figures = []
            for draw in range(DRAWS):
                shuffled = np.random.default_rng(draw).permutation(many)
                some, rest = shuffled[:n], shuffled[n:]
                made = decide(only(found, some), prior=PriorChoice(best, gain, len(prior.corpora)))
                plain = int(found.whole[:, some].mean(axis=1).argmax())
                others = found.whole[:, rest].mean(axis=1) - found.whole[found.start, rest].mean()
                taken, tokens = made.taken, found.tokens(made.taken) / found.tokens(found.start) - 1
                figures.append([others[taken], tokens, others[plain], taken != found.start, others[taken] < -0.01])
            rows.append([n, corpus, *(f"{100 * value:.1f}" for value in np.mean(figures, axis=0))])
    show("with the prior of the others", ["n", "corpus", "gain", "tokens %", "gain of the plain best", "taken %", "worse %"], rows)


def test_the_best_of_64_without_a_difference() -> None:
    rows = []
    for n in (25, 49, 124, 244):
        row: list[object] = [n]
        for differing in (0.04, 0.10, 0.25):
            claims = 0
            for seed in range(200):
                random = np.random.default_rng(seed)
                table = random.choice([-1, 0, 1], p=[differing / 2, 1 - differing, differing / 2], size=(n, 64))
                claims += min(max_t_p(table.tolist(), draws=499, seed=seed)) <= 0.05
            row.append(f"{claims / 2:.1f} %")
        rows.append(row)
    show("the best of 64 settings claimed to be better, of 200 without a difference", ["n", "4 % differ", "10 %", "25 %"], rows)


def test_what_a_cell_takes() -> None:
    """Processor time in process over 12 questions, beside assembling cell by cell and reading the evidence; two processes over one by the
    clock, with their start, over all questions."""
    axes = {
        "expand_window": (0, 1, 2, 3),
        "max_tokens": (1000, 2000, 4000, 8000, 16000),
        "budget_policy": ("drop_documents", "greedy_skip", "segments"),
        "top_k": (5, None),
    }
    start = AssemblySettings()
    grid = grid_of(start, settings_of(start, axes), axes)
    rows = []
    for corpus in REAL:
        own, queries = dataset(corpus), dataset(corpus).queries()[:12]
        before = time.process_time()
        found = sweep(SweepContext(own, queries, plain_tools(), "bench"), grid)
        shared = (time.process_time() - before) / found.outcomes[:, :, 0].size
        picked = grid.settings[::17]
        before, cells = time.process_time(), 0
        for query in queries[:5]:
            stored = {name: own.document_chunks(name) for name in evidence_documents(query)}
            for settings in picked:
                evidence_states(assemble(query, own, settings, COUNTER), stored)
                cells += 1
        alone = (time.process_time() - before) / cells
        clocks = []
        for workers in (1, 2):
            before = time.monotonic()
            sweep(SweepContext(own, own.queries(), plain_tools(), "bench", engine=AllCores(workers)), grid)
            clocks.append(time.monotonic() - before)
        rows.append([corpus, f"{shared * 1000:.2f}", f"{alone * 1000:.1f}", f"{alone / shared:.0f} ×", f"{clocks[0] / clocks[1]:.2f} ×"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    show(f"milliseconds a cell; peak {peak:.0f} MiB", ["corpus", "shared", "cell by cell", "", "two processes over one"], rows)


SWEEPS = """
import sys, time
import ctxasm

AXES = {"expand_window": (0, 1, 2, 3), "max_tokens": (1000, 2000, 4000, 8000), "budget_policy": ("drop_documents", "segments")}
with ctxasm.open_store(sys.argv[1]) as store:
    tell = lambda progress: print(progress.done, progress.total, time.process_time(), flush=True)
    found = ctxasm.sweep(AXES, store, "codebase", report=tell)
    print("reused", found.reused, len(found.settings) * len(found.query_ids) + len(found.query_ids))
"""


def test_what_going_on_after_a_kill_takes(tmp_path: Path) -> None:
    """124 questions × 32 settings, the process killed at half; then from its start to the first question that is counted anew."""
    url = f"sqlite:///{tmp_path / 'killed.db'}"
    with open_store(url) as store:
        store.add(load_real("codebase"))
    began = time.monotonic()
    with _sweeping(url) as process:
        done, total, _ = next(each for line in process.stdout or () if 2 * int((each := line.split())[0]) >= int(each[1]))
        process.kill()
    killed = time.monotonic() - began
    began = time.monotonic()
    with _sweeping(url) as process:
        lines = iter(process.stdout or ())
        first, _, processor = next(lines).split()
        waited = time.monotonic() - began
        _, reused, cells = [*lines][-1].split()
    assert int(done) <= int(reused) < int(first) <= int(cells) == int(total)
    row = [f"{done} of {total} in {killed:.1f} s", reused, f"{waited:.1f} s", f"{float(processor):.1f} s"]
    show("from a restart to the first question anew", ["killed at", "kept", "clock", "processor"], [row])


def _sweeping(url: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", SWEEPS, url], stdout=subprocess.PIPE, text=True)
