"""A name that is taken: nothing is replaced without a word, and files can be added to what is there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from test_load_files import ROWS, run, stored

from ctxasm.config import shipped
from ctxasm.data.files import streaming
from ctxasm.model.records import Hit, Query
from ctxasm.store.database import Store
from ctxasm.text.tokens import open_counter

pytestmark = pytest.mark.usefixtures("own_database", "kept_readers")

CHUNKS = [{"document_id": "a", "chunk_index": n, "text": f"Zin {n} gaat over het bezoek."} for n in range(3)]
DOCUMENTS = [{"document_id": "a", "title": "Gids", "summary": "Over bezoek."}]
QUERY = {"query_id": "q", "query": "Hoe laat?", "gold": [{"document_id": "a", "chunk_index": 1}]}
RETRIEVAL = {"query_id": "q", "retrieved": [{"document_id": "a", "chunk_index": 1, "score": 2.0}]}


@pytest.fixture(params=["at once", "record by record"])
def gids(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A loaded bundle; read in one of the two ways."""
    if request.param == "record by record":
        monkeypatch.setattr(streaming, "LARGE_BYTES", 1)
    folder = bundle(tmp_path / "gids", documents=DOCUMENTS, chunks=CHUNKS)
    run(capsys, "load", str(folder))
    return folder


