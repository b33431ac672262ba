"""How the columns of a user's table become our fields. A mapping names tables, columns and paths; it holds no data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctxasm.data.paths import Path, read_path, read_paths
from ctxasm.data.tables.catalogue import ColumnInfo, TableDetails, details
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.model.errors import InvalidInput, shown

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
    fields: Mapping[str, str] = field(hash=False)
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class TableMapping:
    """A table of chunks: which column or JSON path (`metadata->>'page_summary'`) holds which field.

    `schema` None is the one that the connection looks into first.
    """

    table: str
    fields: Mapping[str, str] = field(hash=False)
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
