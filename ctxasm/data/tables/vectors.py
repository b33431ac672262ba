"""Search by meaning in a user's table, by pgvector: nearest neighbours by the operator that the table's own index has.

`<=>` cosine distance, `<->` Euclidean distance, `<#>` negative inner product. What is told as the score is always the cosine.
An array of numbers (real[], double precision[]) is compared as a vector where the extension is there; no index serves that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.data.tables.indexes import create_special
from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.data.tables.session import ask
from ctxasm.data.tables.types import own_text
from ctxasm.data.tables.words import Found, scored
from ctxasm.model.errors import InvalidInput, shown

_OPERATORS = {"cosine": "<=>", "l2": "<->", "ip": "<#>"}
LARGE = 10_000
"""From so many rows on the lack of an index is told."""


class VectorColumn(NamedTuple):
    """What is searched: an expression, the operator, how many numbers a vector has (None: not known), and the index's kind ("": none)."""

    expression: str
    type: str
    operator: str
    dimensions: int | None
    served: str


def can_search_vectors(dataset: LinkedDataset) -> str:
    """Why the engine cannot search by meaning; empty where it can."""
    if dataset.database.is_sqlite:
        return "SQLite compares no vectors"
    if "embedding" not in dataset.resolved.places:
        return f"the mapping of table {shown(dataset.mapping.table)} names no column of vectors (embedding)"
    if not dataset.read("SELECT 1 FROM pg_extension WHERE extname = 'vector' LIMIT %(limit)s", {"limit": 1}):
        return "the database has no extension pgvector"
    return ""


def vector_column(dataset: LinkedDataset) -> VectorColumn:
    """The mapped column as it is searched."""
    place = dataset.resolved.places["embedding"]
    value, half = dataset.sql.value(place), place.column.type.startswith("halfvec")
    dimensions = place.column.size or _dimensions(dataset, value)
    kind = "halfvec" if half else "vector"
    if place.column.kind == "floats":
        return VectorColumn(f"CAST({value} AS vector)", kind, "<=>", dimensions, "")
    for index in dataset.indexes:
        if index.method in ("hnsw", "ivfflat", "diskann") and index.columns[0] == place.column.name:
            operator = next((sign for name, sign in _OPERATORS.items() if f"_{name}_" in index.classes[0]), "<=>")
            return VectorColumn(value, kind, operator, dimensions, index.method)
    return VectorColumn(value, kind, "<=>", dimensions, "")


def _dimensions(dataset: LinkedDataset, value: str) -> int | None:
    """How many numbers the first vector has."""
    array = dataset.resolved.places["embedding"].column.kind == "floats"
    asked = f"cardinality({value})" if array else f"vector_dims({value})"
    rows = dataset.read(f"SELECT {asked} FROM {dataset.sql.source} WHERE {value} IS NOT NULL LIMIT %(limit)s", {"limit": 1})
    return int(rows[0][0]) if rows else None


def nearest_sql(dataset: LinkedDataset, column: VectorColumn) -> str:
    """The nearest chunks and their cosines. Parameters vector, limit. Nothing but the distance in ORDER BY: only that an index serves."""
    statements, wanted = dataset.sql, f"CAST(%(vector)s AS {column.type})"
    order = f"{column.expression} {column.operator} {wanted}"
    chunk = f"{statements.document_id}, {statements.index}, 1 - ({column.expression} <=> {wanted})"
    return f"SELECT {chunk} FROM {statements.source} WHERE {column.expression} IS NOT NULL ORDER BY {order} LIMIT %(limit)s"


def search_vectors(dataset: LinkedDataset, vector: Sequence[float], limit: int) -> Found:
    """The chunks nearest to a vector, with their cosines. Raises InvalidInput where its size is not that of the column."""
    column = vector_column(dataset)
    place = dataset.resolved.places["embedding"]
    if column.dimensions is not None and column.dimensions != len(vector):
        raise InvalidInput(
            f"the embedder must give vectors of {column.dimensions} numbers, as column {shown(place.column.name)} holds, "
            f"got {len(vector)}: choose the embedder that made the column"
        )
    written = "[" + ",".join(repr(float(number)) for number in vector) + "]"
    with dataset.database.reading() as connection:
        if column.served in ("hnsw", "ivfflat"):
            # As many candidates as hits are asked for, or the index would give fewer.
            setting = f"hnsw.ef_search = {max(100, min(1000, 2 * limit))}" if column.served == "hnsw" else "ivfflat.probes = 10"
            connection.exec_driver_sql(f"SET LOCAL {setting}")
        rows = ask(connection, nearest_sql(dataset, column), {"vector": written, "limit": limit})
    best = scored(rows)
    ordered = sorted(best, key=lambda each: (-each.score, each.key)) if column.operator == "<=>" else best
    notes = () if column.served or dataset.info.chunks < LARGE else (_unserved(dataset, column),)
    return Found(ordered, notes)


def _unserved(dataset: LinkedDataset, column: VectorColumn) -> str:
    name = dataset.database.shown_name(dataset.resolved.places["embedding"].column.name)
    if dataset.resolved.places["embedding"].column.kind == "floats":
        return f"{name} is an array, which no index serves: every question reads the whole table; make it a column of type vector"
    remedy = create_special(dataset.database, dataset.resolved, "embedding", "hnsw", f"{name} {column.type}_cosine_ops")
    return f"no index serves the search by meaning, which reads every row of table {shown(dataset.mapping.table)}. Run: {remedy}"


def some_vectors(dataset: LinkedDataset, number: int) -> list[tuple[str, list[float]]]:
    """Some texts with the vectors that their rows hold: to see whether an embedder is the one that made them."""
    place, statements = dataset.resolved.places["embedding"], dataset.sql
    value = statements.value(place)
    written = f"array_to_json({value})" if place.column.kind == "floats" else value
    sql = f"SELECT {statements.text}, CAST({written} AS text) FROM {statements.source} WHERE {value} IS NOT NULL LIMIT %(limit)s"
    rows = dataset.read(sql, {"limit": number})
    return [(text, json.loads(vector)) for row in rows if (text := own_text(row[0])) and (vector := row[1])]
