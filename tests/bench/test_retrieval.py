"""Retrieval on the real corpora: `pytest -m bench -s tests/bench/test_retrieval.py`.

Recall@5 and @10 as `tests.bench.recall` defines it, of the recorded lists, BM25, vectors and both, with raw text, title and enriched
text indexed (enriched by the key-free variant). `tune` is the half of the questions on which weights, depth and BM25's constants were
chosen, `judge` the other one. CTXASM_BENCH_EMBEDDER names another embedder than wordllama (multilingual-e5-small takes about a
second a chunk), CTXASM_BENCH_ENGINE=sqlite or postgresql searches by that database.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.records import Chunk, Query
from ctxasm.model.results import Key
from ctxasm.model.search import METHODS, SearchOptions
from ctxasm.retrieval import ranking as search_ranking
from ctxasm.retrieval.searching import search
from ctxasm.store.database import Store
from ctxasm.text.tokens.counter import open_counter
from ctxasm.tuning.evidence import Evidence
from tests.bench.contest import HALVES
from tests.bench.long_chunks import half_of
from tests.bench.recall import mean_recall, needed, recall
from tests.bench.tables import show
from tests.real_data import REAL, load_real, real_folder

pytestmark = pytest.mark.bench
EMBEDDER = os.environ.get("CTXASM_BENCH_EMBEDDER") or None
ENGINE = os.environ.get("CTXASM_BENCH_ENGINE") or "memory"
PLACE = "memory" if ENGINE == "memory" else "database"
LIMITS = (5, 10)
Asked = tuple[Query, Evidence]


@pytest.fixture
def workbench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workbench]:
    if real_folder() is None:
        pytest.skip("the real corpora are not beside the project")
    url = request.getfixturevalue("postgres_url") if ENGINE == "postgresql" else f"sqlite:///{tmp_path / 'r.db'}"
    with Store(url, open_counter()) as store:
        for name in REAL:
            store.add(load_real(name))
        yield Workbench(read_config({"HOME": str(tmp_path)}), store)


@cache
def questions(name: str) -> tuple[Asked, ...]:
    """The labelled questions of a corpus with what each needs."""
    bundle = load_real(name)
    chunks: dict[str, list[Chunk]] = {}
    for chunk in bundle.chunks:
        chunks.setdefault(chunk.document_id, []).append(chunk)
    return tuple((query, need) for query in bundle.queries if (need := needed(query, chunks)) is not None)


def keys(query: Query) -> list[Key]:
    return [(hit.document_id, hit.chunk_index) for hit in query.retrieved]


def rows_of(name: str, method: str, text: str, ranked: Callable[[str, Query], Sequence[Key]]) -> list[list[Any]]:
    """A row a half: method, text, half, recall at each limit of each corpus, and the mean."""
    rankings = {corpus: [ranked(corpus, query) for query, _ in questions(corpus)] for corpus in REAL}
    rows = []
    for half in (*HALVES, "all"):
        cells: list[Any] = []
        for limit in LIMITS:
            recalls = []
            for corpus in REAL:
                own = [
                    (need, ranking)
                    for (query, need), ranking in zip(questions(corpus), rankings[corpus], strict=True)
                    if half in ("all", half_of(query.query_id))
                ]
                recalls.append(mean_recall([need for need, _ in own], [ranking for _, ranking in own], limit))
            cells += [*recalls, mean(recalls)]
        rows.append([name, method, text, half, *cells])
    return rows


def enrich(workbench: Workbench) -> bool:
    """Enrich every corpus by rules. False where that cannot be had."""
    from ctxasm.data.enrich.enriching import EnrichOptions
    from ctxasm.data.enrich.enriching import enrich as enriched

    for corpus in REAL:
        enriched(workbench, corpus, EnrichOptions())
    return True


def test_recall_of_the_four_corpora(workbench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of("recorded", "bm25", "raw", lambda corpus, query: keys(query))
    enrich(workbench)
    for text in ("raw", "title", "enriched"):
        for method in reversed(METHODS):
            options = SearchOptions(method, text, 20, embedder=EMBEDDER, engine=PLACE)  # type: ignore[arg-type]
            rows += rows_of("ours", method, text, lambda corpus, query, how=options: keys(search(workbench, query.query, corpus, how)))
    columns = ("", "method", "text", "half", *(f"{corpus[:8]}@{limit}" for limit in LIMITS for corpus in (*REAL, "mean")))
    with capsys.disabled():
        print(f"\nquestions: {', '.join(f'{corpus} {len(questions(corpus))}' for corpus in REAL)}; {EMBEDDER or 'wordllama'}, {ENGINE}")
        show("Recall at 5 and 10 hits", columns, rows)


def test_whether_hybrid_pays(workbench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """Hybrid less BM25, the mean of the corpora, with the 95 % interval by resampling the questions of each."""
    rows = []
    for text in ("raw", "title"):
        found = {}
        for method in ("bm25", "hybrid"):
            options = SearchOptions(method, text, 20, embedder=EMBEDDER, engine=PLACE)  # type: ignore[arg-type]
            found[method] = {corpus: [keys(search(workbench, q.query, corpus, options)) for q, _ in questions(corpus)] for corpus in REAL}
        for half in HALVES:
            for limit in LIMITS:
                gains = [
                    [
                        recall(need, hybrid[:limit]) - recall(need, bm25[:limit])
                        for (query, need), hybrid, bm25 in zip(
                            questions(corpus), found["hybrid"][corpus], found["bm25"][corpus], strict=True
                        )
                        if half_of(query.query_id) == half
                    ]
                    for corpus in REAL
                ]
                rows.append([text, half, limit, sum(map(len, gains)), mean(map(mean, gains)), *resampled(gains)])
    with capsys.disabled():
        columns = ("text", "half", "hits", "questions", "hybrid - bm25", "low", "high")
        show(f"What the vectors add ({EMBEDDER or 'wordllama'}, {ENGINE})", columns, rows)


def resampled(gains: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The 95 % interval of the mean of means."""
    draw = random.Random(1)
    means = sorted(mean(mean(draw.choices(own, k=len(own))) for own in gains) for _ in range(1000))
    return means[25], means[975]


