"""A mapping held against the tables it names: every field with its place, its column and its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ctxasm.data.paths import Path, read_path, read_paths
from ctxasm.data.tables.catalogue import ColumnInfo, TableDetails, details
from ctxasm.data.tables.mapping import TableMapping
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.model.errors import InvalidInput, shown

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
    places = _places(database, fields, table, problems)
    order = _order(database, mapping, table, problems)
    documents, document_places = None, {}
    if (own := mapping.documents) is not None:
        documents = details(database, own.table, own.schema)
        document_places = _places(database, own.fields, documents, problems)
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
            _check(database, "order_by", place)
        return order
    except InvalidInput as problem:
        problems.append(str(problem))
        return ()


def _places(database: OwnDatabase, fields: Mapping[str, str], table: TableDetails, problems: list[str]) -> dict[str, Place]:
    places = {}
    for name, text in fields.items():
        try:
            path = read_path(text, table.columns, name)
            place = Place(path, table.columns[path.column])
            _check(database, name, place)
            places[name] = place
        except InvalidInput as problem:
            problems.append(str(problem))
    return places


def _check(database: OwnDatabase, field: str, place: Place) -> None:
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
