"""Vectors of a corpus inside the database, searched by exact cosine.

PostgreSQL with the extension vector (pgvector): a row a chunk, scanned by the server on all its workers. SQLite, and PostgreSQL without
the extension: blocks of vectors, read one after the other, so that memory stays flat however many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection

from ctxasm.model.errors import InvalidInput, StoreUnavailable
from ctxasm.store.search import Rows, SearchSet, SearchTables, copy_rows

KINDS = ("pgvector", "blocks")
BLOCKS_READ = 64
"""Blocks that are in memory at a time."""
_IN_ROW_BYTES = 7500


def make_vectors(tables: SearchTables, what: str, rows: Rows) -> SearchSet:
    """A set of unit vectors from (places, a float32 array of shape places × dimensions). Nothing is left where `rows` raises."""
    schema = _extension_schema(tables)
    kind = KINDS[1] if schema is None else KINDS[0]
    made = SearchSet(tables.begin(kind, what), kind, 0, 0)
    try:
        for number, (places, vectors) in enumerate(rows):
            array = np.ascontiguousarray(vectors, "<f4")
            with tables.connections.writing() as connection:
                if number == 0:
                    _create(connection, made, schema, int(array.shape[1]), tables.connections.is_sqlite)
                tables.touch(connection, made.set_no)
                _insert(connection, made, schema, number, np.asarray(places, "<i8"), array, tables.connections.is_sqlite)
            made = made._replace(texts=made.texts + len(places))
        with tables.connections.writing() as connection:
            if not made.texts:
                _create(connection, made, schema, 1, tables.connections.is_sqlite)
            tables.finish(connection, made)
        if schema is not None:
            with tables.connections.reading() as connection:
                connection.exec_driver_sql(f"ANALYZE {made.table}")
        return made
    except BaseException:
        tables.abandon(made.set_no)
        raise


def search_vectors(tables: SearchTables, made: SearchSet, question: Any, limit: int) -> list[tuple[int, float]]:
    """The `limit` places nearest to a unit vector with their cosines, nearest first; ties by place."""
    vector = np.asarray(question, "<f4").reshape(-1)
    return _nearest_of_server(tables, made, vector, limit) if made.kind == KINDS[0] else _nearest_of_blocks(tables, made, vector, limit)


def _create(connection: Connection, made: SearchSet, schema: str | None, dimensions: int, lite: bool) -> None:
    if schema is None:
        data = "BLOB NOT NULL" if lite else "bytea NOT NULL"
        connection.exec_driver_sql(f"CREATE TABLE {made.table} (block integer PRIMARY KEY, places {data}, vectors {data})")
        return
    connection.exec_driver_sql(f"CREATE TABLE {made.table} (place bigint NOT NULL, vector {schema}.vector({dimensions}) NOT NULL)")
    if dimensions * 4 < _IN_ROW_BYTES:  # in the row itself: a scan reads every one
        connection.exec_driver_sql(f"ALTER TABLE {made.table} ALTER COLUMN vector SET STORAGE PLAIN")


def _insert(connection: Connection, made: SearchSet, schema: str | None, number: int, places: Any, vectors: Any, lite: bool) -> None:
    if schema is None:
        marks = "?, ?, ?" if lite else "%s, %s, %s"
        row = (number, places.tobytes(), vectors.tobytes())
        connection.exec_driver_sql(f"INSERT INTO {made.table} (block, places, vectors) VALUES ({marks})", row)  # noqa: S608
        return
    rows = ((int(place), _text(vector)) for place, vector in zip(places, vectors, strict=True))
    copy_rows(connection, f"{made.table} (place, vector)", rows)


def _text(vector: Any) -> str:
    return f"[{','.join(map(repr, vector.tolist()))}]"


def _nearest_of_server(tables: SearchTables, made: SearchSet, vector: Any, limit: int) -> list[tuple[int, float]]:
    schema = _extension_schema(tables)
    if schema is None:
        raise StoreUnavailable("the extension vector was removed from the database: create it again, or load the dataset again")
    # The negative inner product: that of unit vectors is their cosine. The parameter is a vector by itself, read once: cast from a
    # text it would be read again for every row.
    distance = f"vector OPERATOR({schema}.<#>) %s::{schema}.vector"
    sql = f"SELECT place, -({distance}) FROM {made.table} ORDER BY {distance}, place LIMIT %s"  # noqa: S608
    text = _text(vector)
    with tables.connections.reading() as connection:
        _check_dimensions(connection, made, len(vector))
        return [(int(place), float(cosine)) for place, cosine in connection.exec_driver_sql(sql, (text, text, limit)).fetchall()]


def _check_dimensions(connection: Connection, made: SearchSet, dimensions: int) -> None:
    sql = "SELECT atttypmod FROM pg_attribute WHERE attrelid = %s::text::regclass AND attname = 'vector'"
    kept = connection.exec_driver_sql(sql, (made.table,)).scalar_one()
    if kept != dimensions and made.texts:
        raise _other_dimensions(dimensions, int(kept))


def _nearest_of_blocks(tables: SearchTables, made: SearchSet, vector: Any, limit: int) -> list[tuple[int, float]]:
    mark = "?" if tables.connections.is_sqlite else "%s"
    sql = f"SELECT block, places, vectors FROM {made.table} WHERE block > {mark} ORDER BY block LIMIT {BLOCKS_READ}"  # noqa: S608
    best_places, best, last = np.zeros(0, "<i8"), np.zeros(0, np.float32), -1
    while True:
        rows = tables.connections.read(lambda connection, after=last: connection.exec_driver_sql(sql, (after,)).fetchall())  # type: ignore[misc]
        if not rows:
            return [(int(place), float(cosine)) for place, cosine in zip(best_places, best, strict=True)]
        for number, places, vectors in rows:
            last = number
            array = np.frombuffer(bytes(vectors), "<f4")
            here = np.frombuffer(bytes(places), "<i8")
            if len(array) != len(here) * len(vector):
                raise _other_dimensions(len(vector), len(array) // max(1, len(here)))
            cosines = np.concatenate([best, array.reshape(len(here), -1) @ vector])
            all_places = np.concatenate([best_places, here])
            order = np.lexsort((all_places, -cosines))[:limit]
            best_places, best = all_places[order], cosines[order]


def _other_dimensions(question: int, texts: int) -> InvalidInput:
    return InvalidInput(f"the embedder gave the question {question} dimensions and the texts {texts}: both must have the same")


def _extension_schema(tables: SearchTables) -> str | None:
    """The quoted schema that the extension vector is in, made where that can be; None where it cannot be had."""
    if tables.connections.is_sqlite:
        return None

    def ask(connection: Connection) -> str | None:
        sql = "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
        found = connection.exec_driver_sql(sql).scalar_one_or_none()
        return None if found is None else str(found)

    if (schema := tables.connections.read(ask)) is not None:
        return schema
    try:
        with tables.connections.writing() as connection:
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
    except StoreUnavailable:
        return None  # not installed on the server, or not allowed: blocks do
    return tables.connections.read(ask)
