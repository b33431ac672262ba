"""Rows without a chunk_index: in which order they are read, and how they are counted. For copies only.

A row's number would change whenever a row before it comes or goes, and neighbours could not be looked up, so such a table is
never linked. Ties are settled by the table's own key, so that every copy counts alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ctxasm.model.records import Document
from ctxasm.store.own.mapping import OF_DOCUMENT
from ctxasm.store.own.paths import Path
from ctxasm.store.own.resolved import Place
from ctxasm.store.own.session import OwnDatabase, Row
from ctxasm.store.own.types import own_text

if TYPE_CHECKING:
    from ctxasm.store.own.statements import Statements

_NUMBER = "^-?[0-9]{1,18}([.][0-9]{1,18})?$"


def place_order(statements: Statements) -> str:
    """What a document's rows are sorted by: the places of order_by, then the table's own key, or the text where it has none."""
    resolved = statements.resolved
    keys = [statements.value(Place(Path(c.name), c)) for c in resolved.table.columns.values() if c.key and c.kind != "json"]
    return ", ".join([*(key for place in resolved.order for key in _keys(statements, place)), *(keys or [statements.text])])


def _keys(statements: Statements, place: Place) -> list[str]:
    """A place as it is sorted: numbers as numbers, also where they stand in JSON or in a text; what is missing last."""
    value = statements.value(place)
    if place.is_column and place.column.kind not in ("text", "json", "other"):
        return [f"{value} NULLS LAST"]
    if statements.database.is_sqlite:
        digits = f"WHEN {value} NOT GLOB '*[^0-9]*' AND length({value}) BETWEEN 1 AND 18 THEN CAST({value} AS INTEGER)"
        return [f"CASE WHEN typeof({value}) IN ('integer', 'real') THEN {value} {digits} END NULLS LAST", f"{value} NULLS LAST"]
    text = statements.as_text(place)
    return [f"CASE WHEN {text} ~ '{_NUMBER}' THEN CAST({text} AS numeric) END NULLS LAST", f"{text} NULLS LAST"]


class RowCounter:
    """Numbers the rows of a chunk statement from 0 in each document, as they come: a document's rows stand together."""

    def __init__(self) -> None:
        self._document, self._next = "", 0

    def counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows with their number in the place of chunk_index; those that are no chunks are left out, and not counted."""
        for row in rows:
            document_id = own_text(row[0])
            if not document_id or own_text(row[2]) is None:
                continue
            if document_id != self._document:
                self._document, self._next = document_id, 0
            yield (row[0], self._next, *row[2:])
            self._next += 1


def documents_in_rows(database: OwnDatabase, statements: Statements, limit: int) -> Iterator[Document]:
    """The documents of the first `limit` rows, each with the first value that its rows have for a field: one pass, streamed."""
    name, known = None, dict[str, Any]()
    for batch in database.stream(statements.described_rows, {"limit": limit}):
        for document_id, *values in ([own_text(value) for value in row] for row in batch):
            if not document_id:
                continue
            if document_id != name:
                if name is not None:
                    yield Document(name, **known)
                name, known = document_id, {}
            for field, value in zip(OF_DOCUMENT, values, strict=True):
                if known.get(field) is None:
                    known[field] = value
    if name is not None:
        yield Document(name, **known)
