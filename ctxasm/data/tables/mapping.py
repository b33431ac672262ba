"""How the columns of a user's table become our fields. A mapping names tables, columns and paths; it holds no data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ctxasm.data.names import FIELD_NAMES, guess_name, longest_texts, plain_name
from ctxasm.data.paths import Path, read_path, read_paths, written_paths
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
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.model.errors import CtxasmError, InvalidInput, NotFound, shown

REQUIRED = ("document_id", "chunk_index", "text")
OF_CHUNK = ("start", "end", "page_number", "section", "row_number", "embedding", "tsvector")
OF_DOCUMENT = ("title", "source", "summary", "date")
FIELDS = (*REQUIRED, "order_by", *OF_CHUNK, *OF_DOCUMENT)
"""The fields of a table of chunks. Those of a document may stand there too, or in a table of documents.

`order_by` stands in for a chunk_index that is not there: the places by which the rows of each document are counted.
"""
DOCUMENT_FIELDS = ("document_id", *OF_DOCUMENT)
MAX_NAME = 500


@dataclass(frozen=True, slots=True)
class DocumentsTable:
    """A second table, one row a document, joined by its key: `fields["document_id"]`."""

    table: str
    fields: Mapping[str, str] = dataclasses.field(hash=False)
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class TableMapping:
    """A table of chunks: which column or JSON path (`metadata->>'page_summary'`) holds which field.

    `schema` None is the one that the connection looks into first.
    """

    table: str
    fields: Mapping[str, str] = dataclasses.field(hash=False)
    schema: str | None = None
    documents: DocumentsTable | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """The fields that every mapping needs and this one does not have."""
        return tuple(name for name in REQUIRED if not self.fields.get(name) and not (name == "chunk_index" and self.counted))

    @property
    def counted(self) -> bool:
        """Whether a chunk_index is counted, by `order_by`: such a table can be copied, not linked."""
        return bool(self.fields.get("order_by"))

    def __post_init__(self) -> None:
        _check(self.table, self.schema, self.fields, FIELDS)
        if self.counted and self.fields.get("chunk_index"):
            raise InvalidInput(
                "a mapping must have either chunk_index or order_by (which counts the rows instead), got both: leave one out"
            )
        if self.documents is not None:
            _check(self.documents.table, self.documents.schema, self.documents.fields, DOCUMENT_FIELDS)


def with_place(fields: Mapping[str, str], field: str, place: str | None) -> dict[str, str]:
    """The fields with another place for one of them, None for no place. chunk_index and order_by replace each other."""
    replaced = {"chunk_index": "order_by", "order_by": "chunk_index"}.get(field) if place else None
    kept = {name: old for name, old in fields.items() if name not in (field, replaced)}
    return kept | {field: place} if place else kept


def numbered_by_order(mapping: TableMapping) -> TableMapping:
    """The mapping that counts the rows of each document in the order of their chunk_index; one that counts them already as it is."""
    place = mapping.fields.get("chunk_index")
    return replace(mapping, fields=with_place(mapping.fields, "order_by", place)) if place else mapping


def _check(table: object, schema: object, fields: object, allowed: tuple[str, ...]) -> None:
    for what, name in (("table", table), ("schema", schema)):
        if not isinstance(name, str) and not (what == "schema" and name is None):
            raise InvalidInput(f"{what} of a mapping must be a name, got {shown(name)}")
        if isinstance(name, str) and (not name or len(name) > MAX_NAME or "\0" in name):
            raise InvalidInput(f"{what} of a mapping must be a name of 1 to {MAX_NAME} characters, got {shown(name)}")
    if not isinstance(fields, Mapping):
        raise InvalidInput(f"fields of a mapping must be field by column, got {shown(fields)}")
    for name, place in fields.items():
        if name not in allowed:
            raise InvalidInput(f"a field of a mapping must be one of {', '.join(allowed)}, got {shown(name)}")
        if not isinstance(place, str) or not place or len(place) > MAX_NAME:
            raise InvalidInput(f"{name} of a mapping must be a column or a path of 1 to {MAX_NAME} characters, got {shown(place)}")


def written_mapping(mapping: TableMapping) -> dict[str, Any]:
    """A mapping as JSON values."""
    value: dict[str, Any] = {"schema": mapping.schema, "table": mapping.table, "fields": dict(mapping.fields)}
    if (own := mapping.documents) is not None:
        value["documents"] = {"schema": own.schema, "table": own.table, "fields": dict(own.fields)}
    return value


def read_mapping(value: object) -> TableMapping:
    """The mapping that `written_mapping` wrote, also as JSON text. Raises InvalidInput."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise InvalidInput(f"a mapping must be JSON, got {shown(value)}") from None
    if not isinstance(value, Mapping):
        raise InvalidInput(f"a mapping must be a JSON object, got {shown(value)}")
    documents, own = value.get("documents"), None
    if documents is not None:
        if not isinstance(documents, Mapping):
            raise InvalidInput(f"documents of a mapping must be a JSON object, got {shown(documents)}")
        own = DocumentsTable(documents.get("table") or "", documents.get("fields") or {}, documents.get("schema"))
    return TableMapping(value.get("table") or "", value.get("fields") or {}, value.get("schema"), own)


