"""The session can only read: no write, no side effect, no endless statement; and no name or value becomes SQL."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from user_tables import Place

from ctxasm.data.tables.catalogue import details, sample, tables
from ctxasm.data.tables.checks import check_mapping
from ctxasm.data.tables.linked import LinkedDataset
from ctxasm.data.tables.mapping import DocumentsTable, TableMapping, guess_mapping
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.model.datasets import DatasetInfo
from ctxasm.model.errors import CtxasmError, InvalidInput, StoreUnavailable
from ctxasm.model.ports import Window
from tests.examples import examples

HOSTILE = "'; DROP TABLE victim; -- \" % %s %(limit)s :limit ? _ \\ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] $1"


def linked(database: OwnDatabase, mapping: TableMapping) -> LinkedDataset:
    from datetime import UTC, datetime

    now = datetime.now(UTC)
    return LinkedDataset(database, mapping, DatasetInfo(-1, "mine", now, now, None, 0, 0, 0, 0, 0, ""))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO victim VALUES (2)",
        "UPDATE victim SET id = 3",
        "DELETE FROM victim",
        "DROP TABLE victim",
        "CREATE TABLE another (id integer)",
        "CREATE INDEX i ON victim (id)",
    ],
)
def test_writing_fails(place: Place, own_database: OwnDatabase, statement: str) -> None:
    place.run("CREATE TABLE victim (id integer)", "INSERT INTO victim VALUES (1)")
    with pytest.raises(InvalidInput, match="which is never allowed here"):
        own_database.rows(statement, {})
    assert place.ask("SELECT id FROM victim") == [(1,)]
    assert own_database.rows("SELECT id FROM victim", {}) == [(1,)]


def test_a_writing_function_or_view_fails(place: Place, own_database: OwnDatabase) -> None:
    if place.kind == "sqlite":
        pytest.skip("SQLite's functions cannot write")
    place.run(
        "CREATE TABLE victim (id integer)",
        "CREATE FUNCTION effect() RETURNS text LANGUAGE sql VOLATILE AS $$ INSERT INTO victim VALUES (1) RETURNING 'done' $$",
        "CREATE VIEW chunks AS SELECT 'd'::text AS document_id, 0 AS chunk_index, effect() AS text",
    )
    mapping = TableMapping("chunks", {"document_id": "document_id", "chunk_index": "chunk_index", "text": "text"})
    for read in (lambda: linked(own_database, mapping).fetch([Window("d", 0, 1)], ""), lambda: check_mapping(own_database, mapping)):
        with pytest.raises(InvalidInput, match="was asked to write by a view or function"):
            read()
    assert place.ask("SELECT id FROM victim") == []


def test_the_server_is_told_before_the_first_statement(place: Place, own_database: OwnDatabase) -> None:
    if place.kind == "sqlite":
        assert own_database.rows("PRAGMA query_only", {}) == [(1,)]
        return
    shown = {name: own_database.rows(f"SHOW {name}", {})[0][0] for name in ("transaction_read_only", "default_transaction_read_only")}
    shown |= {name: own_database.rows(f"SHOW {name}", {})[0][0] for name in ("statement_timeout", "transaction_isolation")}
    assert set(shown.values()) == {"on", "10s", "repeatable read"}
    # Several statements at once only ever without parameters, and every statement of an operation has one.
    with pytest.raises(CtxasmError):
        own_database.rows("SELECT 1 LIMIT %(limit)s; COMMIT; CREATE TABLE x (id integer)", {"limit": 1})
    assert tables(own_database) == []


def test_a_connection_that_the_server_closed_is_opened_again(place: Place, own_database: OwnDatabase) -> None:
    if place.kind == "sqlite":
        pytest.skip("a file closes nothing")
    (row,) = own_database.rows("SELECT pg_backend_pid()", {})
    place.run(f"SELECT pg_terminate_backend({row[0]})")
    assert own_database.rows("SELECT 1", {}) == [(1,)]


def test_a_pooler_that_takes_no_parameter_is_read_all_the_same(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    if place.kind == "sqlite":
        pytest.skip("a file has no pooler")
    import psycopg

    connect, asked = psycopg.connect, list[bool]()

    def pooler(address: str, **options: object) -> object:
        asked.append("options" in options)
        if "options" in options:
            raise psycopg.OperationalError("FATAL: unsupported startup parameter in options: default_transaction_read_only")
        return connect(address, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(psycopg, "connect", pooler)
    database = place.open()
    assert database.rows("SHOW transaction_read_only", {}) == [("on",)]
    assert asked == [True, False]
    with pytest.raises(InvalidInput, match="never allowed here"):
        database.rows("CREATE TABLE x (id integer)", {})
    database.close()


@pytest.mark.system
def test_what_takes_too_long_is_ended(place: Place) -> None:
    database = place.open(timeout_s=0.5)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.5 s and was stopped: create the index"):
            database.rows(endless, {})
    assert database.rows("SELECT 1", {}) == [(1,)]
    database.close()


@pytest.mark.parametrize(
    "smuggled", ["m->>'a' || effect()", "effect()", "m->effect()", "m.effect()", "(m)", "m->>'a'); SELECT effect(); --"]
)
@pytest.mark.parametrize("field", ["document_id", "chunk_index", "text", "title", "summary"])
def test_no_function_comes_in_by_a_path(place: Place, own_database: OwnDatabase, field: str, smuggled: str) -> None:
    jsonb = "text" if place.kind == "sqlite" else "jsonb"
    place.run(f"CREATE TABLE t (d text, i integer, x text, m {jsonb})", "INSERT INTO t VALUES ('d', 0, 'text', '{\"a\": \"0\"}')")
    fields = {"document_id": "d", "chunk_index": "i", "text": "x"} | {field: smuggled}
    with pytest.raises(InvalidInput, match=f"{field} must be a column, or a path"):
        linked(own_database, TableMapping("t", fields)).fetch([Window("d", 0, 0)], "")


def test_a_hostile_key_is_a_key(place: Place, own_database: OwnDatabase) -> None:
    import json

    key = HOSTILE.replace('"', "").replace("\\", "") if place.kind == "sqlite" else HOSTILE
    jsonb = "text" if place.kind == "sqlite" else "jsonb"
    place.run(f"CREATE TABLE t (d text, i integer, x text, m {jsonb})", "CREATE TABLE victim (id integer)")
    place.fill("t", [("d", 0, "text", json.dumps({key: "found"}, ensure_ascii=False))])
    fields = {"document_id": "d", "chunk_index": "i", "text": "x", "title": "m->>'" + key.replace("'", "''") + "'"}
    found = linked(own_database, TableMapping("t", fields)).fetch([Window("d", 0, 0)], "")
    assert found.documents["d"].title == "found"
    assert place.ask("SELECT count(*) FROM victim") == [(0,)]


_NAMES = st.one_of(
    st.sampled_from(
        [
            "select",
            "order",
            "Table",
            'a"b',
            "a'b",
            "a;b",
            "a%b",
            "%s",
            "%(limit)s",
            ":limit",
            "?",
            "a b",
            " ",
            "é",
            "👩‍🚀",
            "$1",
            "--",
            "own",
            "w",
            "c",
            "/*",
            "\\",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=15).filter(
        lambda name: not name.lower().startswith("ctxasm")
    ),
)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=_NAMES,
    columns=st.lists(_NAMES, min_size=4, max_size=4, unique_by=str.lower),
    values=st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), min_size=2, max_size=2),
)
def test_hostile_names_and_values_are_names_and_values(
    place: Place, own_database: OwnDatabase, table: str, columns: list[str], values: list[str]
) -> None:
    if place.kind == "sqlite" and (table.lower().startswith("sqlite_") or len({name.casefold() for name in columns}) < 4):
        return
    quoted, (doc, index, text, title) = place.quoted(table), [place.quoted(name) for name in columns]
    document_id, content = values[0], values[1]
    place.run(f"DROP TABLE IF EXISTS {quoted}", f"CREATE TABLE {quoted} ({doc} text, {index} integer, {text} text, {title} text)")
    try:
        place.fill(quoted, [(document_id, 0, content, HOSTILE), (document_id, 1, HOSTILE, HOSTILE), (HOSTILE, 0, "other", "other")])
        fields = dict(zip(("document_id", "chunk_index", "text", "title"), columns, strict=True))
        mapping = TableMapping(table, fields, documents=DocumentsTable(table, {"document_id": columns[0], "source": columns[3]}))
        assert table in [info.name for info in tables(own_database)]
        assert list(details(own_database, table).columns) == columns
        assert len(sample(own_database, details(own_database, table)).rows) == 3
        guess_mapping(own_database, table)
        assert check_mapping(own_database, mapping).usable
        dataset = linked(own_database, mapping)
        found = dataset.fetch([Window(document_id, 0, 5), Window(HOSTILE, 0, 0)], "")
        assert {(c.document_id, c.chunk_index, c.text) for c in found.chunks} == {
            (document_id, 0, content),
            (document_id, 1, HOSTILE),
            (HOSTILE, 0, "other"),
        }
        assert found.documents[document_id].title == HOSTILE
        assert found.documents[document_id].source == HOSTILE
        assert {document.document_id for document in dataset.documents()} == {document_id, HOSTILE}
        assert (document_id, 1) in [(c.document_id, c.chunk_index) for c in dataset.find_text(HOSTILE)]
        assert len(list(dataset.iter_chunks())) == 3
    finally:
        place.run(f"DROP TABLE {quoted}")


@pytest.mark.parametrize(
    "asked", ["", "' OR 1=1 --", "\x00", "\ud800", "1e400", "9" * 400, "-1", "00000000-0000-0000-0000-000000000000", "{1}"]
)
@pytest.mark.parametrize("kind", ["text", "bigint", "uuid"])
def test_a_key_that_no_table_can_hold_finds_nothing(place: Place, own_database: OwnDatabase, kind: str, asked: str) -> None:
    if place.kind == "sqlite" and kind == "uuid":
        kind = "text"
    place.run(f"CREATE TABLE t (d {kind}, i integer, x text)")
    dataset = linked(own_database, TableMapping("t", {"document_id": "d", "chunk_index": "i", "text": "x"}))
    assert list(dataset.fetch([Window(asked, 0, 3), Window(asked, 2**70, 2**71)], "").chunks) == []
    assert dataset.document_chunks(asked) == []
    assert dataset.find_text(asked) == []


def test_a_file_is_opened_as_it_is_named(tmp_path_factory: pytest.TempPathFactory) -> None:
    from ctxasm.data.tables.session import address_of

    path = tmp_path_factory.mktemp("odd") / "a ?mode=rwc&x#%41.db"
    with sqlite3.connect(path) as own:
        own.execute("CREATE TABLE t (d text)")
    own.close()
    database = OwnDatabase(address_of("own", {"dialect": "sqlite", "database": str(path)}))
    assert [info.name for info in tables(database)] == ["t"]
    with pytest.raises(InvalidInput, match="never allowed here"):
        database.rows("DELETE FROM t", {})
    database.close()
