"""What a reranker that ships would bring: `pytest -m bench -s tests/bench/test_reranker.py`.

A logistic model (the conditional logit of `ctxasm fit`) orders the first 50 hits of a search anew, by BM25 of text and headings, likeness,
words and pairs of words that are shared, and what stands around a chunk. It is fitted on the first half of the questions of three
corpora and judged on the fourth, which it never saw (its second half, and all of it): recall at 5 and 10 hits, and the mean share
over four limits of questions with all evidence in the context. Features and ridge were not chosen by these figures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log, log1p
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.assembly.context_head import summarise
from ctxasm.assembly.order import order
from ctxasm.assembly.policies import choose
from ctxasm.assembly.values import stems_of
from ctxasm.config import read_config
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Hit, Query
from ctxasm.model.results import Key
from ctxasm.model.search import SearchOptions
from ctxasm.retrieval.analyser import Analyser, language_of_texts, spread
from ctxasm.retrieval.indexes import Bm25Index, titled_text
from ctxasm.retrieval.searching import search
from ctxasm.store.database import Store
from ctxasm.text.chunk_facts import chunk_facts
from ctxasm.text.tokens.counter import open_counter
from ctxasm.tuning.evidence import Evidence
from ctxasm.tuning.fit import Pool, is_wanted, maximum
from tests.bench.contest import half_of
from tests.bench.found_text import Corpus, holds_evidence
from tests.bench.peers.ours import Ours, prepare, settings_of, source_text
from tests.bench.peers.peer import BUDGETS, Way
from tests.bench.recall import needed, recall
from tests.bench.tables import show
from tests.bench.test_retrieval import resampled
from tests.real_data import REAL, load_real, real_folder

pytestmark = [pytest.mark.bench, pytest.mark.skipif(real_folder() is None, reason="the real bundles are not beside the project")]
FIRST = 50
"""Hits that are ordered anew."""
FEATURES = (
    "rank",
    "bm25",
    "bm25 of the text",
    "bm25 of the headings",
    "likeness",
    "words",
    "words in the headings",
    "pairs of words",
    "bm25 beside it",
    "its document",
    "opens its document",
    "length",
    "likeness, few words",
    "bm25, many words",
)


class Asked(NamedTuple):
    """A labelled question: its first hits in the order of the search, their features, and what it needs."""

    query: Query
    need: Evidence
    keys: tuple[Key, ...]
    rows: np.ndarray
    pool: Pool | None


class Place:
    """What the features of one corpus are read from."""

    def __init__(self, name: str, text: str) -> None:
        bundle = load_real(name)
        self.chunks: dict[str, list[FetchedChunk]] = defaultdict(list)
        by_document = defaultdict(list)
        for chunk in bundle.chunks:
            by_document[chunk.document_id].append(chunk)
        for document_id, own in by_document.items():
            self.chunks[document_id] = chunk_facts(sorted(own, key=lambda c: c.chunk_index), None)
        flat = [chunk for own in self.chunks.values() for chunk in own]
        self.at: Mapping[Key, int] = {(c.document_id, c.chunk_index): place for place, c in enumerate(flat)}
        documents = {document.document_id: document for document in bundle.documents}
        self.texts = [chunk.text for chunk in flat]
        titled = [titled_text(chunk, documents.get(chunk.document_id)) for chunk in flat]
        self.heads = [whole[: len(whole) - len(own)] for whole, own in zip(titled, self.texts, strict=True)]
        words = Analyser(language_of_texts(spread(self.texts)))
        self.by_text, self.by_head = Bm25Index(self.texts, words), Bm25Index(self.heads, words)
        self.by_all = self.by_text if text == "raw" else Bm25Index(titled, words)


def rows_of(place: Place, question: str, hits: Sequence[Hit]) -> np.ndarray:
    """A row a hit, each feature free of scale: beside the best of the same question."""
    at = [place.at[hit.document_id, hit.chunk_index] for hit in hits]
    by_all, by_text, by_head = (index.scores(question) for index in (place.by_all, place.by_text, place.by_head))
    likeness = np.array([hit.scores.get("vector", 0.0) if hit.scores else 0.0 for hit in hits])
    stems = list(stems_of(question))
    pairs = [(one, other) for one, other in pairwise(stems)]
    lower = [place.texts[p].lower() for p in at]
    held = np.array([[stem in text for stem in stems] or [False] for text in lower], dtype=float)
    rarity = np.log(1 + (len(hits) - held.sum(0) + 0.5) / (held.sum(0) + 0.5))
    in_head = np.array([[stem in place.heads[p].lower() for stem in stems] or [False] for p in at], dtype=float)
    near = np.array([sum(near_each(text, *pair) for pair in pairs) / max(1, len(pairs)) for text in lower])
    worths: dict[str, float] = defaultdict(float)
    for rank, hit in enumerate(hits, 1):
        worths[hit.document_id] += 1 / rank
    beside = [max(by_all[place.at[key]] for key in beside_of(place, hit)) if beside_of(place, hit) else 0.0 for hit in hits]
    few = 1 / max(1, len(stems))
    total = sum(worths.values())
    columns = (
        -np.log(np.arange(1, len(hits) + 1)),
        share_of_best(by_all[at]),
        share_of_best(by_text[at]),
        share_of_best(by_head[at]),
        likeness - likeness.max(),
        share_of_best(held @ rarity),
        in_head @ rarity / max(1e-9, rarity.sum()),
        near,
        share_of_best(np.array(beside)),
        np.array([worths[hit.document_id] / total for hit in hits]),
        np.array([float(hit.chunk_index == 0) for hit in hits]),
        np.array([log(max(1, len(place.texts[p]))) for p in at]),
        (likeness - likeness.max()) * few,
        share_of_best(by_all[at]) * log1p(len(stems)),
    )
    return np.stack(columns, axis=1)


def share_of_best(of: np.ndarray) -> np.ndarray:
    return of / max(1e-9, float(of.max()))


def near_each(text: str, one: str, other: str) -> bool:
    """Whether two words of the question stand next to each other, about."""
    found = text.find(one)
    while found >= 0:
        if other in text[found : found + len(one) + len(other) + 12]:
            return True
        found = text.find(one, found + 1)
    return False


def beside_of(place: Place, hit: Hit) -> list[Key]:
    return [key for step in (-1, 1) if (key := (hit.document_id, hit.chunk_index + step)) in place.at]


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    folder: Path = tmp_path_factory.mktemp("rerank")
    with Store(f"sqlite:///{folder / 'r.db'}", open_counter()) as store:
        for name in REAL:
            store.add(load_real(name))
        yield Workbench(read_config({"HOME": str(folder)}), store)


def asked_of(workbench: Workbench, name: str, text: str) -> list[Asked]:
    place, found = Place(name, text), []
    options = SearchOptions("hybrid", text, FIRST)  # type: ignore[arg-type]
    for query in load_real(name).queries:
        need = needed(query, place.chunks)
        hits = search(workbench, query.query, name, options).retrieved if need is not None else ()
        if need is None or not hits:
            continue
        keys = tuple((hit.document_id, hit.chunk_index) for hit in hits)
        rows = rows_of(place, query.query, hits)
        wanted = np.array([is_wanted(need, key, len(place.texts[place.at[key]])) for key in keys], dtype=float)
        pool = Pool(rows, wanted / wanted.sum()) if 0 < wanted.sum() < len(wanted) else None
        found.append(Asked(query, need, keys, rows, pool))
    return found


@pytest.mark.parametrize("text", ["title", "raw"])
def test_what_a_reranker_that_ships_would_bring(text: str, workbench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    prepare(REAL)
    asked = {name: asked_of(workbench, name, text) for name in REAL}
    gains: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    rows, weights = [], []
    for name in REAL:
        others = [each for other in REAL if other != name for each in asked[other]]
        pools = [each.pool for each in others if each.pool and half_of(each.query.query_id) == "tune"]
        own = maximum(pools)
        weights.append([name, len(pools), *own])
        measures = measures_of(name)
        # Question by question: what every measure says of the order before and of the new one.
        found = [
            [
                [measure(each, keys) for keys in (each.keys, [each.keys[at] for at in np.argsort(-(each.rows @ own), kind="stable")])]
                for measure in measures.values()
            ]
            for each in asked[name]
        ]
        judged = [half_of(each.query.query_id) == "judge" for each in asked[name]]
        for place, what in enumerate(measures):
            for half, chosen in (("second half", judged), ("all", [True] * len(judged))):
                pairs = [each[place] for each, there in zip(found, chosen, strict=True) if there]
                gains[what, half].append([after - before for before, after in pairs])
                before, after = (mean(each) for each in zip(*pairs, strict=True))
                rows.append([what, half, name, len(pairs), before, after, after - before, *resampled(gains[what, half][-1:])])
    rows += [[what, half, "mean", sum(map(len, own)), "", "", mean(map(mean, own)), *resampled(own)] for (what, half), own in gains.items()]
    with capsys.disabled():
        columns = ("measure", "questions", "corpus", "n", "before", "after", "gain", "low", "high")
        show(f"Reranked by weights that never saw the corpus ({text})", columns, sorted(rows, key=lambda row: row[:2]))
        show("Weights", ("without", "questions", *FEATURES), weights)


Measure = Callable[[Asked, Sequence[Key]], float]


def measures_of(name: str) -> Mapping[str, Measure]:
    """What is said of an order of hits: recall, and the share of the limits at which all evidence is in the context."""
    corpus = Corpus(load_real(name))
    peer = Ours(corpus)

    def recall_at(limit: int) -> Measure:
        return lambda each, keys: recall(each.need, keys[:limit])

    def context(way: Way, hits: int) -> Measure:
        return lambda each, keys: mean(inside(each.query, keys[:hits], way, limit) for limit in BUDGETS)

    def inside(query: Query, keys: Sequence[Key], way: Way, limit: int) -> bool:
        peer.brought = None
        settings = settings_of(way, limit)
        hits = tuple(Hit(*key, 1 / rank, rank) for rank, key in enumerate(keys, 1))
        scales = peer.scales(replace(query, retrieved=hits), settings)
        led = summarise(order(choose(scales), settings, scales.candidates))
        return holds_evidence(source_text(scales.write(led.blocks, led.lead), scales), query, corpus)

    return {
        "recall@5": recall_at(5),
        "recall@10": recall_at(10),
        "recommended, 20 hits": context(Way("learned", 6), 20),
        "recommended, 10 hits": context(Way("learned", 6), 10),
        "five stages, 20 hits": context(Way("drop_documents", 1), 20),
    }
