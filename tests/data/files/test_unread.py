"""What of a file was not read is named once, with an example; and what is the prompt of a log is read, whatever form its hits have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxasm import InvalidInput, MemoryStore
from ctxasm.app.why import cases_in
from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.files.importing import import_files
from ctxasm.data.files.loading import one_mapping
from ctxasm.text.tokens import open_counter

HITS = [{"page_content": f"Ward {n} opens at {n + 8} o'clock.", "metadata": {"source": "a.md"}, "score": 1 - n / 10} for n in range(3)]
MESSAGES = [
    {"role": "system", "content": f"Answer from: {HITS[0]['page_content']}"},
    {"role": "user", "content": "When does ward 0 open?"},
]


def log(**fields: Any) -> bytes:
    rows = [{"run_id": f"r{n}", "question": f"When does ward {n} open?", "answer": "At eight [1].", **fields} for n in range(3)]
    return "\n".join(map(json.dumps, rows)).encode()


def unread(*files: tuple[str, bytes]) -> list[str]:
    return [note for note in import_files(list(files)).notes if "not read" in note]


@pytest.mark.parametrize(
    "form", [{"results": HITS}, {"retrieval": {"results": HITS}}, {"documents": [{**hit, "type": "Document"} for hit in HITS]}]
)
def test_hits_in_a_client_s_form_lose_neither_prompt_nor_name(form: dict[str, Any]) -> None:
    bundle = import_files([("log.jsonl", log(messages=MESSAGES, **form))]).bundle
    assert [query.query_id for query in bundle.queries] == ["r0", "r1", "r2"]
    assert all([turn["content"] for turn in answer.metadata["prompt"]] == [m["content"] for m in MESSAGES] for answer in bundle.answers)


def test_a_question_that_is_called_prompt_is_no_prompt() -> None:
    rows = [{"prompt": "When does ward 0 open?", "documents": HITS, "answer": "At eight [1]."}]
    (answer,) = import_files([("log.json", json.dumps(rows).encode())]).bundle.answers
    assert "prompt" not in answer.metadata


@pytest.mark.parametrize("form", [{"results": HITS}, {"retrieval": {"results": HITS}}])
def test_every_field_that_is_not_read_is_named_once(form: dict[str, Any]) -> None:
    data = log(**form, usage={"tokens": 4711}, flags=["x" * 200], trail="y" * 5_000)
    (note,) = unread(("log.jsonl", data))
    assert note.startswith("log.jsonl: not read: ")
    assert {name for name in ("usage", "flags", "trail", "run_id", "question", "answer", "results") if f"'{name}" in note} == {
        "usage",
        "flags",
        "trail",
    }
    assert note.count("'trail'") == 1
    assert len(note) < 250


def test_what_opens_an_account_is_named_without_its_value() -> None:
    (note,) = unread(("log.jsonl", log(results=HITS, request={"api_key": "sk-secret-of-the-log"}, authorization="Bearer of-the-log")))
    assert "'authorization'" in note
    assert "of-the-log" not in note


def test_many_fields_are_one_line() -> None:
    (note,) = unread(("log.jsonl", log(results=HITS, **{f"field_{n}": f"value number {n}" for n in range(40)})))
    assert note.endswith(" and 32 more")
    assert "'field_0' (such as 'value number 0')" in note


def test_what_becomes_metadata_is_read() -> None:
    rows = [{"document_id": "a", "chunk_index": n, "text": f"Text {n}.", "author": "Somebody", "tags": ["x", "y"]} for n in range(3)]
    assert unread(("chunks.json", json.dumps(rows).encode())) == []


def test_why_takes_the_fields_that_it_is_told() -> None:
    workbench = Workbench(Config("sqlite://"), MemoryStore(open_counter()))
    files = [("log.jsonl", log(results=HITS, sent={"as": MESSAGES}))]
    assert all("prompt" not in case.answer.metadata for case in cases_in(workbench, files).cases)
    told = cases_in(workbench, files, mappings=one_mapping({"prompt": "sent.as"}))
    assert all(len(case.answer.metadata["prompt"]) == 2 for case in told.cases)
    with pytest.raises(InvalidInput, match="is no field"):
        cases_in(workbench, files, mappings=one_mapping({"prompts": "sent.as"}))


CHROMA = {
    "ids": [["a", "b"]],
    "documents": [[hit["page_content"] for hit in HITS[:2]]],
    "metadatas": [[{"source": "a.md"}, None]],
    "distances": [[0.1, 0.4]],
    "embeddings": None,
}


def test_chroma_s_answer_without_its_questions_says_so() -> None:
    reading = import_files([("found.json", json.dumps(CHROMA).encode())])
    assert (len(reading.bundle.chunks), len(reading.bundle.queries)) == (2, 1)
    assert "hits came without their question (lists: 1)" in reading.notes
    assert any("nothing in it is known as a question" in note for note in reading.notes)
    two = {name: None if given is None else given * 2 for name, given in CHROMA.items()}
    assert len(import_files([("found.json", json.dumps(two).encode())]).bundle.queries) == 2
    flat = {name: given[0] for name, given in CHROMA.items() if given} | {"metadatas": [{"source": "a.md"}] * 2}
    (note,) = [note for note in import_files([("found.json", json.dumps(flat).encode())]).notes if "is a score" in note]
    assert note.startswith("found.json: 'distances' is a score, but nothing is a question")


def test_a_table_of_chunks_follows_offsets_or_shared_text_before_the_order_of_its_rows() -> None:
    text = "".join(f"Sentence {n} has the number {n * n}. " for n in range(40))
    cut = [(at, text[at : at + 200]) for at in range(0, len(text) - 60, 140)]
    shuffled = [cut[at] for at in (3, 0, 5, 1, 6, 2, 7, 4)]
    by_offset = [{"source": "a", "body": body, "metadata": {"start_index": at}} for at, body in shuffled]
    by_text = [{"source": "a", "body": body} for _, body in shuffled]
    for rows, how in ((by_offset, "where they start in the document"), (by_text, "the text that they share")):
        reading = import_files([("rows.json", json.dumps(rows).encode())])
        found = sorted(reading.bundle.chunks, key=lambda chunk: chunk.chunk_index)
        assert [chunk.text for chunk in found] == [body for _, body in sorted(shuffled)]
        assert [chunk.chunk_index for chunk in found] == list(range(8))
        assert any(f"of 1 document by {how}" in note for note in reading.notes)


def test_fields_of_hits_in_a_bundle_are_named_too() -> None:
    hit = {"document_id": "a", "chunk_index": 0, "score": 1.0, "took_ms": 3, "api_key": "sk-of-the-log"}
    files = {
        "chunks.jsonl": [{"document_id": "a", "chunk_index": 0, "text": "Text."}],
        "queries.jsonl": [{"query_id": "q", "query": "why?", "gold": [{"document_id": "a", "chunk_index": 0}]}],
        "retrievals.jsonl": [{"query_id": "q", "retrieved": [hit]}],
    }
    given = [(name, "\n".join(map(json.dumps, rows)).encode()) for name, rows in files.items()]
    assert unread(*given) == ["retrievals.jsonl: not read: 'retrieved[*].api_key', 'retrieved[*].took_ms' (such as 3)"]
