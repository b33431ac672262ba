"""Rows of the tables to records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Chunk, Document
from ctxasm.store.codec import read_metadata
from ctxasm.store.tables import INDEX_BITS, INDEX_MASK, chunks, documents

DOCUMENT_COLUMNS = (
    documents.c.document_no,
    documents.c.document_id,
    documents.c.title,
    documents.c.source,
    documents.c.summary,
    documents.c.date,
    documents.c.metadata,
)
_PLACE = (
    chunks.c.place,
    chunks.c.text,
    chunks.c.start_char,
    chunks.c.end_char,
    chunks.c.page_number,
    chunks.c.section,
    chunks.c.row_number,
)
_FACTS = (chunks.c.token_count, chunks.c.overlap_chars, chunks.c.overlap_kind, chunks.c.overlap_tokens)
FETCHED_COLUMNS = (*_PLACE, *_FACTS, chunks.c.duplicate_key, chunks.c.lead_tokens, chunks.c.quiet)
"""In the order of a FetchedChunk."""
CHUNK_COLUMNS = (*_PLACE, chunks.c.metadata)
"""In the order of a Chunk."""


def fetched(rows: Iterable[Sequence[Any]], names: Mapping[int, str]) -> list[FetchedChunk]:
    """Chunks with their facts. `names` are the identifiers of documents by number."""
    make = FetchedChunk._make
    return [make((names[row[0] >> INDEX_BITS], row[0] & INDEX_MASK, *row[1:])) for row in rows]


def record_chunk(row: Sequence[Any], names: Mapping[int, str]) -> Chunk:
    """A chunk as it was loaded."""
    place, text, start, end, page_number, section, row_number, metadata = row
    where = (start, end, page_number, section, row_number, read_metadata(metadata))
    return Chunk(names[place >> INDEX_BITS], place & INDEX_MASK, text, *where)


def record_document(row: Sequence[Any]) -> Document:
    """A document as it was loaded."""
    _, document_id, title, source, summary, date, metadata = row
    return Document(document_id, title, source, summary, date, read_metadata(metadata))


def document_names(connection: Connection, numbers: Iterable[int]) -> dict[int, str]:
    """The identifiers of documents by number; those that are gone are left out."""
    own = select(documents.c.document_no, documents.c.document_id).where(documents.c.document_no.in_(set(numbers)))
    return {row[0]: row[1] for row in connection.execute(own)}
