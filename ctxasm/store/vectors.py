"""Vectors of chunk texts, kept by content and embedder: a cache that any dataset with the same text shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from sqlalchemy import Connection, delete, func, select

from ctxasm.model.errors import StoreUnavailable
from ctxasm.store.connect import Connections
from ctxasm.store.statements import vector_parameters
from ctxasm.store.tables import chunks, vectors


def read_vectors(connections: Connections, embedder: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """The kept ones of these keys, in one statement however many they are."""
    if not keys:
        return {}
    parameters = vector_parameters(connections.engine_name, embedder, keys)
    rows = connections.read(lambda c: c.exec_driver_sql(connections.statements.vectors, parameters).fetchall())
    return {bytes(row[0]): bytes(row[1]) for row in rows}


def keep_vectors(connections: Connections, embedder: str, made: Mapping[bytes, bytes]) -> bool:
    """Keep vectors; of two processes that keep the same, the first wins. False where the database is locked or only to be read."""
    if not made:
        return True
    # Sorted, so that two processes that keep the same never wait for each other in a circle.
    rows = [(embedder, key, made[key]) for key in sorted(made)]
    with suppress(StoreUnavailable), connections.writing() as connection:
        connection.exec_driver_sql(connections.statements.keep_vector, rows)
        return True
    return False


def forget_vectors(connection: Connection, low: int, high: int) -> None:
    """Remove the vectors of all chunks at places `low` to `high`: who deletes a dataset wants nothing of it left.

    The key of a text that is indexed with its title or its enrichment begins with that of the chunk (16 bytes).
    """
    own = select(chunks.c.duplicate_key).where(chunks.c.place.between(low, high))
    connection.execute(delete(vectors).where(func.substr(vectors.c.content_key, 1, 16).in_(own)))
