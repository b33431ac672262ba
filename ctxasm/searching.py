"""Search for a typed question: by words, by meaning, or both, in the text of chunks or in what is known beside it.

The result is a Query with its hits, as if it had been loaded: it goes to Inspect and Ask as it is, and can be saved to a dataset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ctxasm.indexing import Asked, MemorySearcher, Searcher, asked, on_one_version, stamp_of, still_there
from ctxasm.model.errors import InvalidInput, StoreUnavailable, shown
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.records import Hit, Query
from ctxasm.model.search import Found, SearchOptions
from ctxasm.model.visible import is_visible

if TYPE_CHECKING:
    from ctxasm.embedding import KeptVectors
    from ctxasm.retrieval.hybrid import Ranking
    from ctxasm.workbench import Workbench

IN_MEMORY = 50_000
"""The most chunks of a dataset that is searched in memory unless a search asks for it."""
MOST_CHARS = 20_000
"""Of a question."""
DEPTH = 100
"""How many hits of each ranking go into the fusion."""
WEIGHTS = {"wordllama": 0.1}
"""What the vectors of an embedder weigh in the fusion beside BM25, which weighs 1; one that is not named weighs as much.

Chosen on the tune half of four real corpora (by a digest of the question's id), reported on the other: `tests/bench/test_retrieval.py`.
wordllama alone finds far less than BM25, so with equal weights the fusion loses what BM25 had found; from a tenth on it only gains.
"""


def search(
    workbench: Workbench,
    question: str,
    dataset: str | None = None,
    options: SearchOptions | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Query:
    """The question with what was found for it in a dataset (default: the newest). Not saved: see `save_query`.

    Indexes are made when they are first needed, told to `report`. Raises InvalidInput for a blank question and for what cannot be
    had here, SearchStopped, NotFound, StoreUnavailable.
    """
    options = options or SearchOptions()
    check_question(question)
    handle = workbench.dataset(dataset)
    own_search = getattr(handle, "search", None)
    if own_search is not None:
        return as_query(question, own_search(question, options), options)
    name = handle.info.name
    return on_one_version(lambda: _searched(question, asked(workbench, name, options, report, cancelled)), name)


def save_query(workbench: Workbench, dataset: str | None, query: Query) -> Query:
    """Keep the query with its hits among those of a dataset, also through later loads. Raises InvalidInput, StoreUnavailable."""
    workbench.store.save_query(workbench.dataset(dataset).info.name, query)
    return query


class Way(NamedTuple):
    """One choice of SearchOptions: whether it can be had for a dataset here, and if not, why and what to do."""

    kind: Literal["method", "text", "embedder"]
    name: str
    available: bool
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}" if self.reason else self.name


def methods(workbench: Workbench, dataset: str | None = None) -> tuple[Way, ...]:
    """Every method, indexed text and embedder, the default of each kind first. Raises NotFound, StoreUnavailable."""
    from ctxasm.meaning import EMBEDDERS, embedder_name, missing

    name = workbench.dataset(dataset).info.name
    no_embedder = "" if embedder_name() else f"no embedder is installed: {missing(next(iter(EMBEDDERS)))}"
    try:
        stamp_of(workbench, name)
        not_enriched = ""
    except InvalidInput as error:
        not_enriched = str(error)
    ways = [Way("method", "hybrid", True, no_embedder), Way("method", "bm25", True), Way("method", "vector", not no_embedder, no_embedder)]
    ways += [Way("text", "raw", True), Way("text", "title", True), Way("text", "enriched", not not_enriched, not_enriched)]
    ways += [Way("embedder", embedder, not missing(embedder), missing(embedder)) for embedder in EMBEDDERS]
    return tuple(ways)


def check_question(question: object) -> None:
    """Raises InvalidInput for what is no question."""
    if not isinstance(question, str) or not is_visible(question):
        raise InvalidInput(f"the question must be a text with at least one visible character, got {shown(question)}")
    if len(question) > MOST_CHARS:
        raise InvalidInput(f"the question must have at most {MOST_CHARS:,} characters, got {len(question):,}: shorten it")


def as_query(question: str, found: Found, options: SearchOptions, embedder: str | None = None) -> Query:
    """What was found as a Query. Its id says only what was asked, so the same question is saved in place of itself."""
    digest = hashlib.blake2b(" ".join(question.split()).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    metadata: dict[str, Any] = {"indexed_text": options.text, "embedder": embedder, "notes": list(found.notes)}
    return Query(
        question,
        found.hits,
        f"typed-{digest}",
        search_method=found.search_method,
        bm25_matches=found.bm25_matches,
        best_similarity=found.best_similarity,
        metadata=metadata,
    )


def _searched(question: str, asked: Asked) -> Query:
    began, notes = perf_counter(), list[str]()
    vectors = _vectors(asked, notes) if asked.options.method != "bm25" else None
    try:
        found = _ranked(question, asked, _searcher(asked), vectors, notes)
    except StoreUnavailable as error:
        if asked.options.engine == "database" or not in_database(asked):
            raise
        still_there(asked)
        found = _ranked(question, asked, MemorySearcher(asked), vectors, notes)
        notes.append(f"searched in memory: {error}")
    found = found._replace(notes=tuple(notes), elapsed_ms=(perf_counter() - began) * 1000)
    return as_query(question, found, asked.options, vectors.name if vectors else None)


def _ranked(question: str, asked: Asked, searcher: Searcher, vectors: KeptVectors | None, notes: list[str]) -> Found:
    options = asked.options
    rankings: list[Ranking] = []
    if vectors is not None:
        rankings.append(searcher.by_meaning(vectors, question))
    if options.method != "vector" or vectors is None:
        by_words = _by_words(question, searcher, options.method, notes)
        rankings[:0] = [by_words] if by_words.best or not rankings else []
    return _found(rankings, searcher, options, WEIGHTS.get(vectors.name, 1.0) if vectors else 1.0)


def in_database(asked: Asked) -> bool:
    """Whether the database searches: for a large dataset that it holds, unless the search says where."""
    from ctxasm.store.memory import MemoryStore

    place = asked.options.engine
    if isinstance(asked.workbench.store, MemoryStore):
        return False
    return place == "database" or (place == "auto" and asked.info.chunks > IN_MEMORY)


def _searcher(asked: Asked) -> Searcher:
    if not in_database(asked):
        return MemorySearcher(asked)
    from ctxasm.search_engine import EngineSearcher

    return EngineSearcher(asked)


def _found(rankings: Sequence[Ranking], searcher: Searcher, options: SearchOptions, weight: float) -> Found:
    """The hits of the rankings, `weight` being that of the vectors beside BM25."""
    from ctxasm.retrieval.hybrid import ranked_hits

    weights = {"bm25": 1.0, "vector": weight}
    listed = ranked_hits(rankings, options.limit, k=options.fusion_k, weights=weights, depth=max(DEPTH, options.limit))
    keys = searcher.keys([hit.position for hit in listed])
    hits = tuple(Hit(*key, hit.score, rank, hit.scores) for rank, (key, hit) in enumerate(zip(keys, listed, strict=True), 1))
    ran = {ranking.name: ranking.best for ranking in rankings}
    kind = "hybrid_bm25_vector" if len(ran) == 2 else "bm25_only" if "bm25" in ran else "vector_only"
    matches = sum("bm25" in hit.scores for hit in hits) if options.method != "vector" else None
    return Found(hits, kind, matches, round(ran["vector"][0].score, 4) if ran.get("vector") else None)


def _by_words(question: str, searcher: Searcher, method: str, notes: list[str]) -> Ranking:
    asked, ranking = searcher.by_words(question)
    if asked.only_stop_words:
        notes.append("the question has only stop words: they were searched for as they are")
    if not ranking.best:
        searched = "no chunk shares a word with the question" if asked.words else "the question has no words to search for"
        notes.append(searched + (": found by meaning alone" if method == "hybrid" else ""))
    return ranking


def _vectors(asked: Asked, notes: list[str]) -> KeptVectors | None:
    """The embedder's vectors; None, with a note, where a hybrid search has to do without."""
    from ctxasm.meaning import open_vectors

    try:
        return open_vectors(asked.workbench.store, asked.options.embedder)
    except InvalidInput as error:
        if asked.options.method == "vector" or asked.options.embedder is not None:
            raise
        notes.append(f"searched by words alone: {error}")
        return None
