"""A bundle written as a folder of JSON Lines that reads back equal. A field at its default is left out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ctxasm.bundle.kinds import ANSWERS, CHUNKS, DOCUMENTS, QUERIES, RETRIEVALS
from ctxasm.model.records import Answer, Bundle, Chunk, Document, Hit, Query, Span

_RETRIEVAL_FIELDS = ("search_method", "bm25_matches", "best_similarity", "intent", "supplement")


def write_bundle(bundle: Bundle, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the files that have records (and remove those that would have none); returns the paths written."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    rows = {
        DOCUMENTS.file: [_document(document) for document in bundle.documents],
        CHUNKS.file: [_chunk(chunk) for chunk in bundle.chunks],
        QUERIES.file: [_query(query) for query in bundle.queries],
        RETRIEVALS.file: [row for query in bundle.queries if len(row := _retrieval(query)) > 2 or query.retrieved],
        ANSWERS.file: [_answer(answer) for answer in bundle.answers],
    }
    return tuple(path for file, lines in rows.items() if (path := _write(place / file, lines)))


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path | None:
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n" for row in rows)
    if not text:
        path.unlink(missing_ok=True)
        return None
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


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


def _query(query: Query) -> dict[str, Any]:
    return _given(
        query_id=query.query_id,
        query=query.query,
        gold=tuple({"document_id": gold.document_id, "chunk_index": gold.chunk_index} for gold in query.gold),
        spans=tuple(_span(span) for span in query.spans),
        answer=query.answer,
        history=tuple({"role": turn.role, "content": turn.content} for turn in query.history),
        metadata=dict(query.metadata),
    )


def _span(span: Span) -> dict[str, Any]:
    return _given(document_id=span.document_id, start=span.start, end=span.end, also=tuple(_span(other) for other in span.also))


def _retrieval(query: Query) -> dict[str, Any]:
    hits = [_hit(hit) for hit in query.retrieved]
    return {"query_id": query.query_id, "retrieved": hits, **_given(**{name: getattr(query, name) for name in _RETRIEVAL_FIELDS})}


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
