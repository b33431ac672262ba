"""Canonical questions as queries with their evidence: so a corpus without labels can be tuned.

They become saved queries of the same dataset, because settings are tuned on a dataset with its queries; their metadata say who made
them (`made_by`), their ids begin with "made-", and made again they replace the ones made before. They are easier than what people
ask, those of the rules above all: they share words with their chunk. So they compare settings, and do not tell how good answers are.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, islice
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.data.datasets import fresh
from ctxasm.data.enrich import enrichments, written_for
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.kept import key_of
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import GoldChunk, Query

if TYPE_CHECKING:
    from ctxasm.retrieval.indexes import Searchable

Search = Callable[[str], Query]
"""A question with what was found for it."""
PREFIX = "made-"
MADE_BY = "made_by"
STEP = 500
"""Chunks whose questions are read at a time."""
_SPARE = 4
"""Times as many questions as wanted are looked at: those that stand for several chunks fall out."""


class MadeQueries(NamedTuple):
    """The queries that were saved, the number of questions they were chosen from, of those left out because several chunks answer
    them, and of queries of an earlier time that were removed."""

    saved: tuple[Query, ...]
    questions: int
    ambiguous: int
    removed: int
    cancelled: bool = False


class _Question(NamedTuple):
    """`rank` is its place among the questions of its document, `spread` the document's place among those of the same rank."""

    rank: int
    spread: str
    text: str
    document_id: str
    chunk_index: int


def questions_as_queries(
    datasets: Searchable,
    dataset: str | None = None,
    limit: int | None = None,
    search: Search | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> MadeQueries:
    """Save the canonical questions of a dataset as its queries, the chunk each was made for as gold; at most `limit` of them.

    The choice is the same every time and goes round the documents. Hits are what `search` finds (default: a hybrid search in the
    raw text: in the enriched one every question would find itself). Raises InvalidInput where the dataset has no questions.
    """
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InvalidInput(f"limit must be a whole number of questions from 1, got {shown(limit)}")
    from ctxasm.retrieval.searching import loaded_ids

    name = datasets.dataset(dataset).info.name
    written = written_for(datasets.store, name)
    seen: Counter[str] = Counter()
    # The ones that were loaded (also ones that were made for an export) or typed count as said: asked twice, a question weighs double.
    loaded, entries = loaded_ids(datasets, name), datasets.dataset(name).query_list()
    known = [_said(entry.query) for entry in entries if entry.query_id in loaded or not entry.query_id.startswith(PREFIX)]
    seen.update(known)
    if not written:
        raise InvalidInput(f"dataset {name} is not enriched: run `ctxasm enrich --data {quote(name)}` first")
    questions = _chosen(_questions(datasets, name, seen), limit)
    total = sum(seen.values()) - len(known)
    clear = [one for one in questions if seen[_said(one.text)] == 1][:limit]
    if not clear:
        raise InvalidInput(f"the enrichment of dataset {name} holds no question that one chunk alone answers: enrich it with questions")
    made_by = written[0].writers[0].label
    queries, began = list[Query](), perf_counter()
    for place, question in enumerate(clear):
        if cancelled():
            return MadeQueries((), total, len(questions) - len(clear), 0, cancelled=True)
        queries.append(_query(question, made_by, search or _searching(datasets, name)))
        report(Progress(place + 1, len(clear), "searching for the questions", perf_counter() - began))
    removed = _save(datasets, name, queries)
    return MadeQueries(tuple(queries), total, sum(1 for count in seen.values() if count > 1), removed)


def _questions(datasets: Searchable, name: str, seen: Counter[str]) -> Iterator[_Question]:
    """All canonical questions of who wrote last, in the order of a fair choice within each document; counts them in `seen`."""
    written = written_for(datasets.store, name)[:1]
    for document_id, chunks in groupby(fresh(datasets, name).iter_chunks(), key=lambda chunk: chunk.document_id):
        found: list[tuple[str, FetchedChunk]] = []
        while batch := list(islice(chunks, STEP)):
            for chunk, said in zip(batch, enrichments(datasets, name, batch, written), strict=True):
                for text in said.questions if said is not None else ():
                    seen[_said(text)] += 1
                    found.append((text, chunk))
        found.sort(key=lambda pair: key_of(pair[0], str(pair[1].chunk_index)))
        spread = key_of(document_id)
        for rank, (text, chunk) in enumerate(found):
            yield _Question(rank, spread, text, document_id, chunk.chunk_index)


def _chosen(questions: Iterator[_Question], limit: int | None) -> list[_Question]:
    """The first ones of a round through the documents, in that order."""
    return sorted(questions) if limit is None else heapq.nsmallest(_SPARE * limit, questions)


def _said(text: str) -> str:
    """Equal for questions that say the same, whatever their marks and capitals."""
    return key_of(" ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split()))[:24]


def _query(question: _Question, made_by: str, search: Search) -> Query:
    found = search(question.text)
    gold = (GoldChunk(question.document_id, question.chunk_index, "made"),)
    query_id = PREFIX + key_of(question.text, question.document_id, str(question.chunk_index))[:12]
    return replace(found, query=question.text, query_id=query_id, gold=gold, metadata={**found.metadata, MADE_BY: made_by})


def _searching(datasets: Searchable, name: str) -> Search:
    from ctxasm.retrieval.searching import search

    return lambda question: search(datasets, question, name)


def _save(datasets: Searchable, name: str, queries: list[Query]) -> int:
    """Save these, and remove those of an earlier time; returns how many."""
    from ctxasm.retrieval.searching import save_query

    fresh = {query.query_id for query in queries}
    gone = [
        query.query_id
        for query in datasets.store.saved_queries(name)
        if query.query_id.startswith(PREFIX) and MADE_BY in query.metadata and query.query_id not in fresh
    ]
    for query in queries:
        save_query(datasets, name, query)
    for query_id in gone:
        datasets.store.delete_query(name, query_id)
    return len(gone)
