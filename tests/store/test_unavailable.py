"""Databases that cannot be used: one sentence with a remedy, never the password, and what was stored stays."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from bundles import numbered_bundle
from postgres import LOCKED_ROLE, Server
from sqlalchemy import make_url

from ctxasm.model.errors import InvalidInput, StoreUnavailable
from ctxasm.model.ports import TokenCounter, Window
from ctxasm.store import connect
from ctxasm.store.database import Store
from ctxasm.store.schema import SCHEMA_VERSION

PASSWORD = "s3cret-p@ss/word"
ENCODED = "s3cret-p%40ss%2Fword"
ENCODING = "cl100k_base"


def refused(url: str, counter: TokenCounter) -> str:
    """What opening the store says; checks what every refusal must hold."""
    with pytest.raises(StoreUnavailable) as raised:
        Store(url, counter)
    return sentence(raised.value)


def sentence(error: BaseException) -> str:
    said = str(error)
    assert "\n" not in said
    shown = "".join(traceback.format_exception(error))
    assert PASSWORD not in shown
    assert ENCODED not in shown
    assert "s3cret" not in said
    return said


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("", "must look like sqlite:///"),
        ("not an address", "must look like sqlite:///"),
        (f"postgresql://user:{ENCODED}@host:notaport/x", "must look like sqlite:///"),
        (f"mysql://user:{ENCODED}@host/x", "starts with mysql:"),
        (f"postgresql+asyncpg://user:{ENCODED}@host/x", "starts with postgresql+asyncpg:"),
        ("nosuch+driver://host/x", "starts with nosuch+driver:"),
        ("sqlite:////nowhere/at/all/store.db", "/nowhere/at/all/store.db cannot be opened: check that its folder exists"),
        (f"postgresql://user:{ENCODED}@localhost:1/x", "on localhost:1 does not answer"),
        (f"postgresql://user:{ENCODED}@/x?host=/nowhere/at/all", "on /nowhere/at/all does not answer"),
        (f"postgresql://localhost:1/x?password={ENCODED}&nosuchoption=1", "does not know an option of its address"),
    ],
)
def test_addresses_that_lead_nowhere(url: str, part: str, counter: TokenCounter) -> None:
    assert part in refused(url, counter)


def test_none_as_an_address(counter: TokenCounter) -> None:
    assert "must look like" in refused(None, counter)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "part"),
    [(b"this is a text file, not a database" * 100, "is not an SQLite database"), (None, "cannot be opened")],
)
def test_a_file_that_is_no_database(content: bytes | None, part: str, tmp_path: Path, counter: TokenCounter) -> None:
    path = tmp_path / "store.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    assert part in refused(f"sqlite:///{path}", counter)
    assert content is None or path.read_bytes() == content


@pytest.fixture
def filled(tmp_path: Path, counter: TokenCounter) -> Path:
    path = tmp_path / "filled.db"
    with Store(f"sqlite:///{path}", counter) as store:
        store.add(numbered_bundle(2, 3, "stored"))
    return path


def stored_texts(store: Store) -> set[str]:
    return {chunk.text for chunk in store.fetch([Window("d0", 0, 5)], ENCODING).chunks}


def test_a_read_only_file_reads_but_does_not_load(filled: Path, counter: TokenCounter) -> None:
    with Store(f"sqlite:///file:{filled}?mode=ro&uri=true", counter) as store:
        assert stored_texts(store) == {"stored"}
        for change in (lambda: store.add(numbered_bundle(1, 1)), lambda: store.delete("numbered")):
            with pytest.raises(StoreUnavailable) as raised:
                change()
            assert "may only be read: make the file and its folder writable" in sentence(raised.value)
        assert stored_texts(store) == {"stored"}


def test_a_missing_read_only_file(tmp_path: Path, counter: TokenCounter) -> None:
    assert "cannot be opened" in refused(f"sqlite:///file:{tmp_path}/none.db?mode=ro&uri=true", counter)


def test_a_locked_file_reads_and_says_who_is_in_the_way(filled: Path, counter: TokenCounter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "BUSY_SECONDS", 0.1)
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store(f"sqlite:///{filled}", counter) as store:
        with pytest.raises(StoreUnavailable) as raised:
            store.add(numbered_bundle(1, 1, "new"))
        assert "is being written by another process: wait" in sentence(raised.value)
        assert stored_texts(store) == {"stored"}
        other.execute("ROLLBACK")
        store.add(numbered_bundle(1, 1, "new"))
        assert stored_texts(store) == {"new"}
    other.close()


def test_a_damaged_file(filled: Path, counter: TokenCounter) -> None:
    content = bytearray(filled.read_bytes())
    content[16384:] = os.urandom(len(content) - 16384)
    filled.write_bytes(content)
    with pytest.raises(StoreUnavailable) as raised, Store(f"sqlite:///{filled}", counter) as store:
        store.dataset().bundle()
    assert "is damaged" in sentence(raised.value)


def test_a_newer_schema_is_refused(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store, store._connections.writing() as connection:
        connection.exec_driver_sql("UPDATE ctxasm_schema SET version = 99")
    said = refused(shared_url, counter)
    assert f"has schema 99, this ctxasm knows schema {SCHEMA_VERSION}: update ctxasm" in said
    with pytest.raises(StoreUnavailable, match="schema 99"):
        Store(shared_url, counter)


def test_a_foreign_database_keeps_its_tables(shared_url: str, counter: TokenCounter, tmp_path: Path) -> None:
    connections = connect.Connections(shared_url)
    with connections.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE documents (id INTEGER)")
        connection.exec_driver_sql("INSERT INTO documents VALUES (1)")
    with Store(shared_url, counter) as store:
        store.add(numbered_bundle(2, 2))
    with connections.reading() as connection:
        assert connection.exec_driver_sql("SELECT id FROM documents").scalar_one() == 1
    connections.close()


def test_many_stores_open_a_new_database_at_once(shared_url: str, counter: TokenCounter) -> None:
    problems: list[Exception] = []

    def open_store() -> None:
        try:
            Store(shared_url, counter).close()
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=open_store) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


@pytest.fixture
def locked_role(postgres_server: Server) -> Iterator[str]:
    """The address of a role that must give a password, without one."""
    if not postgres_server.own:
        pytest.skip("a given server may let every role in without a password")
    with postgres_server.connect() as connection:
        connection.execute(f"CREATE ROLE {LOCKED_ROLE} LOGIN PASSWORD '{PASSWORD}'")
    yield make_url(postgres_server.url).set(username=LOCKED_ROLE).render_as_string(hide_password=False)
    with postgres_server.connect() as connection:
        connection.execute(f"DROP ROLE {LOCKED_ROLE}")


def test_wrong_passwords_databases_and_rights(locked_role: str, counter: TokenCounter) -> None:
    url = make_url(locked_role)
    assert "asks for a password" in refused(locked_role, counter)
    wrong = url.set(password=PASSWORD + "!").render_as_string(hide_password=False)
    assert "refused the user name or password" in refused(wrong, counter)
    right = url.set(password=PASSWORD)
    nowhere = right.set(database="nowhere").render_as_string(hide_password=False)
    assert "does not exist: create it" in refused(nowhere, counter)
    read_only = right.update_query_dict({"options": "-cdefault_transaction_read_only=on"})
    assert "may only be read" in refused(read_only.render_as_string(hide_password=False), counter)
    forbidden = right.update_query_dict({"options": "-csearch_path=pg_catalog"})
    assert "does not allow this user" in refused(forbidden.render_as_string(hide_password=False), counter)


def test_a_server_that_closes_connections(postgres_url: str, postgres_server: Server, counter: TokenCounter) -> None:
    with Store(postgres_url, counter) as store:
        store.add(numbered_bundle(2, 3, "stored"))

        def cut() -> None:
            with postgres_server.connect() as other:
                other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ctxasm'")

        cut()
        assert stored_texts(store) == {"stored"}  # reads ask again on a new connection

        class Cutting:
            encoding, exact = ENCODING, True

            def __getattr__(self, name: str) -> object:
                return getattr(counter, name)

            def count_many(self, texts: list[str]) -> list[int]:
                cut()
                return counter.count_many(texts)

        store._counter = Cutting()  # type: ignore[assignment]
        with pytest.raises(StoreUnavailable) as raised:
            store.add(numbered_bundle(2, 3, "new"))
        assert "closed the connection: check that the server runs and try again" in sentence(raised.value)
        store._counter = counter
        assert stored_texts(store) == {"stored"}
        store.add(numbered_bundle(2, 3, "new"))
        assert stored_texts(store) == {"new"}


def test_a_port_that_is_no_postgresql(counter: TokenCounter) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(100)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        said = refused(f"postgresql://user:{ENCODED}@127.0.0.1:{server.getsockname()[1]}/x?sslmode=disable", counter)
        thread.join()
    assert "check" in said


def test_a_missing_driver(counter: TokenCounter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    assert "pip install 'psycopg[binary]'" in refused("postgresql://host/x", counter)


def test_values_past_the_range_of_a_database_are_bad_input(database: Store) -> None:
    mark = "?" if database._connections.is_sqlite else "%s"
    for too_large in (2**63, 2**200):
        with pytest.raises(InvalidInput, match="cannot keep"), database._connections.writing() as connection:
            connection.exec_driver_sql(f"UPDATE ctxasm_schema SET next_document_no = {mark}", (too_large,))
