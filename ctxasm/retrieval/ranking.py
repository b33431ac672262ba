"""One search of a dataset of our own store: which rankings are made, where, and how they become hits."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.model.errors import InvalidInput, ModelUnavailable, StoreUnavailable
from ctxasm.model.records import Hit
from ctxasm.model.search import Found, SearchOptions
from ctxasm.retrieval.indexes import Asked, MemorySearcher, Searcher, still_there

if TYPE_CHECKING:
    from ctxasm.llm.embedding import KeptVectors
    from ctxasm.retrieval.fusion import Ranking


IN_MEMORY = 50_000
"""The most chunks of a dataset that is searched in memory unless a search asks for it."""
DEPTH = 100
"""How many hits of each ranking go into the fusion."""
WEIGHTS = {"wordllama": 0.1, "multilingual-e5-small": 0.7}
"""What the vectors of an embedder weigh in the fusion beside BM25, which weighs 1; one that is not named weighs as much.

Chosen on the tune half of four real corpora (by a digest of the question's id), reported on the other: `tests/bench/test_retrieval.py`.
wordllama alone finds far less than BM25 (recall@10 .54 to .70 on the tune half), so with equal weights the fusion loses what BM25 had
found; at a tenth it only gains. multilingual-e5-small comes near BM25 (.62 to .69, the two corpora in English it was tried on), and
gains most between a half and one.
"""


ACROSS = "multilingual-e5-small"
"""The local embedder that knows what means the same in several languages."""


class Searched(NamedTuple):
    """What was found, and by whose vectors (None: by words alone)."""

    found: Found
    embedder: str | None


def searched(question: str, asked: Asked) -> Searched:
    """Search once. Raises as `searching.search`, and Replaced where the dataset is another one meanwhile."""
    began, notes = perf_counter(), list[str]()
    if not asked.info.chunks:
        is_vector = asked.options.method == "vector"
        kind = "vector_only" if is_vector else "bm25_only"
        return Searched(Found((), kind, None if is_vector else 0, notes=("the dataset holds no chunks",)), None)
    vectors = _vectors(asked, notes) if asked.options.method != "bm25" else None
    try:
        found = _ranked(question, asked, _searcher(asked), vectors, notes)
    except StoreUnavailable as error:
        still_there(asked)
        if asked.options.engine == "database" or not in_database(asked):
            raise
        found = _ranked(question, asked, MemorySearcher(asked), vectors, notes)
        notes.append(f"searched in memory: {error}")
    has_vectors = vectors is not None and found.search_method != "bm25_only"
    found = found._replace(notes=tuple(notes), elapsed_ms=(perf_counter() - began) * 1000)
    return Searched(found, vectors.name if vectors is not None and has_vectors else None)


def in_database(asked: Asked) -> bool:
    """Whether the database searches: for a large dataset that it holds, unless the search says where."""
    place = asked.options.engine
    return place == "database" or (place == "auto" and asked.info.chunks > IN_MEMORY)


def _searcher(asked: Asked) -> Searcher:
    if not in_database(asked):
        return MemorySearcher(asked)
    from ctxasm.retrieval.database_search import EngineSearcher

    return EngineSearcher(asked)


def _ranked(question: str, asked: Asked, searcher: Searcher, vectors: KeptVectors | None, notes: list[str]) -> Found:
    options = asked.options
    rankings: list[Ranking] = []
    if vectors is not None:
        try:
            rankings.append(searcher.by_meaning(vectors, question))
        except ModelUnavailable as error:
            _without_vectors(asked, error, notes)
    if options.method != "vector":
        by_words = _by_words(question, searcher, vectors if options.method == "hybrid" and rankings else None, notes)
        rankings[:0] = [by_words] if by_words.best or not rankings else []
    return _found(rankings, searcher, options, WEIGHTS.get(vectors.name, 1.0) if vectors else 1.0)


def _found(rankings: Sequence[Ranking], searcher: Searcher, options: SearchOptions, weight: float) -> Found:
    """The hits of the rankings, `weight` being that of the vectors beside BM25."""
    from ctxasm.retrieval.fusion import ranked_hits

    weights = {"bm25": 1.0, "vector": weight}
    listed = ranked_hits(rankings, options.limit, k=options.fusion_k, weights=weights, depth=max(DEPTH, options.limit))
    keys = searcher.keys([hit.position for hit in listed])
    hits = tuple(Hit(*key, hit.score, rank, hit.scores) for rank, (key, hit) in enumerate(zip(keys, listed, strict=True), 1))
    ran = {ranking.name: ranking.best for ranking in rankings}
    kind = "hybrid_bm25_vector" if len(ran) == 2 else "bm25_only" if "bm25" in ran else "vector_only"
    matches = sum("bm25" in hit.scores for hit in hits) if options.method != "vector" else None
    similarity = round(ran["vector"][0].score, 4) if ran.get("vector") else None
    return Found(hits, kind, matches, similarity, fusion={"k": options.fusion_k, **weights} if len(ran) == 2 else None)


def _by_words(question: str, searcher: Searcher, vectors: KeptVectors | None, notes: list[str]) -> Ranking:
    """The ranking by words. `vectors` are those that find where no word does."""
    asked, ranking = searcher.by_words(question)
    if asked.only_stop_words:
        notes.append("the question has only stop words: they were searched for as they are")
    if not ranking.best:
        searched = "no chunk shares a word with the question" if asked.words else "the question has no words to search for"
        notes.append(searched + (": found by meaning alone" if vectors is not None else ""))
        if asked.is_foreign and (vectors is None or vectors.name == "wordllama"):
            notes.append(_across_languages())
    return ranking


def _across_languages() -> str:
    """What finds in another language than it is asked in."""
    from ctxasm.llm.embedding.local import missing

    remedy = "choose it with --embedder" if not missing(ACROSS) else "pip install 'ctxasm[retrieval]', and choose it with --embedder"
    return f"the question is in another language than the chunks, across which the embedder {ACROSS} finds: {remedy}"


def _vectors(asked: Asked, notes: list[str]) -> KeptVectors | None:
    """The embedder's vectors; None, with a note, where a hybrid search has to do without."""
    from ctxasm.retrieval.indexes import search_vectors_of

    datasets = asked.datasets
    try:
        return search_vectors_of(datasets.store, datasets.models, asked.options.embedder, asked.cancelled)
    except InvalidInput as error:
        _without_vectors(asked, error, notes)
        return None


def _without_vectors(asked: Asked, error: InvalidInput | ModelUnavailable, notes: list[str]) -> None:
    """Go on by words alone, where nobody asked for more than the default. Raises SearchStopped, or the error."""
    from ctxasm.retrieval.indexes import stop_if

    stop_if(asked.cancelled)
    if asked.options.method == "vector" or asked.options.embedder is not None:
        raise error
    notes.append(f"searched by words alone: {error}")
