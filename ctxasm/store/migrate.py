"""The schema of a database: made where there is none, refused where a later version made it."""

from __future__ import annotations

import time
from contextlib import suppress

from sqlalchemy import Connection, insert, inspect, select

from ctxasm.model.errors import StoreUnavailable
from ctxasm.store.connect import Connections
from ctxasm.store.failures import describe
from ctxasm.store.tables import SCHEMA_VERSION, kept, metadata, saved_queries, schema, vectors

_ADVISORY_LOCK = 0x637478  # any number, the same in all processes


def ensure_schema(connections: Connections) -> None:
    """Make the tables unless they exist. Raises StoreUnavailable when a newer version of ctxasm made them."""
    version = connections.read(_version)
    if version is None:
        if connections.is_sqlite and not connections.in_memory:
            _use_write_ahead_log(connections)
        with connections.writing() as connection:
            version = _create(connection, connections)
    if version != SCHEMA_VERSION:
        remedy = "update ctxasm" if version > SCHEMA_VERSION else "load the bundles into a new database"
        raise StoreUnavailable(f"{describe(connections.url)} has schema {version}, this ctxasm knows schema {SCHEMA_VERSION}: {remedy}")
    _add_tables(connections)


def _add_tables(connections: Connections) -> None:
    """Tables that came after the first schema and that an older ctxasm does not mind. A database that may only be read has none."""
    later = (vectors, kept, saved_queries)
    if connections.read(lambda connection: all(inspect(connection).has_table(table.name) for table in later)):
        return
    with suppress(StoreUnavailable), connections.writing() as connection:
        if not connections.is_sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        for table in later:
            table.create(connection, checkfirst=True)


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(schema.name):
        return None
    return connection.execute(select(schema.c.version)).scalar_one_or_none()


def _create(connection: Connection, connections: Connections) -> int:
    if not connections.is_sqlite:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
    # Another process may have been quicker: look again, now that nobody else can write.
    if (version := _version(connection)) is not None:
        return version
    metadata.create_all(connection)
    connection.execute(insert(schema).values(version=SCHEMA_VERSION, next_document_no=1))
    return SCHEMA_VERSION


def _use_write_ahead_log(connections: Connections) -> None:
    # Two processes opening a new file at once: SQLite answers "locked" here without waiting.
    for attempt in range(20):
        try:
            with connections.reading() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
            return
        except StoreUnavailable:
            if attempt == 19:
                raise
            time.sleep(0.05)
