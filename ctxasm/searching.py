"""Search for a typed question: by words, by meaning, or both, in the text of chunks or in what is known beside it.

The result is a Query with its hits, as if it had been loaded: it goes to Inspect and Ask as it is, and can be saved to a dataset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ctxasm.indexing import Asked, Key, asked, on_one_version, stamp_of, vectors_of, words_of
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.records import Hit, Query
from ctxasm.model.search import Found, SearchOptions
from ctxasm.model.visible import is_visible

if TYPE_CHECKING:
    from ctxasm.embedding import KeptVectors
    from ctxasm.retrieval.hybrid import Ranking
    from ctxasm.workbench import Workbench

MOST_CHARS = 20_000
"""Of a question."""
DEPTH = 100
"""How many hits of each ranking go into the fusion."""
WEIGHTS = {"bm25": 1.0, "wordllama": 0.1}
"""What a ranking weighs in the fusion, by method or embedder.

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
    return as_query(question, on_one_version(lambda: _found(question, asked(workbench, name, options, report, cancelled)), name), options)


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


def as_query(question: str, found: Found, options: SearchOptions) -> Query:
    """What was found as a Query. Its id says only what was asked, so the same question is saved in place of itself."""
    digest = hashlib.blake2b(" ".join(question.split()).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    metadata: dict[str, Any] = {"indexed_text": options.text, "notes": list(found.notes), "elapsed_ms": round(found.elapsed_ms, 1)}
    return Query(
        question,
        found.hits,
        f"typed-{digest}",
        search_method=found.search_method,
        bm25_matches=found.bm25_matches,
        best_similarity=found.best_similarity,
        metadata=metadata,
    )


def _found(question: str, asked: Asked) -> Found:
    from ctxasm.retrieval.hybrid import ranked_hits

    began, method, notes = perf_counter(), asked.options.method, list[str]()
    keys: Sequence[Key] = ()
    rankings: list[Ranking] = []
    weights = dict(WEIGHTS)
    best_similarity = None
    if method != "bm25":
        vectors = _vectors(asked, notes)
        if vectors is not None:
            keys, ranking = _by_meaning(question, asked, vectors)
            rankings.append(ranking)
            best_similarity = round(ranking.best[0].score, 4) if ranking.best else None
            weights["vector"] = WEIGHTS.get(vectors.name, 1.0)
    if method != "vector":
        keys, by_words = _by_words(question, asked, notes)
        rankings[:0] = [by_words] if by_words.best or not rankings else []
    listed = ranked_hits(rankings, asked.options.limit, k=asked.options.fusion_k, weights=weights, depth=max(DEPTH, asked.options.limit))
    hits = tuple(Hit(*keys[hit.position], hit.score, rank, hit.scores) for rank, hit in enumerate(listed, 1))
    ran = {ranking.name for ranking in rankings}
    matches = sum("bm25" in hit.scores for hit in hits) if method != "vector" else None
    kind = "hybrid_bm25_vector" if len(ran) == 2 else "bm25_only" if "bm25" in ran else "vector_only"
    return Found(hits, kind, matches, best_similarity, tuple(notes), (perf_counter() - began) * 1000)


def _by_words(question: str, asked: Asked, notes: list[str]) -> tuple[Sequence[Key], Ranking]:
    from ctxasm.retrieval.bm25 import best_of
    from ctxasm.retrieval.hybrid import DEEP, Ranking

    made = words_of(asked)
    words, scores = made.words.question(question), made.words.scores(question)
    best = best_of(scores, max(DEEP, asked.options.limit), least=0.0)
    if words.only_stop_words:
        notes.append("the question has only stop words: they were searched for as they are")
    if not best:
        searched = "no chunk shares a word with the question" if words.words else "the question has no words to search for"
        notes.append(searched + (": found by meaning alone" if asked.options.method == "hybrid" else ""))
    return made.keys, Ranking("bm25", best, lambda position: float(scores[position]) or None)


def _by_meaning(question: str, asked: Asked, vectors: KeptVectors) -> tuple[Sequence[Key], Ranking]:
    from ctxasm.retrieval.bm25 import best_of
    from ctxasm.retrieval.hybrid import DEEP, Ranking

    made = vectors_of(asked, vectors)
    cosines = made.cosines.cosines(vectors.question(question)) if made.keys else ()
    best = best_of(cosines, max(DEEP, asked.options.limit)) if made.keys else []
    return made.keys, Ranking("vector", best, lambda position: float(cosines[position]))


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
