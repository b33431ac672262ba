"""By what the rows of a document are counted where a table has no chunk_index: offsets, numbers of pieces, else its own key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ctxasm.data.names import FIELD_NAMES, guess_name, longest_texts, plain_name
from ctxasm.data.paths import Path, written_paths
from ctxasm.data.tables.catalogue import (
    ColumnInfo,
    Kind,
    Sample,
    Seen,
    TableDetails,
    column_values,
    details,
    inside,
    json_columns,
    sample,
    tables,
)
from ctxasm.data.tables.mapping import DOCUMENT_FIELDS, FIELDS, OF_DOCUMENT, DocumentsTable, TableMapping
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.model.errors import CtxasmError, NotFound

_NAMES = (*FIELD_NAMES["start"], *FIELD_NAMES["chunk_index"], "chunk_id", "chunk", "seq_no", "seq_num", "split", "node_index", "order")
KEY_NAMES = ("id", "uuid", "key", "langchain_id", "node_id", "chunk_id")


def guess_order(table: TableDetails, rows: Sample, fields: Mapping[str, str]) -> str | None:
    """The places that put a document's chunks in order, with commas between; None where there are none.

    Offsets and numbers of pieces may begin anew on every page (LangChain's PDF loaders split page by page), so the page
    comes first where it is known as a number.
    """
    seen = {str(each.path): each for each in _places(table, rows)}
    page = seen.get(fields.get("page_number", ""))
    first = [page.path] if page is not None and page.is_whole else []
    by_name: dict[str, Seen] = {}
    for place, each in seen.items():
        if each.is_whole and each.path not in first and place not in (fields.get("document_id"), fields.get("text")):
            by_name.setdefault(plain_name(str((each.path.column, *each.path.keys)[-1])), each)
    for name in map(plain_name, _NAMES):
        if name in by_name:
            return written_paths([*first, by_name[name].path])
    key = _key(table, fields)
    if key is None:
        return None
    return written_paths([*([] if key.kind == "whole" else first), Path(key.name)])


def _places(table: TableDetails, rows: Sample) -> list[Seen]:
    columns = [
        Seen(Path(c.name), column_values(rows, c.name)) for c in table.columns.values() if c.kind in ("whole", "number", "text", "other")
    ]
    return columns + [seen for column in json_columns(table, rows) for seen in inside(column.name, rows)]


def _key(table: TableDetails, fields: Mapping[str, str]) -> ColumnInfo | None:
    """The last column of the table's own key that is no other field; of a view, one that is named as a key."""
    free = [c for c in table.columns.values() if c.name not in fields.values()]
    if keys := [c for c in free if c.key]:
        return keys[-1]
    named = {plain_name(c.name): c for c in free}
    return next((named[name] for name in map(plain_name, KEY_NAMES) if name in named), None)


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
_WHOLE = ("chunk_index", "start", "end", "row_number")
_LANGCHAIN = {"document", "cmetadata"}
"""Columns of LangChain's table, whose `document` is the text of a chunk."""
_DOCUMENT_TABLES = ("documents", "document", "docs", "sources", "source", "pages", "page", "files", "articles")
_KEY_NAMES = ("id", "uuid", "key")


def guess_mapping(database: OwnDatabase, table: str, schema: str | None = None) -> TableMapping:
    """The mapping that seems most likely; what cannot be guessed is left out. Raises NotFound."""
    own = details(database, table, schema)
    rows = sample(database, own)
    fields = {"text": "document"} if set(own.columns) >= _LANGCHAIN else {}
    fields |= _of_columns(own, rows, [name for name in _KINDS if name not in fields], taken=fields.values())
    _add_of_json(fields, own, rows)
    _add_text(fields, own, rows)
    if "document_id" not in fields and "source" in fields and _names_documents(fields["source"], own, rows):
        fields["document_id"] = fields["source"]
    documents = _documents(database, own, fields) if "document_id" in fields else None
    if documents is not None:  # what the table of documents has is read there
        fields = {name: place for name, place in fields.items() if name not in OF_DOCUMENT or name not in documents.fields}
    if "chunk_index" not in fields and (order := guess_order(own, rows, fields)) is not None:
        fields["order_by"] = order
        if "end" not in fields:  # a start alone says nothing, and may be that of a page
            fields.pop("start", None)
    return TableMapping(table, {name: fields[name] for name in FIELDS if name in fields}, schema, documents)


def _names_documents(place: str, table: TableDetails, rows: Sample) -> bool:
    """Whether the values at this place can tell documents apart."""
    if place in table.columns:
        seen = Seen(Path(place), column_values(rows, place))
    else:
        seen = next(each for column in json_columns(table, rows) for each in inside(column.name, rows) if str(each.path) == place)
    return seen.names_something and all(len(value) <= _LONGEST_ID for value in seen.values)


def _of_columns(table: TableDetails, rows: Sample, wanted: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    found: dict[str, str] = {}
    free = [column for column in table.columns.values() if column.name not in set(taken)]
    for field in wanted:
        fitting = [c for c in free if c.kind in _KINDS[field] and c.name not in found.values() and _plausible(field, c, rows)]
        if (name := guess_name(field, [column.name for column in fitting])) is not None:
            found[field] = name
        elif field in ("embedding", "tsvector") and len(fitting) == 1:  # by its type alone
            found[field] = fitting[0].name
    return found


def _plausible(field: str, column: ColumnInfo, rows: Sample) -> bool:
    """Whether the values of a sample can be what the name says."""
    seen = Seen(Path(column.name), column_values(rows, column.name))
    if field in _WHOLE:
        return seen.is_whole or not seen.values
    if field == "document_id":
        return all(len(value) <= _LONGEST_ID for value in seen.values)
    return True


def _add_of_json(fields: dict[str, str], table: TableDetails, rows: Sample) -> None:
    """Fields that stand inside a JSON object of some column, also one level deeper."""
    for column in json_columns(table, rows):
        places: dict[str, Seen] = {}
        for seen in inside(column.name, rows):
            places.setdefault(str(seen.path.keys[-1]), seen)
        for field in _KINDS:
            if field in fields or field in ("embedding", "tsvector"):
                continue
            free = [key for key, seen in places.items() if str(seen.path) not in fields.values() and _fits(field, seen)]
            if (name := guess_name(field, free)) is not None:
                fields[field] = str(places[name].path)


def _fits(field: str, seen: Seen) -> bool:
    if field in _WHOLE:
        return seen.is_whole
    return field != "document_id" or seen.names_something


def _add_text(fields: dict[str, str], table: TableDetails, rows: Sample) -> None:
    """Where no name tells which column is the text: the one with the longest values."""
    if "text" in fields:
        return
    taken = {*fields.values(), *(column.name for column in json_columns(table, rows))}
    free = [column.name for column in table.columns.values() if column.kind == "text" and column.name not in taken]
    if (best := longest_texts({name: column_values(rows, name) for name in free})) is not None:
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
