"""Search for a typed question in a user's own table: by the engine that holds it, as far as that can.

PostgreSQL searches by words (full text) and, with pgvector, by meaning; SQLite by words where there is an FTS5 table. Without
one the words of a SQLite table are indexed in memory, up to MOST_INDEXED rows, and so are those of a small PostgreSQL table
that has no index for them: reading it through for every question would take longer and find less. Rankings are fused by
reciprocal rank, with the weights of every other search.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.model.errors import InvalidInput, ModelUnavailable, StoreUnavailable, shown
from ctxasm.model.records import Hit
from ctxasm.model.search import Found, QueryEmbedder, SearchOptions

if TYPE_CHECKING:
    from ctxasm.data.tables.linked import LinkedDataset
    from ctxasm.data.tables.search import Scored
    from ctxasm.retrieval.fusion import Ranking
    from ctxasm.retrieval.indexes import Bm25Index, MadeOnce

DEPTH = 100
"""How many hits of each ranking go into the fusion."""
MOST_INDEXED = 100_000
"""Rows that are indexed in memory at most."""
SMALL = 20_000
"""Rows up to which a PostgreSQL table without an index is indexed in memory rather than read through."""
FRESH_S = 300.0
"""Seconds that such an index is taken for what the table holds."""
SAME_EMBEDDER = 0.5
"""Least cosine between a stored vector and that of its text now, by the embedder that made it."""
Key = tuple[str, int]


class _Indexed(NamedTuple):
    keys: list[Key]
    words: Bm25Index


def search_table(dataset: LinkedDataset, question: str, options: SearchOptions, embed: QueryEmbedder | None = None) -> Found:
    """What was found, as `searching.search` gives it. `embed` replaces the embedder that the options name.

    Raises InvalidInput where a method cannot be had here, StoreUnavailable.
    """
    from ctxasm.retrieval.fusion import Ranking

    began, notes, weight = perf_counter(), list[str](), 1.0
    if options.text != "raw":
        notes.append(f"a table of your own is searched by its text as it is, not by text={options.text}")
    depth = max(DEPTH, options.limit)
    found: dict[str, Sequence[Scored]] = {}
    trouble: StoreUnavailable | None = None
    if options.method != "vector":
        try:
            found["bm25"] = _by_words(dataset, question, depth, options, notes)
        except StoreUnavailable as problem:
            trouble = problem
            notes.append(f"searched by meaning alone: {problem}")
    if options.method != "bm25":
        nearest = _by_meaning(dataset, question, depth, options, embed, notes)
        if nearest is not None:
            found["vector"], weight = nearest
    if trouble is not None and not found:  # no way is left: an empty answer would be a wrong one
        raise trouble
    if not found.get("bm25", ()) and "vector" in found:  # no word in common: by meaning alone
        found.pop("bm25", None)
    places = {key: place for place, key in enumerate(dict.fromkeys(each.key for best in found.values() for each in best))}
    rankings = [_ranking(Ranking, name, best, places) for name, best in found.items()]
    best_similarity = max((each.score for each in found.get("vector", ())), default=None)
    weights = {"bm25": 1.0, "vector": weight}
    hits = _hits(rankings, list(places), options, weights)
    kind = "hybrid_bm25_vector" if len(found) == 2 else "vector_only" if "vector" in found else "bm25_only"
    matches = sum("bm25" in hit.scores for hit in hits) if options.method != "vector" else None
    similarity = None if best_similarity is None else round(best_similarity, 4)
    fusion = {"k": options.fusion_k, **weights} if len(found) == 2 else None
    return Found(hits, kind, matches, similarity, tuple(notes), (perf_counter() - began) * 1000, fusion)


def _ranking(make: type[Ranking], name: str, best: Sequence[Scored], places: dict[Key, int]) -> Ranking:
    from ctxasm.retrieval.fusion import Ranked

    return make(name, [Ranked(places[each.key], each.score) for each in best])


def _hits(rankings: list[Ranking], keys: list[Key], options: SearchOptions, weights: dict[str, float]) -> tuple[Hit, ...]:
    from ctxasm.retrieval.fusion import ranked_hits

    if not rankings:
        return ()
    listed = ranked_hits(rankings, options.limit, k=options.fusion_k, weights=weights, depth=max(DEPTH, options.limit))
    return tuple(Hit(*keys[hit.position], hit.score, rank, hit.scores) for rank, hit in enumerate(listed, 1))


def _by_words(dataset: LinkedDataset, question: str, limit: int, options: SearchOptions, notes: list[str]) -> Sequence[Scored]:
    from ctxasm.data.tables.search import can_search_words, missing_index, search_words

    language = dataset.corpus_language() if options.language == "auto" else options.language
    reason = can_search_words(dataset)
    if not reason and options.engine != "database":
        reason = "asked to search in memory" if options.engine == "memory" else ""
        if dataset.info.chunks <= SMALL and not reason:
            reason = missing_index(dataset, language)
    if reason:
        best: Sequence[Scored] = _in_memory(dataset, question, limit, options, notes, reason)
    else:
        found = search_words(dataset, question, limit, language)
        notes.extend(found.notes)
        best = found.best
    if not best:
        notes.append("no chunk shares a word with the question" if dataset.some(1) else "the dataset holds no chunks")
    return best


def _by_meaning(
    dataset: LinkedDataset, question: str, limit: int, options: SearchOptions, embed: QueryEmbedder | None, notes: list[str]
) -> tuple[Sequence[Scored], float] | None:
    """The nearest chunks, and what they weigh in the fusion; None, with a note, where a hybrid search has to do without."""
    from ctxasm.data.tables.search import can_search_vectors, search_vectors
    from ctxasm.retrieval.ranking import WEIGHTS

    if reason := can_search_vectors(dataset):
        if options.method == "vector":
            raise InvalidInput(f"search by meaning cannot be had here: {reason}")
        notes.append(f"searched by words alone: {reason}")
        return None
    try:
        name, embedder = ("", embed) if embed is not None else _embedder(dataset, options)
        found = search_vectors(dataset, embedder.embed_query(question), limit)
    except (InvalidInput, ModelUnavailable, StoreUnavailable) as problem:  # such as a server of embeddings that is down, a scan too long
        if options.method == "vector" or options.embedder is not None:
            raise
        notes.append(f"searched by words alone: {problem}")
        return None
    if other := _other_embedder(dataset, embedder):
        if options.method != "vector":  # what means nothing must not overtake what shares words with the question
            notes.append(f"searched by words alone: {other}")
            return None
        notes.append(other)
    notes.extend(found.notes)
    return found.best, WEIGHTS.get(name, 1.0)


def _embedder(dataset: LinkedDataset, options: SearchOptions) -> tuple[str, QueryEmbedder]:
    """The embedder asked for, else the installed one whose vectors are as long as those of the column."""
    from ctxasm.data.tables.search import vector_column
    from ctxasm.llm.embedding.local import EMBEDDERS, missing, open_embedder

    if options.embedder is not None:
        if options.embedder not in EMBEDDERS:
            raise InvalidInput(f"the embedder must be one of {', '.join(EMBEDDERS)}, got {shown(options.embedder)}")
        if problem := missing(options.embedder):
            raise InvalidInput(problem)
        return options.embedder, open_embedder(options.embedder)
    wanted = vector_column(dataset).dimensions
    installed = [name for name in EMBEDDERS if not missing(name)]
    for name in installed:
        if wanted is None or len(open_embedder(name).embed_query("size")) == wanted:
            return name, open_embedder(name)
    known = ", ".join(installed) or "none"
    raise InvalidInput(
        f"no embedder here gives vectors of {wanted} numbers, as the table holds (installed: {known}): name the one that made them"
    )


def _other_embedder(dataset: LinkedDataset, embedder: QueryEmbedder) -> str:
    """A sentence where the stored vectors are not those that this embedder makes of the same texts."""
    import numpy as np

    from ctxasm.config import EMBED_MODEL
    from ctxasm.data.tables.search import some_vectors

    there = some_vectors(dataset, 3)
    if not there:
        return ""
    made = np.asarray(embedder.embed_passages([text for text, _ in there]), np.float64)
    stored = np.asarray([vector for _, vector in there], np.float64)
    lengths = np.linalg.norm(made, axis=1) * np.linalg.norm(stored, axis=1)
    cosines = (made * stored).sum(axis=1) / np.where(lengths > 0, lengths, 1.0)
    if float(cosines.max()) >= SAME_EMBEDDER:
        return ""
    return (
        "another embedder made the vectors of this table, so its nearest chunks mean nothing: "
        f"name the one that made them with --embedder NAME, or set {EMBED_MODEL}"
    )


def _in_memory(
    dataset: LinkedDataset, question: str, limit: int, options: SearchOptions, notes: list[str], reason: str
) -> Sequence[Scored]:
    """BM25 over the rows, in memory, for a table whose engine cannot search by words."""
    from ctxasm.data.tables.search import Scored
    from ctxasm.retrieval.analyser import SNOWBALL, analyser, language_of_texts
    from ctxasm.retrieval.indexes import Bm25Index

    def make() -> _Indexed:
        chunks = list(dataset.stream(MOST_INDEXED + 1))
        if len(chunks) > MOST_INDEXED:
            raise InvalidInput(f"{reason}, and more than {MOST_INDEXED:,} rows are not indexed in memory: make one, or copy the table")
        texts = [chunk.text for chunk in chunks]
        language = next((own for own in SNOWBALL if own == options.language), None) or language_of_texts(texts[:200])
        return _Indexed(
            [(chunk.document_id, chunk.chunk_index) for chunk in chunks], Bm25Index(texts, analyser(language), total=len(texts))
        )

    made = _made().get((dataset.database.description, dataset.sql.chunks, options.language, monotonic() // FRESH_S), make)
    notes.append(f"its rows were indexed in memory (BM25), as of the last {FRESH_S / 60:.0f} minutes: {reason}")
    return [Scored(made.keys[best.position], best.score) for best in made.words.search(question, limit)]


@cache
def _made() -> MadeOnce[_Indexed]:
    from ctxasm.retrieval.indexes import MadeOnce

    return MadeOnce(400_000_000, lambda made: made.words.bytes)
