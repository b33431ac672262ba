"""The schema of a database: made where there is none, brought up to date where an older ctxasm made it, refused where a newer did.

A new database is made at once from the tables of today. Alembic, and the steps in `migrations`, are loaded only where a
database is older; all steps are one transaction, so a process that dies half-way leaves the old schema.
"""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import Connection, insert, inspect, select

from ctxasm.model.errors import DamagedData, StoreUnavailable
from ctxasm.store.connect import Connections, describe
from ctxasm.store.schema import SCHEMA_VERSION, alembic_version, chunks, metadata, schema, vectors

_ADVISORY_LOCK = 0x637478  # any number, the same in all processes


def ensure_schema(connections: Connections) -> None:
    """Make the tables, or bring those of an older version up to date.

    Raises StoreUnavailable when a newer version of ctxasm made them, or when an older database may only be read.
    """
    version = connections.read(_version)
    if version is None:
        if connections.is_sqlite and not connections.in_memory:
            _use_write_ahead_log(connections)
        with connections.writing() as connection:
            version = _create(connection, connections)
    if version < SCHEMA_VERSION:
        version = _upgrade(connections, version)
    if version > SCHEMA_VERSION:
        known = f"has schema {version}, this ctxasm knows schema {SCHEMA_VERSION}"
        raise StoreUnavailable(f"{describe(connections.url)} {known}: update ctxasm")


def _version(connection: Connection) -> int | None:
    if not inspect(connection).has_table(schema.name):
        return None
    # The table and its row are made in one transaction.
    if (version := connection.execute(select(schema.c.version)).scalar_one_or_none()) is None:
        raise DamagedData(f"{schema.name} has no row")
    return int(version)


def _create(connection: Connection, connections: Connections) -> int:
    _wait_for_others(connection, connections)
    # Another process may have been quicker: look again, now that nobody else can write.
    if (version := _version(connection)) is not None:
        return version
    metadata.create_all(connection)
    connection.execute(insert(schema).values(version=SCHEMA_VERSION, next_document_no=1))
    connection.execute(insert(alembic_version).values(version_num=_revision(SCHEMA_VERSION)))
    return SCHEMA_VERSION


def _upgrade(connections: Connections, old: int) -> int:
    try:
        with connections.writing() as connection:
            _wait_for_others(connection, connections)
            version = _version(connection) or old
            if version < SCHEMA_VERSION:
                _walk(connection, connections)
                version = SCHEMA_VERSION
            return version
    except StoreUnavailable as error:
        raise StoreUnavailable(f"{error} (it has schema {old} and must be brought to schema {SCHEMA_VERSION} once)") from None


def _walk(connection: Connection, connections: Connections) -> None:
    """All steps from the stored version on, in the caller's transaction."""
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    there = inspect(connection)
    if not there.has_table(alembic_version.name):
        if not any(column["name"] == "lead_tokens" for column in there.get_columns(chunks.name)):
            raise StoreUnavailable(f"{describe(connections.url)} was made before ctxasm 0.1.0: load the bundles into a new database")
        # Versions before the first that knew Alembic, told apart by their tables.
        command.stamp(config, _revision(2 if there.has_table(vectors.name) else 1))
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise DamagedData(f"{schema.name} or {alembic_version.name}: {error}") from None


def _revision(version: int) -> str:
    return f"{version:04}"


def _wait_for_others(connection: Connection, connections: Connections) -> None:
    # SQLite lets one connection write at a time, and this one has begun.
    if not connections.is_sqlite:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")


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
