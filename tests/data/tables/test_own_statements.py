"""The SQL that is sent to a user's table, and how the database runs it on 100,000 rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import event
from test_only_read import linked
from user_tables import Place

from ctxasm.data.tables.checks import explain
from ctxasm.data.tables.mapping import DocumentsTable, TableMapping
from ctxasm.data.tables.search import all_statements
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.model.errors import InvalidInput
from ctxasm.model.ports import Window

PLAIN = {"document_id": "d", "chunk_index": "i", "text": "x", "title": "m->>'t'"}
IN_JSON = {"document_id": "m->>'doc'", "chunk_index": "m->>'i'", "text": "x", "title": "m->>'t'"}
DOCUMENTS = {"sqlite": 1_000, "postgresql": 5_000}
"""What SQLite does depends on no size."""


def large_table(place: Place, key: str) -> None:
    """Twenty chunks of each document, in an order of their own."""
    documents = DOCUMENTS[place.kind]
    if place.kind == "sqlite":
        kind, made = {"bigint": ("integer", f"n % {documents}"), "text": ("text", f"'d' || (n % {documents})")}[key]
        place.run(
            f"CREATE TABLE t (d {kind}, i integer, x text, m text)",
            f"WITH RECURSIVE k(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM k WHERE n < {20 * documents - 1}) INSERT INTO t "
            f"SELECT {made}, n / {documents}, 'text ' || n, "
            f"json_object('doc', 'd' || (n % {documents}), 'i', n / {documents}, 't', 'T' || (n % {documents})) FROM k",
        )
    else:
        made = {"bigint": f"n % {documents}", "text": f"'d' || (n % {documents})", "uuid": f"md5((n % {documents})::text)::uuid"}[key]
        place.run(
            f"CREATE TABLE t (d {key}, i integer, x text, m jsonb)",
            f"INSERT INTO t SELECT {made}, n / {documents}, 'text ' || n, jsonb_build_object('doc', 'd' || (n % {documents}), "
            f"'i', n / {documents}, 't', 'T' || (n % {documents})) FROM generate_series(0, {20 * documents - 1}) AS n",
        )


@pytest.mark.parametrize("key", ["bigint", "text", "uuid"])
@pytest.mark.parametrize("fields", [PLAIN, IN_JSON], ids=["columns", "json"])
def test_a_fetch_uses_the_index_of_a_large_table(place: Place, own_database: OwnDatabase, key: str, fields: dict[str, str]) -> None:
    if fields is IN_JSON and key != "text":
        pytest.skip("keys in JSON are texts")
    if place.kind == "sqlite" and key == "uuid":
        pytest.skip("to SQLite an identifier of that kind is a text")
    large_table(place, key)
    expression = "CAST(json_extract(m, '$.\"doc\"') AS text)" if place.kind == "sqlite" else "(m ->> 'doc')"
    place.run(f"CREATE INDEX own ON t ({'d, i' if fields is PLAIN else expression})")
    for analysed in (False, True):
        if analysed:
            place.run("ANALYZE t")
        dataset = linked(own_database, TableMapping("t", fields))
        ids = [document.document_id for document in dataset.documents()]
        assert len(ids) == DOCUMENTS[place.kind]
        for hits in (1, 20, 100):
            windows = [Window(name, 3, 5) for name in ids[:hits]]
            said = explain(own_database, dataset.sql.fetch, dataset.fetch_parameters(windows))
            about = explain(own_database, dataset.sql.documents or "", dataset.document_parameters(ids[:hits]))
            if place.kind == "sqlite":
                assert "SEARCH c USING INDEX own" in said
                assert "SCAN c" not in said + about
            else:
                assert "own" in said
                assert "Seq Scan" not in said + about
        assert len(dataset.fetch([Window(ids[(37 + 37 * at) % len(ids)], 3, 5) for at in range(20)], "").chunks) == 60


def test_without_an_index_the_table_is_read_once(place: Place, own_database: OwnDatabase) -> None:
    if place.kind == "sqlite":
        pytest.skip("SQLite has one way to join")
    large_table(place, "text")
    place.run("ANALYZE t")
    dataset = linked(own_database, TableMapping("t", PLAIN))
    windows = [Window(f"d{n}", 3, 5) for n in range(50)]
    assert len(dataset.fetch(windows, "").chunks) == 150
    said = explain(own_database, dataset.sql.fetch, dataset.fetch_parameters(windows))
    assert said.count("Seq Scan on t") == 1
    assert "Nested Loop" not in said


@pytest.fixture
def sent(own_database: OwnDatabase) -> Iterator[list[str]]:
    """Every statement that is sent meanwhile."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(own_database._engine, "before_cursor_execute", note)
    yield statements
    event.remove(own_database._engine, "before_cursor_execute", note)


