"""What some settings of the sources cost or bring: `pytest -m bench -s tests/bench/test_measured_against.py`.

Each is switched on beside the five-stage default and beside the preset `recommended`: labelled questions of four corpora
(CTXASM_BENCH_QUERIES of each, 0 for all), their first 20 hits, the mean of four limits. Nothing is chosen by these figures but what
advice and presets may propose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from ctxasm.app.tuning_runs import WorkbenchTools
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.presets import PRESETS
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import Store
from ctxasm.text.tokens.counter import open_counter
from ctxasm.tuning.counting import Counting, case_of
from tests.bench.contest import chosen_queries
from tests.bench.peers.peer import BUDGETS
from tests.bench.tables import show
from tests.bench.test_retrieval import resampled
from tests.real_data import REAL, load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="the real bundles are not beside the project")]
TRIED: Mapping[str, Mapping[str, object]] = {
    "near duplicates": {"dedup_near": True},
    "semantic duplicates": {"dedup_semantic": True},
    "extracts, when tight": {"compression": "extractive"},
    "extracts of 200 tokens, when tight": {"compression": "extractive", "max_chunk_tokens": 200},
    "extracts, always": {"compression": "extractive", "compression_when": "always"},
    "oversized=drop": {"oversized": "drop"},
}
BASES: Mapping[str, Mapping[str, object]] = {"five stages": {}, "recommended": PRESETS["recommended"]}


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Workbench]:
    with Store(f"sqlite:///{tmp_path / 'r.db'}", open_counter()) as store:
        for name in REAL:
            store.add(load_real(name))
        yield Workbench(read_config({"HOME": str(tmp_path)}), store)


def test_what_they_cost(workbench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    rows = []
    for title, base in BASES.items():
        ways = {"": base} | {name: {**base, **changes} for name, changes in TRIED.items()}
        shares = {name: shares_of(workbench, name, ways) for name in REAL}
        for way in TRIED:
            gains = [[own[way] - own[""] for own in shares[name]] for name in REAL]
            rows.append([title, way, *(mean(each) for each in gains), mean(map(mean, gains)), *resampled(gains)])
        rows.append([title, "without", *(mean(own[""] for own in shares[name]) for name in REAL), "", "", ""])
    with capsys.disabled():
        counted = ", ".join(f"{name} {len(chosen_queries(load_real(name)))}" for name in REAL)
        show(f"All evidence in the context, with less without ({counted})", ("", "setting", *REAL, "mean", "low", "high"), rows)


def shares_of(workbench: Workbench, name: str, ways: Mapping[str, Mapping[str, object]]) -> list[dict[str, float]]:
    """Of every question, the share of the limits at which each way has all its evidence."""
    dataset = workbench.dataset(name)
    settings = [AssemblySettings(max_tokens=limit, **changes) for changes in ways.values() for limit in BUDGETS]  # type: ignore[arg-type]
    counting = Counting(settings, WorkbenchTools(workbench))
    found = []
    for query in chosen_queries(load_real(name)):
        case = case_of(replace(query, metadata={}), dataset, dataset.document_chunks, "cl100k_base")
        outcomes = counting.count(case, range(len(settings)), {})
        whole = [outcome.found == outcome.needed for outcome in outcomes]
        found.append({way: mean(whole[at * len(BUDGETS) : (at + 1) * len(BUDGETS)]) for at, way in enumerate(ways)})
    return found