def test_what_the_vectors_should_weigh(workbench: Workbench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The table that chose `search_ranking.WEIGHTS`: hybrid, raw text, the vectors weighing this much beside BM25, which weighs 1."""
    rows = []
    for weight in (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0):
        monkeypatch.setitem(search_ranking.WEIGHTS, EMBEDDER or "wordllama", weight)
        options = SearchOptions("hybrid", "raw", 20, embedder=EMBEDDER, engine=PLACE)

        def ranked(corpus: str, query: Query, how: SearchOptions = options) -> list[Key]:
            return keys(search(workbench, query.query, corpus, how))

        rows += rows_of(f"{weight:g}", "hybrid", "raw", ranked)
    columns = ("weight", "method", "text", "half", *(f"{corpus[:8]}@{limit}" for limit in LIMITS for corpus in (*REAL, "mean")))
    with capsys.disabled():
        show(f"Recall by the weight of the vectors ({EMBEDDER or 'wordllama'}, {ENGINE})", columns, rows)


def test_time_of_a_question(workbench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """Milliseconds of a question over the largest corpus, its index made."""
    from time import perf_counter

    corpus = REAL[0]
    rows = []
    for engine in ("memory", "database"):
        for method in METHODS:
            options = SearchOptions(method, engine=engine)
            search(workbench, "warm up", corpus, options)
            times = []
            for query, _ in questions(corpus)[:100]:
                began = perf_counter()
                search(workbench, query.query, corpus, options)
                times.append((perf_counter() - began) * 1000)
            rows.append([engine, method, sorted(times)[50], max(times)])
    with capsys.disabled():
        show(f"Milliseconds of a question over {len(load_real(corpus).chunks)} chunks", ("engine", "method", "median", "highest"), rows)
