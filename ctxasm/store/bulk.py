"""Many rows into one table: tuples in batches on SQLite, one COPY on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from sqlalchemy import BigInteger, Connection, LargeBinary, Table


class RowSink(Protocol):
    """Takes rows of one table, values in the order of its columns."""

    def put(self, rows: Sequence[Sequence[object]]) -> None:
        """Insert these rows, inside the caller's transaction."""
        ...


@contextmanager
def into(connection: Connection, table: Table) -> Iterator[RowSink]:
    """A sink for `table`. On PostgreSQL the connection can do nothing else meanwhile."""
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "sqlite":
        yield _Statement(driver.cursor(), table)
        return
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({_names(table)}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types([_type(column.type) for column in table.c])
        yield _Copy(copy)


def insert_all(connection: Connection, table: Table, rows: Iterable[Sequence[object]], batch_rows: int = 500) -> int:
    """Insert rows from an iterator; returns how many."""
    count, batch = 0, list[Sequence[object]]()
    with into(connection, table) as sink:
        for row in rows:
            batch.append(row)
            if len(batch) == batch_rows:
                sink.put(batch)
                count, batch = count + batch_rows, []
        if batch:
            sink.put(batch)
    return count + len(batch)


class _Statement:
    def __init__(self, cursor: Any, table: Table) -> None:
        self._cursor = cursor
        self._sql = f"INSERT INTO {table.name} ({_names(table)}) VALUES ({', '.join('?' * len(table.c))})"  # noqa: S608

    def put(self, rows: Sequence[Sequence[object]]) -> None:
        self._cursor.executemany(self._sql, rows)


class _Copy:
    def __init__(self, copy: Any) -> None:
        self._write = copy.write_row

    def put(self, rows: Sequence[Sequence[object]]) -> None:
        for row in rows:
            self._write(row)


def _names(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.c)


def _type(kind: object) -> str:
    if isinstance(kind, BigInteger):
        return "int8"
    return "bytea" if isinstance(kind, LargeBinary) else "text"