def test_one_statement_for_any_number_of_windows(place: Place, own_database: OwnDatabase, sent: list[str]) -> None:
    place.run("CREATE TABLE t (d text, i integer, x text)", "CREATE TABLE docs (k text, title text)")
    place.fill("t", [(f"d{d}", i, f"text {d} {i}") for d in range(300) for i in range(4)])
    place.fill("docs", [(f"d{d}", f"Title {d}") for d in range(300)])
    documents = DocumentsTable("docs", {"document_id": "k", "title": "title"})
    dataset = linked(own_database, TableMapping("t", {"document_id": "d", "chunk_index": "i", "text": "x"}, documents=documents))
    all_statements(dataset)
    texts = set()
    for hits in (1, 7, 300):
        sent.clear()
        found = dataset.fetch([Window(f"d{n}", 1, 2) for n in range(hits)], "")
        assert len(found.chunks) == 2 * hits
        assert {name: document.title for name, document in found.documents.items()} == {f"d{n}": f"Title {n}" for n in range(hits)}
        own = [statement for statement in sent if statement.startswith("SELECT")]
        assert (len(own), found.statements, found.document_statements) == (2, 1, 1)
        texts |= set(own)
        transaction = [statement for statement in sent if statement not in own]
        assert transaction[0].startswith("BEGIN")
        assert transaction[-1] == "ROLLBACK"
        assert place.kind == "sqlite" or "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" in transaction[0]
    # What is shown is what was sent.
    assert texts == {all_statements(dataset)[name] for name in ("fetch", "documents")}


def test_every_statement_has_a_limit(place: Place, own_database: OwnDatabase, sent: list[str]) -> None:
    place.run("CREATE TABLE t (d text, i integer, x text)", "INSERT INTO t VALUES ('a', 0, 'one'), ('a', 1, 'two')")
    from ctxasm.data.tables import catalogue, checks
    from ctxasm.data.tables.mapping import guess_mapping

    mapping = TableMapping("t", {"document_id": "d", "chunk_index": "i", "text": "x"})
    dataset = linked(own_database, mapping)
    catalogue.tables(own_database)
    guess_mapping(own_database, "t")
    checks.check_mapping(own_database, mapping)
    dataset.fetch([Window("a", 0, 1)], "")
    dataset.documents()
    dataset.find_text("one")
    assert [chunk.text for chunk in dataset.iter_chunks()] == ["one", "two"]
    assert dataset.count_documents(2) == 1
    asked = [statement for statement in sent if statement.lstrip().startswith(("SELECT", "WITH"))]
    # Those of the driver that looks at a new connection are SQLAlchemy's own.
    own = [statement for statement in asked if "pg_catalog.version" not in statement and "CAST('test" not in statement]
    assert len(own) >= 10
    assert [statement for statement in own if "LIMIT" not in statement and not statement.startswith("SELECT count(*),")] == []


def test_too_many_rows_at_once_are_refused(place: Place, own_database: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxasm.data.tables.linked.MOST_ROWS", 3)
    place.run(
        "CREATE TABLE t (d text, i integer, x text)", "INSERT INTO t VALUES ('a', 0, 'p'), ('a', 1, 'q'), ('a', 2, 'r'), ('a', 3, 's')"
    )
    dataset = linked(own_database, TableMapping("t", {"document_id": "d", "chunk_index": "i", "text": "x"}))
    assert len(dataset.fetch([Window("a", 0, 2)], "").chunks) == 3
    with pytest.raises(InvalidInput, match="at most 3 chunks"):
        dataset.document_chunks("a")


def test_a_stream_is_one_snapshot_and_never_whole(place: Place, own_database: OwnDatabase) -> None:
    place.run("CREATE TABLE t (d text, i integer, x text)")
    place.fill("t", [(f"d{d:03}", i, "x") for d in range(60) for i in range(50)])
    dataset = linked(own_database, TableMapping("t", {"document_id": "d", "chunk_index": "i", "text": "x"}))
    stream = dataset.iter_chunks()
    first = next(stream)
    if place.kind != "sqlite":  # a SQLite file cannot be written while it is read, in the usual mode
        place.run("DELETE FROM t")
    rest = list(stream)
    assert [(c.document_id, c.chunk_index) for c in (first, *rest)] == [(f"d{d:03}", i) for d in range(60) for i in range(50)]
    stream = dataset.iter_chunks()
    next(stream, None)
    stream.close()  # type: ignore[attr-defined]
    assert own_database.rows("SELECT 1", {}) == [(1,)]


def test_of_repeats_the_same_one_is_read_every_time(place: Place, own_database: OwnDatabase) -> None:
    place.run("CREATE TABLE t (d text, i integer, x text)")
    place.fill("t", [("a", 0, "second"), ("a", 0, "first"), ("a", 1, None), ("a", 2, "third")])
    dataset = linked(own_database, TableMapping("t", {"document_id": "d", "chunk_index": "i", "text": "x"}))
    assert [(c.chunk_index, c.text) for c in dataset.document_chunks("a")] == [(0, "first"), (2, "third")]
