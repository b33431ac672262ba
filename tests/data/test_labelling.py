"""Gold evidence by hand: on any question of any store, kept with it and exported with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ctxasm
from ctxasm.__main__ import main
from ctxasm.data.files import load_bundle
from ctxasm.model.datasets import DatasetStore
from ctxasm.model.errors import InvalidInput, NotFound
from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Hit, LostHit, Query, Span
from ctxasm.store.database import MemoryStore

LOG = Bundle(
    "log",
    (Document("a"),),
    tuple(Chunk("a", at, f"Sentence {at}.") for at in range(3)),
    (Query("Why?", (Hit("a", 0, 1.0),), "q1", metadata={"note": "x"}), Query("When?", (), "q2", (GoldChunk("a", 2),))),
)


@pytest.fixture(params=["memory", "database"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DatasetStore]:
    made = MemoryStore() if request.param == "memory" else ctxasm.open_store(f"sqlite:///{tmp_path / 'labels.db'}")
    made.add(LOG)
    yield made
    made.close()


def test_a_question_is_labelled_and_nothing_else_changes(store: DatasetStore) -> None:
    before = store.dataset("log").info
    assert ctxasm.label("q1", [("a", 1), ("a", 1)], store).gold == (GoldChunk("a", 1, "hand"),)
    first, second = store.dataset("log").queries()
    assert first == replace(LOG.queries[0], gold=(GoldChunk("a", 1, "hand"),))
    assert second == LOG.queries[1]
    after = store.dataset("log").info
    assert after.dataset_id != before.dataset_id
    assert after.content_hash != before.content_hash
    assert (after.chunks, after.queries, after.loaded_at) == (before.chunks, before.queries, before.loaded_at)
    assert ctxasm.label("q1", [("a", 1)], store).gold == (GoldChunk("a", 1, "hand"),)
    assert store.dataset("log").info == after
    assert ctxasm.label("q1", [("a", 1)], store, "log", "remove").gold == ()
    assert store.dataset("log").info.content_hash == before.content_hash
    assert ctxasm.label("q2", [("a", 0)], store, "log", "replace").gold == (GoldChunk("a", 0, "hand"),)


def test_of_two_who_mark_at_once_neither_loses_a_mark(store: DatasetStore, monkeypatch: pytest.MonkeyPatch) -> None:
    write = type(store).set_gold

    def after_another(self: DatasetStore, *said: Any, **more: Any) -> Query:
        monkeypatch.setattr(type(store), "set_gold", write)
        ctxasm.label("q1", [("a", 2)], store)
        return write(self, *said, **more)

    monkeypatch.setattr(type(store), "set_gold", after_another)
    assert ctxasm.label("q1", [("a", 1)], store).gold == (GoldChunk("a", 2, "hand"), GoldChunk("a", 1, "hand"))


def test_a_saved_question_is_labelled(store: DatasetStore) -> None:
    store.save_query("log", Query("Where?", (), "mine"))
    assert ctxasm.label("mine", [("a", 2)], store).gold == (GoldChunk("a", 2, "hand"),)
    assert store.saved_queries("log")[0].gold == (GoldChunk("a", 2, "hand"),)


def test_labels_are_exported(store: DatasetStore, tmp_path: Path) -> None:
    ctxasm.label("q1", [("a", 1)], store)
    ctxasm.export(tmp_path / "out", store, "log")
    assert load_bundle(tmp_path / "out").queries[0].gold == (GoldChunk("a", 1, "hand"),)
    lines = (tmp_path / "out" / "queries.jsonl").read_text().replace('"by":"hand"', '"by":["what another tool keeps there"]')
    (tmp_path / "out" / "queries.jsonl").write_text(lines)
    assert load_bundle(tmp_path / "out").queries[0].gold == (GoldChunk("a", 1),)


def test_what_is_not_there_is_refused(store: DatasetStore) -> None:
    before = store.dataset("log").info
    with pytest.raises(InvalidInput, match="got 'a' 7, which it does not hold"):
        ctxasm.label("q1", [("a", 7)], store)
    for index in (-1, 10**30, True, "1", None):
        with pytest.raises(InvalidInput, match="by an index from 0"):
            ctxasm.label("q1", [("a", index)], store)  # type: ignore[list-item]
    for name in ("\ud800", "a\0", ""):
        with pytest.raises(InvalidInput, match="which it does not hold"):
            ctxasm.label("q1", [(name, 1)], store)
    with pytest.raises(NotFound, match="q9"):
        ctxasm.label("q9", [("a", 1)], store)
    with pytest.raises(NotFound):
        store.set_gold("log", "q9", ())
    with pytest.raises(InvalidInput, match="how must be"):
        ctxasm.label("q1", [], store, how="x")  # type: ignore[arg-type]
    assert store.dataset("log").info == before


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CTXASM_DATABASE_URL", f"sqlite:///{tmp_path / 'c.db'}")
    log = tmp_path / "log.jsonl"
    hits = [{"document_id": "a:b", "chunk_index": at, "text": f"Sentence {at}.", "score": 1 / (1 + at)} for at in range(3)]
    log.write_text(json.dumps({"query_id": "q1", "query": "Why?", "hits": hits}))
    assert main(["load", str(log)]) == 0
    capsys.readouterr()
    assert main(["label", "q1", "a:b:1", "a:b:2"]) == 0
    assert capsys.readouterr().out == "a:b:1\na:b:2\n"
    assert main(["label", "q1", "a:b:1", "--remove"]) == 0
    assert capsys.readouterr().out == "a:b:2\n"
    assert main(["label", "q1", "nowhere"]) == 2
    assert "a chunk must be DOCUMENT:INDEX" in capsys.readouterr().err


def test_an_export_made_after_a_labelled_document_went_loads_back(store: DatasetStore, tmp_path: Path) -> None:
    store.add(replace(LOG, documents=(*LOG.documents, Document("b")), chunks=(*LOG.chunks, Chunk("b", 0, "Gone soon.")), queries=()), "log")
    store.save_query("log", Query("Where?", (Hit("b", 0, 1.0), Hit("a", 1, 0.5)), "mine", (GoldChunk("b", 0, "hand"),), (Span("b", 0, 4),)))
    store.add(replace(LOG, queries=()), "log")
    (lost,) = store.saved_queries("log")
    assert lost.gold == (GoldChunk("b", 0, "hand", "Gone soon.", (), True),)
    ctxasm.export(tmp_path / "out", store, "log")
    assert load_bundle(tmp_path / "out").queries == (lost,)


def test_an_export_of_labels_that_an_earlier_version_left_dangling_loads_back(store: DatasetStore, tmp_path: Path) -> None:
    store.add(replace(LOG, queries=(Query("Why?", (Hit("a", 7, 1.0), Hit("a", 0, 0.5)), "q", (GoldChunk("a", 9), GoldChunk("a", 1))),)))
    ctxasm.export(tmp_path / "out", store, "log")
    (query,) = load_bundle(tmp_path / "out").queries
    assert query.gold == (GoldChunk("a", 9, lost=True), GoldChunk("a", 1))
    assert query.retrieved == (Hit("a", 0, 0.5),)
    assert query.lost_hits == (LostHit(Hit("a", 7, 1.0)),)


def test_labels_of_every_form_are_exported(store: DatasetStore, tmp_path: Path) -> None:
    gold = (GoldChunk("a", 1, "hand", "Sentence", (GoldChunk("a", 0, "hand"), GoldChunk("a", 2, "hand", "x", (), True))),)
    query = Query("Why?", (), "q", gold, (Span("b", 0, 4, (), "went", True),), lost_hits=(LostHit(Hit("c", 3, 1.0, 2, {"v": 1.0}), "t"),))
    store.add(replace(LOG, queries=(query,)))
    ctxasm.export(tmp_path / "out", store, "log")
    assert load_bundle(tmp_path / "out").queries == (query,)


def test_an_alternative_that_is_no_chunk_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "chunks.jsonl").write_text('{"document_id":"a","chunk_index":0,"text":"x"}\n')
    line = {
        "query_id": "q",
        "query": "?",
        "gold": [{"document_id": "a", "chunk_index": 0, "also": [{"document_id": "a", "chunk_index": 5}]}],
    }
    (tmp_path / "queries.jsonl").write_text(json.dumps(line))
    with pytest.raises(InvalidInput, match=r"gold\[0\].also\[0\]: must name a chunk of chunks.jsonl, got .*a 5"):
        load_bundle(tmp_path)
