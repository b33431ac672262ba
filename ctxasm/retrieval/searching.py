"""Search for a typed question: by words, by meaning, or both, in the text of chunks or in what is known beside it.

The result is a Query with its hits, as if it had been loaded: it goes to Inspect and Ask as it is, and can be saved to a dataset.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import count
from typing import Any, Literal, NamedTuple

from ctxasm.model.characters import is_visible
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.records import Query
from ctxasm.model.search import MOST_HITS, SearchOptions
from ctxasm.retrieval.indexes import Searchable, asked, on_one_version, stamp_of
from ctxasm.retrieval.ranking import Searched, searched

MOST_CHARS = 20_000
"""Of a question."""
PREFIX = "typed-"
"""How the id of a typed question begins."""


def search(
    datasets: Searchable,
    question: str,
    dataset: str | None = None,
    options: SearchOptions | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Query:
    """The question with what was found for it in a dataset (default: the newest). Not saved: see `save_query`.

    Indexes are made when they are first needed, told to `report`. Raises InvalidInput for a blank question and for what cannot be
    had here, SearchStopped, ModelUnavailable where a configured model fails, NotFound, StoreUnavailable.
    """
    from ctxasm.retrieval.reranking import RERANKED, open_reranker, reranked

    options = options or SearchOptions()
    check_question(question)
    name = datasets.dataset(dataset).info.name
    told = replace(options, text="raw") if datasets.links.dataset(name) is not None else options
    if options.reranker is None:
        return as_query(question, _searched(datasets, question, name, options, report, cancelled), told)
    reranker = open_reranker(options.reranker, datasets.models, cancelled)
    wider = replace(options, limit=min(MOST_HITS, max(options.limit, RERANKED)))
    found, embedder = _searched(datasets, question, name, wider, report, cancelled)
    return as_query(question, Searched(reranked(datasets, name, question, found, reranker, options.limit), embedder), told)


def save_query(datasets: Searchable, dataset: str | None, query: Query) -> Query:
    """Keep the query with its hits among those of a dataset, also through later loads. Raises InvalidInput, StoreUnavailable.

    A typed question that came with the dataset (its export was loaded) stays as it is: this one gets the next free id. One that is
    saved in place of itself keeps its labels.
    """
    name, loaded = datasets.dataset(dataset).info.name, loaded_ids(datasets, dataset)
    if query.query_id in loaded and query.query_id.startswith(PREFIX):
        free = (f"{query.query_id}-{number}" for number in count(2))
        query = replace(query, query_id=next(query_id for query_id in free if query_id not in loaded))
    known = {saved.query_id: saved for saved in datasets.store.saved_queries(name)}.get(query.query_id)
    if known is not None and known.query == query.query and not query.is_labelled:
        query = replace(query, gold=known.gold, spans=known.spans, answer=query.answer or known.answer)
    datasets.store.save_query(name, query, linked=datasets.links.dataset(name) is not None)
    return query


def loaded_ids(datasets: Searchable, dataset: str | None) -> set[str]:
    """The ids of the queries that came with a dataset, and so cannot be saved in their place. Raises NotFound, StoreUnavailable."""
    source = datasets.dataset(dataset)
    entries, info = source.query_list(), source.info
    return set() if datasets.links.dataset(info.name) else {entry.query_id for entry in entries[: info.queries]}


class Way(NamedTuple):
    """One choice of SearchOptions: whether it can be had for a dataset here, and if not, why and what to do."""

    kind: Literal["method", "text", "embedder", "reranker"]
    name: str
    available: bool
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}" if self.reason else self.name


def methods(datasets: Searchable, dataset: str | None = None) -> tuple[Way, ...]:
    """Every method, indexed text, embedder and reranker, the default of each kind first. Raises NotFound, StoreUnavailable."""
    from ctxasm.data.tables.search import can_search_vectors
    from ctxasm.llm.embedding.local import EMBEDDERS, missing
    from ctxasm.retrieval.indexes import ENDPOINT
    from ctxasm.retrieval.reranking import RERANKERS, unavailable

    def reason(check: Any) -> str:
        try:
            check()
        except InvalidInput as error:
            return str(error)
        return ""

    models, name = datasets.models, datasets.dataset(dataset).info.name
    linked = datasets.links.dataset(name)
    embedders = {embedder: missing(embedder) for embedder in EMBEDDERS} | {ENDPOINT: reason(lambda: models.endpoint("embed"))}
    none = "" if "" in embedders.values() else next(iter(embedders.values()))
    none = none or (can_search_vectors(linked) if linked is not None else "")
    only_raw = "a table of your own is searched by its text as it is" if linked is not None else ""
    not_enriched = only_raw or reason(lambda: stamp_of(datasets, name))
    return (
        *(Way("method", "hybrid", True), Way("method", "bm25", True), Way("method", "vector", not none, none)),
        *(Way("text", "raw", True), Way("text", "title", not only_raw, only_raw), Way("text", "enriched", not not_enriched, not_enriched)),
        *(Way("embedder", embedder, not problem, problem) for embedder, problem in embedders.items()),
        *(Way("reranker", name, not (problem := unavailable(name, models)), problem) for name in RERANKERS),
    )


def check_question(question: object) -> None:
    """Raises InvalidInput for what is no question."""
    if not isinstance(question, str) or not is_visible(question):
        raise InvalidInput(f"the question must be a text with at least one visible character, got {shown(question)}")
    if len(question) > MOST_CHARS:
        raise InvalidInput(f"the question must have at most {MOST_CHARS:,} characters, got {len(question):,}: shorten it")


def as_query(question: str, searched: Searched, options: SearchOptions) -> Query:
    """What was found as a Query. Its id says only what was asked, so the same question is saved in place of itself."""
    digest = hashlib.blake2b(" ".join(question.split()).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    found = searched.found
    metadata: dict[str, Any] = {"indexed_text": options.text, "embedder": searched.embedder, "reranker": options.reranker}
    return Query(
        question,
        found.hits,
        PREFIX + digest,
        search_method=found.search_method,
        bm25_matches=found.bm25_matches,
        best_similarity=found.best_similarity,
        metadata={**metadata, "fusion": found.fusion and dict(found.fusion), "notes": list(found.notes)},
    )


def _searched(datasets: Searchable, question: str, name: str, options: SearchOptions, report: Report, cancelled: Cancelled) -> Searched:
    linked = datasets.links.dataset(name)
    if linked is None:
        return on_one_version(lambda: searched(question, asked(datasets, name, options, report, cancelled)), name)
    from ctxasm.retrieval.indexes import endpoint_embedder
    from ctxasm.retrieval.table_search import search_table

    # Among local embedders the table chooses itself: the one that made its vectors.
    embedder = None if options.method == "bm25" else endpoint_embedder(options.embedder, datasets.models, cancelled)
    return Searched(search_table(linked, question, options, embedder), options.embedder)
