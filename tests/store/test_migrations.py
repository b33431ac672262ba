"""Databases of every earlier version: brought up to date whole, or left as they were. The dumps were written by those versions."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bundles import full_bundle
from sqlalchemy import insert, inspect, make_url, update
from test_later import SAVED

from ctxasm.assembly.pipeline import assemble
from ctxasm.model.errors import DamagedData, StoreUnavailable
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Bundle, Chunk, Hit, Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.connect import Connections
from ctxasm.store.database import MemoryStore, Store
from ctxasm.store.migrate import STEPS, ensure_schema
from ctxasm.store.schema import SCHEMA_VERSION, metadata

DUMPS = Path(__file__).parent / "versions"
VERSIONS = sorted(path.name.partition(".")[0] for path in DUMPS.glob("*.sqlite.sql"))
OLD_TABLES = ("schema", "datasets", "documents", "chunks", "queries", "answers")

Rows = dict[str, list[tuple[Any, ...]]]


def restore(url: str, version: str) -> str:
    """Put the dump of a version into the empty database at `url`; its address."""
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.executescript((DUMPS / f"{version}.sqlite.sql").read_bytes().decode())
            connection.execute("PRAGMA journal_mode=WAL")
        connection.close()
        return url
    dump = (DUMPS / f"{version}.postgresql.sql").read_bytes().decode()
    schema = str(make_url(url).query["options"]).removeprefix("-csearch_path=")
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(dump.replace("CREATE SCHEMA ctxasm_version_schema;", "").replace("ctxasm_version_schema", schema).encode())
    return url


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def old_url(shared_url: str, version: str) -> str:
    """The address of a database as this version left it."""
    return restore(shared_url, version)


def rows_of(url: str) -> Rows:
    """All rows of the tables and columns that were there from the first version on, but for keys, whose rule changed."""
    connections = Connections(url)
    found: Rows = {}
    with connections.reading() as connection:
        for name in OLD_TABLES:
            there = [column.name for column in metadata.tables[f"ctxasm_{name}"].c if column.name not in ("quiet", "duplicate_key")]
            columns = "next_document_no" if name == "schema" else ", ".join(there)
            rows = connection.exec_driver_sql(f"SELECT {columns} FROM ctxasm_{name}").fetchall()
            found[name] = sorted((tuple(row) for row in rows), key=repr)
    connections.close()
    return found


def schema_of(url: str) -> dict[str, Any]:
    """Columns, keys, indexes and constraints of every table, as the database tells them."""
    connections = Connections(url)
    with connections.reading() as connection:
        there = inspect(connection)
        tables = [name for name in there.get_table_names() if name.startswith("ctxasm_")]
        found = {
            name: {
                "columns": [{key: str(value) for key, value in column.items()} for column in there.get_columns(name)],
                "key": there.get_pk_constraint(name),
                "foreign": there.get_foreign_keys(name),
                "unique": sorted(there.get_unique_constraints(name), key=repr),
                "indexes": sorted(there.get_indexes(name), key=repr),
                "options": there.get_table_options(name),
            }
            for name in tables
        }
        if connections.is_sqlite:
            made = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'").fetchall()
            found["autoincrement"] = sorted(row[0] for row in made)  # type: ignore[assignment]
    connections.close()
    return found


def test_there_is_a_dump_of_every_version() -> None:
    assert [int(name) for name in VERSIONS] == list(range(1, SCHEMA_VERSION))


def test_an_old_database_loses_nothing(old_url: str, counter: TokenCounter) -> None:
    before = rows_of(old_url)
    with Store(old_url, counter) as store:
        assert rows_of(old_url) == before
        assert [info.name for info in store.datasets()] == ["replaced", "sample", "hospital"]
        for info in store.datasets():
            dataset = store.dataset(info.name)
            again = MemoryStore(counter).add(dataset.bundle())
            assert (again.content_hash, again.chunks, again.documents, again.queries, again.answers) == (
                info.content_hash,
                info.chunks,
                info.documents,
                info.queries,
                info.answers,
            )
        assert store.dataset("hospital").bundle() == full_bundle()
        assert store.dataset("hospital").info.origin == "another folder"


def test_an_old_database_assembles_the_same_bytes(old_url: str, counter: TokenCounter) -> None:
    with Store(old_url, counter) as store:
        dataset, fresh = store.dataset("sample"), MemoryStore(counter)
        fresh.add(dataset.bundle())
        told = 0
        for query in dataset.queries():
            for settings in (AssemblySettings(), AssemblySettings(expand_window=3, max_tokens=500)):
                texts = [assemble(query, source, settings, counter=counter) for source in (dataset, fresh.dataset())]
                assert texts[0].text == texts[1].text
                assert texts[0].token_count == texts[1].token_count
                assert texts[0].citations == texts[1].citations
                told += len(texts[0].text)
        assert told > 1000


def facts_of(chunks: Iterable[FetchedChunk]) -> list[tuple[Any, ...]]:
    return [(c.document_id, c.chunk_index, c.overlap_chars, c.overlap_kind, c.duplicate_key) for c in chunks]


def test_the_facts_of_an_old_database_are_those_of_a_new_load(old_url: str, counter: TokenCounter) -> None:
    with Store(old_url, counter) as store:
        for info in store.datasets():
            fresh = MemoryStore(counter)
            fresh.add(store.dataset(info.name).bundle())
            assert facts_of(store.dataset(info.name).iter_chunks()) == facts_of(fresh.dataset().iter_chunks())


def test_overlaps_and_keys_of_an_old_database_are_found_again(
    shared_url: str, counter: TokenCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sliding windows, which ctxasm took for chance, texts of one key that differ in indentation, and their vectors."""
    texts = [f"Point {at} of the rules of this library is told in a sentence of its own. " for at in range(40)]
    windows = tuple(Chunk("long", at, "".join(texts[at : at + 5])) for at in range(30))
    windows += tuple(Chunk(f"short{at}", own, "".join(texts[at + own : at + own + 5])) for at in range(5) for own in (0, 1))
    code = tuple(Chunk(f"code{at}", 0, f"if x:\n    a()\n{' ' * at}b()") for at in (0, 4))
    bundle = Bundle("windows", (), (*windows, *code))
    monkeypatch.setattr("ctxasm.store.migrate.MOST_HELD", 7)
    with Store(shared_url, counter) as store:
        store.add(bundle)
        fresh = facts_of(store.dataset().iter_chunks())
        assert {kind for *_, kind, _ in fresh} == {None, "text"}
    connections, old, vector = Connections(shared_url), blake2b(b"if x: a() b()", digest_size=16).digest(), b"1234"
    with connections.writing() as connection:
        kept = metadata.tables["ctxasm_chunks"]
        connection.execute(update(kept).where(kept.c.overlap_chars > 0).values(overlap_kind="coincidence"))
        connection.execute(update(kept).where(kept.c.text.like("if x%")).values(duplicate_key=old))
        vectors = {"a": old, "b": old + b"with a title", "c": fresh[0][4]}
        rows = [{"embedder": name, "content_key": key, "vector": vector} for name, key in vectors.items()]
        connection.execute(insert(metadata.tables["ctxasm_vectors"]), rows)
        for later in ("judgements", "runs"):
            connection.exec_driver_sql(f"DROP TABLE ctxasm_{later}")
        connection.exec_driver_sql("UPDATE ctxasm_schema SET version = 4")
    connections.close()
    with Store(shared_url, counter) as store:
        dataset = store.dataset()
        assert facts_of(dataset.iter_chunks()) == fresh
        read = {name: store.read_vectors(name, [key]) for name, key in vectors.items()}
        assert read == {"a": {}, "b": {}, "c": {fresh[0][4]: vector}}
        done = assemble(Query("?", (Hit("long", 3, 0.9), Hit("short2", 0, 0.8))), dataset, AssemblySettings(), counter=counter)
        assert done.text.count("Point 4 of") == 1
        assert done.token_count == counter.count(done.text)