_UNFIT = {
    "text": ("vector", "floats", "tsvector", "bytes", "json"),
    "document_id": ("vector", "floats", "tsvector", "json", "bytes"),
    "chunk_index": ("vector", "floats", "tsvector", "json", "bytes", "date", "boolean", "uuid"),
    "order_by": ("vector", "floats", "tsvector", "json", "bytes"),
}


_WANTED = {
    "document_id": "document_id (what tells documents apart: a key, or metadata->>'source')",
    "chunk_index": "chunk_index (or order_by, to count the rows of each document)",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a field stands."""

    path: Path
    column: ColumnInfo

    @property
    def is_column(self) -> bool:
        return not self.path.keys


@dataclass(frozen=True, slots=True)
class Resolved:
    """A mapping whose tables and columns are there. `order`: the places of `order_by`, which is in no other."""

    mapping: TableMapping
    table: TableDetails
    places: Mapping[str, Place]
    documents: TableDetails | None
    document_places: Mapping[str, Place]
    order: tuple[Place, ...] = ()


def resolve(database: OwnDatabase, mapping: TableMapping) -> Resolved:
    """Raises NotFound for a table that is not there, InvalidInput with all that is wrong about its fields."""
    if mapping.missing:
        told = " and ".join(_WANTED.get(name, name) for name in mapping.missing)
        raise InvalidInput(
            f"a mapping must say where {told} can be found in table {shown(mapping.table)}: choose a column or path for each"
        )
    table = details(database, mapping.table, mapping.schema)
    problems: list[str] = []
    fields = {name: text for name, text in mapping.fields.items() if name != "order_by"}
    places = _resolve_places(database, fields, table, problems)
    order = _order(database, mapping, table, problems)
    documents, document_places = None, {}
    if (own := mapping.documents) is not None:
        documents = details(database, own.table, own.schema)
        document_places = _resolve_places(database, own.fields, documents, problems)
        if "document_id" not in own.fields:
            problems.append(f"document_id must name the key of table {shown(own.table)}, got nothing")
    if problems:
        raise InvalidInput("; ".join(problems))
    return Resolved(mapping, table, places, documents, document_places, order)


def _order(database: OwnDatabase, mapping: TableMapping, table: TableDetails, problems: list[str]) -> tuple[Place, ...]:
    if not mapping.counted:
        return ()
    try:
        order = tuple(Place(path, table.columns[path.column]) for path in read_paths(mapping.fields["order_by"], table.columns, "order_by"))
        for place in order:
            _check_place(database, "order_by", place)
        return order
    except InvalidInput as problem:
        problems.append(str(problem))
        return ()


def _resolve_places(database: OwnDatabase, fields: Mapping[str, str], table: TableDetails, problems: list[str]) -> dict[str, Place]:
    places = {}
    for name, text in fields.items():
        try:
            path = read_path(text, table.columns, name)
            place = Place(path, table.columns[path.column])
            _check_place(database, name, place)
            places[name] = place
        except InvalidInput as problem:
            problems.append(str(problem))
    return places


def _check_place(database: OwnDatabase, field: str, place: Place) -> None:
    kind, named = place.column.kind, f"column {shown(place.column.name)} of type {place.column.type}"
    if place.path.keys and kind not in ("json", "text") and not (database.is_sqlite and kind in ("other", "bytes")):
        raise InvalidInput(f"{field} must be a path into a column of JSON, got {shown(str(place.path))} into {named}")
    if place.path.keys and database.is_sqlite and any(isinstance(key, str) and set(key) & set('"\\') for key in place.path.keys):
        raise InvalidInput(f'{field} must be a path whose keys hold no " and no \\ (SQLite finds none), got {shown(str(place.path))}')
    if place.is_column and kind in _UNFIT.get(field, ()) and not (database.is_sqlite and kind == "json"):
        raise InvalidInput(
            f"{field} cannot be taken from {named}: choose another column" + (", or a path into it" if kind == "json" else "")
        )
    if field == "embedding" and (not place.is_column or kind not in ("vector", "floats")):
        raise InvalidInput(f"embedding must be a column of type vector, halfvec, real[] or double precision[], got {named}")
    if field == "tsvector" and (not place.is_column or kind != "tsvector"):
        raise InvalidInput(f"tsvector must be a column of type tsvector, got {named}")


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
