"""Processor time of one assembly against the least that it can be, and beside two other systems; and what it passes through.

`pytest -m bench -s tests/bench/test_assembly_cost.py`. 10,000 chunks of about 350 tokens in SQLite, one neighbour on each side, 8,000
tokens. All run in turn in one process, so that the ratios do not depend on what else the machine does.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import pytest

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import Store
from ctxasm.text.tokens import open_counter
from tests.bench.corpora import made_bundle, random_queries
from tests.bench.found_text import Corpus
from tests.bench.passes import passes_of
from tests.bench.prototype import assemble_least
from tests.bench.tables import show

pytestmark = pytest.mark.bench
COUNTER, SETTINGS = open_counter(), AssemblySettings()
SIZES, CHUNKS, LIMIT, ROUNDS = (7, 20, 100), 10_000, 8000, 60


def read(done: Assembly) -> Assembly:
    """With everything that explains it."""
    trace = done.trace
    assert trace.stages
    assert trace.fates
    assert trace.sizes
    assert trace.regret
    return done


def processor_time(contestants: Mapping[str, Callable[[Query], object]], queries: list[Query]) -> dict[str, float]:
    """Median milliseconds of processor time of each, all in turn for every query.

    Each is timed right after a run of its own on another query: what the one before it left in the caches is not its cost.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number, query in enumerate(queries):
        for name, run in contestants.items():
            run(queries[number - 1])
            began = time.process_time()
            run(query)
            times[name].append((time.process_time() - began) * 1000)
    return {name: statistics.median(each) for name, each in times.items()}


def test_the_cost_of_one_assembly(tmp_path, capsys):
    from tests.bench.peers.langchain import LangChain
    from tests.bench.peers.llamaindex import LlamaIndex

    bundle = made_bundle(CHUNKS, "made")
    corpus = Corpus(bundle)
    langchain, llamaindex = LangChain(corpus), LlamaIndex(corpus)
    trim = next(way for way in langchain.ways if way.name == "trim_messages, partial")
    compact = next(way for way in llamaindex.ways if way.name == "PrevNext, compact" and way.window == 1)
    rows = []
    with Store(f"sqlite:///{tmp_path / 'cost.db'}", COUNTER) as store:
        store.add(bundle)
        dataset = store.dataset("made")
        for k in SIZES:
            queries = random_queries(bundle, k, ROUNDS, seed=4)
            for query in queries[:10]:
                # The same chunks of the same documents; the prototype only guesses what a header takes.
                full, bare = assemble(query, dataset, SETTINGS, COUNTER, limit=LIMIT), assemble_least(query, dataset, limit=LIMIT)
                assert COUNTER.count(full.text) == full.token_count <= LIMIT
                assert abs(len(full.citations) - bare.count("] Source: ")) <= 1
            times = processor_time(
                {
                    "prototype": lambda query: assemble_least(query, dataset, limit=LIMIT),
                    "text": lambda query: assemble(query, dataset, SETTINGS, COUNTER, limit=LIMIT),
                    "trace": lambda query: read(assemble(query, dataset, SETTINGS, COUNTER, limit=LIMIT)),
                    "langchain": lambda query: langchain.fit(trim, langchain.gather(trim, query), LIMIT),
                    "llamaindex": lambda query: llamaindex.fit(compact, llamaindex.gather(compact, query), LIMIT),
                },
                queries,
            )
            base = times["prototype"]
            rows.append((str(k), *times.values(), times["text"] / base, times["trace"] / base))
    with capsys.disabled():
        show(
            f"Processor time of one assembly, milliseconds (median of {ROUNDS}, in turn); LangChain brings no neighbours",
            ("k", "prototype", "text", "with trace", "LangChain", "LlamaIndex", "text/prototype", "trace/prototype"),
            rows,
        )


def test_what_one_assembly_passes_through(tmp_path, capsys):
    bundle = made_bundle(400, "made")
    query = random_queries(bundle, 7, 1, seed=4)[0]
    rows = []
    with Store(f"sqlite:///{tmp_path / 'passes.db'}", COUNTER) as store:
        store.add(bundle)
        dataset = store.dataset("made")
        read(assemble(query, dataset, SETTINGS, COUNTER))
        ways: Mapping[str, Callable[[], object]] = {
            "text": lambda: assemble(query, dataset, SETTINGS, COUNTER),
            "with trace": lambda: read(assemble(query, dataset, SETTINGS, COUNTER)),
        }
        for name, work in ways.items():
            passes = passes_of(work)
            rows.append((name, len(passes.files), sum(passes.moves.values())))
            assert any(file.endswith("pipeline.py") for file in passes.files)
    with capsys.disabled():
        show("Files of ctxasm that one default assembly enters, and calls from one into another (7 hits)", ("", "files", "moves"), rows)
