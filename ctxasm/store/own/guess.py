"""A first mapping of a table, by the names and types of its columns and the keys of its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ctxasm.model.errors import CtxasmError, NotFound
from ctxasm.model.field_names import guess_name, plain_name
from ctxasm.store.own.catalogue import ColumnInfo, Sample, TableDetails, details, sample, tables
from ctxasm.store.own.mapping import DOCUMENT_FIELDS, FIELDS, OF_DOCUMENT, DocumentsTable, TableMapping
from ctxasm.store.own.paths import Path
from ctxasm.store.own.session import OwnDatabase
from ctxasm.store.own.types import Kind

_KINDS: dict[str, tuple[Kind, ...]] = {
    "document_id": ("text", "whole", "uuid", "other"),
    "chunk_index": ("whole", "number", "text", "other"),
    "text": ("text", "other"),
    **dict.fromkeys(("start", "end", "page_number", "row_number"), ("whole", "number", "text", "other")),
    **dict.fromkeys(("section", "title", "source", "summary"), ("text", "other")),
    "date": ("date", "text", "other"),
    "embedding": ("vector", "floats"),
    "tsvector": ("tsvector",),
}
_LONGEST_ID = 300
_DOCUMENT_TABLES = ("documents", "document", "docs", "sources", "source", "pages", "page", "files", "articles")
_KEY_NAMES = ("id", "uuid", "key")


def guess_mapping(database: OwnDatabase, table: str, schema: str | None = None) -> TableMapping:
    """The mapping that seems most likely; what cannot be guessed is left out. Raises NotFound."""
    own = details(database, table, schema)
    rows = sample(database, own)
    fields = _of_columns(own, rows, FIELDS)
    _add_of_json(fields, own, rows)
    _add_text(fields, own, rows)
    documents = _documents(database, own, fields) if "document_id" in fields else None
    if documents is not None:  # what the table of documents has is read there
        fields = {name: place for name, place in fields.items() if name not in OF_DOCUMENT or name not in documents.fields}
    return TableMapping(table, {name: fields[name] for name in FIELDS if name in fields}, schema, documents)


def _of_columns(table: TableDetails, rows: Sample, wanted: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for field in wanted:
        fitting = [
            c for c in table.columns.values() if c.kind in _KINDS[field] and c.name not in found.values() and _plausible(field, c, rows)
        ]
        if (name := guess_name(field, [column.name for column in fitting])) is not None:
            found[field] = name
        elif field in ("embedding", "tsvector") and len(fitting) == 1:  # by its type alone
            found[field] = fitting[0].name
    return found


def _plausible(field: str, column: ColumnInfo, rows: Sample) -> bool:
    """Whether the values of a sample can be what the name says."""
    at = rows.columns.index(column.name)
    values = [value for row in rows.rows if (value := row[at]) is not None]
    if field in ("chunk_index", "start", "end", "row_number"):
        return all(value.strip().removesuffix(".0").isdigit() for value in values)
    if field == "document_id":
        return all(len(value) <= _LONGEST_ID for value in values)
    return True


def _add_of_json(fields: dict[str, str], table: TableDetails, rows: Sample) -> None:
    """Fields that stand inside a JSON object of some column, also one level deeper."""
    for column in table.columns.values():
        if column.kind != "json" and "json" not in column.type.lower() and not _looks_like_json(column.name, rows):
            continue
        places: dict[str, Path] = {}
        at = rows.columns.index(column.name)
        for row in rows.rows:
            for keys in _scalar_keys(row[at]):
                places.setdefault(keys[-1], Path(column.name, keys))
        for field in FIELDS:
            if field in fields or field in ("embedding", "tsvector"):
                continue
            if (name := guess_name(field, [key for key, path in places.items() if str(path) not in fields.values()])) is not None:
                fields[field] = str(places[name])


def _looks_like_json(name: str, rows: Sample) -> bool:
    values = [value for row in rows.rows if (value := row[rows.columns.index(name)]) is not None]
    return bool(values) and all(value.startswith("{") and value.endswith("}") for value in values) and bool(_scalar_keys(values[0]))


def _scalar_keys(value: str | None, most: int = 200) -> list[tuple[str, ...]]:
    """The keys of a JSON object whose values are no list and no object, and those of objects right inside it."""
    try:
        found = json.loads(value or "")
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, dict):
        return []
    keys: list[tuple[str, ...]] = [(key,) for key, inner in found.items() if not isinstance(inner, (dict, list))]
    for key, inner in found.items():
        if isinstance(inner, dict):
            keys += [(key, deeper) for deeper, innermost in inner.items() if not isinstance(innermost, (dict, list))]
    return keys[:most]


def _add_text(fields: dict[str, str], table: TableDetails, rows: Sample) -> None:
    """Where no name tells which column is the text: the one with the longest values."""
    if "text" in fields:
        return
    longest, best = 0, None
    for column in table.columns.values():
        if column.kind == "text" and column.name not in fields.values():
            values = [value for row in rows.rows if (value := row[rows.columns.index(column.name)]) is not None]
            if values and (size := sum(map(len, values)) // len(values)) > max(longest, 40):
                longest, best = size, column.name
    if best is not None:
        fields["text"] = best


def _documents(database: OwnDatabase, table: TableDetails, fields: dict[str, str]) -> DocumentsTable | None:
    """The table of documents: the one that the document's key refers to, else one of such a name with a key of the same kind."""
    own = fields["document_id"]
    if own not in table.columns:
        return None
    for key in table.foreign_keys:
        if key.column == own:
            return _documents_table(database, key.table, key.schema if table.schema is not None else None, key.key)
    named = {plain_name(info.name): info for info in tables(database) if info.schema == table.schema or table.schema is None}
    for name in _DOCUMENT_TABLES:
        info = named.get(name)
        if info is None or info.name == table.name:
            continue
        try:
            there = details(database, info.name, table.schema).columns
        except CtxasmError:
            continue
        keys = [own, *(column.name for column in there.values() if plain_name(column.name) in _KEY_NAMES)]
        for key_name in keys:
            if key_name in there and there[key_name].kind == table.columns[own].kind:
                return _documents_table(database, info.name, table.schema, key_name)
    return None


def _documents_table(database: OwnDatabase, table: str, schema: str | None, key: str) -> DocumentsTable | None:
    try:
        there = details(database, table, schema)
        rows = sample(database, there)
    except NotFound:
        return None
    found = {"document_id": key}
    rest = TableDetails(there.schema, there.name, there.is_view, {name: c for name, c in there.columns.items() if name != key})
    found |= _of_columns(rest, rows, OF_DOCUMENT)
    _add_of_json(found, there, rows)
    found = {name: place for name, place in found.items() if name in DOCUMENT_FIELDS}
    return DocumentsTable(table, found, schema) if len(found) > 1 else None
