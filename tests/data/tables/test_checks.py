"""What a mapping is guessed from, what it finds in its table, and the index that is missing."""

from __future__ import annotations

import json
from functools import cache

import pytest
from user_tables import Place

from ctxasm import Hit, MemoryStore, Query, assemble
from ctxasm.app.fates import unexpanded
from ctxasm.app.workbench import Workbench
from ctxasm.config import Config
from ctxasm.data.tables import connecting
from ctxasm.data.tables.catalogue import details, sample, tables
from ctxasm.data.tables.checks import check_mapping
from ctxasm.data.tables.mapping import DocumentsTable, TableMapping, guess_mapping, numbered_by_order, read_mapping, written_mapping
from ctxasm.data.tables.session import OwnDatabase
from ctxasm.model.errors import InvalidInput, NotFound
from ctxasm.model.events import NoNeighbours, Unexpanded
from ctxasm.text.tokens import open_counter

FIELDS = {"document_id": "doc_id", "chunk_index": "chunk_index", "text": "content"}
MAPPING = TableMapping("chunks", FIELDS)


def jsonb(place: Place) -> str:
    return "json" if place.kind == "sqlite" else "jsonb"


def make_chunks(place: Place, rows: list[tuple[object, ...]], index: str = "integer") -> None:
    place.run(f"CREATE TABLE chunks (id integer PRIMARY KEY, doc_id text, chunk_index {index}, content text)")
    place.fill("chunks", [(number, *row) for number, row in enumerate(rows)])


def test_tables_with_estimates(place: Place, own_database: OwnDatabase) -> None:
    make_chunks(place, [("a", 0, "x"), ("a", 1, "y")])
    place.run("CREATE VIEW seen AS SELECT * FROM chunks", "CREATE TABLE ctxasm_chunks (place integer)")
    if place.kind != "sqlite":
        place.run("ANALYZE chunks")
    found = tables(own_database)
    assert [(info.name, info.kind, info.rows) for info in found] == [("chunks", "table", 2), ("seen", "view", None)]


