"""What a dataset is read by: the SQL of the hot path, as text per database, so that a fetch compiles nothing; and rows to records.

Windows travel as one parameter, so the text is the same for any number of hits. SQLite joins `json_each`, PostgreSQL
`unnest`; row values in an IN list would scan the whole table on SQLite.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from ctxasm.model.characters import storable
from ctxasm.model.ports import FetchedChunk, Window
from ctxasm.model.records import Chunk, Document
from ctxasm.store.records import RowTypes, decoding, read_metadata
from ctxasm.store.schema import INDEX_BITS, INDEX_MASK, chunks, documents

_FACTS = "c.token_count, c.overlap_chars, c.overlap_kind, c.overlap_tokens, c.duplicate_key, c.lead_tokens, c.quiet"
_NO_COUNTS = "NULL, c.overlap_chars, c.overlap_kind, NULL, c.duplicate_key, NULL, c.quiet"
_CHUNK = "c.place, c.text, c.start_char, c.end_char, c.page_number, c.section, c.row_number, "
_DOCUMENT = "d.document_no, d.document_id, d.title, d.source, d.summary, d.date, d.metadata"
# Nothing is read under the number of a dataset that was replaced meanwhile. Asked once a statement, not once a row.
_CURRENT = "EXISTS (SELECT 1 FROM ctxasm_datasets WHERE dataset_id = {})"

Ranges = Sequence[tuple[int, int]]
"""Places, from and to, both included."""


class Dialect(NamedTuple):
    """The statements of one database. `counted` reads stored token facts, `uncounted` those of another encoding: none."""

    begin: str
    counted: str
    uncounted: str
    documents: str
    containing: str
    """Chunks of one place range whose text contains a phrase, in any case: parameters from, to, phrase, limit."""
    vectors: str
    keep_vector: str
    kept: str
    keep_text: str


def _sqlite_chunks(facts: str) -> str:
    # An object {low: high} rather than pairs: its keys and values are columns of json_each, so nothing is parsed a row.
    # CROSS JOIN keeps SQLite from reading the chunks first.
    where = f"c.place BETWEEN CAST(w.key AS INTEGER) AND w.value AND {_CURRENT.format('?')}"
    return f"SELECT {_CHUNK}{facts} FROM json_each(?) AS w CROSS JOIN ctxasm_chunks AS c WHERE {where}"  # noqa: S608


def _postgresql_chunks(facts: str) -> str:
    # The subquery with its own order is not flattened, so the plan is a key scan a window at any table size and statistics.
    # (A plain join scans the whole table as soon as the planner takes the ranges for wide: 20 to 200 times slower.)
    own = f"SELECT {_CHUNK}{facts} FROM ctxasm_chunks AS c WHERE c.place BETWEEN w.low AND w.high ORDER BY c.place OFFSET 0"  # noqa: S608
    windows = "unnest(%s::bigint[], %s::bigint[]) AS w(low, high)"
    return f"SELECT own.* FROM {windows} CROSS JOIN LATERAL ({own}) AS own WHERE {_CURRENT.format('%s')}"  # noqa: S608


SQLITE = Dialect(
    begin="BEGIN IMMEDIATE",
    counted=_sqlite_chunks(_FACTS),
    uncounted=_sqlite_chunks(_NO_COUNTS),
    documents=f"SELECT {_DOCUMENT} FROM json_each(?) AS w CROSS JOIN ctxasm_documents AS d "  # noqa: S608
    "WHERE d.dataset_id = ? AND d.document_id = w.value",
    containing=f"SELECT {_CHUNK}{_FACTS} FROM ctxasm_chunks AS c "  # noqa: S608
    "WHERE c.place BETWEEN ? AND ? AND ctxasm_contains(c.text, ?) ORDER BY c.place LIMIT ?",
    vectors="SELECT v.content_key, v.vector FROM json_each(?) AS w CROSS JOIN ctxasm_vectors AS v "
    "WHERE v.embedder = ? AND v.content_key = ctxasm_unhex(w.value)",
    keep_vector="INSERT INTO ctxasm_vectors (embedder, content_key, vector) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    kept="SELECT k.key, k.value FROM json_each(?) AS w CROSS JOIN ctxasm_kept AS k WHERE k.shelf = ? AND k.key = w.value",
    keep_text="INSERT INTO ctxasm_kept (shelf, key, value, kept_at) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (shelf, key) DO UPDATE SET value = excluded.value, kept_at = excluded.kept_at",
)

POSTGRESQL = Dialect(
    begin="BEGIN",
    counted=_postgresql_chunks(_FACTS),
    uncounted=_postgresql_chunks(_NO_COUNTS),
    documents=f"SELECT {_DOCUMENT} FROM unnest(%s::text[]) AS w(document_id) CROSS JOIN LATERAL "  # noqa: S608
    "(SELECT * FROM ctxasm_documents WHERE dataset_id = %s AND document_id = w.document_id OFFSET 0) AS d",
    containing=f"SELECT {_CHUNK}{_FACTS} FROM ctxasm_chunks AS c "  # noqa: S608
    "WHERE c.place BETWEEN %s AND %s AND position(lower(%s) in lower(c.text)) > 0 ORDER BY c.place LIMIT %s",
    vectors="SELECT v.content_key, v.vector FROM unnest(%s::bytea[]) AS w(content_key) CROSS JOIN LATERAL "
    "(SELECT * FROM ctxasm_vectors WHERE embedder = %s AND content_key = w.content_key OFFSET 0) AS v",
    keep_vector="INSERT INTO ctxasm_vectors (embedder, content_key, vector) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
    kept="SELECT k.key, k.value FROM unnest(%s::text[]) AS w(key) CROSS JOIN LATERAL "
    "(SELECT * FROM ctxasm_kept WHERE shelf = %s AND key = w.key OFFSET 0) AS k",
    keep_text="INSERT INTO ctxasm_kept (shelf, key, value, kept_at) VALUES (%s, %s, %s, %s) "
    "ON CONFLICT (shelf, key) DO UPDATE SET value = excluded.value, kept_at = excluded.kept_at",
)


def readable(windows: Sequence[Window]) -> Iterator[Window]:
    """The part of each window that a store can hold at all, so that no request can be out of a database's range."""
    for window in windows:
        document_id, low, high = window
        if low < 0 or high > INDEX_MASK:
            window = Window(document_id, max(low, 0), min(high, INDEX_MASK))
        if window.low <= window.high and storable(document_id):
            yield window


