"""A SQLite file that something else has written into: every command ends in a result or in one sentence, never in a fault.

`CTXASM_DAMAGED_CASES` says how many random cases of each kind of damage are tried; each case is named by its number.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ctxasm.__main__ import main

CASES = int(os.environ.get("CTXASM_DAMAGED_CASES", "6"))
TABLES = ("datasets", "documents", "chunks", "queries", "answers", "kept", "saved_queries", "vectors", "schema")
VALUES = (None, -5, 0, 10**15, 2**62, 1.5, "x", "", "{}", "[5]", "null", "7", '{"retrieved": 5}', b"\xff\xfe", b"", "[" * 5000)
DATA = ("--data", "small")
COMMANDS = (
    ("datasets",),
    ("assemble", "--all", *DATA),
    ("search", "open on Sunday", "--method", "bm25", *DATA),
    ("ask", "--query-id", "q0", *DATA),
    ("check", "--all", *DATA),
    ("why", *DATA),
    ("compare", "--b", "expand_window=2", *DATA),
    ("sweep", "--grid", "expand_window=0,1", *DATA),
    ("export", "small", "--out", "out", "--force"),
    ("export", "small", "--out", "out.parquet", "--format", "parquet", "--force"),
    ("label", "q0", "d1:0", *DATA),
    ("enrich", "--estimate", *DATA),
    ("delete", "small"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with something in every table."""
    folder = tmp_path_factory.mktemp("whole")
    rows = {
        "documents": [{"document_id": f"d{n}", "title": f"House {n}", "metadata": {"n": n}} for n in range(6)],
        "chunks": [
            {
                "document_id": f"d{n}",
                "chunk_index": at,
                "text": f"House {n} is open on Sunday from {at} to {at + 8}.",
                "metadata": {"at": at},
            }
            for n in range(6)
            for at in range(4)
        ],
        "queries": [{"query_id": f"q{n}", "query": f"When is house {n} open on Sunday?"} for n in range(4)],
        "retrievals": [
            {"query_id": f"q{n}", "retrieved": [{"document_id": f"d{d}", "chunk_index": 1, "score": 1.0 - d / 9} for d in range(5)]}
            for n in range(4)
        ],
        "gold": [{"query_id": f"q{n}", "document_id": f"d{n}", "chunk_index": 1} for n in range(3)],
        "answers": [
            {
                "query_id": "q0",
                "answer": "Open on Sunday [1].",
                "sources": [{"n": 1, "text": "House 0 is open on Sunday."}],
                "metadata": {"a": 1},
            }
        ],
    }
    (folder / "small").mkdir()
    for name, lines in rows.items():
        (folder / "small" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    url = f"sqlite:///{folder / 'whole.db'}"
    assert main(["load", str(folder / "small"), "--data", "small", "--db", url]) == 0
    assert main(["search", "Sunday", "--method", "vector", "--save", "--db", url]) == 0
    assert main(["sweep", "--grid", "expand_window=0,1", "--db", url]) == 0
    with closing(sqlite3.connect(folder / "whole.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert all(database.execute(f"SELECT count(*) FROM ctxasm_{table}").fetchone()[0] for table in TABLES)
    return folder / "whole.db"


@pytest.fixture(autouse=True)
def own_folder(own_database: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def with_pages_overwritten(path: Path, chance: random.Random) -> str:
    size, page = path.stat().st_size, 16384
    with path.open("r+b") as file:
        number = chance.randrange(size // page)
        file.seek(number * page)
        file.write(chance.choice([chance.randbytes(page), bytes(page)]))
    return f"page {number}"


def with_bytes_overwritten(path: Path, chance: random.Random) -> str:
    size, count = path.stat().st_size, chance.choice([1, 20, 400])
    with path.open("r+b") as file:
        for _ in range(count):
            file.seek(chance.randrange(size))
            file.write(chance.randbytes(1))
    return f"{count} bytes"


def cut_short(path: Path, chance: random.Random) -> str:
    os.truncate(path, chance.randrange(100, path.stat().st_size))
    return f"cut to {path.stat().st_size} bytes"


def with_a_field_overwritten(path: Path, chance: random.Random) -> str:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        while True:
            table = f"ctxasm_{chance.choice(TABLES)}"
            column = chance.choice([row[1] for row in database.execute(f"PRAGMA table_info({table})")])
            value = chance.choice(VALUES)
            try:
                database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))
            except sqlite3.Error:
                continue  # a field that the schema keeps from this: take another one
            return f"{table}.{column} = {value!r:.30}"


def with_rows_removed(path: Path, chance: random.Random) -> str:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        table = f"ctxasm_{chance.choice(TABLES)}"
        kind = chance.choice([f"DELETE FROM {table}", f"DROP TABLE {table}"])
        database.execute(kind)
        return kind


def ends(argv: tuple[str, ...], path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command on this database says, which must be a result or one sentence."""
    capsys.readouterr()
    code = main([*argv, "--db", f"sqlite:///{path}"])
    _, err = capsys.readouterr()
    sentences = [line for line in err.splitlines() if line.startswith("ctxasm:")]
    assert code in (0, 1, 2), f"{argv}: {err}"
    assert "Traceback" not in err, argv
    assert len(sentences) == (1 if code == 2 else 0), f"{argv}: {err}"
    return "\n".join(sentences)


@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("damage", [with_pages_overwritten, with_bytes_overwritten, cut_short, with_a_field_overwritten, with_rows_removed])
def test_every_command_ends_in_a_result_or_one_sentence(
    damage: Callable[[Path, random.Random], str], case: int, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance, path = random.Random(case), tmp_path / "damaged.db"
    shutil.copy(whole, path)
    what = damage(path, chance)
    print(what)
    for argv in COMMANDS:
        ends(argv, path, capsys)


@pytest.mark.parametrize(
    ("change", "argv"),
    [
        ("UPDATE ctxasm_datasets SET loaded_at = 'yesterday'", ("datasets",)),
        ("UPDATE ctxasm_datasets SET documents = x'00'", ("datasets",)),
        ("UPDATE ctxasm_queries SET payload = '{'", ("assemble", "--all")),
        ("UPDATE ctxasm_queries SET payload = '{}'", ("export", "--out", "out")),
        ("UPDATE ctxasm_queries SET payload = replace(payload, '1.0', '\"1\"')", ("assemble", "--all")),
        ("UPDATE ctxasm_answers SET payload = '[]'", ("check",)),
        ("UPDATE ctxasm_documents SET title = x'ff'", ("assemble", "--all")),
        ("UPDATE ctxasm_documents SET metadata = '[1]'", ("export", "--out", "out")),
        ("UPDATE ctxasm_chunks SET text = x'ff'", ("assemble", "--all")),
        ("UPDATE ctxasm_chunks SET text = CAST(x'ff41' AS TEXT)", ("search", "Sunday", "--method", "bm25")),
        ("UPDATE ctxasm_chunks SET token_count = 'many'", ("assemble", "--all")),
        ("UPDATE ctxasm_chunks SET content_hash = 10000000000000", ("label", "q0", "d5:3")),
        ("DELETE FROM ctxasm_documents WHERE document_id = 'd1'", ("export", "--out", "out.parquet", "--format", "parquet")),
        ("UPDATE ctxasm_kept SET value = 'x'", ("sweep", "--grid", "expand_window=0,1")),
        ("DROP TABLE ctxasm_chunks", ("assemble", "--all")),
        ("DELETE FROM ctxasm_schema", ("datasets",)),
    ],
)
def test_a_damaged_value_is_called_that_with_what_to_do(
    change: str, argv: tuple[str, ...], whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "damaged.db"
    shutil.copy(whole, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(change)
    said = ends(argv, path, capsys)
    assert "is damaged (" in said
    assert "restore a copy of it, or load its data into a new one" in said
