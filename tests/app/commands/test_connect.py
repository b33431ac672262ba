"""`ctxasm connect`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from user_tables import Place, sqlite_place

from ctxasm.__main__ import main


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    own = sqlite_place(tmp_path)
    own.run("CREATE TABLE chunks (doc_id text, chunk_index integer, content text, extra text)", "CREATE TABLE docs (id text, title text)")
    own.fill("chunks", [("a", number, f"Text {number} \x1b[31mof a.", "note") for number in range(3)])
    own.fill("docs", [("a", "Title A")])
    monkeypatch.setenv("CTXASM_CONNECTION_DOCS", own.table(None)["url"])
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'store.db'}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return own


def test_from_a_connection_to_a_dataset(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect"]) == 0
    assert capsys.readouterr().out == f"docs\tthe SQLite file {place.url.database}\n"
    assert main(["connect", "--connection", "docs"]) == 0
    assert capsys.readouterr().out == "chunks\ttable\t3 rows\ndocs\ttable\t1 rows\n"
    assert main(["connect", "--table", "chunks"]) == 0
    said = capsys.readouterr()
    assert "document_id = doc_id\nchunk_index = chunk_index\ntext = content\ndocuments: table docs\n" in said.out
    assert "documents.title = title" in said.out
    assert "note: no index on (document_id, chunk_index)" in said.err
    assert "3 of 3 rows looked at are chunks" in said.err
    assert main(["connect", "--table", "chunks", "--link", "mine", "--save", "kept"]) == 0
    assert capsys.readouterr().out == "mine\n"
    assert main(["datasets"]) == 0
    assert capsys.readouterr().out.startswith("mine\t1 document\t3 chunks\t0 queries")
    assert main(["connect", "--mapping", "kept", "--format", "json"]) == 0
    kept = json.loads(capsys.readouterr().out)
    assert kept["documents"] == {"schema": None, "table": "docs", "fields": {"document_id": "id", "title": "title"}}
    assert main(["connect", "--unlink", "mine"]) == 0
    assert main(["datasets"]) == 0
    assert capsys.readouterr().out == ""
    assert place.ask("SELECT count(*) FROM chunks") == [(3,)]


def test_a_mapping_of_one_s_own(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    fields = ["--map", "title=extra", "--map", "documents.title=", "--map", "documents.source=title"]
    assert main(["connect", "--connection", "docs", "--table", "chunks", *fields, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fields"]["title"] == "extra"
    assert found["documents"]["fields"] == {"document_id": "id", "source": "title"}
    assert main(["connect", "--table", "chunks", "--map", "text="]) == 1
    assert "still to choose with --map: text" in capsys.readouterr().err
    assert main(["connect", "--table", "chunks", "--map", "text=nowhere"]) == 2
    assert "the table has no column 'nowhere', it has 'doc_id'" in capsys.readouterr().err


def test_sql_plan_and_copy(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "--table", "chunks", "--sql", "--explain"]) == 0
    out = capsys.readouterr().out
    assert "-- fetch\nSELECT" in out
    assert "json_each(:windows)" in out
    assert "SCAN" in out
    assert main(["connect", "--table", "chunks", "--copy", "copied", "--limit", "2"]) == 0
    said = capsys.readouterr()
    assert said.out == "copied\n"
    assert "note: the copy ends at 2 rows" in said.err
    assert main(["delete", "copied"]) == 0


def test_rows_are_counted_where_no_column_numbers_them(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "--table", "chunks", "--map", "chunk_index="]) == 1
    assert "still to choose with --map: chunk_index (or order_by)" in capsys.readouterr().err
    counted = ["--table", "chunks", "--map", "order_by=content"]
    assert main(["connect", *counted, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["fields"].keys() == {"document_id", "text", "order_by"}
    assert main(["connect", *counted, "--sql", "--explain"]) == 0
    assert capsys.readouterr().out.count("-- ") == 2
    assert main(["connect", *counted, "--link", "mine"]) == 2
    assert "'chunks' cannot be linked: " in capsys.readouterr().err
    assert main(["connect", *counted, "--copy", "copied", "--save", "kept"]) == 0
    assert "note: chunk_index counts the rows of each document by content" in capsys.readouterr().err
    assert main(["connect", "--mapping", "kept", "--copy", "again"]) == 0
    assert main(["connect", *counted, "--map", "chunk_index=chunk_index", "--link", "mine"]) == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--connection", "nowhere"], "there is no connection 'nowhere'; known are 'docs'"),
        (["--table", "nowhere"], "has no table 'nowhere': it has 'chunks', 'docs'"),
        (["--table", "chunks", "--map", "text"], "--map must be FIELD=COLUMN, got 'text'"),
        (["--table", "chunks", "--map", "nothing=x"], "a field of a mapping must be one of"),
        (["--mapping", "nowhere"], "--mapping must be one of none, none is saved, got 'nowhere'"),
        (["--unlink", "nowhere"], "no table is linked as 'nowhere'"),
        (["--table", "chunks", "--copy", "c", "--limit", "-1"], "limit of a copy must be at least 1"),
    ],
)
def test_mistakes_get_a_sentence(place: Place, capsys: pytest.CaptureFixture[str], arguments: list[str], part: str) -> None:
    assert main(["connect", *arguments]) == 2
    assert part in capsys.readouterr().err


def test_without_a_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["connect", "--db", "sqlite://"]) == 0
    assert "no connection is configured: set CTXASM_CONNECTION_NAME to a URL" in capsys.readouterr().err
    assert main(["connect", "--db", "sqlite://", "--table", "t"]) == 2
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text('[connections.mine]\nurl = "sqlite:///own.db"\n', encoding="utf-8")
    assert main(["connect", "--db", "sqlite://", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "mine", "database": "the SQLite file own.db", "problem": ""}]


def test_a_copy_of_no_rows_is_refused(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "--table", "chunks", "--copy", "some", "--limit", "0"]) == 2
    assert "limit of a copy must be at least 1, got 0" in capsys.readouterr().err
    assert main(["connect", "--table", "chunks", "--copy", "some", "--limit", "1"]) == 0
    assert main(["datasets"]) == 0
    assert "some\t1 document\t1 chunk\t0 queries\t0 answers" in capsys.readouterr().out


def test_deleting_a_link_says_that_the_table_stays(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["connect", "--table", "chunks", "--link", "mine"]) == 0
    monkeypatch.delenv("CTXASM_CONNECTION_DOCS")  # a link whose connection is gone can go too
    capsys.readouterr()
    assert main(["delete", "mine"]) == 0
    assert capsys.readouterr().err == "unlinked mine; the table stays\n"
    assert main(["datasets"]) == 0
    assert "no dataset is loaded" in capsys.readouterr().err
