"""Whether the chunks of a mapped table can have neighbours: a bounded read of its keys."""

from __future__ import annotations

from ctxasm.data.tables.session import OwnDatabase
from ctxasm.data.tables.statements import Statements
from ctxasm.model.neighbours import NoNeighbours, no_neighbours

LOOKED_AT, DOCUMENTS = 50_000, 20
"""Rows that are read at most; documents that are read whole where the table has more."""


def obstacle_in(database: OwnDatabase, statements: Statements) -> NoNeighbours | None:
    """Why no chunk of the table has a neighbour; None where one has, or where it is too large to tell without an index.

    The first rows of a large table need not hold the chunks of one document together, so some of their documents are read whole.
    """
    limit, most = database.mark("limit"), database.mark("most")
    keys = f"{statements.document_id} AS d, {statements.index} AS i"
    first = f"SELECT {keys} FROM {statements.source} WHERE {statements.usable} LIMIT {limit}"
    rows = database.rows(
        f"SELECT DISTINCT s.d, s.i FROM ({first}) AS s ORDER BY 1, 2 LIMIT {most}", {"limit": LOOKED_AT, "most": LOOKED_AT}
    )
    found = no_neighbours((str(document_id), int(index)) for document_id, index in rows)
    if found is None or not database.rows(f"{first} OFFSET {most}", {"limit": 1, "most": LOOKED_AT}):
        return found
    if not statements.indexed:
        return None
    some = f"SELECT {statements.document_id} AS d FROM {statements.source} WHERE {statements.usable} LIMIT {limit}"
    own = f"SELECT DISTINCT s.d FROM ({some}) AS s"
    whole = (
        f"SELECT DISTINCT {keys} FROM {statements.source} WHERE {statements.usable} AND {statements.document_id} IN ({own}) ORDER BY 1, 2"
    )
    rows = database.rows(f"{whole} LIMIT {most}", {"limit": DOCUMENTS, "most": LOOKED_AT})
    return no_neighbours((str(document_id), int(index)) for document_id, index in rows)