def chunk_parameters(name: str, ranges: Ranges, dataset_id: int) -> tuple[Any, ...]:
    """The parameters of `counted` and `uncounted` for the database `name`. The lows of `ranges` differ."""
    if name == "sqlite":
        return json.dumps({str(low): high for low, high in ranges}), dataset_id
    return [low for low, _ in ranges], [high for _, high in ranges], dataset_id


def document_parameters(name: str, document_ids: Sequence[str], dataset_id: int) -> tuple[Any, ...]:
    """The parameters of `documents` for the database `name`."""
    return (json.dumps(document_ids), dataset_id) if name == "sqlite" else (list(document_ids), dataset_id)


def kept_parameters(name: str, shelf: str, keys: Sequence[str]) -> tuple[Any, ...]:
    """The parameters of `kept` for the database `name`."""
    return (json.dumps(keys), shelf) if name == "sqlite" else (list(keys), shelf)


def vector_parameters(name: str, embedder: str, keys: Sequence[bytes]) -> tuple[Any, ...]:
    """The parameters of `vectors` for the database `name`."""
    return (json.dumps([key.hex() for key in keys]), embedder) if name == "sqlite" else (list(keys), embedder)


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
_COUNTED = (chunks.c.token_count, chunks.c.overlap_chars, chunks.c.overlap_kind, chunks.c.overlap_tokens)
FETCHED_COLUMNS = (*_PLACE, *_COUNTED, chunks.c.duplicate_key, chunks.c.lead_tokens, chunks.c.quiet)
"""In the order of a FetchedChunk."""
CHUNK_COLUMNS = (*_PLACE, chunks.c.metadata)
"""In the order of a Chunk."""


_FETCHED_TYPES, _CHUNK_TYPES, _DOCUMENT_TYPES = (RowTypes(*columns) for columns in (FETCHED_COLUMNS, CHUNK_COLUMNS, DOCUMENT_COLUMNS))


def fetched(rows: Sequence[Sequence[Any]], names: Mapping[int, str]) -> list[FetchedChunk]:
    """Chunks with their facts. `names` are the identifiers of documents by number. Raises DamagedData."""
    _FETCHED_TYPES.check(rows)
    make = FetchedChunk._make
    with decoding("the document of a chunk"):
        return [make((names[row[0] >> INDEX_BITS], row[0] & INDEX_MASK, *row[1:])) for row in rows]


def record_chunk(row: Sequence[Any], names: Mapping[int, str]) -> Chunk:
    """A chunk as it was loaded. Raises DamagedData."""
    _CHUNK_TYPES.check([row])
    place, text, start, end, page_number, section, row_number, metadata = row
    where = (start, end, page_number, section, row_number, read_metadata(metadata))
    with decoding("the document of a chunk"):
        return Chunk(names[place >> INDEX_BITS], place & INDEX_MASK, text, *where)


def record_document(row: Sequence[Any]) -> Document:
    """A document as it was loaded. Raises DamagedData."""
    _DOCUMENT_TYPES.check([row])
    _, document_id, title, source, summary, date, metadata = row
    return Document(document_id, title, source, summary, date, read_metadata(metadata))


def document_names(connection: Connection, numbers: Iterable[int]) -> dict[int, str]:
    """The identifiers of documents by number; those that are gone are left out."""
    own = select(documents.c.document_no, documents.c.document_id).where(documents.c.document_no.in_(set(numbers)))
    return {row[0]: row[1] for row in connection.execute(own)}
