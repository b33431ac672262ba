"""What each ordering leaves for a prompt cache, and what it takes to know: `pytest -m bench -s tests/bench/test_prompt_cache.py`."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from ctxasm.tuning.cache_prefix import prefix_by_ordering
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="no folder of real bundles")]
HITS, QUESTIONS = 10, 40


def test_six_orderings_of_ten_hits() -> None:
    """Tokens in common with the question before under the same ordering, and the CPU time for all six, assembling included."""
    counter, rows, most = open_counter(), [], 0.0
    for name in REAL:
        store = MemoryStore(counter)
        store.add(load_real(name))
        dataset = store.dataset(name)
        queries = [replace(q, retrieved=tuple(sorted(q.retrieved, key=lambda h: h.rank or 0)[:HITS])) for q in load_real(name).queries]
        for unit in ("document", "chunk"):
            settings, times = AssemblySettings().replace(citation_unit=unit), list[float]()
            shared: dict[str, list[int]] = {ordering: [] for ordering in spec_of("ordering").choices}
            before: dict[str, str] = {}
            for query in queries[:QUESTIONS]:
                texts: dict[str, str] = {}

                def under(chosen, query=query, texts=texts, dataset=dataset):
                    assembly = assemble(query, dataset, chosen, counter)
                    texts[chosen.ordering] = assembly.text
                    return assembly

                began = time.process_time()
                found = prefix_by_ordering(lambda chosen, before=before: before.get(chosen.ordering, ""), settings, under, counter)
                times.append(1000 * (time.process_time() - began))
                if before:
                    for ordering, prefix in found.items():
                        shared[ordering].append(prefix.tokens)
                before = texts
            means = [f"{statistics.mean(own):.0f}" for own in shared.values()]
            rows.append((f"{name}, {unit}", *means, f"{statistics.median(times):.1f}", f"{max(times):.1f}"))
            most = max(most, statistics.median(times))
    show("Mean tokens in common with the question before", ("corpus, unit", *shared, "ms median", "ms max"), rows)
    assert most <= 50
