"""The public functions, one a capability, as a user of the library calls them."""

from __future__ import annotations

import inspect
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import ctxasm
from ctxasm import (
    AnswerResult,
    AssemblySettings,
    CheckedAnswer,
    EnrichOptions,
    EnrichReport,
    IngestOptions,
    IngestReport,
    InvalidInput,
    LoadReport,
    MemoryStore,
    NameTaken,
    Piece,
    Query,
    SearchOptions,
    ask,
    assemble,
    check,
    connect,
    enrich,
    export,
    ingest,
    load,
    open_dataset,
    open_store,
    search,
)
from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.store.database import Store

ROWS = [{"document_id": "a", "chunk_index": at, "body": f"On floor {at} the desk opens at {at + 7} o'clock."} for at in range(4)]
BM25 = SearchOptions("bm25", limit=2)


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CTXASM_LLM_BASE_URL", "CTXASM_LLM_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")
    monkeypatch.chdir(tmp_path)
    Path("desks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store() as opened:
        yield opened


def test_from_files_to_a_checked_answer(store: Store) -> None:
    report = load("desks.jsonl", store, "desks", columns={"text": "body"})
    assert isinstance(report, LoadReport)
    assert (report.info.name, report.info.chunks, report.changed) == ("desks", 4, True)
    query = search("When does the desk on floor 2 open?", store, options=BM25)
    assert isinstance(query, Query)
    assert query.retrieved[0].chunk_index == 2
    assembly = assemble(query, store, AssemblySettings(expand_window=0))
    *before, last = ask(assembly, "extractive")
    assert isinstance(last, AnswerResult)
    whole = ask(assembly).result()
    assert (whole.text, whole.markers, whole.is_language_model) == (last.text, last.markers, False)
    assert "".join(event.text for event in before if isinstance(event, Piece)) == whole.text
    for scorer in (None, "lexical"):
        checked = check(assembly, whole.text, scorer)
        assert isinstance(checked, CheckedAnswer)
        assert {claim.verdict for claim in checked.claims} == {"supported"}


def test_a_name_that_is_taken_is_refused_unless_it_is_said_what_should_become_of_it(store: Store) -> None:
    load("desks.jsonl", store, "desks", columns={"text": "body"})
    assert not load("desks.jsonl", store, "desks", columns={"text": "body"}).changed
    Path("desks.jsonl").write_text(json.dumps({**ROWS[0], "chunk_index": 9}))
    with pytest.raises(NameTaken, match="replacing it would take away 1 document, 4 chunks"):
        load(["desks.jsonl"], store, "desks", columns={"text": "body"})
    assert load(Path("desks.jsonl"), store, "desks", columns={"text": "body"}, over="join").info.chunks == 5
    assert load(Path("desks.jsonl"), store, "desks", columns={"text": "body"}, over="replace").info.chunks == 1
    with pytest.raises(InvalidInput, match="there is no file or folder at '-'"):
        load(["-", "desks.jsonl"], store, "desks")


def test_documents(store: Store) -> None:
    Path("hours.md").write_text("# Hours\n\nThe desk opens at seven.\n\n# Parking\n\nParking costs two euro.\n")
    done = ingest("hours.md", store, "house", IngestOptions(50, 0))
    assert isinstance(done, IngestReport)
    assert done.load is not None
    assert (done.load.info.documents, done.load.info.chunks, done.read) == (1, 1, 1)
    as_bytes = ingest(("hours.md", Path("hours.md").read_bytes()), store, "house", IngestOptions(50, 0))
    assert as_bytes.load is not None
    assert not as_bytes.load.changed
    assert ingest(["hours.md", "desks.jsonl"], store, "more").problems[0].file == "desks.jsonl"


def test_enrichment_is_what_a_search_may_index(store: Store) -> None:
    load("desks.jsonl", store, "desks", columns={"text": "body"})
    with pytest.raises(InvalidInput, match="is not enriched"):
        search("desk", store, options=SearchOptions("bm25", "enriched"))
    done = enrich(store, "desks", EnrichOptions(summaries=False))
    assert isinstance(done, EnrichReport)
    assert done.chunks == 4
    assert search("desk", store, options=SearchOptions("bm25", "enriched")).metadata["indexed_text"] == "enriched"


def test_a_table_is_linked_or_copied(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect("own.db") as own:
        own.execute(
            "CREATE TABLE desks (document_id TEXT, chunk_index INTEGER, body TEXT, remark TEXT, PRIMARY KEY (document_id, chunk_index))"
        )
        own.executemany("INSERT INTO desks VALUES (:document_id, :chunk_index, :body, 'remark')", ROWS)
    own.close()
    monkeypatch.setenv("CTXASM_CONNECTION_OWN", f"sqlite:///{Path('own.db').resolve()}")
    assert connect("own", "desks", "linked", store, fields={"text": "body"}).info.linked
    query = search("When does the desk on floor 3 open?", store, "linked", BM25, save=True)
    linked = open_dataset("linked", store)
    assert [entry.query_id for entry in linked.query_list()] == [query.query_id]
    assert "On floor 3" in assemble(query, linked).text
    copied = connect("own", "desks", "copied", store, fields={"text": "remark"}, copy=True, limit=3)
    assert (copied.info.chunks, store.dataset("copied").document_chunks("a")[0].text) == (3, "remark")
    with pytest.raises(InvalidInput, match="known are 'own'"):
        connect("other", "desks", "x", store)


def test_a_dataset_goes_out_and_comes_back_equal(store: Store) -> None:
    first = load("desks.jsonl", store, "desks", columns={"text": "body"}).info
    saved = search("desk", store, options=BM25, save=True)
    assert export("out/desks", store).path == Path("out/desks").resolve()
    other = MemoryStore()
    assert load("out/desks", other).info.chunks == first.chunks
    assert [query.query_id for query in other.dataset().queries()] == [saved.query_id]
    assert search("desk", other, options=BM25).retrieved == saved.retrieved


def test_without_a_store_it_is_that_of_the_environment() -> None:
    load("desks.jsonl", name="desks", columns={"text": "body"})
    query = search("When does the desk on floor 2 open?", options=BM25)
    text = assemble(query, open_dataset()).text
    workbench = Workbench(read_config())
    try:
        assert workbench.assemble(query, AssemblySettings(), "desks").text == text
        assert workbench.datasets()[0].name == "desks"
    finally:
        workbench.close()


def test_an_answer_that_is_closed_has_no_result(store: Store) -> None:
    load("desks.jsonl", store, "desks", columns={"text": "body"})
    answer = ask(assemble(search("desk", store, options=BM25), store))
    next(answer)
    answer.close()
    with pytest.raises(InvalidInput, match="closed before its end"):
        answer.result()
    with pytest.raises(InvalidInput, match="model must be one of extractive"):
        ask(assemble(search("desk", store, options=BM25), store), "nobody")


def test_what_a_public_function_returns_is_public() -> None:
    for name in ("load", "ingest", "connect", "enrich", "export", "search", "assemble", "ask", "check"):
        assert str(inspect.signature(getattr(ctxasm, name)).return_annotation) in ctxasm.__all__, name
