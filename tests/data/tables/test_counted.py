"""Tables without a chunk_index: LangChain's and LlamaIndex's own, guessed, counted by an order that is known, and copied."""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from user_tables import Place

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config, shipped
from ctxasm.data.files import load_bundle
from ctxasm.data.paths import Path, read_paths, written_paths
from ctxasm.data.tables.checks import RowCounter
from ctxasm.data.tables.connecting import check_mapping, copy_table, explain, guess_mapping, link, preview, statements, table_mapping
from ctxasm.model.errors import InvalidInput
from ctxasm.model.records import Bundle
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.database import MemoryStore
from ctxasm.text.tokens import open_counter
from tests.real_data import load_real, real_folder

ONE, OTHER = uuid.UUID(int=1), uuid.UUID(int=2)


def opened(place: Place) -> Workbench:
    return Workbench(Config("sqlite://", connections={"own": place.table(None)}), MemoryStore(open_counter()))


@pytest.fixture
def workbench(place: Place) -> Iterator[Workbench]:
    found = opened(place)
    yield found
    found.close()


@pytest.fixture
def stock(vector_place: Place) -> Iterator[tuple[Place, Workbench]]:
    vector_place.run(  # as langchain-postgres and llama-index-vector-stores-postgres create them
        "CREATE TABLE langchain_pg_collection (uuid uuid PRIMARY KEY, name varchar UNIQUE NOT NULL, cmetadata json)",
        "CREATE TABLE langchain_pg_embedding (id varchar PRIMARY KEY, collection_id uuid REFERENCES langchain_pg_collection (uuid) "
        "ON DELETE CASCADE, embedding vector, document varchar, cmetadata jsonb)",
        "CREATE INDEX ix_cmetadata_gin ON langchain_pg_embedding USING gin (cmetadata jsonb_path_ops)",
        "CREATE TABLE data_docs (id bigserial PRIMARY KEY, text varchar NOT NULL, metadata_ json, node_id varchar, embedding vector(3))",
        f"INSERT INTO langchain_pg_collection VALUES ('{ONE}', 'docs'), ('{OTHER}', 'other')",
    )
    found = opened(vector_place)
    yield vector_place, found
    found.close()


def langchain_rows(metadata: list[dict[str, object]], collection: uuid.UUID = ONE) -> list[tuple[object, ...]]:
    texts = [f"Short {each['source']} {number}" for number, each in enumerate(metadata)]
    rows = [(str(uuid.uuid4()), collection, "[1,2,3]", text, json.dumps(each)) for text, each in zip(texts, metadata, strict=True)]
    random.Random(5).shuffle(rows)
    return rows


def texts(workbench: Workbench, name: str) -> dict[str, list[str]]:
    dataset = workbench.dataset(name)
    found = {document.document_id: dataset.document_chunks(document.document_id) for document in dataset.documents()}
    assert all([chunk.chunk_index for chunk in chunks] == list(range(len(chunks))) for chunks in found.values())
    return {document_id: [chunk.text for chunk in chunks] for document_id, chunks in found.items()}