def test_what_came_later_works_in_an_old_database(old_url: str, version: str, counter: TokenCounter) -> None:
    with Store(old_url, counter) as store:
        store.keep("shelf", {"a": "b"})
        store.save_query("sample", SAVED)
        chunk = store.dataset("sample").document_chunks(store.dataset("sample").documents()[0].document_id)[0]
        assert chunk.duplicate_key is not None
        kept = store.read_vectors("an embedder", [chunk.duplicate_key])
        assert kept == ({} if version == "0001" else {chunk.duplicate_key: bytes([0, 255, 0])})
        store.keep_vectors("other", {chunk.duplicate_key: b"1"})
        first = store.add(full_bundle("new"))
        assert first.dataset_id > max(info.dataset_id for info in store.datasets() if info.name != "new")
    with Store(old_url, counter) as store:
        assert store.read_kept("shelf") == {"a": "b"}
        assert store.dataset("sample").query("typed-1") == SAVED
        assert store.dataset("new").bundle() == full_bundle("new")


def test_both_ways_lead_to_the_same_schema(shared_url: str, counter: TokenCounter) -> None:
    Store(shared_url, counter).close()
    direct = schema_of(shared_url)
    assert {name for name in direct if name != "autoincrement"} == set(metadata.tables)
    for version in VERSIONS:
        drop_all(shared_url)
        restore(shared_url, version)
        assert schema_of(shared_url) != direct
        Store(shared_url, counter).close()
        assert schema_of(shared_url) == direct


