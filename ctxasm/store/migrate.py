"""The schema of a database: made where there is none, brought up to date where an older ctxasm made it, refused where a newer did.

A new database is made at once from the tables of today. All steps are one transaction, so a process that dies half-way leaves the
old schema. A new step: one more entry of `STEPS`, the same change in `ctxasm.store.schema`, SCHEMA_VERSION one higher, and a dump of the
version before (`tests/store/versions/make.py`). A test checks that both ways lead to the same schema.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from sqlalchemy import Connection, LargeBinary, bindparam, column, delete, func, insert, inspect, select, table, update

from ctxasm.model.errors import DamagedData, StoreUnavailable
from ctxasm.model.ports import FetchedChunk
from ctxasm.store.connect import Connections, describe
from ctxasm.store.schema import SCHEMA_VERSION, chunks, metadata, schema, vectors
from ctxasm.text.chunk_facts import duplicate_key, usual_in_dataset, with_overlaps
from ctxasm.text.language import sample_of

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
    return SCHEMA_VERSION


def _upgrade(connections: Connections, old: int) -> int:
    try:
        with connections.writing() as connection:
            _wait_for_others(connection, connections)
            version = _version(connection) or old
            if version < SCHEMA_VERSION:
                run_steps(connection, version)
                version = SCHEMA_VERSION
            return version
    except DamagedData:
        raise
    except StoreUnavailable as error:
        raise StoreUnavailable(f"{error} (it has schema {old} and must be brought to schema {SCHEMA_VERSION} once)") from None


def run_steps(connection: Connection, version: int) -> None:
    """All steps after `version`, in the caller's transaction."""
    there = inspect(connection)
    if version == 1:
        if not any(each["name"] == "lead_tokens" for each in there.get_columns(chunks.name)):
            raise StoreUnavailable(f"{describe(connection.engine.url)} was made before ctxasm 0.1.0: load the bundles into a new database")
        version = 2 if there.has_table(vectors.name) else 1  # both call themselves 1
    if version not in range(1, SCHEMA_VERSION):
        raise DamagedData(f"{schema.name} says version {version}, there never was one")
    types = {"whole": "BIGINT", "bytes": "BYTEA"} if connection.dialect.name == "postgresql" else {"whole": "INTEGER", "bytes": "BLOB"}
    for step in STEPS[version - 1 :]:
        for change in step:
            if callable(change):
                change(connection)
            else:
                connection.exec_driver_sql(change.format(**types))
    connection.execute(update(schema).values(version=SCHEMA_VERSION))


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


# What follows stays as it was when the tables of today change: an old database has those of its time.

_BITS = 31
MOST_HELD = 2000
"""Chunks of one document that are held at a time."""
_FACTS = ("overlap_chars", "overlap_kind", "overlap_tokens", "lead_tokens", "duplicate_key")
_CHUNKS = table("ctxasm_chunks", *(column(name) for name in ("place", "text", "start_char", "end_char", *_FACTS)))
_DATASETS = table("ctxasm_datasets", column("first_document_no"), column("documents"))
_VECTORS = table("ctxasm_vectors", column("content_key", LargeBinary))


def _find_overlaps(connection: Connection) -> None:
    """Find overlaps and duplicate keys by the rules of version 5. Only rows that change are written.

    A new overlap has no token facts: they are found when it is assembled. The kept vectors of texts whose key changed are removed, and
    made again when they are needed.
    """
    for first, count in connection.execute(select(_DATASETS.c.first_document_no, _DATASETS.c.documents)).fetchall():
        sample = sample_of(count)
        beginnings = (_read(connection, first + at, 0, sample.chunks) for at in sample.documents)
        usual = usual_in_dataset([chunk for own in beginnings for chunk in own])
        for number in range(first, first + count):
            for stored in _runs(connection, number):
                _write(connection, number, stored, with_overlaps(stored, usual))


def _runs(connection: Connection, number: int) -> Iterator[list[FetchedChunk]]:
    """The chunks of a document; of a long one in runs, each with the last chunk of the run before."""
    stored = _read(connection, number, 0, MOST_HELD)
    while stored:
        yield stored
        if len(stored) < MOST_HELD:
            return
        stored = _read(connection, number, stored[-1].chunk_index, MOST_HELD)