def test_langchain_s_table_needs_no_mapping(stock: tuple[Place, Workbench]) -> None:
    place, workbench = stock
    starts = [{"source": f"{'ab'[n % 2]}.html", "title": f"Page {'ab'[n % 2]}", "start_index": 45 * (n // 2)} for n in range(26)]
    place.fill("langchain_pg_embedding", langchain_rows([dict(each) for each in starts]))
    mapping = guess_mapping(workbench, "own", "langchain_pg_embedding")
    assert dict(mapping.fields) == {
        "document_id": "cmetadata->>'source'",
        "order_by": "cmetadata->>'start_index'",
        "text": "document",
        "embedding": "embedding",
        "title": "cmetadata->>'title'",
        "source": "cmetadata->>'source'",
    }
    assert mapping.missing == ()
    report = copy_table(workbench, "own", mapping, "docs")
    assert report.notes == ("chunk_index counts the rows of each document by cmetadata->>'start_index'",)
    assert texts(workbench, "docs") == {f"{d}.html": [f"Short {d}.html {n}" for n in range("ab".index(d), 26, 2)] for d in "ab"}
    assert [(d.title, d.source) for d in workbench.dataset("docs").documents()] == [("Page a", "a.html"), ("Page b", "b.html")]


def test_offsets_that_begin_anew_on_each_page_follow_their_page(stock: tuple[Place, Workbench]) -> None:
    place, workbench = stock
    metadata: list[dict[str, object]] = [
        {"source": "a.pdf", "page": page, "start_index": start} for page in range(12) for start in (0, 80, 640)
    ]
    place.fill("langchain_pg_embedding", langchain_rows(metadata))
    mapping = guess_mapping(workbench, "own", "langchain_pg_embedding")
    assert mapping.fields["order_by"] == "cmetadata->>'page', cmetadata->>'start_index'"
    copy_table(workbench, "own", mapping, "docs")
    assert texts(workbench, "docs") == {"a.pdf": [f"Short a.pdf {n}" for n in range(36)]}


def test_a_key_that_tells_no_order_is_said(stock: tuple[Place, Workbench]) -> None:
    place, workbench = stock
    place.fill("langchain_pg_embedding", langchain_rows([{"source": "a"}, {"source": "a"}]))
    mapping = guess_mapping(workbench, "own", "langchain_pg_embedding")
    assert mapping.fields["order_by"] == "id"
    first, second, third, last = copy_table(workbench, "own", mapping, "docs").notes
    assert first == "chunk_index counts the rows of each document by id"
    assert second.startswith("id is a key that tells no order")
    assert third == "the order of 2 rows is not known: 0 follow another by the text that they share, and the rest is joined to nothing"
    assert last.startswith("no chunk has a neighbour")
    ids = [row[0] for row in place.ask("SELECT document FROM langchain_pg_embedding ORDER BY id")]
    assert [(c.chunk_index, c.text) for c in workbench.dataset("docs").document_chunks("a")] == [(0, ids[0]), (2, ids[1])]


def test_several_collections_are_said(stock: tuple[Place, Workbench]) -> None:
    place, workbench = stock
    for collection in (ONE, OTHER):
        place.fill("langchain_pg_embedding", langchain_rows([{"source": "a", "start_index": n} for n in range(3)], collection))
    found = check_mapping(workbench, "own", guess_mapping(workbench, "own", "langchain_pg_embedding"))
    warned = next(finding for finding in found.findings if finding.field == "document_id")
    assert warned.sentence.startswith("2 collections stand in this table")
    place.run(warned.remedy)
    view = guess_mapping(workbench, "own", "one_collection")
    assert copy_table(workbench, "own", view, "one").info.chunks == 3
    assert check_mapping(workbench, "own", view).problems == ()


def test_llamaindex_s_table_needs_no_mapping(stock: tuple[Place, Workbench]) -> None:
    place, workbench = stock
    rows = []
    for number in range(25):
        of = f"doc-{number % 2}"
        content = json.dumps({"id_": f"n{number}", "relationships": {"1": {"node_id": of}}, "text": "", "start_char_idx": number})
        metadata = {"file_name": f"{of}.md", "page_label": "i", "_node_content": content, "_node_type": "TextNode"}
        rows.append(
            (
                number + 1,
                f"Text {number}",
                json.dumps(metadata | dict.fromkeys(("document_id", "doc_id", "ref_doc_id"), of)),
                f"n{number}",
                "[1,2,3]",
            )
        )
    place.fill("data_docs", rows[::-1])
    mapping = guess_mapping(workbench, "own", "data_docs")
    assert {name: mapping.fields.get(name) for name in ("document_id", "text", "order_by", "source", "start", "chunk_index")} == {
        "document_id": "metadata_->>'document_id'",
        "text": "text",
        "order_by": "id",
        "source": "metadata_->>'file_name'",
        "start": None,
        "chunk_index": None,
    }
    report = copy_table(workbench, "own", mapping, "docs")
    assert report.notes == ("chunk_index counts the rows of each document by id",)
    assert texts(workbench, "docs") == {f"doc-{d}": [f"Text {n}" for n in range(d, 25, 2)] for d in (0, 1)}


def test_nodes_without_a_source_fall_back_to_their_file(stock: tuple[Place, Workbench]) -> None:
    place, workbench = stock
    none = dict.fromkeys(("document_id", "doc_id", "ref_doc_id"), "None")
    place.fill("data_docs", [(1, "One", json.dumps(none | {"file_name": "a.md"}), "n", "[1,2,3]")])
    assert guess_mapping(workbench, "own", "data_docs").fields["document_id"] == "metadata_->>'file_name'"
    place.run('UPDATE data_docs SET metadata_ = \'{"x": "y"}\'')
    mapping = guess_mapping(workbench, "own", "data_docs")
    assert mapping.missing == ("document_id",)
    with pytest.raises(InvalidInput, match=r"must say where document_id .*metadata->>'source'.* can be found in table 'data_docs'"):
        copy_table(workbench, "own", mapping, "docs")
    assert workbench.datasets() == []


def contiguous(bundle: Bundle) -> Bundle:
    seen: Counter[str] = Counter()
    places = {}
    for chunk in sorted(bundle.chunks, key=lambda chunk: (chunk.document_id, chunk.chunk_index)):
        places[chunk.document_id, chunk.chunk_index] = seen[chunk.document_id]
        seen[chunk.document_id] += 1
    chunks = tuple(replace(chunk, chunk_index=places[chunk.document_id, chunk.chunk_index]) for chunk in bundle.chunks)
    queries = tuple(
        replace(
            query,
            gold=(),
            retrieved=tuple(
                replace(hit, chunk_index=places[hit.document_id, hit.chunk_index])
                for hit in query.retrieved
                if (hit.document_id, hit.chunk_index) in places
            ),
        )
        for query in bundle.queries
    )
    return replace(bundle, chunks=chunks, queries=queries)


def test_where_the_order_is_known_a_copy_assembles_as_the_bundle(place: Place, workbench: Workbench) -> None:
    bundle = contiguous(load_bundle(shipped("sample_data/hospital-nl")))
    about = {document.document_id: document for document in bundle.documents}
    json_type = "text" if place.kind == "sqlite" else "jsonb"
    place.run(f"CREATE TABLE t (id text PRIMARY KEY, content text, s integer, e integer, meta {json_type})")
    rows = []
    for chunk in bundle.chunks:
        own = about[chunk.document_id]
        known = {"doc_id": chunk.document_id, "n": str(7 * chunk.chunk_index), "page": chunk.page_number, "section": chunk.section}
        known |= {"row": chunk.row_number, "title": own.title, "source": own.source, "summary": own.summary, "date": own.date}
        rows.append((uuid.uuid4().hex, chunk.text, chunk.start, chunk.end, json.dumps(known)))
    place.fill("t", random.Random(1).sample(rows, len(rows)))
    fields = {"document_id": "meta.doc_id", "text": "content", "order_by": "meta.n", "start": "s", "end": "e", "page_number": "meta.page"}
    fields |= {"row_number": "meta.row"} | {name: f"meta.{name}" for name in ("section", "title", "source", "summary", "date")}
    copy_table(workbench, "own", table_mapping("t", fields), "copy")
    workbench.store.add(bundle, "loaded")
    for query in bundle.queries[::5]:
        for settings in (AssemblySettings(), AssemblySettings(expand_window=2, max_tokens=900, format="xml")):
            first, second = (workbench.assemble(query, settings, name).to_dict() for name in ("loaded", "copy"))
            for each in (first, second):
                each.pop("fetch")
                for stage in each["stages"]:
                    stage.pop("elapsed_ms")
            assert second == first


def as_langchain(bundle: Bundle, place: Place) -> None:
    """The chunks as rows under random keys, in random order, with nothing that numbers them: as LangChain's stores keep them."""
    kind = "text" if place.kind == "sqlite" else "jsonb"
    place.run(f"CREATE TABLE langchain_pg_embedding (id varchar(36) PRIMARY KEY, document text, cmetadata {kind})")
    draw = random.Random(11)
    rows = [(str(uuid.UUID(int=draw.getrandbits(128))), c.text, json.dumps({"source": c.document_id})) for c in bundle.chunks]
    draw.shuffle(rows)
    place.fill("langchain_pg_embedding", rows)


@pytest.mark.skipif(real_folder() is None, reason="the real bundles are not beside the project")
@pytest.mark.parametrize("name", ["debfaq-nl", "codebase"])
def test_real_chunks_of_unknown_order_are_joined_where_they_share_text_and_nowhere_else(place: Place, name: str) -> None:
    bundle = load_real(name)
    keep = {document.document_id for document in bundle.documents[:12]}
    chunks = tuple(chunk for chunk in bundle.chunks if chunk.document_id in keep)
    as_langchain(replace(bundle, chunks=chunks), place)
    workbench = opened(place)
    mapping = guess_mapping(workbench, "own", "langchain_pg_embedding")
    assert mapping.fields["order_by"] == "id"
    report = copy_table(workbench, "own", mapping, "copy")
    places: dict[tuple[str, str], set[int]] = {}
    for chunk in chunks:
        places.setdefault((chunk.document_id, chunk.text), set()).add(chunk.chunk_index)
    right = wrong = 0
    for document_id in keep:
        own = workbench.dataset("copy").document_chunks(document_id)
        for before, after in pairwise(own):
            if after.chunk_index == before.chunk_index + 1:
                follows = {index + 1 for index in places[document_id, before.text]} & places[document_id, after.text]
                right, wrong = right + bool(follows), wrong + (not follows)
    pairs = len(chunks) - len(keep)
    workbench.close()
    if name == "codebase":  # its chunks do not overlap
        assert right + wrong <= 0.02 * pairs
        assert any("0 follow another" in note for note in report.notes) == (right + wrong == 0)
    else:
        assert right >= 0.97 * pairs
        assert wrong == 0


MIXED = ["10", "9", "-3", "2.5", "b", "a", "100000000000", None]


@pytest.mark.parametrize("inside", [True, False])
def test_numbers_are_sorted_as_numbers_and_what_is_missing_last(place: Place, workbench: Workbench, inside: bool) -> None:
    json_type = "text" if place.kind == "sqlite" else "jsonb"
    place.run(f"CREATE TABLE t (k integer PRIMARY KEY, doc_id text, x text, o text, m {json_type})")
    numbers = [10, 9, -3, 2.5, "b", "a", 10**11, None]
    values = [number if inside else value for number, value in zip(numbers, MIXED, strict=True)]
    place.fill("t", [(n, "d", f"x{value}", None if inside else value, json.dumps({"o": value})) for n, value in enumerate(values)])
    mapping = table_mapping("t", {"document_id": "doc_id", "text": "x", "order_by": "m->>'o'" if inside else "o"})
    report = copy_table(workbench, "own", mapping, "copy")
    chunks = workbench.dataset("copy").document_chunks("d")
    assert [chunk.chunk_index for chunk in chunks] == [0, 1, 2, 3, 4, 5, 6, 8]  # where the last one stands is not known
    found = [chunk.text for chunk in chunks]
    whole = [text for text in found if text[1:] not in ("-3", "2.5")]
    assert whole == ["x9", "x10", "x100000000000", "xa", "xb", "xNone"]
    if inside:
        assert found[:3] == ["x-3", "x2.5", "x9"]
    assert report.notes[1] == "order_by is NULL in 1 of 8 rows: they stand last in their documents, joined only where they share text"


def test_a_tie_is_settled_by_the_key_and_rows_that_are_no_chunks_are_not_counted(place: Place, workbench: Workbench) -> None:
    place.run("CREATE TABLE t (k integer PRIMARY KEY, doc_id text, x text, o integer)")
    place.fill(
        "t",
        [(3, "d", "third", 1), (1, "d", "first", 1), (2, "d", None, 1), (4, None, "lost", 0), (5, "", "nameless", 0), (6, "d", "last", 2)],
    )
    mapping = guess_mapping(workbench, "own", "t")
    assert mapping.fields["order_by"] == "k"
    mapping = table_mapping("t", {"document_id": "doc_id", "text": "x", "order_by": "o"})
    notes = copy_table(workbench, "own", mapping, "copy").notes
    assert texts(workbench, "copy") == {"d": ["first", "third", "last"]}
    assert notes[:2] == ("document_id is NULL in 1 of 6 rows: they are left out", "text is NULL in 1 of 6 rows: they are left out")
    assert [chunk.chunk_index for chunk in preview(workbench, "own", mapping, 3)][-2:] in ([0, 1], [1, 2])


def test_counting_goes_on_over_batches_and_ends_at_the_limit(place: Place, workbench: Workbench) -> None:
    place.run("CREATE TABLE t (k integer PRIMARY KEY, doc_id text, content text)")
    place.fill("t", [(n, "ab"[n % 2], f"x{n}") for n in range(5000)])
    mapping = guess_mapping(workbench, "own", "t")
    report = copy_table(workbench, "own", mapping, "copy", limit=3001)
    assert report.info.chunks == 3001
    assert report.notes[-1] == "the copy ends at 3,001 rows: raise the limit for more"
    assert {name: len(found) for name, found in texts(workbench, "copy").items()} == {"a": 2500, "b": 501}


def test_it_is_not_linked(place: Place, workbench: Workbench) -> None:
    place.run("CREATE TABLE t (k integer PRIMARY KEY, doc_id text, content text)")
    place.fill("t", [(1, "d", "text")])
    mapping = guess_mapping(workbench, "own", "t")
    with pytest.raises(InvalidInput, match=r"'t' cannot be linked: .*copy it .*by k\), or add a column .*chunk_index"):
        link(workbench, "own", mapping, "mine")
    assert workbench.datasets() == []
    assert list(statements(workbench, "own", mapping)) == ["documents", "chunks"]
    assert "scan" in explain(workbench, "own", mapping).lower()


def test_a_table_of_documents_is_read_beside(place: Place, workbench: Workbench) -> None:
    place.run(
        "CREATE TABLE documents (id text PRIMARY KEY, title text)", "CREATE TABLE t (k integer PRIMARY KEY, document_id text, content text)"
    )
    place.fill("documents", [("d", "Title")])
    place.fill("t", [(1, "d", "text"), (2, "e", "text")])
    copy_table(workbench, "own", guess_mapping(workbench, "own", "t"), "copy")
    assert [(d.document_id, d.title) for d in workbench.dataset("copy").documents()] == [("d", "Title"), ("e", None)]


@pytest.mark.parametrize(
    ("order", "part"),
    [
        ("nowhere", "has no column 'nowhere'"),
        ("k, nowhere", "has no column 'nowhere'"),
        ("k,", "order_by must be a column"),
        ("k; DROP TABLE t", "order_by must be a column"),
        ("m->>'it''s, \"x\"', k desc", "order_by must be a column"),
        ("m", "order_by cannot be taken from column 'm'"),
    ],
)
def test_an_order_that_is_none_is_refused(place: Place, workbench: Workbench, order: str, part: str) -> None:
    json_type = "blob" if place.kind == "sqlite" else "jsonb"
    place.run(f"CREATE TABLE t (k integer PRIMARY KEY, doc_id text, x text, m {json_type})")
    with pytest.raises(InvalidInput, match=part.replace("*", ".")):
        copy_table(workbench, "own", table_mapping("t", {"document_id": "doc_id", "text": "x", "order_by": order}), "copy")
    assert place.ask("SELECT count(*) FROM t") == [(0,)]


def test_keys_with_quotes_and_commas_are_one_place(place: Place, workbench: Workbench) -> None:
    json_type = "text" if place.kind == "sqlite" else "jsonb"
    place.run(f"CREATE TABLE t (k integer PRIMARY KEY, doc_id text, x text, m {json_type})")
    place.fill("t", [(n, "d", f"x{n}", json.dumps({"it's, %": -n})) for n in range(3)])
    mapping = table_mapping("t", {"document_id": "doc_id", "text": "x", "order_by": "doc_id, m->>'it''s, %'"})
    copy_table(workbench, "own", mapping, "copy")
    assert texts(workbench, "copy") == {"d": ["x2", "x1", "x0"]}


named = st.text("ab,\"' é->", min_size=1, max_size=6)


@given(st.lists(st.tuples(named, st.lists(named, max_size=2)), min_size=1, max_size=4))
def test_places_are_listed_with_commas_and_read_again(given_places: list[tuple[str, list[str]]]) -> None:
    places = tuple(Path(column, tuple(keys)) for column, keys in given_places)
    assert read_paths(written_paths(places), [place.column for place in places], "order_by") == places


rows = st.tuples(st.sampled_from([None, "", "a", "b", 7]), st.sampled_from([None, "", "text"]))


@given(st.lists(rows, max_size=30))
def test_a_row_s_number_is_how_many_chunks_of_its_document_stand_before_it(found: list[tuple[Any, Any]]) -> None:
    found.sort(key=lambda row: str(row[0]))
    counted = list(RowCounter().counted((d, 0, text, "rest") for d, text in found))  # 0: their order is known
    chunks = [(d, text) for d, text in found if d not in (None, "") and text is not None]
    numbers = [sum(before[0] == d for before in chunks[:at]) for at, (d, _) in enumerate(chunks)]
    assert counted == [(d, number, text, "rest") for (d, text), number in zip(chunks, numbers, strict=True)]


def test_either_an_index_or_an_order() -> None:
    with pytest.raises(InvalidInput, match="either chunk_index or order_by"):
        table_mapping("t", {"document_id": "d", "chunk_index": "i", "text": "x", "order_by": "i"})
