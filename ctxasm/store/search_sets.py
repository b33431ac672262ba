"""The table of search sets, and how sets go: what a load that replaces a dataset has to take along."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Column, Connection, MetaData, Table, Text, delete, inspect, select

from ctxasm.store.schema import INDEX_BITS, Whole, datasets

_metadata = MetaData()

sets = Table(
    "ctxasm_search_sets",
    _metadata,
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