def _read(connection: Connection, number: int, index: int, most: int) -> list[FetchedChunk]:
    c, low = _CHUNKS.c, number << _BITS
    columns = (c.place, c.text, c.start_char, c.end_char, c.overlap_chars, c.overlap_kind, c.overlap_tokens, c.lead_tokens, c.duplicate_key)
    own = select(*columns).where(c.place.between(low + index, low + (1 << _BITS) - 1)).order_by(c.place).limit(most)
    return [
        FetchedChunk(
            str(number), place - low, text, start, end, overlap_chars=chars, overlap_kind=kind, overlap_tokens=tokens,
            lead_tokens=lead, duplicate_key=None if key is None else bytes(key),
        )
        for place, text, start, end, chars, kind, tokens, lead, key in connection.execute(own).fetchall()
    ]  # fmt: skip


def _write(connection: Connection, number: int, stored: list[FetchedChunk], found: list[FetchedChunk]) -> None:
    rows, gone = [], []
    for at, (was, now) in enumerate(zip(stored, found, strict=True)):
        if at == 0 and was.chunk_index > 0:
            now = was  # of the run before, or the first of its document
        elif (was.overlap_chars, was.overlap_kind) != (now.overlap_chars, now.overlap_kind):
            now = now._replace(overlap_tokens=None, lead_tokens=None)
        now = now._replace(duplicate_key=duplicate_key(now.text))
        if now != was:
            rows.append({f"new_{name}": getattr(now, name) for name in _FACTS} | {"own": (number << _BITS) + now.chunk_index})
        if was.duplicate_key is not None and now.duplicate_key != was.duplicate_key:
            gone.append(was.duplicate_key)
    if rows:
        changed = update(_CHUNKS).where(_CHUNKS.c.place == bindparam("own"))
        connection.execute(changed.values({name: bindparam(f"new_{name}") for name in _FACTS}), rows)
    for at in range(0, len(gone), 500):
        connection.execute(delete(_VECTORS).where(func.substr(_VECTORS.c.content_key, 1, 16).in_(gone[at : at + 500])))


_RUN_COLUMNS = ("kept_at", "dataset", "batch", "query_id", "question", "model", "author", "payload")
_RUN_TEXTS = ", ".join(f"{name} TEXT NOT NULL" for name in _RUN_COLUMNS)
STEPS: tuple[tuple[str | Callable[[Connection], None], ...], ...] = (
    (  # 2: vectors of chunk texts are kept
        "CREATE TABLE ctxasm_vectors (embedder TEXT NOT NULL, content_key {bytes} NOT NULL, vector {bytes} NOT NULL, "
        "PRIMARY KEY (embedder, content_key))",
    ),
    (  # 3: texts are kept by key, and queries are saved to a dataset; there already in a database of somebody who follows the main branch
        "CREATE TABLE IF NOT EXISTS ctxasm_kept (shelf TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, kept_at TEXT NOT NULL, "
        "PRIMARY KEY (shelf, key))",
        "CREATE TABLE IF NOT EXISTS ctxasm_saved_queries (dataset TEXT NOT NULL, query_id TEXT NOT NULL, position {whole} NOT NULL, "
        "query TEXT NOT NULL, hits {whole} NOT NULL, payload TEXT NOT NULL, saved_at TEXT NOT NULL, PRIMARY KEY (dataset, query_id))",
    ),
    # 4: what of a chunk can read as a marker is found at load; empty for chunks of before, found when they are assembled
    ("ALTER TABLE ctxasm_chunks ADD COLUMN quiet {whole}",),
    (_find_overlaps,),  # 5: overlaps and duplicate keys by new rules
    (  # 6: answers are kept as runs, with what reviewers say of them; the version stands in one place
        f"CREATE TABLE ctxasm_runs (run_id TEXT NOT NULL, {_RUN_TEXTS}, deleted_at TEXT, PRIMARY KEY (run_id))",
        "CREATE TABLE ctxasm_judgements (run_id TEXT NOT NULL, item TEXT NOT NULL, reviewer TEXT NOT NULL, version {whole} NOT NULL, "
        "payload TEXT NOT NULL, PRIMARY KEY (run_id, item, reviewer, version), "
        "FOREIGN KEY(run_id) REFERENCES ctxasm_runs (run_id) ON DELETE CASCADE)",
        "DROP TABLE IF EXISTS ctxasm_alembic_version",
    ),
)
