"""What the mapping of a user's own table offers: its columns, the places inside its JSON, what is still missing. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from ctxasm.store.own.catalogue import Sample, TableInfo
from ctxasm.store.own.mapping import DOCUMENT_FIELDS, FIELDS, OF_DOCUMENT, REQUIRED, DocumentsTable, TableMapping, with_place
from ctxasm.store.own.paths import Path
from ctxasm.ui.words import number

MOST_PATHS = 300
MAX_DEPTH = 3
LABELS = {"order_by": "no chunk_index: count rows by"}


def table_label(table: TableInfo) -> str:
    """`public.chunks · about 12 000 rows`."""
    name = f"{table.schema}.{table.name}" if table.schema else table.name
    if table.rows is None:
        return f"{name} · {table.kind}"
    about = "" if table.exact else "at least " if table.more else "about "
    return f"{name} · {about}{number(table.rows)} rows{' · view' if table.kind == 'view' else ''}"


def places_in(sample: Sample) -> tuple[str, ...]:
    """The columns, and the paths into those whose values are JSON objects, as far as the sample shows them."""
    found = dict.fromkeys(sample.columns)
    for row in sample.rows:
        for column, value in zip(sample.columns, row, strict=True):
            found.update(dict.fromkeys(str(Path(column, keys)) for keys in islice(_keys(_object(value), MAX_DEPTH), 60)))
    return tuple(islice(found, max(MOST_PATHS, len(sample.columns))))


def _object(value: str | None) -> Any:
    if value is None or not value.lstrip().startswith("{"):
        return None
    try:
        return json.loads(value)
    except ValueError:  # a text that only looks like JSON, or one that was cut
        return None


def _keys(value: Any, depth: int) -> Iterator[tuple[str, ...]]:
    if isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield (str(key),)
            yield from ((str(key), *rest) for rest in _keys(inner, depth - 1))


def chunk_fields(mapping: TableMapping) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of the table of chunks that are shown at once, and those behind a click."""
    own = FIELDS if mapping.documents is None else tuple(field for field in FIELDS if field not in OF_DOCUMENT)
    leading = (*REQUIRED, *(() if mapping.fields.get("chunk_index") else ("order_by",)))
    first = (*leading, *(field for field in own if field not in leading and field in mapping.fields))
    return first, tuple(field for field in own if field not in first)


def with_field(mapping: TableMapping, field: str, place: str | None) -> TableMapping:
    """The mapping with another place for a field of the table of chunks; None for no place. chunk_index or order_by: one of them."""
    fields = with_place(mapping.fields, field, place)
    return replace(mapping, fields={name: fields[name] for name in FIELDS if name in fields})


def with_document_field(mapping: TableMapping, field: str, place: str | None) -> TableMapping:
    """The mapping with another place for a field of the table of documents."""
    own = mapping.documents
    if own is None:
        return mapping
    fields = {name: old for name, old in own.fields.items() if name != field} | ({field: place} if place else {})
    return replace(mapping, documents=replace(own, fields={name: fields[name] for name in DOCUMENT_FIELDS if name in fields}))


def with_documents(mapping: TableMapping, own: DocumentsTable | None) -> TableMapping:
    """The mapping with another table of documents; what that has is read there."""
    if own is None:
        return replace(mapping, documents=None)
    fields = {name: place for name, place in mapping.fields.items() if name not in OF_DOCUMENT}
    return replace(mapping, fields=fields, documents=own)


def needed(mapping: TableMapping) -> tuple[str, ...]:
    """The fields that this mapping cannot do without."""
    return tuple(field for field in REQUIRED if field != "chunk_index" or not mapping.counted)


def lacking(mapping: TableMapping) -> str:
    """What a mapping still needs, as a sentence; empty where it can be tried."""
    if mapping.missing:
        counted = ", or what its rows are counted by" if "chunk_index" in mapping.missing else ""
        return f"Choose a column for {' and '.join(mapping.missing)}{counted}."
    if mapping.documents is not None and not mapping.documents.fields.get("document_id"):
        return f"Choose the column of {mapping.documents.table} that holds the document_id."
    return ""


def sample_rows(sample: Sample) -> Sequence[tuple[int, dict[str, Any]]]:
    """The rows of a sample as a preview takes them."""
    return [(at, dict(zip(sample.columns, row, strict=True))) for at, row in enumerate(sample.rows, 1)]
