"""A bundle written as JSON Lines that read back equal, record by record. A field at its default is left out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ctxasm.data.files.kinds import ANSWERS, CHUNKS, DOCUMENTS, KNOWN_FILES, QUERIES, RETRIEVALS
from ctxasm.model.records import Answer, Bundle, Chunk, Document, GoldChunk, Hit, Query, Span

_RETRIEVAL_FIELDS = ("search_method", "bm25_matches", "best_similarity", "intent", "supplement")


def write_bundle(bundle: Bundle, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the files that have records (and remove those that would have none); returns the paths written."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = write_records(lambda file: (place / file).open("wb"), bundle.documents, bundle.chunks, bundle.queries, bundle.answers)
    for file in KNOWN_FILES:
        if file not in written:
            (place / file).unlink(missing_ok=True)
    return tuple(place / file for file in written)


def write_records(
    create: Callable[[str], IO[bytes]],
    documents: Iterable[Document],
    chunks: Iterable[Chunk],
    queries: Iterable[Query],
    answers: Iterable[Answer],
) -> tuple[str, ...]:
    """Write the files that have records, each made by `create(name)` when its first record comes; returns their names.

    Each part is read as it is written, but `queries` is kept: what was retrieved has a file of its own.
    """
    asked = tuple(queries)
    rows = {
        DOCUMENTS.file: (_document(document) for document in documents),
        CHUNKS.file: (_chunk(chunk) for chunk in chunks),
        QUERIES.file: (query_row(query) for query in asked),
        RETRIEVALS.file: (row for query in asked if len(row := retrieval_row(query)) > 2 or query.retrieved),
        ANSWERS.file: (_answer(answer) for answer in answers),
    }
    return tuple(file for file, lines in rows.items() if _write(create, file, lines))


def _write(create: Callable[[str], IO[bytes]], file: str, rows: Iterator[Mapping[str, Any]]) -> bool:
    first = next(rows, None)
    if first is None:
        return False
    with create(file) as stream:
        stream.write(json_line(first))
        for row in rows:
            stream.write(json_line(row))
    return True


def json_line(row: Mapping[str, Any]) -> bytes:
    """A row of JSON Lines."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value != {} and value != ()}


def _document(document: Document) -> dict[str, Any]:
    return _given(
        document_id=document.document_id,
        title=document.title,
        source=document.source,
        summary=document.summary,
        date=document.date,
        metadata=dict(document.metadata),
    )


def _chunk(chunk: Chunk) -> dict[str, Any]:
    return _given(
        document_id=chunk.document_id,
        chunk_index=chunk.chunk_index,
        text=chunk.text,
        start=chunk.start,
        end=chunk.end,
        page_number=chunk.page_number,
        section=chunk.section,
        row_number=chunk.row_number,
        metadata=dict(chunk.metadata),
    )


def query_row(query: Query) -> dict[str, Any]:
    """A line of queries.jsonl."""
    return _given(
        query_id=query.query_id,
        query=query.query,
        gold=tuple(_gold(gold) | _given(by=gold.by, votes=gold.votes, also=tuple(map(_gold, gold.also))) for gold in query.gold),
        spans=tuple(_span(span) for span in query.spans),
        answer=query.answer,
        history=tuple({"role": turn.role, "content": turn.content} for turn in query.history),
        metadata=dict(query.metadata),
    )


def _gold(gold: GoldChunk) -> dict[str, Any]:
    return _given(document_id=gold.document_id, chunk_index=gold.chunk_index, text=gold.text, lost=gold.lost or None)


def _span(span: Span) -> dict[str, Any]:
    place = _given(document_id=span.document_id, start=span.start, end=span.end, text=span.text, lost=span.lost or None)
    return place | _given(also=tuple(_span(other) for other in span.also))


def retrieval_row(query: Query) -> dict[str, Any]:
    """A line of retrievals.jsonl."""
    figures = _given(**{name: getattr(query, name) for name in _RETRIEVAL_FIELDS})
    lost = _given(lost_hits=tuple(_hit(lost.hit) | {"text": lost.text} for lost in query.lost_hits))
    return {"query_id": query.query_id, "retrieved": [_hit(hit) for hit in query.retrieved], **figures, **lost}


def _hit(hit: Hit) -> dict[str, Any]:
    return _given(document_id=hit.document_id, chunk_index=hit.chunk_index, score=hit.score, rank=hit.rank, scores=dict(hit.scores))


def _answer(answer: Answer) -> dict[str, Any]:
    return _given(
        query_id=answer.query_id,
        answer=answer.answer,
        sources=tuple(dict(source) for source in answer.sources),
        labels=tuple(dict(label) for label in answer.labels),
        metadata=dict(answer.metadata),
    )
