"""A user's own tables through the workbench: linked, unlinked, copied, beside what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from user_tables import Place, keyed, one_table, sqlite_place

from ctxasm.app.workbench import Workbench
from ctxasm.config import Config, shipped
from ctxasm.data.documents.ingesting import ingest
from ctxasm.data.enrich.enriching import enrich
from ctxasm.data.files import load_bundle
from ctxasm.data.files.loading import load_files
from ctxasm.data.labelling import label
from ctxasm.data.tables import connecting
from ctxasm.data.tables.connecting import SavedMapping, table_mapping
from ctxasm.model.errors import InvalidInput, NotFound, StoreUnavailable
from ctxasm.model.progress import Progress
from ctxasm.model.records import Bundle, Chunk, Document, GoldChunk, Query
from ctxasm.store.database import MemoryStore, Store
from ctxasm.text.tokens import open_counter

FIELDS = {"document_id": "d", "chunk_index": "i", "text": "x"}
MAPPING = table_mapping("t", FIELDS)


@pytest.fixture(params=["memory", "sqlite"])
def workbench(request: pytest.FixtureRequest, place: Place, tmp_path: Path) -> Iterator[Workbench]:
    place.run("CREATE TABLE t (d text, i integer, x text)")
    place.fill("t", [("a", 0, "The car park is open."), ("a", 1, "You pay at the desk."), ("b", 0, "Soup is served.")])
    url = f"sqlite:///{tmp_path / 'store.db'}"
    store = MemoryStore(open_counter()) if request.param == "memory" else Store(url, open_counter())
    opened = Workbench(Config(url, connections={"own": place.table(None)}), store)
    yield opened
    opened.close()


def stored(name: str) -> Bundle:
    return Bundle(name, (Document("s"),), (Chunk("s", 0, "stored"),), (Query("What?", (), "q"),))


def test_a_link_is_a_dataset(workbench: Workbench, place: Place) -> None:
    workbench.store.add(stored("stored"))
    report = connecting.link(workbench, "own", MAPPING, "mine")
    assert (report.info.documents, report.info.chunks, report.changed) == (2, 3, True)
    assert report.summary == "mine: 2 documents, 3 chunks"
    assert any("no index on (document_id, chunk_index)" in note and "Run: CREATE INDEX" in note for note in report.notes)
    assert [info.name for info in workbench.datasets()] == ["mine", "stored"]
    assert workbench.dataset().info == workbench.datasets()[0] == report.info
    assert workbench.dataset("mine") is workbench.dataset("mine")
    assert workbench.dataset("stored").documents() == [Document("s")]
    assert [document.document_id for document in workbench.dataset("mine").documents()] == ["a", "b"]
    assert [chunk.text for chunk in workbench.document_chunks("a", "mine")] == ["The car park is open.", "You pay at the desk."]
    assert [chunk.text for chunk in workbench.find_text("mine", "SOUP is")] == ["Soup is served."]
    assert (workbench.dataset("mine").answers(), workbench.dataset("mine").queries()) == ([], [])
    with pytest.raises(NotFound, match="has no queries"):
        workbench.query("mine", "q")


def test_it_is_read_live(workbench: Workbench, place: Place) -> None:
    connecting.link(workbench, "own", MAPPING, "mine")
    assert len(workbench.document_chunks("b", "mine")) == 1
    place.run("INSERT INTO t VALUES ('b', 1, 'Later.')")
    assert [chunk.text for chunk in workbench.document_chunks("b", "mine")] == ["Soup is served.", "Later."]
    place.run("DROP TABLE t")
    with pytest.raises(InvalidInput, match="has no table or view of this name"):
        workbench.document_chunks("b", "mine")
    assert [info.name for info in workbench.datasets()] == ["mine"]


def test_a_list_of_datasets_asks_no_server_of_others(workbench: Workbench) -> None:
    connecting.link(workbench, "own", MAPPING, "mine")
    away = Workbench(Config("sqlite://", connections={"own": {"url": "postgresql://nobody@localhost:1/nowhere"}}), workbench.store)
    assert [info.name for info in away.datasets()] == ["mine"]
    assert away.query_list("mine") == []
    with pytest.raises(StoreUnavailable, match="does not answer"):
        away.dataset("mine").documents()
    gone = Workbench(Config("sqlite://"), workbench.store)
    assert [info.name for info in gone.datasets()] == ["mine"]
    with pytest.raises(NotFound, match="no connection 'own'"):
        gone.dataset("mine").documents()
    gone.delete("mine")
    assert gone.datasets() == []


def test_unlinking_leaves_the_table(workbench: Workbench, place: Place) -> None:
    connecting.link(workbench, "own", MAPPING, "mine")
    workbench.store.save_query("mine", Query("Where?", (), "typed-1"), linked=True)
    assert [query.query_id for query in workbench.dataset("mine").queries()] == ["typed-1"]
    connecting.unlink(workbench, "mine")
    assert workbench.datasets() == []
    assert place.ask("SELECT count(*) FROM t") == [(3,)]
    with pytest.raises(NotFound):
        connecting.unlink(workbench, "mine")
    connecting.link(workbench, "own", MAPPING, "mine")
    assert workbench.dataset("mine").queries() == []
    workbench.delete("mine")
    assert (workbench.datasets(), place.ask("SELECT count(*) FROM t")) == ([], [(3,)])


def test_names_are_one_another_s(workbench: Workbench) -> None:
    workbench.store.add(stored("taken"))
    with pytest.raises(InvalidInput, match="must not be that of a stored dataset, got 'taken'"):
        connecting.link(workbench, "own", MAPPING, "taken")
    for name in ("", "  ", "nul\x00"):
        with pytest.raises(InvalidInput, match="dataset name"):
            connecting.link(workbench, "own", MAPPING, name)
    connecting.link(workbench, "own", MAPPING, "mine")
    again = connecting.link(workbench, "own", table_mapping("t", FIELDS | {"title": "x"}), "mine")
    assert [info.dataset_id for info in workbench.datasets()] == [again.info.dataset_id, workbench.dataset("taken").info.dataset_id]
    assert workbench.dataset("mine").documents()[1].title == "Soup is served."
    workbench.store.add(stored("mine"))
    assert [info.name for info in workbench.datasets()] == ["mine", "taken"]
    assert [document.document_id for document in workbench.dataset("mine").documents()] == ["s"]


def test_a_table_without_chunks_is_not_linked(workbench: Workbench, place: Place) -> None:
    place.run("UPDATE t SET x = NULL")
    with pytest.raises(InvalidInput, match="'t' cannot be linked: text is NULL in 3 of 3 rows"):
        connecting.link(workbench, "own", MAPPING, "mine")
    assert workbench.datasets() == []


def test_mappings_are_kept_by_name(workbench: Workbench) -> None:
    connecting.save_mapping(workbench, "my map", "own", MAPPING)
    connecting.save_mapping(
        workbench, "my map", "own", table_mapping("t", FIELDS | {"title": "d"}, "s", ("docs", {"document_id": "k"}, None))
    )
    (kept,) = connecting.mappings(workbench).items()
    assert kept == ("my map", SavedMapping("own", table_mapping("t", FIELDS | {"title": "d"}, "s", ("docs", {"document_id": "k"}, None))))
    connecting.forget_mapping(workbench, "my map")
    assert connecting.mappings(workbench) == {}
    with pytest.raises(NotFound):
        connecting.forget_mapping(workbench, "my map")
    with pytest.raises(InvalidInput):
        connecting.save_mapping(workbench, " ", "own", MAPPING)


def test_what_a_page_shows(workbench: Workbench, place: Place) -> None:
    assert [info.name for info in connecting.tables(workbench, "own")] == ["t"]
    assert list(connecting.columns(workbench, "own", "t").columns) == ["d", "i", "x"]
    assert connecting.sample(workbench, "own", "t", limit=2).rows[0] == ("a", "0", "The car park is open.")
    assert connecting.guess_mapping(workbench, "own", "t").missing == ("document_id", "chunk_index", "text")
    assert [chunk.text for chunk in connecting.preview(workbench, "own", MAPPING, 2)] == ["The car park is open.", "You pay at the desk."]
    assert "FROM" in connecting.statements(workbench, "own", MAPPING)["fetch"]
    assert connecting.explain(workbench, "own", MAPPING).lower().count("scan") >= 2
    assert connecting.check_mapping(workbench, "own", MAPPING).usable_rows == 3
    place.run("DELETE FROM t")
    with pytest.raises(InvalidInput, match="nothing to explain"):
        connecting.explain(workbench, "own", MAPPING)


def test_a_copy_is_an_ordinary_dataset(workbench: Workbench, place: Place) -> None:
    told: list[Progress] = []
    report = connecting.copy_table(workbench, "own", table_mapping("t", FIELDS | {"title": "x"}), "copy", report=told.append)
    assert (report.info.documents, report.info.chunks, report.notes) == (2, 3, ())
    place.run("DROP TABLE t")
    assert workbench.dataset("copy").documents() == [Document("a", "The car park is open."), Document("b", "Soup is served.")]
    assert [chunk.token_count for chunk in workbench.document_chunks("a", "copy")] == [6, 6]
    assert told[-1].done == 3


def test_a_copy_ends_at_its_limit_and_can_be_cancelled(workbench: Workbench, place: Place) -> None:
    report = connecting.copy_table(workbench, "own", MAPPING, "copy", limit=2)
    assert (report.info.chunks, report.notes) == (2, ("the copy ends at 2 rows: raise the limit for more",))
    with pytest.raises(InvalidInput, match="limit of a copy"):
        connecting.copy_table(workbench, "own", MAPPING, "other", limit=0)
    place.fill("t", [("c", number, "x") for number in range(1500)])
    with pytest.raises(InvalidInput, match="cancelled: nothing was loaded"):
        connecting.copy_table(workbench, "own", MAPPING, "copy", cancelled=lambda: True)
    assert [(info.name, info.chunks) for info in workbench.datasets()] == [("copy", 2)]


def test_a_link_can_be_exported_and_loaded_again(workbench: Workbench, tmp_path: Path) -> None:
    from ctxasm.data.files.exporting import export

    connecting.link(workbench, "own", table_mapping("t", FIELDS | {"title": "x"}), "mine")
    export(workbench, "mine", tmp_path / "out")
    bundle = load_bundle(tmp_path / "out")
    assert bundle.documents == (Document("a", "The car park is open."), Document("b", "Soup is served."))
    assert [(chunk.document_id, chunk.chunk_index, chunk.text) for chunk in bundle.chunks] == [
        ("a", 0, "The car park is open."),
        ("a", 1, "You pay at the desk."),
        ("b", 0, "Soup is served."),
    ]


def test_a_copied_sample_is_the_sample(tmp_path: Path) -> None:
    bundle = keyed(load_bundle(shipped("sample_data/hospital-nl")), "uuid")
    place = sqlite_place(tmp_path)
    fields = one_table(place, bundle, "uuid", "t")
    workbench = Workbench(Config("sqlite://", connections={"own": place.table(None)}), MemoryStore(open_counter()))
    connecting.copy_table(workbench, "own", table_mapping("t", fields), "copy")
    copied = workbench.dataset("copy")
    found = {(c.document_id, c.chunk_index): c for d in copied.documents() for c in copied.document_chunks(d.document_id)}
    assert {key: chunk[:8] for key, chunk in found.items()} == {
        (c.document_id, c.chunk_index): (c.document_id, c.chunk_index, c.text, c.start, c.end, c.page_number, c.section, c.row_number)
        for c in bundle.chunks
    }
    by_id = {document.document_id: document for document in bundle.documents}
    for document in workbench.dataset("copy").documents():
        own = by_id[document.document_id]
        assert (document.title, document.source, document.summary, document.date) == (own.title, own.source, own.summary, own.date)
    workbench.close()


def test_nothing_is_loaded_over_a_link(workbench: Workbench, tmp_path: Path) -> None:
    connecting.link(workbench, "own", MAPPING, "mine")
    workbench.store.save_query("mine", Query("Where?", (), "typed-1"), linked=True)
    chunks = tmp_path / "files" / "chunks.jsonl"
    chunks.parent.mkdir()
    chunks.write_text('{"document_id": "s", "chunk_index": 0, "text": "stored"}\n')
    ways = (
        lambda: workbench.load(chunks.parent, "mine"),
        lambda: load_files(workbench, [(chunks.name, chunks.read_bytes())], "mine"),
        lambda: ingest(workbench, [("a.txt", b"A text.")], name="mine"),
        lambda: connecting.copy_table(workbench, "own", MAPPING, "mine"),
    )
    for way in ways:
        with pytest.raises(InvalidInput, match="must not be that of a linked table, got 'mine'"):
            way()
    assert [(info.name, info.dataset_id < 0) for info in workbench.datasets()] == [("mine", True)]
    assert [query.query_id for query in workbench.dataset("mine").queries()] == ["typed-1"]


def test_the_enrichment_of_a_linked_table_says_what_it_is_not_used_for(workbench: Workbench) -> None:
    connecting.link(workbench, "own", MAPPING, "mine")
    done = enrich(workbench, "mine")
    assert done.chunks == 3
    assert any("searched by its text as it is: copy it to search the enriched text" in note for note in done.notes)
    connecting.copy_table(workbench, "own", MAPPING, "copied")
    assert enrich(workbench, "copied").notes == ()


def test_of_rows_with_one_index_a_copy_and_a_link_take_the_same(workbench: Workbench, place: Place) -> None:
    place.fill("t", [("a", 0, "A second text."), ("a", 0, "Another."), ("z", 0, "The last."), ("z", 0, "Last.")])
    connecting.link(workbench, "own", MAPPING, "mine")
    connecting.copy_table(workbench, "own", MAPPING, "copied")
    for document_id, text in (("a", "A second text."), ("z", "Last.")):
        for name in ("mine", "copied"):
            assert workbench.document_chunks(document_id, name)[0].text == text
    assert [chunk.text for chunk in workbench.dataset("mine").iter_chunks()] == [
        "A second text.",
        "You pay at the desk.",
        "Soup is served.",
        "Last.",
    ]


def test_a_link_made_elsewhere_under_the_name_of_a_dataset_deleted_there_is_read(workbench: Workbench) -> None:
    other = Workbench(workbench.config, workbench.store)
    workbench.store.add(stored("mine"))
    assert len(workbench.dataset("mine").documents()) == 1
    other.delete("mine")
    connecting.link(other, "own", MAPPING, "mine")
    assert [info.name for info in workbench.datasets()] == ["mine"]
    assert [document.document_id for document in workbench.dataset("mine").documents()] == ["a", "b"]
    other.links.close()


def test_of_two_who_mark_at_once_beside_a_table_neither_loses_a_mark(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    connecting.link(workbench, "own", MAPPING, "mine")
    workbench.store.save_query("mine", Query("Where?", (), "typed-1"), linked=True)
    store = type(workbench.store)
    write = store.set_gold

    def after_another(self: Store, *said: Any, **more: Any) -> Query:
        monkeypatch.setattr(store, "set_gold", write)
        label(workbench, "mine", "typed-1", [("a", 1)])
        return write(self, *said, **more)

    monkeypatch.setattr(store, "set_gold", after_another)
    marked = label(workbench, "mine", "typed-1", [("b", 0)])
    assert marked.gold == (GoldChunk("a", 1, "hand"), GoldChunk("b", 0, "hand"))
    assert workbench.query("mine", "typed-1") == marked
