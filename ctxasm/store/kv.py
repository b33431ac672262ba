"""What is kept beside the datasets: texts (JSON) by collection and key, vectors by content, and which sets for searching there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from sqlalchemy import Column, Connection, MetaData, Table, Text, bindparam, delete, func, inspect, select

from ctxasm.model.characters import storable
from ctxasm.model.errors import StoreUnavailable
from ctxasm.store.connect import Connections
from ctxasm.store.schema import INDEX_BITS, Whole, chunks, datasets, kept, vectors
from ctxasm.store.statements import kept_parameters, vector_parameters
from ctxasm.store.validation import check_kept


def read_kept(connections: Connections, shelf: str, keys: Sequence[str] | None) -> dict[str, str]:
    """The kept ones of these keys in their order; None: the whole shelf, by key."""
    if not storable(shelf):
        return {}
    if keys is None:
        own = select(kept.c.key, kept.c.value).where(kept.c.shelf == shelf)
        # Sorted here: databases sort texts in the order of some language, each in its own.
        return dict(sorted(connections.read(lambda c: [(row[0], row[1]) for row in c.execute(own)])))
    if not (asked := [key for key in dict.fromkeys(keys) if storable(key)]):
        return {}
    parameters = kept_parameters(connections.engine_name, shelf, asked)
    rows = connections.read(lambda c: c.exec_driver_sql(connections.statements.kept, parameters).fetchall())
    found = {row[0]: row[1] for row in rows}
    return {key: found[key] for key in asked if key in found}


def keep(connections: Connections, shelf: str, values: Mapping[str, str]) -> None:
    """Keep these, replacing what was kept under their keys. Raises InvalidInput for what no database takes."""
    check_kept(shelf, values)
    if not values:
        return
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    # Sorted, so that two processes that keep the same never wait for each other in a circle.
    rows = [(shelf, key, values[key], now) for key in sorted(values)]
    with connections.writing() as connection:
        connection.exec_driver_sql(connections.statements.keep_text, rows)


def forget(connections: Connections, shelf: str, keys: Sequence[str] | None) -> None:
    """Remove these keys, None: the whole shelf."""
    if storable(shelf) and (keys is None or keys):
        with connections.writing() as connection:
            forget_kept(connection, shelf, keys)


def forget_kept(connection: Connection, shelf: str, keys: Sequence[str] | None) -> None:
    """`forget`, inside the caller's transaction."""
    own = delete(kept).where(kept.c.shelf == shelf)
    if keys is None:
        connection.execute(own)
    elif rows := [{"wanted": key} for key in sorted(set(keys)) if storable(key)]:
        connection.execute(own.where(kept.c.key == bindparam("wanted")), rows)


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


_search_metadata = MetaData()

sets = Table(
    "ctxasm_search_sets",
    _search_metadata,
    Column("set_no", Whole, primary_key=True),
    Column("low", Whole, nullable=False),
    Column("high", Whole, nullable=False),
    Column("kind", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("texts", Whole, nullable=False),
    Column("words", Whole, nullable=False),
    Column("touched_at", Text, nullable=False),
    sqlite_autoincrement=True,
)
"""`kind` is how the set is made, `what` says of what, `state` is making or ready; `words` counts all words of a set of words."""


def table_of(set_no: int) -> str:
    """The name of the table of a set."""
    return f"ctxasm_search_{int(set_no)}"


def forget_search(connection: Connection, low: int, high: int) -> None:
    """Remove every search set of the places from `low` to `high`, inside the caller's transaction."""
    if inspect(connection).has_table(sets.name):
        own = select(sets.c.set_no).where(sets.c.low >= low, sets.c.high <= high)
        drop_sets(connection, connection.execute(own).scalars().all())


def orphans(connection: Connection) -> list[int]:
    """The sets of versions that are no more: one that was finished while the load that replaced its dataset was under way."""
    known = connection.execute(select(datasets.c.first_document_no, datasets.c.documents))
    there = {(first << INDEX_BITS, ((first + count) << INDEX_BITS) - 1) for first, count in known}
    rows = connection.execute(select(sets.c.set_no, sets.c.low, sets.c.high))
    return [number for number, low, high in rows if (low, high) not in there]


def drop_sets(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove sets with their tables, inside the caller's transaction."""
    for number in numbers:
        for part in ("_terms", "_counts", ""):
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table_of(number)}{part}")
        connection.execute(delete(sets).where(sets.c.set_no == number))
