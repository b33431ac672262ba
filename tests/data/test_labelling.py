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
from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Hit, Query
from ctxasm.store.memory import MemoryStore

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
