"""The connections of secrets and environment: what is taken, what is refused, and that no password shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxasm.app.workbench import Workbench
from ctxasm.config import connection_secrets, read_config
from ctxasm.data.tables.catalogue import tables
from ctxasm.data.tables.connecting import connections
from ctxasm.data.tables.session import OwnDatabase, address_of
from ctxasm.model.errors import CtxasmError, InvalidInput, NotFound, StoreUnavailable
from ctxasm.store.database import MemoryStore

PASSWORD = "s3cret-p@ss/word"
ENCODED = "s3cret-p%40ss%2Fword"


def test_secrets_and_environment_are_one_list() -> None:
    secrets = {"connections": {"Docs": {"url": "sqlite:///docs.db"}, "parts": {"dialect": "postgresql", "host": "h"}, "not": "a table"}}
    environment = {"HOME": "/h", "CTXASM_CONNECTION_DOCS": "postgresql://u@h/docs", "CTXASM_CONNECTION_NEW": "sqlite:///n.db"}
    found = read_config(environment | {"CTXASM_CONNECTION_": "x", "CTXASM_CONNECTION_BLANK": " "}, secrets).connections
    assert found == {
        "Docs": {"url": "postgresql://u@h/docs"},
        "parts": {"dialect": "postgresql", "host": "h"},
        "new": {"url": "sqlite:///n.db"},
    }


def test_the_statement_timeout() -> None:
    assert read_config({"HOME": "/h"}).statement_timeout == 10
    assert read_config({"HOME": "/h", "CTXASM_STATEMENT_TIMEOUT": "2.5"}).statement_timeout == 2.5
    with pytest.raises(InvalidInput, match="CTXASM_STATEMENT_TIMEOUT"):
        read_config({"HOME": "/h", "CTXASM_STATEMENT_TIMEOUT": "0"})


def test_secrets_files_without_streamlit(tmp_path: Path) -> None:
    for folder, text in (
        ("user", '[connections.a]\nurl = "sqlite:///1"\n[connections.b]\nurl = "sqlite:///2"'),
        ("here", '[connections.b]\nurl = "sqlite:///3"'),
    ):
        (tmp_path / folder / ".streamlit").mkdir(parents=True)
        (tmp_path / folder / ".streamlit" / "secrets.toml").write_text(text, encoding="utf-8")
    found = connection_secrets([tmp_path / "user", tmp_path / "here", tmp_path / "nowhere"])
    assert found == {"connections": {"a": {"url": "sqlite:///1"}, "b": {"url": "sqlite:///3"}}}
    (tmp_path / "here" / ".streamlit" / "secrets.toml").write_text(f"password = {PASSWORD}", encoding="utf-8")
    with pytest.raises(InvalidInput, match="must be TOML") as raised:
        connection_secrets([tmp_path / "here"])
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("table", "address"),
    [
        ({"url": "postgres://u:p@h:5433/d?sslmode=require"}, "postgresql+psycopg://u:p@h:5433/d?sslmode=require"),
        ({"url": "postgresql+psycopg2://u@h/d"}, "postgresql+psycopg://u@h/d"),
        (
            {
                "dialect": "postgresql",
                "driver": "psycopg2",
                "username": "u",
                "password": PASSWORD,
                "host": "h",
                "port": "5433",
                "database": "d",
            },
            f"postgresql+psycopg://u:{ENCODED}@h:5433/d",
        ),
        ({"dialect": "postgresql", "query": {"sslmode": "require"}, "database": "d"}, "postgresql+psycopg:///d?sslmode=require"),
        ({"dialect": "sqlite", "database": "folder/my.db"}, "sqlite:///folder/my.db"),
        ({"url": "sqlite:////abs/my.db", "type": "sql"}, "sqlite:////abs/my.db"),
    ],
)
def test_addresses_as_streamlit_users_write_them(table: dict[str, object], address: str) -> None:
    assert address_of("own", table).render_as_string(hide_password=False) == address


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ({}, "must have a url"),
        ({"url": f"mysql://u:{ENCODED}@h/d"}, "must lead to PostgreSQL or to a SQLite file, got 'mysql'"),
        ({"dialect": "snowflake", "password": PASSWORD}, "must lead to PostgreSQL"),
        ({"url": f"postgresql://u:{ENCODED}@h:port/d"}, "cannot be read: it must look like"),
        ({"dialect": "postgresql", "port": PASSWORD}, "cannot be read"),
        ({"url": f"no address {PASSWORD}"}, "cannot be read"),
        ({"url": "sqlite://"}, "must name a SQLite file"),
        ({"url": "sqlite:///:memory:"}, "must name a SQLite file"),
        ({"url": "sqlite:///file:x?mode=memory&uri=true"}, "must name a SQLite file"),
    ],
)
def test_other_addresses_are_listed_with_what_is_wrong(table: dict[str, object], part: str) -> None:
    (found,) = connections(read_config({"HOME": "/h"}, {"connections": {"own": table}}))
    assert (found.name, found.database) == ("own", "")
    assert part in found.problem
    assert "'own'" in found.problem
    assert "s3cret" not in found.problem


def test_a_list_shows_no_password() -> None:
    config = read_config({"HOME": "/h", "CTXASM_CONNECTION_A": f"postgresql://u:{ENCODED}@h:1/d?password={ENCODED}"})
    (found,) = connections(config)
    assert found.database == "the PostgreSQL database d on h:1"
    assert "s3cret" not in repr(config)


def test_an_unknown_connection_is_answered_with_those_that_exist() -> None:
    workbench = Workbench(read_config({"HOME": "/h", "CTXASM_CONNECTION_A": "sqlite:///a.db"}), MemoryStore())
    with pytest.raises(NotFound, match="no connection 'b'; known are 'a'"):
        workbench.links.database("b")
    assert workbench.links.database("A") is workbench.links.database("a")


def test_a_missing_file_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    with pytest.raises(StoreUnavailable, match=r"none\.db does not exist"):
        tables(OwnDatabase(address_of("own", {"url": f"sqlite:///{path}"})))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", [f"postgresql://u:{ENCODED}@localhost:1/d", f"postgresql://u:{ENCODED}@/d?host=/nowhere/at/all"])
def test_a_server_that_does_not_answer(url: str) -> None:
    with pytest.raises(CtxasmError, match="does not answer") as raised:
        tables(OwnDatabase(address_of("own", {"url": url})))
    assert "s3cret" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("this is no database at all " * 100, encoding="utf-8")
    with pytest.raises(CtxasmError, match="is not an SQLite database"):
        tables(OwnDatabase(address_of("own", {"url": f"sqlite:///{path}"})))