def test_a_large_sqlite_table_is_not_counted_through(place: Place, own_database: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    if place.kind != "sqlite":
        pytest.skip("PostgreSQL keeps estimates")
    monkeypatch.setattr("ctxasm.data.tables.catalogue.COUNTED_ROWS", 2)
    make_chunks(place, [("a", number, "x") for number in range(9)])
    place.run("CREATE TABLE other (k text PRIMARY KEY) WITHOUT ROWID", "INSERT INTO other VALUES ('a'), ('b'), ('c'), ('d')")
    assert [(info.rows, info.exact, info.more) for info in tables(own_database)] == [(8, False, False), (2, False, True)]


def test_columns_and_sample(place: Place, own_database: OwnDatabase) -> None:
    place.run(f"CREATE TABLE t (id integer PRIMARY KEY, d text NOT NULL, m {jsonb(place)}, f real)")
    place.fill("t", [(number, "x" * 3000, json.dumps({"k": "y" * 3000}), 0.5) for number in range(30)])
    found = details(own_database, "t")
    assert [(c.name, c.kind, c.nullable, c.key) for c in found.columns.values()] == [
        ("id", "whole", place.kind == "sqlite", True),
        ("d", "text", False, False),
        ("m", "json", True, False),
        ("f", "number", True, False),
    ]
    rows = sample(own_database, found)
    assert (rows.columns, len(rows.rows)) == (("id", "d", "m", "f"), 20)
    assert [len(value or "") for value in rows.rows[0][1:3]] == [1000, len(json.dumps({"k": "y" * 3000}))]


def test_a_table_that_is_not_there(place: Place, own_database: OwnDatabase) -> None:
    place.run("CREATE TABLE there (id integer)")
    for name in ("gone", "'; DROP TABLE there; --", "nul\x00"):
        with pytest.raises(NotFound, match=r"has no table .*: it has '(\w+\.)?there'"):
            details(own_database, name)


def test_names_and_types_make_a_guess(place: Place, own_database: OwnDatabase) -> None:
    own = f'"documentId" integer REFERENCES documents (id), "Chunk-Index" integer, page_content text, meta {jsonb(place)}'
    place.run(
        "CREATE TABLE documents (id integer PRIMARY KEY, title text, url text, created_at date)",
        f"CREATE TABLE passages (id integer, {own})",
        "INSERT INTO documents VALUES (1, 'Parking', 'parking.html', '2026-01-02')",
    )
    metadata = {"page_summary": "About parking.", "loc": {"page_number": 3}, "tags": ["a"], "title": "ignored"}
    place.fill("passages", [(10, 1, 0, "The car park is open.", json.dumps(metadata))])
    found = guess_mapping(own_database, "passages")
    assert found.missing == ()
    assert found.fields == {
        "document_id": "documentId",
        "chunk_index": "Chunk-Index",
        "text": "page_content",
        "page_number": "meta->'loc'->>'page_number'",
        "summary": "meta->>'page_summary'",
    }
    fields = {"document_id": "id", "title": "title", "source": "url", "date": "created_at"}
    assert found.documents == DocumentsTable("documents", fields)


def test_what_cannot_be_guessed_is_left_to_choose(place: Place, own_database: OwnDatabase) -> None:
    place.run("CREATE TABLE t (a integer, b text)")
    place.fill("t", [(1, "A text that is long enough to be what people read in a chunk.")])
    found = guess_mapping(own_database, "t")
    assert (dict(found.fields), found.missing) == ({"text": "b"}, ("document_id", "chunk_index"))
    with pytest.raises(InvalidInput, match=r"must say where document_id .* and chunk_index .*order_by.* can be found in table 't'"):
        check_mapping(own_database, found)


def test_the_text_is_no_address_and_no_json(place: Place, own_database: OwnDatabase) -> None:
    place.run("CREATE TABLE t (a text, b text, c text)")
    said, address = "A text that is long enough to be what people read.", "https://example.org/" + "x" * 200
    place.fill("t", [(json.dumps({"note": "y " * 300}), address, said)])
    assert dict(guess_mapping(own_database, "t").fields) == {"text": "c"}
    place.run("CREATE TABLE u (a text)")
    place.fill("u", [("公園の駐車場は一晩中開いています。" * 4,)])
    assert dict(guess_mapping(own_database, "u").fields) == {"text": "a"}


def test_a_sound_table_has_no_findings(place: Place, own_database: OwnDatabase) -> None:
    make_chunks(place, [("a", 0, "x"), ("a", 1, "y"), ("b", 0, "z")])
    place.run("CREATE UNIQUE INDEX own ON chunks (doc_id, chunk_index)")
    found = check_mapping(own_database, MAPPING)
    assert (found.rows, found.whole, found.usable_rows, found.estimate, found.findings) == (3, True, 3, 3, ())


def test_every_row_that_is_no_chunk_is_counted(place: Place, own_database: OwnDatabase) -> None:
    rows: list[tuple[object, ...]] = [
        (None, "0", "x"),
        ("a", None, "x"),
        ("a", "-1", "x"),
        ("a", "x", "x"),
        ("a", "1.5", "x"),
        ("a", "2", None),
    ]
    make_chunks(place, [*rows, ("a", "3", ""), ("a", "0", "x"), ("a", "0", "y"), ("a", "0", "z"), ("b", "7", "w")], index="text")
    found = check_mapping(own_database, MAPPING)
    told = [(finding.kind, finding.field, finding.sentence) for finding in found.findings]
    assert told[-2][:2] == ("warning", "chunk_index")
    assert told[-2][2].startswith("no chunk has a neighbour, so expansion adds nothing: no chunk_index follows another")
    assert told[:-2] == [
        ("problem", "document_id", "document_id is NULL in 1 of 11 rows: they are left out"),
        ("problem", "chunk_index", "chunk_index is NULL in 1 of 11 rows: they are left out"),
        ("problem", "chunk_index", "chunk_index is no whole number from 0 on in 3 of 11 rows: they are left out"),
        ("problem", "text", "text is NULL in 1 of 11 rows: they are left out"),
        ("problem", "text", "text is empty in 1 of 11 rows: they are never shown"),
        (
            "problem",
            "chunk_index",
            "1 chunks stand more than once of 11 rows (chunk 0 of document 'a' stands 3 times): of each only the first by text is read",
        ),
    ]
    assert (found.usable_rows, found.usable) == (4, True)


def test_an_empty_table(place: Place, own_database: OwnDatabase) -> None:
    make_chunks(place, [])
    found = check_mapping(own_database, MAPPING)
    assert not found.usable
    assert "the table has no rows" in [finding.sentence for finding in found.findings]


def test_a_missing_index_is_told_with_what_makes_it(place: Place, own_database: OwnDatabase) -> None:
    make_chunks(place, [("a", number, "x") for number in range(2500)])
    finding = check_mapping(own_database, MAPPING).findings[-1]
    assert (finding.kind, finding.field) == ("warning", "index")
    concurrently = "" if place.kind == "sqlite" else "CONCURRENTLY "
    assert finding.remedy == f'CREATE INDEX {concurrently}"chunks_document_id_chunk_index" ON "chunks" ("doc_id", "chunk_index");'
    assert len(own_database.rows("SELECT 1 FROM chunks LIMIT 1", {})) == 1
    place.run(finding.remedy)
    assert check_mapping(own_database, MAPPING).findings == ()


@cache
def rows_with_a_document() -> list[tuple[int, str, str]]:
    """More than are read without an index."""
    names = [f"d{n % 500}" for n in range(2500)]
    return [(n, "x", json.dumps({"doc": name, "at": {"doc": name}, "list": [name], "i": n // 500})) for n, name in enumerate(names)]


@pytest.mark.parametrize("document", ["m->>'doc'", "m->'at'->>'doc'", "m->'list'->>0"])
@pytest.mark.parametrize("position", ["i", "m->>'i'"])
@pytest.mark.parametrize("table", ["t", 'a "b" 100%; --', "x" * 63])
def test_the_index_on_an_expression_is_one_that_serves(
    place: Place, own_database: OwnDatabase, document: str, position: str, table: str
) -> None:
    own = place.quoted(table)
    place.run(f"CREATE TABLE {own} (i integer, {place.quoted('Het %s')} text, m {jsonb(place)})")
    place.fill(own, rows_with_a_document())
    mapping = TableMapping(table, {"document_id": document, "chunk_index": position, "text": "Het %s"})
    finding = check_mapping(own_database, mapping).findings[-1]
    assert finding.remedy.startswith("CREATE INDEX ")
    place.run(finding.remedy)
    rest = [finding.kind for finding in check_mapping(own_database, mapping).findings if finding.field == "index"]
    assert rest in ([], ["note"])


def test_a_view_is_told_of(place: Place, own_database: OwnDatabase) -> None:
    make_chunks(place, [("a", 0, "x")])
    place.run("CREATE VIEW seen AS SELECT * FROM chunks")
    (finding,) = check_mapping(own_database, TableMapping("seen", FIELDS)).findings
    assert (finding.kind, finding.remedy) == ("note", "")


def test_a_wrong_key_of_documents_is_told_of(place: Place, own_database: OwnDatabase) -> None:
    make_chunks(place, [("a", 0, "x"), ("b", 0, "y")])
    place.run("CREATE TABLE docs (id text, title text)", "INSERT INTO docs VALUES ('a', 'A')")
    found = check_mapping(
        own_database, TableMapping("chunks", FIELDS, documents=DocumentsTable("docs", {"document_id": "id", "title": "title"}))
    )
    assert "1 of 2 documents looked up have nothing in docs: check its key" in [finding.sentence for finding in found.findings]


def test_all_that_is_wrong_with_a_mapping_is_said_at_once(place: Place, own_database: OwnDatabase) -> None:
    make_chunks(place, [])
    wrong = FIELDS | {"title": "nowhere", "summary": "content->>'x'::text", "page_number": "chunk_index->>'p'", "embedding": "content"}
    with pytest.raises(InvalidInput) as raised:
        check_mapping(own_database, TableMapping("chunks", wrong))
    said = str(raised.value)
    assert all(
        part in said
        for part in ("title must be", "summary must be", "page_number must be a path into", "embedding must be a column of type")
    )


def test_a_mapping_is_kept_as_json() -> None:
    mapping = TableMapping("t", FIELDS | {"summary": "m->>'s'"}, "public", DocumentsTable("d", {"document_id": "id"}, "other"))
    assert read_mapping(json.dumps(written_mapping(mapping))) == mapping
    for broken in (
        "",
        "[]",
        '{"table": 1}',
        '{"table": "t", "fields": [1]}',
        '{"table": "t", "fields": {"x": "y"}}',
        '{"table": "t", "documents": 1}',
    ):
        with pytest.raises(InvalidInput, match="mapping"):
            read_mapping(broken)
    with pytest.raises(InvalidInput, match="must be one of document_id"):
        TableMapping("t", {"id": "x"})


@pytest.mark.parametrize("inside", [True, False])
def test_an_index_that_is_there_is_not_proposed_again(place: Place, own_database: OwnDatabase, inside: bool) -> None:
    """Where the fields stand in JSON, the index on the document's key is all that is proposed: then it is enough."""
    kind = "text" if place.kind == "sqlite" else "jsonb"
    place.run(f"CREATE TABLE t (doc text, n integer, x text, m {kind})")
    place.fill("t", [("a", n, f"x{n}", json.dumps({"doc": "a", "n": n})) for n in range(3)])
    fields = {"document_id": "m->>'doc'", "chunk_index": "m->>'n'"} if inside else {"document_id": "doc", "chunk_index": "n"}
    mapping = TableMapping("t", {**fields, "text": "x"})
    (proposed,) = [finding.remedy for finding in check_mapping(own_database, mapping).findings if finding.field == "index"]
    place.run(proposed.replace(" CONCURRENTLY", ""))
    assert not any(finding.remedy for finding in check_mapping(own_database, mapping).findings)


def test_indexes_with_gaps_are_said_and_can_be_numbered(place: Place) -> None:
    place.run("CREATE TABLE t (document_id text, chunk_index integer, content text)")
    place.fill("t", [(name, at, f"{name} {at}") for name in "ab" for at in (30, 10, 20)])
    workbench = Workbench(Config("sqlite://", connections={"own": place.table(None)}), MemoryStore(open_counter()))
    mapping = connecting.guess_mapping(workbench, "own", "t")
    why = NoNeighbours("gaps", "a", (10, 20, 30))
    found = connecting.check_mapping(workbench, "own", mapping)
    assert found.obstacle == why
    assert ("warning", why.sentence) in [(finding.kind, finding.sentence) for finding in found.findings]
    assert why.sentence in connecting.link(workbench, "own", mapping, "live").notes
    assert unexpanded(assemble(Query("q", (Hit("a", 20, 1.0),)), workbench.dataset("live"))) == Unexpanded(*why)
    report = connecting.copy_table(workbench, "own", numbered_by_order(mapping), "copy")
    assert why.sentence not in report.notes
    assert [(c.chunk_index, c.text) for c in workbench.dataset("copy").document_chunks("b")] == [(0, "b 10"), (1, "b 20"), (2, "b 30")]
    workbench.close()
