"""The SQL that is sent, and how the databases run it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from bundles import numbered_bundle
from sqlalchemy import Connection, event

from ctxasm.model.ports import TokenCounter, Window
from ctxasm.store.connect import driver_rows
from ctxasm.store.database import Store
from ctxasm.store.schema import INDEX_BITS
from ctxasm.store.statements import chunk_parameters, document_parameters

ENCODING = "cl100k_base"


@contextmanager
def sent(store: Store) -> Iterator[list[str]]:
    """Every statement the store sends meanwhile."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    def noted(connection: Connection, sql: str, parameters: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        statements.append(sql)
        return driver_rows(connection, sql, parameters)

    engine = store._connections._engine
    event.listen(engine, "before_cursor_execute", note)
    with patch("ctxasm.store.dataset.driver_rows", noted):
        yield statements
    event.remove(engine, "before_cursor_execute", note)


def test_a_statement_that_fails_on_an_open_connection_is_not_asked_again(database: Store) -> None:
    """A locked database would be waited for twice."""
    connections = database._connections
    with sent(database) as statements, connections._engine.connect() as connection:
        with pytest.raises(connection.dialect.loaded_dbapi.Error):
            driver_rows(connection, "SELECT 1 FROM ctxasm_nowhere", ())
        assert statements == []


def windows_of(hits: int, documents: int) -> list[Window]:
    """A window of three chunks around each of `hits` hits, a document each, or two a document where they are more."""
    return [Window(f"d{hit % documents}", low := 1 + 6 * (hit // documents), low + 2) for hit in range(hits)]


def test_one_chunk_statement_for_any_number_of_hits(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as database:
        database.add(numbered_bundle(100, 20))
        texts = set()
        for hits in (1, 2, 7, 20, 100, 300):
            dataset = database.dataset()
            with sent(database) as statements:
                fetched = dataset.fetch(windows_of(hits, 100), ENCODING)
            assert len(fetched.chunks) == 3 * hits
            of_chunks = [statement for statement in statements if "ctxasm_chunks" in statement]
            assert len(of_chunks) == fetched.statements == 1
            assert len(statements) == 1 + fetched.document_statements == 2
            texts |= set(statements)
        assert len(texts) == 2


def test_known_documents_are_not_read_again(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as database:
        database.add(numbered_bundle(10, 20))
        dataset = database.dataset()
        first = dataset.fetch(windows_of(7, 10), ENCODING)
        with sent(database) as statements:
            second = dataset.fetch(windows_of(7, 10), ENCODING)
        assert len(statements) == second.statements == 1
        assert second.document_statements == 0
        assert second.documents == first.documents


def plan(store: Store, sql: str, parameters: tuple[Any, ...]) -> str:
    explain = "EXPLAIN QUERY PLAN " if store._connections.is_sqlite else "EXPLAIN "
    with store._connections.reading() as connection:
        return "\n".join(str(row[-1]) for row in connection.exec_driver_sql(explain + sql, parameters))


def test_chunks_are_read_by_ranges_of_the_key(database: Store) -> None:
    database.add(numbered_bundle(300, 12))
    connections = database._connections
    for forget_statistics in (False, True):
        if forget_statistics and not connections.is_sqlite:
            with connections.reading() as connection:
                connection.exec_driver_sql("DELETE FROM pg_statistic WHERE starelid = 'ctxasm_chunks'::regclass")
        for hits in (1, 7, 300):
            ranges = [((1 + hit << INDEX_BITS) + 2, (1 + hit << INDEX_BITS) + 4) for hit in range(hits)]
            for sql in (connections.statements.counted, connections.statements.uncounted):
                said = plan(database, sql, chunk_parameters(connections.engine_name, ranges, 1))
                assert_key_ranges(said, connections.is_sqlite)


def assert_key_ranges(said: str, is_sqlite: bool) -> None:
    if is_sqlite:
        once = ["SCALAR SUBQUERY 1", "SEARCH ctxasm_datasets USING INTEGER PRIMARY KEY (rowid=?)"]
        assert said.splitlines() == [
            "SCAN w VIRTUAL TABLE INDEX 1:",
            *once,
            "SEARCH c USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        ]
    else:
        assert "ctxasm_chunks_pkey" in said
        assert "Seq Scan" not in said


def test_documents_are_read_by_their_index(database: Store) -> None:
    database.add(numbered_bundle(3000, 0))
    connections = database._connections
    said = plan(database, connections.statements.documents, document_parameters(connections.engine_name, ["d1", "d2"], 1))
    if connections.is_sqlite:
        assert "SCAN d" not in said
        assert "dataset_id=? AND document_id=?" in said
    else:
        assert "ctxasm_documents_dataset_id_document_id_key" in said
        assert "Seq Scan" not in said


def test_the_package_loads_no_database_library() -> None:
    check = "import sys, ctxasm.store; print([m for m in ('sqlalchemy', 'psycopg', 'sqlite3') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
