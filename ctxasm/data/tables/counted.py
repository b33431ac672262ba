"""Rows without a chunk_index: how they are counted, in the order of `statements.place_order`. For copies only.

A row's number would change whenever a row before it comes or goes, and neighbours could not be looked up, so such a table is
never linked. Ties are settled by the table's own key, so that every copy counts alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ctxasm.data.tables.mapping import OF_DOCUMENT
from ctxasm.data.tables.session import OwnDatabase, Row
from ctxasm.data.tables.statements import Statements
from ctxasm.data.tables.types import own_text
from ctxasm.model.records import Document
from ctxasm.text.reading_order import linked_runs, run_indexes


class RowCounter:
    """Numbers the rows of a chunk statement from 0 in each document: a document's rows stand together.

    Rows whose order is known (`statements.unordered` is 0) count as they come. The others follow the text that they share; what shares
    none has a free index on either side, so that nothing joins it. `unordered` counts such rows, `linked` those that follow another.
    """

    def __init__(self) -> None:
        self.unordered = self.linked = 0

    def counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows with their number in the place of chunk_index; those that are no chunks are left out, and not counted."""
        chunks = (row for row in rows if own_text(row[0]) and own_text(row[2]) is not None)
        for _, own in groupby(chunks, key=lambda row: own_text(row[0])):
            apart: list[Row] = []
            known = 0
            for row in own:
                if row[1]:
                    apart.append(row)
                else:
                    yield (row[0], known, *row[2:])
                    known += 1
            if apart:
                yield from self._by_text(apart, known)

    def _by_text(self, rows: Sequence[Row], known: int) -> Iterator[Row]:
        runs = linked_runs([own_text(row[2]) or "" for row in rows])
        self.unordered += len(rows)
        self.linked += len(rows) - len(runs)
        first = known + 1 if known else 0
        indexes = run_indexes(runs)
        for at in (at for run in runs for at in run):
            yield (rows[at][0], first + indexes[at], *rows[at][2:])

    def notes(self) -> tuple[str, ...]:
        """How the order was found where it was not known."""
        if not self.unordered:
            return ()
        told = f"the order of {self.unordered:,} rows is not known: {self.linked:,} follow another by the text that they share"
        return (f"{told}, and the rest is joined to nothing",)


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