def drop_all(url: str) -> None:
    if url.startswith("sqlite"):
        for path in Path(url.removeprefix("sqlite:///")).parent.glob("store.db*"):
            path.unlink()
        return
    connections = Connections(url)
    with connections.writing() as connection:
        metadata.drop_all(connection)
    connections.close()


def test_the_last_step_is_the_version() -> None:
    assert len(STEPS) == SCHEMA_VERSION - 1


def test_a_version_that_never_was(shared_url: str, counter: TokenCounter) -> None:
    Store(shared_url, counter).close()
    connections = Connections(shared_url)
    with connections.writing() as connection:
        connection.exec_driver_sql("UPDATE ctxasm_schema SET version = 0")
    connections.close()
    with pytest.raises(DamagedData, match="ctxasm_schema says version 0, there never was one"):
        Store(shared_url, counter)


def test_an_older_ctxasm_is_told_to_be_updated(old_url: str, counter: TokenCounter) -> None:
    """What a ctxasm of before compares: it knew schema 1."""
    Store(old_url, counter).close()
    connections = Connections(old_url)
    with connections.reading() as connection:
        assert connection.exec_driver_sql("SELECT version FROM ctxasm_schema").fetchall() == [(SCHEMA_VERSION,)]
    connections.close()


def refuse_reading_only(url: str) -> str:
    if url.startswith("sqlite"):
        return f"sqlite:///file:{url.removeprefix('sqlite:///')}?mode=ro&uri=true"
    address = make_url(url)
    options = f"{address.query['options']} -cdefault_transaction_read_only=on"
    return address.update_query_dict({"options": options}).render_as_string(hide_password=False)


def test_an_old_database_that_may_only_be_read(old_url: str, version: str, counter: TokenCounter) -> None:
    before = rows_of(old_url)
    with pytest.raises(StoreUnavailable) as raised:
        Store(refuse_reading_only(old_url), counter)
    said = str(raised.value)
    assert "may only be read" in said
    # The first two called themselves 1.
    stored = int(version) if int(version) > 2 else 1
    assert f"(it has schema {stored} and must be brought to schema {SCHEMA_VERSION} once)" in said
    assert "\n" not in said
    assert rows_of(old_url) == before


def test_a_database_of_before_the_first_release(tmp_path: Path, counter: TokenCounter) -> None:
    url = restore(f"sqlite:///{tmp_path}/store.db", "0001")
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("ALTER TABLE ctxasm_chunks DROP COLUMN lead_tokens")
    connection.close()
    with pytest.raises(StoreUnavailable, match=r"was made before ctxasm 0\.1\.0: load the bundles into a new database"):
        Store(url, counter)


def test_many_open_an_old_database_at_once(old_url: str, counter: TokenCounter) -> None:
    before, problems = rows_of(old_url), list[Exception]()

    def open_store() -> None:
        try:
            Store(old_url, counter).close()
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=open_store) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert rows_of(old_url) == before


DYING = """
import sys, time
from ctxasm.store import migrate
from ctxasm.store.connect import Connections
run_steps = migrate.run_steps
def run_and_wait(connection, version):
    run_steps(connection, version)
    print("in the middle", flush=True)
    time.sleep(60)
migrate.run_steps = run_and_wait
migrate.ensure_schema(Connections({url!r}))
"""


@pytest.mark.system
def test_an_upgrade_killed_half_way_leaves_the_old_database(old_url: str, version: str, counter: TokenCounter) -> None:
    before, schema = rows_of(old_url), schema_of(old_url)
    with subprocess.Popen([sys.executable, "-c", DYING.format(url=old_url)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the middle\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
    assert schema_of(old_url) == schema
    assert rows_of(old_url) == before
    with Store(old_url, counter) as store:
        assert store.dataset("hospital").bundle() == full_bundle()


def test_an_upgrade_that_fails_changes_nothing(old_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, schema = rows_of(old_url), schema_of(old_url)

    def failing(connection: object) -> None:
        raise MemoryError("in the last step")

    monkeypatch.setattr("ctxasm.store.migrate.STEPS", (*STEPS[:-1], (*STEPS[-1], failing)))
    connections = Connections(old_url)
    with pytest.raises(MemoryError, match="in the last step"):
        ensure_schema(connections)
    connections.close()
    assert schema_of(old_url) == schema
    assert rows_of(old_url) == before