def bundle(folder: Path, **files: list[dict[str, Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'c.db'}", open_counter())


def test_other_content_is_not_loaded_over_what_is_there(gids: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with store(tmp_path) as opened:
        opened.save_query("gids", Query("Bewaard?", (), "mine"))
    bundle(gids, chunks=CHUNKS[:1])
    out, err = run(capsys, "load", str(gids), code=2)
    assert out == ""
    for words in (
        "dataset 'gids' is there already, with other content: replacing it would take away 1 document, 3 chunks, 1 summary",
        "1 saved question would stay",
        "Say --replace to load over it, --into gids to add to it, or another name with --data",
    ):
        assert words in err
    assert stored(capsys) == [("gids", 3, 0)]
    assert "note: replaced the dataset gids that was there (3 chunks)" in run(capsys, "load", str(gids), "--replace")[1]
    assert run(capsys, "load", str(gids), "--data", "anders")[0] == "anders\n"


def test_the_same_again_asks_nothing_and_changes_nothing(gids: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = run(capsys, "datasets", "--format", "json")[0]
    assert "(already loaded)" in run(capsys, "load", str(gids))[1]
    assert run(capsys, "datasets", "--format", "json")[0] == before
    run(capsys, "load", "--sample")
    assert "(already loaded)" in run(capsys, "load", "--sample")[1]
    assert "(already loaded)" in run(capsys, "load", str(shipped("sample_data/hospital-en")), "--data", "sample")[1]


def test_queries_and_retrievals_alone_join_a_dataset(gids: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = bundle(tmp_path / "more", queries=[QUERY], retrievals=[RETRIEVAL])
    out, err = run(capsys, "load", str(more), "--into", "gids")
    assert out == "gids\n"
    assert "note: added 1 query to gids" in err
    assert "chunks.jsonl is absent" not in err
    assert "note: all of it was in gids already" in run(capsys, "load", str(more), "--into", "gids")[1]
    assert stored(capsys) == [("gids", 3, 1)]


def test_retrievals_alone_join_the_queries_that_are_stored(gids: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "load", str(bundle(tmp_path / "asked", queries=[QUERY | {"note": "q"}])), "--into", "gids")
    found = bundle(tmp_path / "found", retrievals=[RETRIEVAL | {"run": 7}])
    assert "filled in what records of gids lacked" in run(capsys, "load", str(found), "--into", "gids")[1]
    with store(tmp_path) as opened:
        query = opened.dataset("gids").query("q")
    assert query.retrieved == (Hit("a", 1, 2.0),)
    assert dict(query.metadata) == {"run": 7, "note": "q"}
    assert "all of it was in gids already" in run(capsys, "load", str(found), "--into", "gids")[1]


def test_what_differs_or_leads_nowhere_is_listed_by_file_line_and_field(
    gids: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "load", str(bundle(tmp_path / "asked", queries=[QUERY], retrievals=[RETRIEVAL])), "--into", "gids")
    hit = {"document_id": "a", "chunk_index": 9, "score": 1.0}
    wrong = bundle(
        tmp_path / "wrong",
        documents=[{"document_id": "b", "title": "B"}, DOCUMENTS[0] | {"title": "Handboek"}],
        chunks=[
            CHUNKS[0] | {"text": "Anders."},
            CHUNKS[1] | {"page_number": 4},
            CHUNKS[2],
            {"document_id": "c", "chunk_index": 0, "text": "x"},
        ],
        queries=[QUERY | {"answer": "Om acht uur."}, {"query_id": "r", "query": "En?", "gold": [{"document_id": "a", "chunk_index": 8}]}],
        retrievals=[{"query_id": "q", "retrieved": [hit]}, {"query_id": "nobody", "retrieved": []}],
        answers=[{"query_id": "q", "answer": "Ja."}, {"query_id": "s", "answer": "Nee."}],
    )
    _, err = run(capsys, "load", str(wrong), "--into", "gids", code=2)
    for words in (
        "documents.jsonl line 2, title: is stored as 'Gids' in the dataset, got 'Handboek'",
        "chunks.jsonl line 1, text: is stored as 'Zin 0 gaat over het bezoek.' in the dataset, got 'Anders.'",
        "chunks.jsonl line 2, page_number: is stored without it in the dataset, got 4",
        "chunks.jsonl line 4, document_id: must name a document of documents.jsonl or of the dataset 'gids', got 'c'",
        "queries.jsonl line 2, gold[0]: must name a chunk of chunks.jsonl or of the dataset 'gids', got 'a 8'",
        "retrievals.jsonl line 1, retrieved: is stored otherwise in the dataset",
        "retrievals.jsonl line 1, retrieved[0]: must name a chunk of chunks.jsonl or of the dataset 'gids', got 'a 9'",
        "retrievals.jsonl line 2, query_id: must name a query of queries.jsonl or of the dataset 'gids', got 'nobody'",
        "answers.jsonl line 2, query_id: must name a query of queries.jsonl or of the dataset 'gids', got 's'",
        "9 problems, nothing was loaded",
    ):
        assert words in err
    assert stored(capsys) == [("gids", 3, 1)]


def test_spans_are_judged_by_the_chunks_that_are_stored_and_those_that_come(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    placed = [{"document_id": "a", "chunk_index": n, "text": "tien teken", "start": 10 * n, "end": 10 * n + 10} for n in range(3)]
    run(capsys, "load", str(bundle(tmp_path / "d", chunks=placed[:2])))

    def asking(end: int) -> list[dict[str, Any]]:
        return [{"query_id": f"q{end}", "query": "Wat?", "spans": [{"document_id": "a", "start": 0, "end": end}]}]

    run(capsys, "load", str(bundle(tmp_path / "in", queries=asking(20))), "--into", "d")
    words = "queries.jsonl line 1, spans[0].end: must be inside the document (20 characters), got 30"
    assert words in run(capsys, "load", str(bundle(tmp_path / "out", queries=asking(30))), "--into", "d", code=2)[1]
    run(capsys, "load", str(bundle(tmp_path / "both", queries=asking(30), chunks=placed[2:])), "--into", "d")
    assert stored(capsys) == [("d", 3, 2)]


def test_a_table_is_added_with_its_rows_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faq = tmp_path / "faq.csv"
    faq.write_text(ROWS, encoding="utf-8")
    run(capsys, "load", str(faq))
    faq.write_text(ROWS + "a;2;Parkeren is gratis.;http://a\n", encoding="utf-8")
    preview = run(capsys, "load", str(faq), "--preview", "--into", "faq")[0]
    assert "would add to faq: 1 document, 3 chunks" in preview
    assert "note: added 1 chunk to faq" in run(capsys, "load", str(faq), "--into", "faq")[1]
    faq.write_text(ROWS.replace("zeven", "acht"), encoding="utf-8")
    assert (
        "faq.csv line 2, text (body): is stored as 'De balie opent om zeven uur.'"
        in run(capsys, "load", str(faq), "--into", "faq", code=2)[1]
    )
    assert "faq.csv line 2" in run(capsys, "load", str(faq), "--preview", "--into", "faq", code=1)[1]


def test_the_arguments_exclude_each_other(gids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "exclude each other" in run(capsys, "load", str(gids), "--into", "gids", "--replace", code=2)[1]
    assert "--into and --data both name the dataset" in run(capsys, "load", str(gids), "--into", "gids", "--data", "x", code=2)[1]
    assert (
        "no dataset 'x': choose one of 'gids'; what should be added to must be there"
        in run(capsys, "load", str(gids), "--into", "x", code=2)[1]
    )


def test_data_of_somebody_under_the_name_of_the_sample_is_asked_about(gids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "load", str(gids), "--data", "sample")
    err = run(capsys, "load", "--sample", code=2)[1]
    assert "Say --replace to load over it" in err
    assert "--data" not in err
    assert "loaded" not in run(capsys, "load", "--sample", "--replace")[1]


def test_what_was_added_to_the_sample_is_not_lost_by_loading_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "load", "--sample")
    run(capsys, "load", str(bundle(tmp_path / "more", queries=[{"query_id": "eigen", "query": "Mag dat?"}])), "--into", "sample")
    assert "Say --replace" in run(capsys, "load", "--sample", code=2)[1]


def test_documents_go_on_with_their_own_dataset_and_leave_the_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, other = tmp_path / "boek", tmp_path / "ander"
    for place, names in ((folder, ("een", "twee")), (other, ("drie",))):
        place.mkdir()
        for name in names:
            (place / f"{name}.txt").write_text(f"Dit is hoofdstuk {name}.\n")
    run(capsys, "ingest", str(folder))
    asked = bundle(tmp_path / "asked", queries=[QUERY | {"gold": []}], documents=[{"document_id": "los"}])
    run(capsys, "load", str(asked), "--into", "boek")
    assert "nothing changed" in run(capsys, "ingest", str(folder))[1]
    (folder / "twee.txt").unlink()
    (folder / "vier.txt").write_text("Dit is hoofdstuk vier.\n")
    assert "1 read, 1 known before, 1 gone" in run(capsys, "ingest", str(folder))[1]
    assert _documents(tmp_path, "boek") == ["een.txt", "vier.txt", "los"]
    assert stored(capsys) == [("boek", 2, 1)]
    assert "Say --replace" in run(capsys, "ingest", str(other), "--data", "boek", code=2)[1]
    assert "note: added 1 document, 1 chunk to boek" in run(capsys, "ingest", str(other), "--into", "boek")[1]
    assert "all of it was in boek already" in run(capsys, "ingest", str(other), "--into", "boek")[1]
    (folder / "een.txt").write_text("Dit is hoofdstuk een, herzien.\n")
    run(capsys, "ingest", str(folder))
    assert _documents(tmp_path, "boek") == ["een.txt", "vier.txt", "los", "drie.txt"]
    run(capsys, "ingest", str(folder), "--replace")
    assert _documents(tmp_path, "boek") == ["een.txt", "vier.txt"]
    assert stored(capsys) == [("boek", 2, 0)]


def _documents(tmp_path: Path, name: str) -> list[str]:
    with store(tmp_path) as opened:
        return [document.document_id for document in opened.dataset(name).documents()]


def test_a_table_is_copied_over_or_added_only_when_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(tmp_path / "own.db") as own:
        for table, texts in (("one", ("Een.", "Twee.")), ("two", ("Een.", "Twee.", "Drie.")), ("three", ("Anders.",))):
            own.execute(f"CREATE TABLE {table} (document_id TEXT, chunk_index INTEGER, text TEXT)")
            own.executemany(f"INSERT INTO {table} VALUES ('a', ?, ?)", enumerate(texts))
    own.close()
    monkeypatch.setenv("CTXASM_CONNECTION_OWN", f"sqlite:///{tmp_path / 'own.db'}")
    run(capsys, "connect", "--table", "one", "--copy", "d")
    run(capsys, "connect", "--table", "one", "--copy", "d")
    err = run(capsys, "connect", "--table", "two", "--copy", "d", code=2)[1]
    assert "Say --replace to load over it, --into d to add to it, or another name with --copy" in err
    assert "note: added 1 chunk to d" in run(capsys, "connect", "--table", "two", "--into", "d")[1]
    err = run(capsys, "connect", "--table", "three", "--into", "d", code=2)[1]
    assert "chunk 0 of document 'a': text is stored as 'Een.', got 'Anders.'" in err
    run(capsys, "connect", "--table", "three", "--copy", "d", "--replace")
    assert stored(capsys) == [("d", 1, 0)]
    run(capsys, "connect", "--table", "one", "--link", "live")
    run(capsys, "connect", "--table", "one", "--link", "live", "--map", "section=text")
    assert "is a link to table 'one' of connection 'own' already" in run(capsys, "connect", "--table", "two", "--link", "live", code=2)[1]
    run(capsys, "connect", "--table", "two", "--link", "live", "--replace")
    assert "nothing can be added to it here" in run(capsys, "connect", "--table", "one", "--into", "live", code=2)[1]


def test_a_trace_that_an_earlier_version_loaded_is_told_from_another_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its answers were kept without the prompt that was sent: the same file is other content now."""
    hits = [{"id": "a", "text": "Een dag aan de kade kost twaalf euro.", "score": 1.0}]
    line = {"question": "Wat kost de kade?", "hits": hits, "answer": "Twaalf euro [1]."}
    (tmp_path / "log.json").write_text(json.dumps([line]))
    run(capsys, "load", str(tmp_path / "log.json"))
    (tmp_path / "log.json").write_text(json.dumps([{**line, "prompt": f"Context:\n[1] {hits[0]['text']}\n\nQuestion: Wat kost de kade?"}]))
    _, err = run(capsys, "load", str(tmp_path / "log.json"), code=2)
    assert "dataset 'log' is there already, without what its answers were sent, which is kept now: replacing it would take away" in err
    assert "Say --replace to load over it" in err
    (tmp_path / "log.json").write_text(json.dumps([{**line, "answer": "Tien euro [1]."}]))
    assert "is there already, with other content" in run(capsys, "load", str(tmp_path / "log.json"), code=2)[1]
