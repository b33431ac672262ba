"""Rows without a chunk_index: how they are counted, in the order of `statements.place_order`. For copies only.

A row's number would change whenever a row before it comes or goes, and neighbours could not be looked up, so such a table is
never linked. Ties are settled by the table's own key, so that every copy counts alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ctxasm.data.tables.mapping import OF_DOCUMENT
from ctxasm.data.tables.session import OwnDatabase, Row
from ctxasm.data.tables.statements import Statements
from ctxasm.data.tables.types import own_text
from ctxasm.model.records import Document


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
