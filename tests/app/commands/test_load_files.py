"""`ctxasm load` of any files: several at once, pasted, mapped, previewed, whole or the valid part."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ctxasm.__main__ import main

pytestmark = pytest.mark.usefixtures("own_database")

ROWS = "doc;chunk_no;body;url\na;0;De balie opent om zeven uur.;http://a\na;1;Bezoek mag na twaalf uur.;http://a\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "faq.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> tuple[str, str]:
    assert main(list(argv)) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return out, err


def stored(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, int, int]]:
    out, _ = run(capsys, "datasets", "--format", "json")
    return [(row["name"], row["chunks"], row["queries"]) for row in json.loads(out)]


def test_a_table_loads_with_its_columns_guessed(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "load", str(table))
    assert out == "faq\n"
    assert "note: faq.csv: UTF-8; delimiter semicolon, detected; read as chunks, by its columns: document_id from doc" in err
    assert "faq: 1 document, 2 chunks" in err
    assert stored(capsys) == [("faq", 2, 0)]


def test_several_files_make_one_dataset(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "1", "question": "Hoe laat?"}\n', encoding="utf-8")
    assert run(capsys, "load", str(table), str(questions), "--data", "samen")[0] == "samen\n"
    assert stored(capsys) == [("samen", 2, 1)]


def test_a_folder_of_files_that_is_no_bundle(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mijn map"
    (folder / "deel").mkdir(parents=True)
    (folder / "deel" / "a.csv").write_text(ROWS, encoding="utf-8")
    (folder / "notes.md").write_text("not a table", encoding="utf-8")
    assert run(capsys, "load", str(folder))[0] == "mijn map\n"
    assert stored(capsys) == [("mijn map", 2, 0)]


def test_one_file_of_a_bundle_is_named_by_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mijn set").mkdir()
    path = tmp_path / "mijn set" / "chunks.jsonl"
    path.write_text('{"document_id": "a", "chunk_index": 0, "text": "x"}\n', encoding="utf-8")
    assert run(capsys, "load", str(path))[0] == "mijn set\n"


@pytest.mark.parametrize("text", [ROWS, json.dumps([{"doc": "a", "chunk_no": 0, "body": "x y"}]), '{"doc": "a", "body": "x y z"}\n'])
def test_what_is_pasted_into_standard_input(text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    assert run(capsys, "load", "-")[0] == "pasted\n"


def test_a_mapping_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\nd1,een tekst,twee\n", encoding="utf-8")
    assert "x.csv: none of its columns ('a', 'b', 'c') is known" in run(capsys, "load", str(path), code=2)[1]
    run(capsys, "load", str(path), "--kind", "chunks", "--map", "text=b", "--map", "document_id=a")
    out, _ = run(capsys, "load", str(path), "--map", "query=b", "--preview")
    assert "x.csv: queries, by its columns; 1 row, 0 with a problem\n  query = b (as you said)" in out
    for wrong, words in {
        "text": "--map takes FIELD=PATH, such as text=body or hits=results[*], got 'text'",
        "text=zz": "x.csv has no column 'zz' for text: it has 'a', 'b', 'c'",
        "tekst=b": "'tekst' is no field: map one of document_id, chunk_index, text",
    }.items():
        assert words in run(capsys, "load", str(path), "--map", wrong, code=2)[1]
    assert "chunks have no field 'tekst'" in run(capsys, "load", str(path), "--kind", "chunks", "--map", "tekst=b", code=2)[1]


def test_a_preview_loads_nothing(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "load", str(table), "--preview")
    assert "  chunk_index = chunk_no ('chunk_no' is a usual name of it)" in out
    assert '  line 2: {"doc": "a", "chunk_no": "0", "body": "De balie opent om zeven uur.", "url": "http://a"}' in out
    assert out.endswith("would load as faq: 1 document, 2 chunks\n")
    assert (err, stored(capsys)) == ("", [])


def test_the_valid_part_only_when_asked(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table.write_text(ROWS + "a;x;Wie?;http://a\nb;0;te;veel;velden\n", encoding="utf-8")
    _, err = run(capsys, "load", str(table), code=2)
    assert "faq.csv: 2 problems, nothing was loaded" in err
    assert "faq.csv line 4, chunk_index (chunk_no): must be a whole number, got 'x'" in err
    assert stored(capsys) == []
    _, err = run(capsys, "load", str(table), "--preview", code=1)
    assert "2 problems; --valid-only leaves out the rows that fail" in err
    out, err = run(capsys, "load", str(table), "--valid-only")
    assert (out, "note: faq.csv: left out 2 rows with a problem" in err) == ("faq\n", True)
    assert stored(capsys) == [("faq", 2, 0)]


def test_the_limit_of_a_file_comes_from_the_environment(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CTXASM_MAX_UPLOAD_MB", "none")
    assert "CTXASM_MAX_UPLOAD_MB must be a whole number between 1 and 999999999, got 'none'" in run(capsys, "load", str(table), code=2)[1]
    table.write_bytes(ROWS.encode() * 16_000)
    monkeypatch.setenv("CTXASM_MAX_UPLOAD_MB", "1")
    assert "faq.csv is refused: it is 1.6 MB, allowed are 1 MB" in run(capsys, "load", str(table), code=2)[1]


@pytest.mark.parametrize("flag", [["--preview"], ["--valid-only"], ["--kind", "chunks"]])
def test_paths_that_are_none(flag: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file or folder at '/nowhere/x.csv'" in run(capsys, "load", "/nowhere/x.csv", *flag, code=2)[1]
    os.mkfifo(tmp_path / "pipe.csv")
    assert "must be a regular file" in run(capsys, "load", str(tmp_path / "pipe.csv"), *flag, code=2)[1]
    (tmp_path / "empty").mkdir()
    assert "holds no file that can be read" in run(capsys, "load", str(tmp_path / "empty"), *flag, code=2)[1]


def test_a_terminal_is_not_steered_by_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a\x1b[2Jb.csv"
    path.write_text("doc,chunk_no,body\na,\x1b[2J,x\n", encoding="utf-8")
    out, err = run(capsys, "load", str(path))
    assert "\x1b" not in out + err
    assert "'chunk_no' is no chunk_index, by its values, and becomes metadata" in err


CHUNK_ROWS = (
    '{"doc_id": "a", "chunk_no": 0, "body": "De balie opent om zeven uur."}\n{"doc_id": "a", "chunk_no": 1, "body": "Bezoek na twaalf."}\n'
)


def test_a_file_named_as_one_of_a_bundle_with_columns_of_its_own_is_mapped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "proef" / "chunks.jsonl"
    path.parent.mkdir()
    path.write_text(CHUNK_ROWS, encoding="utf-8")
    _, err = run(capsys, "load", str(path))
    assert "no row has the fields of a bundle's chunks.jsonl; read as chunks, by its columns: document_id from doc_id" in err
    assert run(capsys, "load", str(path), "--kind", "chunks")[0] == "chunks\n"
    assert stored(capsys) == [("chunks", 2, 0), ("proef", 2, 0)]


def test_a_file_of_a_bundle_with_one_good_row_stays_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "chunks.jsonl"
    path.write_text(CHUNK_ROWS + '{"document_id": "a", "chunk_index": 2, "text": "Goed."}\n', encoding="utf-8")
    assert "chunks.jsonl line 1" in run(capsys, "load", str(path), code=2)[1]


def test_replacing_a_dataset_is_said(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "replaced" not in run(capsys, "load", str(table))[1]
    assert "note: replaced the dataset faq that was there (2 chunks)" in run(capsys, "load", str(table), "--replace")[1]


def test_replacing_by_documents_is_said_where_nothing_was_known(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "load", str(table))
    page = tmp_path / "plain.txt"
    page.write_text("De poli is open.\n", encoding="utf-8")
    assert "Say --replace" in run(capsys, "ingest", str(page), "--data", "faq", code=2)[1]
    note = "note: replaced the dataset faq that was there (2 chunks)"
    assert note in run(capsys, "ingest", str(page), "--data", "faq", "--replace")[1]
    second = tmp_path / "tweede.txt"
    second.write_text("De apotheek ook.\n", encoding="utf-8")
    assert "replaced" not in run(capsys, "ingest", str(page), str(second), "--data", "faq")[1]


def test_a_field_that_is_none_is_named_with_those_that_are(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    err = run(capsys, "load", str(table), "--map", "foo=body", code=2)[1]
    assert "'foo' is no field: map one of document_id, chunk_index, text" in err
    err = run(capsys, "load", str(table), "--map", "retrieved=body", "--map", "gold=body", code=2)[1]
    assert "has no kind that the mapping of retrieved, gold fits" in err


@pytest.mark.parametrize(
    "page", ["<html><body><p>De balie.</p></body></html>\n", "<!doctype html>\n<html>\n<body>\n<p>a, b</p>\n</body>\n</html>\n"]
)
def test_documents_are_sent_to_ingest(page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "gids.pdf").write_bytes(b"%PDF-1.4\n")
    assert "`ctxasm ingest`" in run(capsys, "load", str(folder), code=2)[1]
    (folder / "plain.txt").write_text("De balie opent om zeven uur.\n", encoding="utf-8")
    assert "`ctxasm ingest`" in run(capsys, "load", str(folder), code=2)[1]
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert "`ctxasm ingest`" in run(capsys, "load", str(tmp_path / "page.html"), code=2)[1]


@pytest.mark.parametrize("name", ["brief.docx", "cijfers.XLSX"])
def test_a_damaged_office_file_is_called_that(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 half")
    err = run(capsys, "load", str(tmp_path / name), code=2)[1]
    assert "is a damaged Office file" in err
    assert "pack the folder" not in err
