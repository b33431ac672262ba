"""The pieces that every kind of mapped line is made of: the fields of a row, what names its document and its query."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ctxasm.data.files.mapping_form import DOCUMENT_FIELDS, ColumnMapping
from ctxasm.data.files.mapping_values import ABSENT, field_value, metadata_of, value_at
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.recognised.converted import Converted, Line
from ctxasm.data.files.rows import Rows
from ctxasm.model.errors import shown

__all__ = ["Applied", "DocumentLines", "Line", "Picked", "document_ids", "left_out_note", "picked", "query_id_of"]


class Applied(NamedTuple):
    """What a mapping makes of a table: lines, problems of cells that no line can hold, and where hits came from.

    `hit_rows` are, by the row of a line of retrievals, the rows of its hits; empty where a row holds all of them.
    """

    lines: Converted
    problems: tuple[Problem, ...] = ()
    hit_rows: Mapping[int, Sequence[int]] = {}


class Picked(dict[str, Any]):
    """The fields of one row, by their names in a bundle; `metadata` holds the rest of it."""

    def without(self, *names: str) -> dict[str, Any]:
        """All fields but these."""
        return {name: value for name, value in self.items() if name not in names}

    def only(self, *names: str) -> dict[str, Any]:
        """Of these fields those that are there."""
        return {name: self[name] for name in names if name in self}


def picked(mapping: ColumnMapping, row: Mapping[str, Any], left_out: set[str]) -> Picked:
    """The fields of a row. An absent value is an absent field."""
    found = Picked()
    for name, path in mapping.columns.items():
        value = value_at(row, path)
        if value is not ABSENT and (value := field_value(name, value)) is not ABSENT:
            found[name] = value
    if rest := metadata_of(row, frozenset(mapping.columns.values()), left_out):
        found["metadata"] = rest
    return found


def document_ids(mapping: ColumnMapping, rows: Rows) -> tuple[Callable[[int, Picked], Any], list[str]]:
    """What names the document of a row (None: nothing does), and the note that says so where no column is mapped to it."""
    if "document_id" in mapping.columns:
        return lambda _, found: found.get("document_id"), []
    for name in ("source", "title"):
        if column := mapping.columns.get(name):
            note = f"{rows.file}: no column gives document_id, so rows with the same {shown(column)} are one document"
            return lambda _, found, name=name: found.get(name), [note]
    note = f"{rows.file}: no column gives document_id, source or title, so every row is a document of its own"
    return lambda number, _: f"{rows.file} {rows.unit} {number}", [note]


def query_id_of(found: Picked) -> dict[str, Any]:
    """The query_id of a row, made from the query's own words where none is given: the same words are the same query."""
    if "query_id" in found or not isinstance(found.get("query"), str):
        return found.only("query_id")
    digest = hashlib.sha256(found["query"].encode("utf-8", "replace")).hexdigest()
    return {"query_id": f"q-{digest[:10]}"}


class DocumentLines:
    """One line for each document that rows of chunks tell of; the first value of each field stays."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[int, dict[str, Any]]] = {}
        self._differ: dict[str, set[str]] = {}
        self._odd: list[Line] = []

    def take(self, number: int, document_id: Any, found: Picked) -> None:
        """Remember what a row says of its document."""
        if not isinstance(document_id, str):
            return
        _, line = self._lines.setdefault(document_id, (number, {"document_id": document_id}))
        for name, value in found.only(*DOCUMENT_FIELDS).items():
            if not isinstance(value, str):
                self._odd.append((number, {"document_id": document_id, name: value}))  # which validation names by its row
            elif line.setdefault(name, value) != value:
                self._differ.setdefault(name, set()).add(document_id)

    def lines(self) -> tuple[Line, ...]:
        """The documents, in the order of their first rows."""
        return (*self._lines.values(), *self._odd)

    def notes(self, file: str) -> Iterator[str]:
        """Where rows of one document do not agree."""
        for name, documents in self._differ.items():
            yield f"{file}: {name} differs within {len(documents):,} documents; the first of each is kept"


def left_out_note(file: str, left_out: set[str]) -> list[str]:
    """The sentence about columns that no record needs."""
    return [f"{file}: left out, because no record needs vectors: {', '.join(map(shown, sorted(left_out)))}"] if left_out else []
