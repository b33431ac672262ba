"""Reading bundles: what is accepted, what is refused, and that every problem is named with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxasm.data.files import Problem, load_bundle, load_bundle_bytes, read_bundle
from ctxasm.data.files import problems as problems_module
from ctxasm.data.files.importing import import_files
from ctxasm.data.files.streaming import stream_bundle
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidBundle, InvalidInput
from ctxasm.model.records import Chunk, Document, GoldChunk, Hit, Query, Span

DOCUMENT = {"document_id": "a", "title": "A"}
CHUNK = {"document_id": "a", "chunk_index": 0, "text": "hello", "start": 0, "end": 5}
QUERY = {"query_id": "q", "query": "why?"}
RETRIEVAL = {"query_id": "q", "retrieved": [{"document_id": "a", "chunk_index": 0, "score": 1.5}]}
GOOD: dict[str, list[Any]] = {"documents": [DOCUMENT], "chunks": [CHUNK], "queries": [QUERY], "retrievals": [RETRIEVAL]}


def folder(place: Path, **files: Any) -> Path:
    """A folder with these files: lists become JSON Lines, bytes are written as they are; GOOD stands for what is not named."""
    place.mkdir(exist_ok=True)
    for name, content in (GOOD | files).items():
        if content is not None:
            data = content if isinstance(content, bytes) else "".join(json.dumps(line) + "\n" for line in content).encode()
            (place / f"{name}.jsonl").write_bytes(data)
    return place


def problems_of(place: Path) -> list[str]:
    with pytest.raises(InvalidBundle) as caught:
        load_bundle(place)
    return [str(problem) for problem in caught.value.problems]


def test_a_small_bundle_becomes_records(tmp_path: Path) -> None:
    bundle = load_bundle(folder(tmp_path / "small"))
    assert bundle.name == "small"
    assert bundle.documents == (Document("a", "A"),)
    assert bundle.chunks == (Chunk("a", 0, "hello", 0, 5),)
    assert bundle.queries == (Query("why?", (Hit("a", 0, 1.5),), "q"),)
    assert bundle.replaced == 0


def test_name_of_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder(tmp_path / "small")
    assert load_bundle(place, " other ").name == "other"
    monkeypatch.chdir(place)
    assert load_bundle(".").name == "small"
    for bad in ("", "  ", "a\nb", "x" * 101):
        with pytest.raises(InvalidInput, match="name of a dataset"):
            load_bundle(place, bad)


def test_bom_crlf_blank_lines_and_a_missing_last_newline_are_fine(tmp_path: Path) -> None:
    lines = b"\xef\xbb\xbf" + json.dumps(CHUNK).encode() + b"\r\n\r\n  \n" + json.dumps(CHUNK | {"chunk_index": 1}).encode()
    bundle = load_bundle(folder(tmp_path / "b", chunks=lines))
    assert [chunk.chunk_index for chunk in bundle.chunks] == [0, 1]


def test_unknown_fields_become_metadata_and_start_line_a_row_number(tmp_path: Path) -> None:
    line = CHUNK | {"start_line": 7, "lang": "nl", "metadata": {"x": [1]}}
    chunk = load_bundle(folder(tmp_path / "b", chunks=[line])).chunks[0]
    assert (chunk.row_number, dict(chunk.metadata)) == (7, {"start_line": 7, "lang": "nl", "x": [1]})
    assert load_bundle(folder(tmp_path / "b", chunks=[line | {"row_number": 3}])).chunks[0].row_number == 3


def test_everything_a_query_may_carry(tmp_path: Path) -> None:
    query = QUERY | {
        "gold": [{"document_id": "a", "chunk_index": 0, "span": 0}, {"document_id": "a", "chunk_index": 0, "span": 1}],
        "spans": [{"document_id": "a", "start": 0, "end": 2, "text": "he", "also": [{"document_id": "a", "start": 1, "end": 3}]}],
        "history": [{"role": "user", "content": "hi"}],
        "topic": "t",
    }
    retrieval = RETRIEVAL | {
        "search_method": "hybrid",
        "bm25_matches": 4,
        "best_similarity": 0.5,
        "intent": "i",
        "supplement": "s",
        "run": 1,
    }
    found = load_bundle(folder(tmp_path / "b", queries=[query], retrievals=[retrieval])).queries[0]
    assert found.gold == (GoldChunk("a", 0),)
    assert found.spans == (Span("a", 0, 2, (Span("a", 1, 3),)),)
    assert (found.search_method, found.bm25_matches, found.best_similarity, found.intent) == ("hybrid", 4, 0.5, "i")
    assert (found.supplement, found.history[0].role, dict(found.metadata)) == ("s", "user", {"topic": "t", "run": 1})


def test_chunks_alone_give_their_documents_the_title_of_the_first(tmp_path: Path) -> None:
    lines = [
        {"document_id": "a", "chunk_index": 0, "text": "x", "title": "Visiting hours"},
        {"document_id": "a", "chunk_index": 1, "text": "y", "title": "Another"},
        {"document_id": "b", "chunk_index": 0, "text": "z", "title": 3},
        {"document_id": "c", "chunk_index": 0, "text": "w", "title": " "},
    ]
    place = folder(tmp_path / "t", documents=None, queries=None, retrievals=None, chunks=lines)
    expected = (Document("a", "Visiting hours"), Document("b"), Document("c"))
    said = "2 documents without a title are named by their ids; documents.jsonl or the lines of chunks can give titles"
    reading = read_bundle(place)
    assert (reading.bundle.documents, reading.notes) == (expected, (said,))
    with stream_bundle(place) as streamed:
        assert tuple(streamed.documents()) == expected
        assert [tuple(part) for part in streamed.parts()[1:]][1:] == [(), ()]
        assert streamed.notes() == (said,)


def test_nothing_is_said_of_documents_that_the_chunks_tell_whole(tmp_path: Path) -> None:
    lines = [{"document_id": "a", "chunk_index": 0, "text": "x", "title": "Visiting hours"}]
    assert read_bundle(folder(tmp_path / "t", documents=None, queries=None, retrievals=None, chunks=lines)).notes == ()


def test_a_bundle_may_be_partial(tmp_path: Path) -> None:
    only_chunks = read_bundle(folder(tmp_path / "c", documents=None, queries=None, retrievals=None))
    assert only_chunks.bundle.documents == (Document("a"),)
    assert any(note.startswith("1 document without a title is named by its id;") for note in only_chunks.notes)
    answer = {"query_id": "q", "answer_text_with_markers": "yes [1]", "sources": [{"n": 1, "text": "s", "x": 1}]}
    answers = load_bundle(folder(tmp_path / "a", documents=None, chunks=None, queries=None, retrievals=None, answers=[answer])).answers
    assert (answers[0].answer, answers[0].sources) == ("yes [1]", ({"n": 1, "text": "s", "x": 1},))
    assert load_bundle(folder(tmp_path / "q", retrievals=None)).queries[0].retrieved == ()
    assert any("could not be checked" in note for note in read_bundle(folder(tmp_path / "r", chunks=None, documents=None)).notes)


@pytest.mark.parametrize(
    ("queries", "retrievals", "told"),
    [
        ([QUERY | {"hits": RETRIEVAL["retrieved"]}, {"query_id": "r", "query": "who?", "retrieved": [{"document_id": "a"}]}], None, 2),
        ([QUERY | {"hits": RETRIEVAL["retrieved"]}, {"query_id": "r", "query": "who?"}], None, 1),
        ([QUERY | {"hits": RETRIEVAL["retrieved"]}], [RETRIEVAL], 0),
        ([QUERY | {"hits": [], "results": [1, 2], "nodes": "a", "by": [{"document_id": "a"}]}], None, 0),
    ],
)
def test_hits_beside_a_query_are_said_to_be_left_aside(tmp_path: Path, queries: list[Any], retrievals: list[Any] | None, told: int) -> None:
    place = folder(tmp_path / "b", queries=queries, retrievals=retrievals)
    reading = read_bundle(place)
    with stream_bundle(place) as streamed:
        assert [tuple(part) for part in streamed.parts()][2] == reading.bundle.queries
        assert streamed.notes() == reading.notes
    assert import_files([(file.name, file.read_bytes()) for file in sorted(place.iterdir())], {}, "b").notes == tuple(
        note.replace("retrievals.jsonl", "a file of retrievals") for note in reading.notes
    )
    assert [query.retrieved for query in reading.bundle.queries if query.query_id == "r"] in ([()], [])
    said = f"queries.jsonl: the hits in {counted(told, 'line')} are not loaded as hits, they stay as metadata; "
    assert reading.notes == ((said + "hits are read from `retrieved` in retrievals.jsonl",) if told else ())


def test_other_files_are_named_in_a_note(tmp_path: Path) -> None:
    place = folder(tmp_path / "b")
    (place / "META.json").write_text("{}")
    assert read_bundle(place).notes == ("not read, because a bundle has no such file: META.json",)


def test_no_bundle_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path, words in {
        tmp_path / "nowhere": "there is no file, folder or .zip at",
        tmp_path / "empty": "needs at least one of documents.jsonl, chunks.jsonl.*it is empty",
        folder(tmp_path / "one") / "chunks.jsonl": "is one file of a bundle: give the folder",
        folder(tmp_path / "blank", documents=b"\n", chunks=None, queries=None, retrievals=None): "holds no records",
    }.items():
        with pytest.raises(InvalidInput, match=words) as caught:
            load_bundle(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(InvalidInput, match=r"at 'a\\x00b'"):
        load_bundle("a\0b")
    with pytest.raises(InvalidInput, match="is not a path"):
        load_bundle("~no such user/x")


@pytest.mark.parametrize(
    ("file", "line", "expected"),
    [
        (
            "chunks",
            CHUNK | {"chunk_index": "0"},
            "chunks.jsonl line 1, chunk_index: must be a whole number, written without quotes, got '0'",
        ),
        ("chunks", CHUNK | {"chunk_index": -1}, "chunks.jsonl line 1, chunk_index: must be at least 0, got -1"),
        ("chunks", CHUNK | {"chunk_index": True}, "chunks.jsonl line 1, chunk_index: must be a whole number, got True"),
        ("chunks", CHUNK | {"chunk_index": 1.0}, "chunks.jsonl line 1, chunk_index: must be a whole number, got 1.0"),
        ("chunks", CHUNK | {"chunk_index": 10**30}, f"chunks.jsonl line 1, chunk_index: must be at most 2,000,000,000, got {10**30}"),
        ("chunks", CHUNK | {"text": None}, "chunks.jsonl line 1, text: must be a text, got None"),
        ("chunks", {"document_id": "a", "chunk_index": 0}, "chunks.jsonl line 1, text: is missing"),
        ("chunks", CHUNK | {"end": None}, "chunks.jsonl line 1, end: start and end go together: give both or neither, got None"),
        ("chunks", CHUNK | {"start": 9}, "chunks.jsonl line 1, end: must be at least start (9), got 5"),
        ("chunks", CHUNK | {"metadata": []}, "chunks.jsonl line 1, metadata: must be an object, got []"),
        ("chunks", CHUNK | {"a": 1, "metadata": {"a": 2}}, "chunks.jsonl line 1, a: may not stand both beside and inside metadata, got 1"),
        ("chunks", CHUNK | {"document_id": "b"}, "chunks.jsonl line 1, document_id: must name a document of documents.jsonl, got 'b'"),
        ("chunks", [1, 2], "chunks.jsonl line 1: a line must be one JSON object, got [1, 2]"),
        ("documents", DOCUMENT | {"document_id": 5}, "documents.jsonl line 1, document_id: must be a text, got 5"),
        (
            "documents",
            DOCUMENT | {"document_id": " \u200b"},
            "documents.jsonl line 1, document_id: must have at least one visible character",
        ),
        ("documents", DOCUMENT | {"document_id": "x" * 501}, "documents.jsonl line 1, document_id: must have at most 500 characters"),
        ("documents", DOCUMENT | {"date": 2024}, "documents.jsonl line 1, date: must be a text, got 2024"),
        ("queries", QUERY | {"query": " "}, "queries.jsonl line 1, query: must have at least one visible character, got ' '"),
        ("queries", QUERY | {"gold": [{"document_id": "a", "chunk_index": 9}]}, "queries.jsonl line 1, gold[0]: must name a chunk of"),
        (
            "queries",
            QUERY | {"spans": [{"document_id": "a", "start": 3, "end": 3}]},
            "queries.jsonl line 1, spans[0].end: must be more than start (3), got 3",
        ),
        (
            "queries",
            QUERY | {"spans": [{"document_id": "a", "start": 3, "end": 9}]},
            "queries.jsonl line 1, spans[0].end: must be inside the document (5 characters), got 9",
        ),
        (
            "queries",
            QUERY | {"spans": [{"document_id": "a", "start": 0, "end": 2, "also": [{"document_id": "z", "start": 0, "end": 2}]}]},
            "queries.jsonl line 1, spans[0].also[0].document_id: must name a document of this bundle, got 'z'",
        ),
        (
            "queries",
            QUERY | {"history": [{"role": "boss", "content": ""}]},
            "queries.jsonl line 1, history[0].role: must be 'user', 'assistant' or 'system', got 'boss'",
        ),
        ("retrievals", RETRIEVAL | {"query_id": "z"}, "retrievals.jsonl line 1, query_id: must name a query of queries.jsonl, got 'z'"),
        ("retrievals", RETRIEVAL | {"retrieved": {}}, "retrievals.jsonl line 1, retrieved: must be a list, got {}"),
        ("retrievals", RETRIEVAL | {"bm25_matches": "3"}, "retrievals.jsonl line 1, bm25_matches: must be a whole number, written"),
        ("answers", {"query_id": "q"}, "answers.jsonl line 1, answer: is missing (or answer_text_with_markers)"),
        ("answers", {"query_id": "z", "answer": ""}, "answers.jsonl line 1, query_id: must name a query of queries.jsonl, got 'z'"),
    ],
)
def test_each_problem_is_named_with_its_place(tmp_path: Path, file: str, line: object, expected: str) -> None:
    found = problems_of(folder(tmp_path / "b", **{file: [line]}))
    assert found[0].startswith(expected)
    # What a broken line would have held is not missed a second time; only a valid line that names another document is.
    assert len(found) == (2 if "document_id: must name a document of documents" in expected else 1), found


@pytest.mark.parametrize(
    ("hit", "expected"),
    [
        ({"score": "1"}, "retrieved[0].score: must be a finite number, written without quotes, got '1'"),
        ({"score": True}, "retrieved[0].score: must be a finite number, got True"),
        ({"score": 10**90}, None),
        ({"rank": 0}, "retrieved[0].rank: must be at least 1, got 0"),
        ({"chunk_index": 4}, "retrieved[0]: must name a chunk of chunks.jsonl, got 'a 4'"),
        ({"scores": {"bm25": None}}, "retrieved[0].scores.bm25: must be a finite number, got None"),
    ],
)
def test_hits(tmp_path: Path, hit: dict[str, Any], expected: str | None) -> None:
    place = folder(tmp_path / "b", retrievals=[{"query_id": "q", "retrieved": [RETRIEVAL["retrieved"][0] | hit]}])  # type: ignore[index]
    if expected is None:
        assert load_bundle(place).queries[0].retrieved[0].score == 1e90
    else:
        assert problems_of(place) == [f"retrievals.jsonl line 1, {expected}"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"a": NaN}', "chunks.jsonl line 1: a number must be finite, got NaN: JSON knows no NaN"),
        (b'{"a": -Infinity}', "chunks.jsonl line 1: a number must be finite, got -Infinity: JSON knows no -Infinity"),
        (b'{"a": 1e999}', "chunks.jsonl line 1: a number must be finite, got '1e999'"),
        (b'{"a": ' + b"9" * 5000 + b"}", "chunks.jsonl line 1: a number may have at most 100 digits, got 5000"),
        (b'{"a": 1, "a": 2}', "chunks.jsonl line 1: the key 'a' stands twice in one object"),
        (b'{"a": ' + b"[" * 70 + b"]" * 70 + b"}", "chunks.jsonl line 1: may be nested at most 64 levels deep"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "chunks.jsonl line 1: may be nested at most 64 levels deep"),
        (b'{"a": 1', "chunks.jsonl line 1, column 8: is not valid JSON (expecting ',' delimiter)"),
        (b'{"a": 1} x', "chunks.jsonl line 1, column 10: is not valid JSON (extra data)"),
        (b'{"a": "\xff"}', "chunks.jsonl line 1, byte 8: is not valid UTF-8: save the file again as UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "chunks.jsonl: must be UTF-8, but is UTF-16: save it again as UTF-8"),
        (b'{"a"\0: 1}', "chunks.jsonl line 1, column 5: is not valid JSON (expecting ':' delimiter)"),
    ],
)
def test_lines_that_are_no_strict_json(tmp_path: Path, line: bytes, expected: str) -> None:
    assert problems_of(folder(tmp_path / "b", chunks=line)) == [expected]


def test_all_problems_of_all_files_in_file_and_line_order(tmp_path: Path) -> None:
    bad_chunks = [CHUNK, CHUNK | {"chunk_index": "x", "text": 1}, CHUNK | {"chunk_index": 2, "end": 1, "start": 2}]
    place = folder(tmp_path / "b", chunks=bad_chunks, documents=[{}], retrievals=[{"query_id": "no", "retrieved": []}])
    with pytest.raises(InvalidBundle) as caught:
        load_bundle(place)
    found = caught.value.problems
    assert all(isinstance(problem, Problem) for problem in found)
    places = [(p.file, p.line, p.field) for p in found if isinstance(p, Problem)]
    assert places == [
        ("documents.jsonl", 1, "document_id"),
        ("chunks.jsonl", 2, "chunk_index"),
        ("chunks.jsonl", 2, "text"),
        ("chunks.jsonl", 3, "end"),
        ("retrievals.jsonl", 1, "query_id"),
    ]
    assert str(caught.value).startswith(f"{place}: 5 problems, nothing was loaded\n")


def test_repeated_records(tmp_path: Path) -> None:
    same = read_bundle(folder(tmp_path / "same", chunks=[CHUNK, CHUNK]))
    assert len(same.bundle.chunks) == 1
    assert same.notes == ("chunks.jsonl: 1 repeated lines were merged",)
    other = problems_of(folder(tmp_path / "other", chunks=[CHUNK, QUERY, CHUNK | {"text": "howdy"}]))
    assert (
        other[-1]
        == "chunks.jsonl line 3, chunk_index: document_id 'a' and chunk_index 0 stands on line 1 with other content: keep one of the two"
    )
    twice = [RETRIEVAL, {"query_id": "q", "retrieved": []}]
    assert "query_id 'q' stands on line 1" in problems_of(folder(tmp_path / "r", retrievals=twice))[0]


def test_offsets_that_do_not_fit_the_text_are_kept_and_noted(tmp_path: Path) -> None:
    reading = read_bundle(folder(tmp_path / "b", chunks=[CHUNK | {"end": 99}]))
    assert reading.bundle.chunks[0].end == 99
    assert "1 chunks whose end - start is not the length of their text (the first is 'a' 0)" in reading.notes[0]


def test_nul_and_lone_surrogates_become_one_mark_each(tmp_path: Path) -> None:
    text = b"\\u0000\x00\\ud800x\\uD83D\\uDE00\xed\xa0\x80"
    raw = b'{"document_id":"a","chunk_index":0,"text":"' + text + b'","start":0,"end":6,"m\\udfff":["\\u0000"]}'
    bundle = load_bundle(folder(tmp_path / "b", chunks=raw))
    assert bundle.chunks[0].text == "\ufffd\ufffd\ufffdx\U0001f600\ufffd"
    assert dict(bundle.chunks[0].metadata) == {"m\ufffd": ["\ufffd"]}
    assert bundle.replaced == 6


def test_special_tokens_html_and_five_megabytes_are_text(tmp_path: Path) -> None:
    text = "<|endoftext|><script>alert(1)</script>\u202e" + "x" * 5_000_000
    assert load_bundle(folder(tmp_path / "b", chunks=[CHUNK | {"text": text, "start": None, "end": None}])).chunks[0].text == text


def test_a_folder_in_place_of_a_file_is_a_problem(tmp_path: Path) -> None:
    place = folder(tmp_path / "b", queries=None, retrievals=None)
    (place / "queries.jsonl").mkdir()
    assert problems_of(place) == ["queries.jsonl: cannot be read (Is a directory)"]


def test_reading_stops_when_there_are_too_many_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems_module, "MAX_PROBLEMS", 60)
    with pytest.raises(InvalidBundle) as caught:
        load_bundle(folder(tmp_path / "b", chunks=[{}] * 100))
    assert len(caught.value.problems) == 61
    assert "… and 11 more" in str(caught.value)


def test_one_uploaded_file_is_a_partial_bundle() -> None:
    bundle = load_bundle_bytes(json.dumps(CHUNK).encode(), "C:\\data\\chunks.jsonl", "up")
    assert (bundle.name, len(bundle.chunks)) == ("up", 1)
