"""Columns mapped to fields: guessed by name and values, the same whatever they are called and however they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.data.files.cells import FIELDS, ColumnMapping
from ctxasm.data.files.formats import read_rows
from ctxasm.data.files.guess import guess
from ctxasm.data.files.importing import OF_LIBRARIES, import_files
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.source import FileLimits
from ctxasm.data.names import FIELD_NAMES
from ctxasm.model.errors import InvalidBundle, InvalidInput
from ctxasm.model.records import Bundle, Chunk, Hit
from tests.data.files.tables import as_csv, as_json, as_lines, as_parquet
from tests.examples import examples

WORDS = "De balie opent om zeven uur en sluit om vijf uur, behalve op feestdagen."
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)


def rows_of(data: bytes, name: str) -> Rows:
    return read_rows(data, name, FileLimits())[0]


def guessed(rows: list[dict[str, Any]], name: str = "x.csv") -> dict[str, str]:
    data = as_csv(rows) if name.endswith(".csv") else as_json(rows)
    found = guess(rows_of(data, name))
    return {} if found is None else {"kind": found.kind, **found.columns}


def loaded(data: bytes, name: str, mapping: ColumnMapping | None = None) -> Bundle:
    return import_files([(name, data)], None if mapping is None else {"": mapping}, "b").bundle


@st.composite
def chunk_tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    rows = []
    for document in draw(st.lists(texts, min_size=1, max_size=3, unique=True)):
        fixed = {"document_id": f"id {document}", "title": draw(texts)}
        for index in range(draw(st.integers(1, 4))):
            page = draw(st.integers(0, 99))
            rows.append({**fixed, "chunk_index": index, "text": f"{WORDS} {draw(texts)}", "page_number": page, "lang": draw(texts)})
    return rows


@given(chunk_tables(), st.data())
@settings(max_examples=examples(60))
def test_names_order_and_format_of_columns_do_not_matter(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    expected = loaded(as_lines(rows), "x.jsonl")
    assert [(chunk.document_id, chunk.chunk_index, chunk.text, chunk.page_number) for chunk in expected.chunks] == [
        (row["document_id"], row["chunk_index"], row["text"], row["page_number"]) for row in rows
    ]
    order = data.draw(st.permutations(list(rows[0])))
    known = {name: [usual for usual in FIELD_NAMES[name][:8] if usual not in OF_LIBRARIES] for name in order if name != "lang"}
    usual = {name: data.draw(st.sampled_from(names)) for name, names in known.items()}
    renamed = [{usual.get(name, name): row[name] for name in order} for row in rows]
    assert loaded(as_csv(renamed, data.draw(st.sampled_from(",;\t|"))), "x.csv") == expected
    assert loaded(as_parquet(renamed), "x.parquet") == expected
    strange = {name: f"c{at}" for at, name in enumerate(order) if name != "lang"}
    mapping = ColumnMapping("chunks", strange)
    assert loaded(as_json([{strange.get(name, name): row[name] for name in order} for row in rows]), "x.json", mapping) == expected


@given(chunk_tables())
@settings(max_examples=examples(30))
def test_a_path_into_json_is_a_column(rows: list[dict[str, Any]]) -> None:
    deep = [
        {"text": row["text"], "metadata": {"doc": {"id": row["document_id"]}, "nr": row["chunk_index"], "lang": row["lang"]}}
        for row in rows
    ]
    mapping = ColumnMapping("chunks", {"text": "text", "document_id": "metadata.doc.id", "chunk_index": "metadata.nr"})
    found = loaded(as_json(deep), "x.json", mapping)
    assert [(chunk.document_id, chunk.chunk_index) for chunk in found.chunks] == [(row["document_id"], row["chunk_index"]) for row in rows]
    assert dict(found.chunks[0].metadata) == {"lang": rows[0]["lang"]}
    in_cells = [{**row, "metadata": json.dumps(row["metadata"])} for row in deep]
    assert loaded(as_csv(in_cells), "x.csv", mapping).chunks == found.chunks


@pytest.mark.parametrize("field", [field for field in FIELD_NAMES if field not in ("embedding", "tsvector", "retrieved")])
def test_every_usual_name_is_known(field: str) -> None:
    kind = next(kind for kind in FIELDS if field in FIELDS[kind])
    value = {"text": WORDS, "query": "Hoe laat?"}.get(field, "1")
    for name in [name for name in FIELD_NAMES[field] if (field, name) != ("rank", "position")]:
        base = {"chunks": {"tekst": WORDS}, "queries": {"vraag": "?"}}.get(kind, {"vraag": "?", "tekst": WORDS, "docid": "d"})
        row = {key: inner for key, inner in base.items() if field not in ("text", "query")} | {name: value}
        row |= {"start": {"end": "9"}, "end": {"start": "0"}}.get(field, {})
        found = guess(rows_of(as_csv([row, row]), "x.csv"), ColumnMapping(kind, {}))
        assert found is not None
        assert found.columns[field] == name
        assert found.reasons[field]


def test_values_decide_where_names_do_not() -> None:
    rows = [{"a": f"d{at // 3}", "b": at % 3, "c": f"{WORDS} {at}", "d": "nl"} for at in range(9)]
    assert guessed(rows) == {"kind": "chunks", "text": "c"}
    found = guess(rows_of(as_csv(rows), "x.csv"))
    assert found is not None
    assert found.reasons["text"] == "by its values: the longest texts"
    known = [{"doc": row["a"], "b": row["b"], "c": row["c"]} for row in rows]
    assert guessed(known) == {"kind": "chunks", "document_id": "doc", "chunk_index": "b", "text": "c"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "Why?", "doc": "a", "idx": 0, "passage": "x", "similarity": 0.5}, "retrievals"),
        ({"qid": "1", "docid": "a", "rank": 1}, "retrievals"),
        ({"question": "Why?", "answer": "So."}, "queries"),
        ({"query_id": "1", "answer": "So [1]."}, "answers"),
        ({"doc_id": "1", "title": "T", "url": "http://x"}, "documents"),
        ({"id": "1", "body": WORDS}, "chunks"),
        ({"document": WORDS, "cmetadata": '{"source": "a.pdf"}'}, "chunks"),
        ({"foo": 1, "bar": 2}, ""),
    ],
)
def test_what_a_table_holds(row: dict[str, Any], expected: str) -> None:
    assert guessed([row]).get("kind", "") == expected


def test_a_name_does_not_win_against_its_values() -> None:
    found = guessed([{"document": f"{WORDS} {at}", "page": "n.v.t.", "position": "links", "id": at} for at in range(3)])
    assert found == {"kind": "chunks", "document_id": "id", "text": "document"}


def test_one_wrong_row_does_not_hide_a_column() -> None:
    rows = [{"doc": "a", "nr": at, "chunk_no": str(at) if at != 2 else "x", "text": WORDS} for at in range(4)]
    with pytest.raises(InvalidBundle) as caught:
        loaded(as_csv(rows), "x.csv")
    assert [str(problem) for problem in caught.value.problems] == ["x.csv line 4, chunk_index (chunk_no): must be a whole number, got 'x'"]


def test_what_is_missing_is_derived_and_said() -> None:
    reading = import_files([("x.csv", as_csv([{"text": f"{WORDS} {at}", "url": f"http://{at % 2}"} for at in range(4)]))])
    assert [(chunk.document_id, chunk.chunk_index) for chunk in reading.bundle.chunks] == [
        ("http://0", 0),
        ("http://1", 0),
        ("http://0", 1),
        ("http://1", 1),
    ]
    assert "x.csv: no column gives document_id, so rows with the same 'url' are one document" in reading.notes
    assert "x.csv: no column gives chunk_index, so it counts the rows of each document in their order" in reading.notes
    alone = import_files([("x.csv", as_csv([{"text": WORDS}]))])
    assert (alone.bundle.chunks[0].document_id, alone.bundle.chunks[0].chunk_index) == ("x.csv line 2", 0)
    assert any("every row is a document of its own" in note for note in alone.notes)


def test_a_flat_table_makes_chunks_queries_and_retrievals_at_once() -> None:
    rows = [
        {"question": "Why?", "doc": "a", "chunk": 1, "text": "one", "score": 0.9, "title": "A", "run": "x", "seen": 1},
        {"question": "Why?", "doc": "b", "chunk": 0, "text": "two", "score": 0.5, "title": "B", "run": "x", "seen": 2},
        {"question": "How?", "doc": "a", "chunk": 1, "text": "one", "score": 0.7, "title": "A", "run": "x", "seen": 3},
    ]
    mapping = ColumnMapping("retrievals", {"chunk_index": "chunk"}, guess_rest=True)
    bundle = loaded(as_csv(rows), "x.csv", mapping)
    assert bundle.chunks == (Chunk("a", 1, "one", metadata={"run": "x"}), Chunk("b", 0, "two", metadata={"run": "x", "seen": "2"}))
    assert [(query.query, query.retrieved) for query in bundle.queries] == [
        ("Why?", (Hit("a", 1, 0.9), Hit("b", 0, 0.5))),
        ("How?", (Hit("a", 1, 0.7),)),
    ]
    assert [document.title for document in bundle.documents] == ["A", "B"]


@pytest.mark.parametrize(
    ("column", "values", "scores", "said"),
    [
        ("distance", [0.25, 1.5], [0.75, -0.5], "1 − distance"),
        ("distance", [3, 7], [0.25, 0.125], "1 / (1 + distance)"),
        ("distance", [-9.5, -2], [9.5, 2], "negative inner product"),
        ("rank", [1, 2], [1.0, 0.5], "it is 1 / rank"),
        ("score", ["0,5", "0,25"], [0.5, 0.25], ""),
        ("other", ["x", "y"], [1.0, 0.5], "taken as ranked"),
    ],
)
def test_scores_are_higher_for_better(column: str, values: list[Any], scores: list[float], said: str) -> None:
    rows = [{"query": "q", "doc": "d", "chunk_index": at, "text": f"t{at}", column: value} for at, value in enumerate(values)]
    reading = import_files([("x.csv", as_csv(rows, ";"))])
    assert [hit.score for hit in reading.bundle.queries[0].retrieved] == scores
    assert said in " ".join(reading.notes)


def test_position_within_a_query_is_a_rank() -> None:
    rows = [{"question": f"q{at // 3}", "doc": "a", "text": f"t{at}", "position": at % 3 + 1, "score": 1} for at in range(6)]
    assert guessed(rows)["rank"] == "position"
    assert "chunk_index" not in guessed(rows)


def test_vectors_are_left_out_and_metadata_is_kept() -> None:
    rows = [{"text": WORDS, "embedding": [0.1] * 32, "metadata": {"page": 3, "k": None}, "lang": "nl"}]
    reading = import_files([("x.json", as_json(rows))])
    (chunk,) = reading.bundle.chunks
    assert (chunk.page_number, dict(chunk.metadata)) == (3, {"k": None, "lang": "nl"})
    assert any("left out, because no record needs vectors: 'embedding'" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("cell", "metadata"),
    [
        ('{"a": 1e999}', {"metadata": '{"a": 1e999}'}),
        ('{"a": NaN}', {"metadata": '{"a": NaN}'}),
        ('{"a": "\\ud800\\u0000"}', {"a": "\ufffd\ufffd"}),
        ('{"a": 1, "a": 2}', {"metadata": '{"a": 1, "a": 2}'}),
        ('{"a": ' * 200 + "1" + "}" * 200, {"metadata": '{"a": ' * 200 + "1" + "}" * 200}),
        ('{"a": [1]}', {"a": [1]}),
    ],
)
def test_json_in_a_cell_is_strict_json_or_a_text(cell: str, metadata: dict[str, Any]) -> None:
    (chunk,) = loaded(as_csv([{"text": WORDS, "metadata": cell}]), "x.csv").chunks
    assert dict(chunk.metadata) == metadata


def test_rows_of_one_document_that_do_not_agree() -> None:
    reading = import_files([("x.csv", as_csv([{"doc": "a", "text": "x", "title": "one"}, {"doc": "a", "text": "y", "title": "two"}]))])
    assert reading.bundle.documents[0].title == "one"
    assert "x.csv: title differs within 1 documents; the first of each is kept" in reading.notes


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        (
            ColumnMapping("chunk", {"text": "text"}),
            "the kind of x.csv must be one of chunks, documents, queries, retrievals, answers, got 'chunk'",
        ),
        (ColumnMapping("chunks", {"text": "body"}), "x.csv has no column 'body' for text: it has 'text', 'b'"),
        (ColumnMapping("chunks", {"text": "text", "query": "b"}), "chunks have no field 'query': map one of document_id, chunk_index"),
        (ColumnMapping("chunks", {"title": "b"}), "x.csv as chunks needs a column for text: map one, as in text=COLUMN"),
        (ColumnMapping("retrievals", {}, guess_rest=True), "x.csv as retrievals needs a column for query or query_id"),
    ],
)
def test_a_mapping_that_does_not_fit(mapping: ColumnMapping, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        loaded(as_csv([{"text": "1", "b": "2"}]), "x.csv", mapping)
    assert str(caught.value).startswith(words)


def test_a_key_in_a_log_is_not_kept() -> None:
    hit = {"id": "a", "text": "Mooring costs twelve euros.", "shelf": "b2", "request": {"Authorization": "Bearer sk-1"}}
    row = {"question": "What does it cost?", "hits": [hit], "answer": "Twelve.", "api_key": "sk-1", "run": "r7"}
    found = import_files([("log.json", json.dumps([row]).encode())]).bundle
    assert "sk-1" not in repr(found)
    assert found.queries[0].metadata["run"] == "r7"
    assert found.chunks[0].metadata["shelf"] == "b2"
