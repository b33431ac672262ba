"""Why no chunk has a neighbour: decided once, of keys alone; and said wherever an assembly, a load or a table meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxasm import AssemblySettings, Hit, InvalidInput, MemoryStore, Query, assemble, load
from ctxasm.app.fates import steps, unexpanded
from ctxasm.data.files.importing import ORIGINAL, preview
from ctxasm.model.events import NoNeighbours, Obstacle, Unexpanded, no_neighbours
from ctxasm.model.records import Bundle, Chunk, Document
from ctxasm.text.tokens import open_counter

TENS = [("a", 10), ("a", 20), ("a", 30), ("b", 10), ("b", 20)]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([], None),
        ([("a", 5)], None),
        ([("a", 0), ("a", 1), ("b", 7)], None),
        ([("a", 0), ("b", 3), ("b", 4)], None),
        (TENS, NoNeighbours("gaps", "a", (10, 20, 30))),
        ([("z", 0), ("a", 0), ("a", 2), ("a", 4), ("a", 6)], NoNeighbours("order", "a", (0, 2, 4))),
        ([("a", 0), ("a", 2), ("b", 1)], NoNeighbours("gaps", "a", (0, 2))),
        ([("a", 0), ("b", 1)], NoNeighbours("single")),
    ],
)
def test_the_keys_tell_why(keys: list[tuple[str, int]], expected: NoNeighbours | None) -> None:
    assert no_neighbours(keys) == expected


def bundle(keys: list[tuple[str, int]]) -> Bundle:
    chunks = tuple(Chunk(name, index, f"Text {index} of {name}.") for name, index in keys)
    return Bundle("gaps", tuple(Document(name) for name in dict.fromkeys(name for name, _ in keys)), chunks)


def said(keys: list[tuple[str, int]], hit: tuple[str, int], **changed: int) -> Unexpanded | None:
    store = MemoryStore(open_counter())
    store.add(bundle(keys))
    return unexpanded(assemble(Query("text?", (Hit(*hit, 1.0),)), store.dataset(), AssemblySettings(**changed)))


def test_the_trace_says_it_where_neighbours_were_asked_for() -> None:
    assert said(TENS, ("a", 20)) == Unexpanded("gaps", "a", (10, 20, 30))
    assert said(TENS, ("a", 20), expand_window=0) is None
    assert said([("a", 0), ("b", 0)], ("a", 0)) == Unexpanded("single", "", ())
    assert said([("a", 0), ("a", 1)], ("c", 4)) == Unexpanded("ids", "c", (4,))
    assert said([("a", 0), ("a", 1)], ("a", 1)) is None
    assert said([("a", 0), ("b", 0), ("b", 1)], ("a", 0)) is None  # other documents have some: this one is only short


def test_hits_without_a_store_say_so() -> None:
    alone = [{"document_id": "a", "chunk_index": 4, "text": "One."}, {"document_id": "a", "chunk_index": 9, "text": "Two."}]
    made = assemble("which?", hits=alone)
    assert unexpanded(made) == Unexpanded("store", "", ())
    assert unexpanded(assemble("which?", hits=alone, chunks=[{"document_id": "a", "chunk_index": 5, "text": "Between."}])) is None
    events = json.loads(json.dumps(made.to_dict()))["stages"][0]["events"]
    assert {"event": "unexpanded", "obstacle": "store", "document_id": "", "chunk_indexes": []} in events


def test_inspect_says_the_same_sentence() -> None:
    store = MemoryStore(open_counter())
    store.add(bundle(TENS))
    made = assemble(Query("text?", (Hit("a", 20, 1.0),)), store.dataset())
    (widened,) = [step for step in steps(made) if step.name == "widened"]
    sentence = NoNeighbours("gaps", "a", (10, 20, 30)).sentence
    assert widened.does.lower() == f"{sentence}.".lower()


@pytest.mark.parametrize("obstacle", ["gaps", "order", "single", "ids", "store"])
def test_each_reason_is_one_sentence_that_says_what_to_do(obstacle: Obstacle) -> None:
    sentence = NoNeighbours(obstacle, "a" * 500, (1, 5)).sentence
    assert len(sentence) < 480
    assert "expansion adds nothing" in sentence
    assert any(word in sentence for word in ("Load", "Give", "number them"))
    assert not sentence.endswith(".")


# Loaded files


def gapped(folder: Path) -> Path:
    lines = [{"document_id": name, "chunk_index": index, "text": f"Text {index} of {name}."} for name, index in reversed(TENS)]
    hits = [{"document_id": "a", "chunk_index": 20, "score": 1.0}]
    files = {
        "chunks.jsonl": lines,
        "queries.jsonl": [{"query_id": "q", "query": "text?", "gold": [{"document_id": "b", "chunk_index": 20}]}],
        "retrievals.jsonl": [{"query_id": "q", "retrieved": hits}],
    }
    for name, rows in files.items():
        (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def test_a_load_says_it_and_numbers_by_order_when_it_is_asked_to(tmp_path: Path) -> None:
    store = MemoryStore(open_counter())
    sentence = NoNeighbours("gaps", "b", (10, 20)).sentence  # documents stand in the order of their first chunk
    assert sentence in load(gapped(tmp_path), store, "plain").notes
    report = load(tmp_path, store, "counted", number_by_order=True)
    assert sentence not in report.notes
    told = "5 chunks of 5 got another chunk_index, by their order in each document"
    assert f"{told}; metadata {ORIGINAL} keeps the one of the file" in report.notes
    dataset = store.dataset("counted")
    records = {(c.document_id, c.chunk_index): c for c in dataset.iter_records()}
    assert {key: chunk.metadata[ORIGINAL] for key, chunk in records.items()} == dict(
        zip([("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)], [10, 20, 30, 10, 20], strict=True)
    )
    query = dataset.query("q")
    assert [hit.chunk_index for hit in query.retrieved] == [1]
    assert [gold.key for gold in query.gold] == [("b", 1)]
    assert [fate.chunk_index for fate in assemble(query, dataset).trace.fates if not fate.retrieved] == [0, 2]


def test_numbering_is_of_chunks_that_are_loaded_by_themselves(tmp_path: Path) -> None:
    store = MemoryStore(open_counter())
    load(gapped(tmp_path), store, "there")
    with pytest.raises(InvalidInput, match="numbered by order in a dataset of their own"):
        load(tmp_path, store, "there", over="join", number_by_order=True)


def test_a_preview_says_it_before_anything_is_loaded(tmp_path: Path) -> None:
    found = preview([("chunks.jsonl", (gapped(tmp_path) / "chunks.jsonl").read_bytes())])
    assert found.obstacle == NoNeighbours("gaps", "a", (10, 20, 30))
    assert found.obstacle.sentence in found.notes
