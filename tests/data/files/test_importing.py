"""Files imported together: all or nothing, or the valid part; and what a preview says of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.data.files import load_bundle_bytes, write_bundle
from ctxasm.data.files.cells import ColumnMapping
from ctxasm.data.files.importing import import_files, preview
from ctxasm.model.errors import InvalidBundle, InvalidInput
from tests.data.files.tables import as_csv, as_json, as_lines, as_parquet, as_zip
from tests.examples import examples
from tests.real_data import load_real, real_folder

CHUNKS = [{"document_id": f"d{at // 3}", "chunk_index": at % 3, "text": f"text {at}"} for at in range(9)]
QUERIES = [{"query_id": f"q{at}", "query": f"why {at}?", "gold": [{"document_id": "d0", "chunk_index": at}]} for at in range(3)]
HITS = [{"query_id": f"q{at}", "retrieved": [{"document_id": "d1", "chunk_index": at, "score": 1.5}]} for at in range(3)]
BUNDLE = {"chunks.jsonl": as_lines(CHUNKS), "queries.jsonl": as_lines(QUERIES), "retrievals.jsonl": as_lines(HITS)}


def problems_of(*files: tuple[str, bytes]) -> list[str]:
    with pytest.raises(InvalidBundle) as caught:
        import_files(files)
    return [str(problem) for problem in caught.value.problems]


def test_the_files_of_a_bundle_one_by_one_are_the_bundle() -> None:
    expected = load_bundle_bytes(as_zip(BUNDLE), "b.zip")
    assert import_files(list(BUNDLE.items()), None, "b").bundle == expected
    assert import_files([("b.zip", as_zip(BUNDLE))]).bundle == expected
    assert import_files([("b.zip", as_zip(BUNDLE))], valid_only=True).bundle == expected


def test_what_is_about_a_bundle_is_no_part_of_it() -> None:
    about = as_json([{"name": "d0", "lang": "en", "documents": 3, "chunks": 9, "repo": "d0"}])[1:-1]
    reading = import_files([("META.json", about), *BUNDLE.items()], None, "b")
    assert reading.bundle == load_bundle_bytes(as_zip(BUNDLE), "b.zip")
    assert reading.notes[0] == "META.json: JSON in UTF-8; read as about the bundle, and left out"
    assert preview([("META.json", about), *BUNDLE.items()]).files[0].understood == "about the bundle, and left out"
    for title in ({"id": "d0", "title": "Zero"}, {"doc_id": "d0", "title": "Zero"}):
        titled = import_files([("docs.json", as_json([title])[1:-1]), ("chunks.jsonl", as_lines(CHUNKS[:3]))], None, "b").bundle
        assert [document.title for document in titled.documents if document.document_id == "d0"] == ["Zero"]
    one_more = as_json([{"document_id": "d9", "chunk_index": 0, "text": "alone"}])[1:-1]
    assert (
        len(
            import_files(
                [("more.json", one_more), *BUNDLE.items()],
                {"more.json": ColumnMapping("chunks", {"document_id": "document_id", "chunk_index": "chunk_index", "text": "text"})},
                "b",
            ).bundle.chunks
        )
        == 10
    )


def test_tables_of_every_format_go_together() -> None:
    hits = [{"query_id": row["query_id"], "document_id": "d1", "chunk_index": at, "score": 1.5} for at, row in enumerate(QUERIES)]
    files = [
        ("c.parquet", as_parquet(CHUNKS)),
        ("queries.csv", as_csv([{"qid": f"q{at}", "vraag": f"why {at}?"} for at in range(3)])),
        ("h.json", as_json(hits)),
    ]
    bundle = import_files(files, None, "b").bundle
    assert bundle.chunks == load_bundle_bytes(as_zip(BUNDLE), "b.zip").chunks
    assert [query.retrieved for query in bundle.queries] == [
        query.retrieved for query in load_bundle_bytes(as_zip(BUNDLE), "b.zip").queries
    ]


def test_all_problems_of_all_files_at_once_with_their_rows() -> None:
    chunks = as_csv(
        [{"doc": "a", "chunk_no": "0", "text": "x"}, {"doc": "a", "chunk_no": "", "text": "y"}, {"doc": "a", "chunk_no": "0", "text": "z"}]
    )
    hits = as_json([{"qid": "1", "doc": "a", "chunk_no": 0, "score": 1}, {"qid": "1", "doc": "b", "chunk_no": 0, "score": 2}])
    assert problems_of(
        ("c.csv", chunks), ("h.json", hits), ("queries.csv", as_csv([{"id": "1", "text": "why?"}, {"id": "2", "text": ""}]))
    ) == [
        "c.csv line 3, chunk_index (chunk_no): is missing",
        "c.csv line 4, chunk_index (chunk_no): document_id 'a' and chunk_index 0 stands on line 2 of c.csv with other content: "
        "keep one of the two",
        "queries.csv line 3, query (text): is missing",
    ]
    sound = as_csv([{"doc": "a", "chunk_no": "0", "text": "x"}])
    assert problems_of(("c.csv", sound), ("h.json", hits)) == [
        "h.json row 1, query_id (qid): must name a query of a file of queries, got '1'",
        "h.json row 2, chunk_index (chunk_no): must name a chunk of c.csv, got 'b 0'",
    ]


def test_a_file_that_cannot_be_read_is_one_of_the_problems() -> None:
    junk, empty = problems_of(("c.csv", as_csv(CHUNKS)), ("x.parquet", b"junk"), ("e.csv", b""))
    assert junk.startswith("x.parquet: x.parquet is no Parquet file that can be read (")
    assert empty == "e.csv: e.csv is empty"


def test_a_table_that_is_not_understood_is_a_problem() -> None:
    (said,) = problems_of(("x.csv", b"foo,bar\n1,2\n"))
    assert said.startswith("x.csv: none of its columns ('foo', 'bar') is known as a text, a question or a document: map its columns")
    assert "plain text is loaded with `ctxasm ingest`" in problems_of(("x.txt", b"some words\nof a letter\n"))[0]


def test_problems_are_listed_up_to_a_number_and_counted_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"document_id": "a", "chunk_index": "x", "text": "t"}] * 30
    monkeypatch.setattr("ctxasm.data.files.checking.MAX_PROBLEMS", 10)
    found = preview([("x.csv", as_csv(rows))])
    assert (found.files[0].failing, len(found.problems)) == (30, 11)
    assert str(found.problems[-1]) == "reading: 20 more problems are not listed"
    with pytest.raises(InvalidInput, match="holds no valid records"):
        import_files([("x.csv", as_csv(rows))], valid_only=True)
    reading = import_files([("x.csv", as_csv([*rows, {"document_id": "a", "chunk_index": 0, "text": "t"}]))], valid_only=True)
    assert (len(reading.bundle.chunks), reading.notes[-1]) == (1, "x.csv: left out 30 rows with a problem")


bad_chunks = st.sampled_from(
    [{"text": None}, {"chunk_index": "x"}, {"chunk_index": -1}, {"document_id": ""}, {"document_id": "x" * 501}, {"page_number": "iv"}]
)


@given(st.lists(st.none() | bad_chunks, min_size=9, max_size=9), st.sampled_from(["csv", "jsonl", "json", "bundle"]))
@settings(max_examples=examples(80))
def test_the_valid_part_is_what_the_file_without_its_bad_rows_gives(damage: list[dict[str, Any] | None], form: str) -> None:
    rows = [{**row, "page_number": 1, **(bad or {})} for row, bad in zip(CHUNKS, damage, strict=True)]
    sound = [row for row, bad in zip(rows, damage, strict=True) if bad is None]
    written = [{key: value for key, value in row.items() if value is not None} for row in rows]
    name = {"csv": "x.csv", "jsonl": "x.jsonl", "json": "x.json", "bundle": "chunks.jsonl"}[form]
    write = {"csv": as_csv, "jsonl": as_lines, "json": as_json, "bundle": as_lines}[form]
    whole = [(name, write(written))]
    fields = ("document_id", "chunk_index", "text", "page_number")
    mappings = None if form == "bundle" else {"": ColumnMapping("chunks", {field: field for field in fields})}
    if not sound:
        with pytest.raises(InvalidInput, match="no valid records"):
            import_files(whole, mappings, "b", valid_only=True)
        return
    reading = import_files(whole, mappings, "b", valid_only=True)
    assert reading.bundle == import_files([(name, write(sound))], mappings, "b").bundle
    left_out = len(rows) - len(sound)
    assert any(f"left out {left_out} row" in note for note in reading.notes) == bool(left_out)
    if left_out:
        with pytest.raises(InvalidBundle):
            import_files(whole, mappings, "b")


@given(st.lists(st.booleans(), min_size=9, max_size=9), st.booleans())
@settings(max_examples=examples(60))
def test_rows_that_lost_what_they_refer_to_go_too(bad: list[bool], zipped: bool) -> None:
    chunks = [{**row, "chunk_index": "x"} if wrong else row for row, wrong in zip(CHUNKS, bad, strict=True)]
    kept = [row for row, wrong in zip(CHUNKS, bad, strict=True) if not wrong]
    keys = {(row["document_id"], row["chunk_index"]) for row in kept}
    queries = [row for row in QUERIES if (row["gold"][0]["document_id"], row["gold"][0]["chunk_index"]) in keys]  # type: ignore[index]
    names = {row["query_id"] for row in queries}
    hits = [row for row in HITS if row["query_id"] in names and ("d1", row["retrieved"][0]["chunk_index"]) in keys]  # type: ignore[index]
    if not kept:
        return
    files = {"chunks.jsonl": as_lines(chunks), "queries.jsonl": as_lines(QUERIES), "retrievals.jsonl": as_lines(HITS)}
    sound = {"chunks.jsonl": as_lines(kept), "queries.jsonl": as_lines(queries) or b"\n", "retrievals.jsonl": as_lines(hits) or b"\n"}
    given_files = [("b.zip", as_zip(files))] if zipped else list(files.items())
    found = import_files(given_files, None, "b", valid_only=True)
    expected = import_files([("b.zip", as_zip(sound))], None, "b").bundle
    assert found.bundle == expected


def test_a_lost_hit_of_a_flat_table_takes_only_its_own_row() -> None:
    chunks = as_csv([{"doc": "a", "chunk_no": at, "text": f"t{at}"} for at in range(3)])
    rows = [{"query_id": "q", "query": "why?", "doc": "a", "chunk_no": at, "score": 9 - at} for at in (0, 7, 2)]
    reading = import_files([("c.csv", chunks), ("h.csv", as_csv(rows))], valid_only=True)
    assert [hit.chunk_index for hit in reading.bundle.queries[0].retrieved] == [0, 2]
    assert "h.csv: left out 1 row with a problem" in reading.notes


def test_a_file_damaged_as_a_whole_has_no_valid_part() -> None:
    with pytest.raises(InvalidBundle, match=r"x\.json line 1, column 3: is not valid JSON"):
        import_files([("x.json", b"[{")], valid_only=True)
    with pytest.raises(InvalidBundle, match=r"x\.json"):
        import_files([("c.csv", as_csv(CHUNKS)), ("x.json", b"[{")], valid_only=True)


def test_a_preview_shows_what_a_load_would_do() -> None:
    rows = [{"doc": "a", "chunk_no": at, "body": f"text {at}"} for at in range(30)] + [{"doc": "a", "chunk_no": "x", "body": "y"}]
    found = preview([("faq.csv", as_csv(rows))])
    (file,) = found.files
    assert (found.name, file.file, file.understood, file.shape) == ("faq", "faq.csv", "chunks, by its columns", None)
    assert file.mapping is not None
    assert dict(file.mapping.columns) == {"document_id": "doc", "chunk_index": "chunk_no", "text": "body"}
    assert (len(file.rows), file.rows[0], file.row_count, file.failing, file.unit) == (
        20,
        (2, {"doc": "a", "chunk_no": "0", "body": "text 0"}),
        31,
        1,
        "line",
    )
    assert [str(problem) for problem in found.problems] == ["faq.csv line 32, chunk_index (chunk_no): must be a whole number, got 'x'"]
    assert found.counts == {}
    sound = preview([("faq.csv", as_csv(rows[:-1]))])
    assert sound.counts == {"documents": 1, "chunks": 30, "queries": 0, "answers": 0}


def test_tables_of_the_same_name_are_told_apart() -> None:
    packed = as_zip({"a/x.csv": as_csv(CHUNKS[:3]), "b/x.csv": as_csv(CHUNKS[3:])})
    assert [file.file for file in preview([("p.zip", packed)]).files] == ["x.csv", "x.csv (2)"]
    assert len(import_files([("p.zip", packed)]).bundle.chunks) == 9


def test_a_mapping_for_no_file_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"a mapping is for 'y.csv', but the files are x.csv"):
        import_files([("x.csv", as_csv(CHUNKS))], {"y.csv": ColumnMapping("chunks", {"text": "text"})})


def test_documents_of_their_own_file_come_before_those_of_the_chunks() -> None:
    chunks = [{**row, "title": "from chunks"} for row in CHUNKS]
    documents = as_csv([{"doc_id": f"d{at}", "title": f"Title {at}"} for at in range(3)])
    bundle = import_files([("c.csv", as_csv(chunks)), ("d.csv", documents)]).bundle
    assert [document.title for document in bundle.documents] == ["Title 0", "Title 1", "Title 2"]
    assert (
        "must name a document of d.csv, got 'd2'" in problems_of(("c.csv", as_csv(chunks)), ("d.csv", documents.replace(b"d2", b"e2")))[0]
    )


def test_a_written_bundle_is_imported_equal(tmp_path: Any) -> None:
    bundle = load_bundle_bytes(as_zip(BUNDLE), "b.zip")
    files = [(path.name, path.read_bytes()) for path in write_bundle(bundle, tmp_path)]
    assert import_files(files, None, "b").bundle == bundle


@pytest.mark.parametrize("name", ["debfaq-nl", "codebase"])
def test_real_chunks_come_through_every_format(name: str) -> None:
    if real_folder() is None:
        pytest.skip("the real bundles are not beside the project; CTXASM_DATA names another folder")
    chunks = load_real(name).chunks
    rows: list[dict[str, Any]] = []
    for chunk in chunks:
        place = {} if chunk.start is None else {"start": chunk.start, "end": chunk.end}
        rows.append({"doc_id": chunk.document_id, "nr": chunk.chunk_index, "content": chunk.text, **place})
    mapping = {"": ColumnMapping("chunks", {"chunk_index": "nr"}, guess_rest=True)}
    expected = [(chunk.document_id, chunk.chunk_index, chunk.text, chunk.start, chunk.end) for chunk in chunks]
    for file, data in {"x.csv": as_csv(rows, ";", "utf-16"), "x.parquet": as_parquet(rows), "x.json": as_json(rows)}.items():
        found = import_files([(file, data)], mapping).bundle.chunks
        assert [(chunk.document_id, chunk.chunk_index, chunk.text, chunk.start, chunk.end) for chunk in found] == expected, file
