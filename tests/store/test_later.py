"""What comes after a load: kept texts, saved queries, summaries, and reading a dataset chunk by chunk. For every kind of store."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace

import pytest
from bundles import HOSTILE, full_bundle, numbered_bundle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxasm.model.errors import InvalidInput, NotFound, StoreUnavailable
from ctxasm.model.ports import TokenCounter, Window
from ctxasm.model.records import GoldChunk, Hit, Query
from ctxasm.store import dataset as dataset_module
from ctxasm.store.database import Store
from tests.examples import examples

ENCODING = "cl100k_base"

# Kept texts


def test_what_is_kept_comes_back(store: Store) -> None:
    assert store.read_kept("shelf") == store.read_kept("shelf", ["a"]) == {}
    store.keep("shelf", {"b": '{"x":1}', "a": HOSTILE, HOSTILE: ""})
    store.keep("other", {"a": "not this"})
    store.keep("shelf", {})
    assert store.read_kept("shelf") == {"b": '{"x":1}', "a": HOSTILE, HOSTILE: ""}
    assert list(store.read_kept("shelf")) == sorted(["a", "b", HOSTILE])
    assert list(store.read_kept("shelf", ["b", "none", HOSTILE, "b"])) == ["b", HOSTILE]
    assert store.read_kept("shelf", []) == {}
    store.keep("shelf", {"a": "later", "c": "new"})
    assert store.read_kept("shelf", ["a", "c"]) == {"a": "later", "c": "new"}
    assert store.read_kept("other") == {"a": "not this"}


def test_what_is_forgotten_is_gone(store: Store) -> None:
    store.keep("one", {name: name for name in "abcd"})
    store.keep("two", {"a": "stays"})
    store.forget("one", ["a", "none", "b", "a"])
    store.forget("one", [])
    assert store.read_kept("one") == {"c": "c", "d": "d"}
    store.forget("one")
    store.forget("never was")
    store.forget("nul\x00", ["\ud800"])
    assert (store.read_kept("one"), store.read_kept("two")) == ({}, {"a": "stays"})


def test_what_no_shelf_takes_changes_nothing(store: Store) -> None:
    store.keep("shelf", {"a": "old"})
    for shelf, values in (
        ("", {"a": "x"}),
        ("nul\x00", {"a": "x"}),
        ("x" * 1001, {"a": "x"}),
        ("shelf", {"a": "new", "": "x"}),
        ("shelf", {"a": "new", "\ud800": "x"}),
        ("shelf", {"a": "new", "x" * 1501: "x"}),
        ("shelf", {"a": "new", "b": "nul\x00"}),
        ("shelf", {"a": "new", "b": b"bytes"}),
    ):
        with pytest.raises(InvalidInput) as raised:
            store.keep(shelf, values)  # type: ignore[arg-type]
        assert "\n" not in str(raised.value)
    assert store.read_kept("shelf") == {"a": "old"}
    assert store.read_kept("nul\x00") == store.read_kept("shelf", ["nul\x00", "\ud800"]) == {}
    store.keep("x" * 1000, {"é" * 750: "fits"})
    assert store.read_kept("x" * 1000) == {"é" * 750: "fits"}


def test_thousands_are_kept_at_once(store: Store) -> None:
    many = {f"key {number}": str(number) * 10 for number in range(5000)}
    store.keep("many", many)
    assert store.read_kept("many", list(many)) == store.read_kept("many") == many
    store.forget("many", list(many)[:4999])
    assert store.read_kept("many") == {"key 4999": "4999" * 10}


names = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=5)
calls = st.lists(
    st.tuples(st.just("keep"), st.sampled_from("ab"), st.dictionaries(names, names, max_size=3))
    | st.tuples(st.just("forget"), st.sampled_from("ab"), st.none() | st.lists(names, max_size=3)),
    max_size=8,
)


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls)
def test_a_shelf_is_a_dictionary(store: Store, drawn: list[tuple[str, str, object]]) -> None:
    expected: dict[str, dict[str, str]] = {"a": {}, "b": {}}
    for shelf in expected:
        store.forget(shelf)
    for call, shelf, what in drawn:
        getattr(store, call)(shelf, what)
        if call == "keep":
            expected[shelf].update(what)  # type: ignore[arg-type]
        else:
            expected[shelf] = {} if what is None else {k: v for k, v in expected[shelf].items() if k not in what}  # type: ignore[operator]
    for shelf, own in expected.items():
        assert store.read_kept(shelf) == own


def test_two_stores_keep_at_once(shared_url: str, counter: TokenCounter) -> None:
    problems: list[Exception] = []

    def fill(number: int) -> None:
        try:
            with Store(shared_url, counter) as own:
                for at in range(10):
                    own.keep("shared", {f"{key}": f"{number} {at}" for key in range(20)})
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=fill, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with Store(shared_url, counter) as store:
        assert len(set(store.read_kept("shared").values())) == 1


# Saved queries

SAVED = Query(
    "Wat kost parkeren?",
    (Hit("d1", 0, 0.5, 1, {"bm25": 3.0, "bm25_rank": 1}),),
    "typed-1",
    search_method="bm25_only",
    bm25_matches=1,
    metadata={"by": "hand"},
)


def test_a_saved_query_stands_after_the_loaded_ones(store: Store) -> None:
    bundle = full_bundle()
    store.add(bundle)
    dataset = store.dataset()
    assert store.save_query("hospital", SAVED) == SAVED
    second = replace(SAVED, query_id=HOSTILE + "2", query=HOSTILE)
    store.save_query("hospital", second)
    for seen in (dataset, store.dataset("hospital")):
        assert seen.queries() == [*bundle.queries, SAVED, second]
        assert [entry.query_id for entry in seen.query_list()] == ["q1", HOSTILE, "typed-1", HOSTILE + "2"]
        assert seen.query_list()[2] == ("typed-1", "Wat kost parkeren?", 1)
        assert seen.query("typed-1") == SAVED
        assert seen.query("q1") == bundle.queries[0]
        assert seen.bundle() == bundle
    assert store.saved_queries("hospital") == [SAVED, second]
    assert dataset.info.queries == 2


def test_the_same_id_replaces_a_saved_query_in_its_place(store: Store) -> None:
    store.add(full_bundle())
    for query_id in ("a", "b", "c"):
        store.save_query("hospital", replace(SAVED, query_id=query_id))
    changed = replace(SAVED, query_id="b", query="Anders", retrieved=())
    store.save_query("hospital", changed)
    assert [query.query_id for query in store.saved_queries("hospital")] == ["a", "b", "c"]
    assert store.dataset().query("b") == changed
    store.delete_query("hospital", "b")
    with pytest.raises(NotFound, match=r"no saved query 'b': saved are 'a', 'c'"):
        store.delete_query("hospital", "b")
    store.save_query("hospital", changed)
    assert [entry.query_id for entry in store.dataset().query_list()][2:] == ["a", "c", "b"]


def test_a_loaded_query_is_never_replaced_nor_deleted(store: Store) -> None:
    store.add(full_bundle())
    with pytest.raises(InvalidInput, match="query_id must not be that of a loaded query, got 'q1'"):
        store.save_query("hospital", replace(SAVED, query_id="q1"))
    with pytest.raises(NotFound, match=r"no saved query 'q1': none was saved"):
        store.delete_query("hospital", "q1")
    assert store.dataset().queries() == list(full_bundle().queries)


def test_saved_queries_survive_a_load_and_go_with_their_dataset(store: Store) -> None:
    store.add(full_bundle())
    store.add(numbered_bundle(1, 1, name="other"))
    for name in ("hospital", "other"):
        store.save_query(name, SAVED)
    store.add(numbered_bundle(2, 2, name="hospital"))
    assert [query.query_id for query in store.dataset("hospital").queries()] == ["q", "typed-1"]
    store.add(replace(full_bundle(), queries=(replace(SAVED, query="Loaded now"),)))
    assert (
        [query.query for query in store.dataset("hospital").queries()]
        == [store.dataset("hospital").query("typed-1").query]
        == ["Loaded now"]
    )
    assert [entry.query for entry in store.dataset("hospital").query_list()] == ["Loaded now"]
    store.add(full_bundle())
    assert store.dataset("hospital").query("typed-1") == SAVED
    store.delete("hospital")
    store.add(full_bundle())
    assert store.dataset("hospital").queries() == list(full_bundle().queries)
    assert store.dataset("other").query("typed-1") == SAVED


def test_queries_that_cannot_be_saved(store: Store) -> None:
    store.add(full_bundle())
    with pytest.raises(NotFound, match=r"'zoo'.*'hospital'"):
        store.save_query("zoo", SAVED)
    for wrong in (
        replace(SAVED, query=" "),
        replace(SAVED, query="nul\x00"),
        replace(SAVED, query_id=""),
        replace(SAVED, query_id="\ud800"),
        replace(SAVED, query_id="x" * 2001),
        replace(SAVED, retrieved=(Hit("d", 0, float("nan")),)),
        replace(SAVED, metadata={"a": object()}),
    ):
        with pytest.raises(InvalidInput) as raised:
            store.save_query("hospital", wrong)
        assert "\n" not in str(raised.value)
    assert store.dataset().queries() == list(full_bundle().queries)


def test_queries_of_a_dataset_that_lies_elsewhere(store: Store) -> None:
    store.save_query("elsewhere", SAVED, linked=True)
    assert store.saved_queries("elsewhere") == [SAVED]
    assert store.saved_queries("nul\x00") == store.saved_queries("nowhere") == []
    store.delete_query("elsewhere", "typed-1")
    assert store.saved_queries("elsewhere") == []


# Chunk by chunk


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_chunks_come_in_place_order(store: Store, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_module, "BATCH_ROWS", batch)
    store.add(numbered_bundle(2, 2, name="before"))
    bundle = full_bundle()
    store.add(bundle)
    dataset = store.dataset("hospital")
    by_document = [chunk for document in bundle.documents for chunk in dataset.document_chunks(document.document_id)]
    assert list(dataset.iter_chunks()) == by_document
    assert len(by_document) == len(bundle.chunks)


def test_a_dataset_without_chunks_has_none(store: Store) -> None:
    store.add(replace(full_bundle(), chunks=()))
    assert list(store.dataset().iter_chunks()) == []


def test_a_dataset_replaced_while_it_is_read_is_told(database: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_module, "BATCH_ROWS", 5)
    database.add(numbered_bundle(4, 4, "old"))
    reading = database.dataset().iter_chunks()
    assert next(reading).text == "old"
    database.add(numbered_bundle(4, 4, "new"))
    with pytest.raises(StoreUnavailable, match="was replaced while it was read: read it again"):
        assert {chunk.text for chunk in reading} == {"old"}


def test_new_summaries_do_not_disturb_who_reads_chunks(database: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_module, "BATCH_ROWS", 5)
    database.add(numbered_bundle(4, 4))
    dataset = database.dataset()
    whole, reading = list(dataset.iter_chunks()), dataset.iter_chunks()
    begun = [next(reading) for _ in range(3)]
    database.set_summaries("numbered", {"d2": "A summary."}, "test")
    assert begun + list(reading) == whole


# Summaries


def test_summaries_are_given_to_documents_without_one(store: Store) -> None:
    bundle = full_bundle()
    before = store.add(bundle)
    dataset = store.dataset()
    dataset.fetch([Window("bare", 0, 2**31)], ENCODING)
    given = {"bare": "Made.", "d1": "Not taken: it has its own.", "nowhere": "x", "nul\x00": "x"}
    after = store.set_summaries("hospital", given, "extractive")
    expected = [*bundle.documents[:2], replace(bundle.documents[2], summary="Made.", metadata={"summary_made_by": "extractive"})]
    current = store.dataset("hospital")
    assert current.documents() == expected
    assert current.fetch([Window("bare", 0, 2**31)], ENCODING).documents["bare"] == expected[2]
    assert current.bundle() == replace(bundle, documents=tuple(expected))
    assert current.queries() == list(bundle.queries)
    assert current.answers() == list(bundle.answers)
    assert after == current.info == store.datasets()[0]
    assert after.dataset_id != before.dataset_id
    assert replace(after, dataset_id=0, content_hash="") == replace(before, dataset_id=0, content_hash="")
    assert after.content_hash == store.add(current.bundle(), "copy").content_hash != before.content_hash


def test_gold_is_given_to_one_question(store: Store) -> None:
    bundle = full_bundle()
    before = store.add(bundle)
    first, *others = bundle.queries
    gold = (*first.gold, GoldChunk("d1", 99))
    assert store.set_gold("hospital", first.query_id, gold) == replace(first, gold=gold)
    current = store.dataset("hospital")
    assert current.queries() == [replace(first, gold=gold), *others]
    assert current.info.dataset_id != before.dataset_id
    assert current.info.content_hash == store.add(current.bundle(), "copy").content_hash
    assert store.set_gold("hospital", first.query_id, first.gold) == first
    assert store.dataset("hospital").info.content_hash == before.content_hash


def test_gold_beside_a_linked_table_is_given_to_a_saved_question_alone(store: Store) -> None:
    store.save_query("elsewhere", Query("Where?", (), "mine", (GoldChunk("a", 1),)), linked=True)
    gold = GoldChunk("a", 1), GoldChunk("a", 2, "cited", votes=(2, 3))
    assert store.set_gold("elsewhere", "mine", gold[1:], "add", linked=True).gold == gold
    (saved,) = store.saved_queries("elsewhere")
    assert saved == Query("Where?", (), "mine", gold)
    for name in ("other", "\0", "\ud800"):
        with pytest.raises(NotFound, match="saved are 'mine'"):
            store.set_gold("elsewhere", name, (), linked=True)
    with pytest.raises(NotFound, match="elsewhere"):
        store.set_gold("elsewhere", "mine", ())


def test_summaries_are_made_again_and_taken_back_by_the_same_means(store: Store) -> None:
    bundle = full_bundle()
    first = store.add(bundle)
    one = store.set_summaries("hospital", {"bare": "One."}, "model a")
    assert store.set_summaries("hospital", {"bare": "Two."}, "model b") == one
    two = store.set_summaries("hospital", {"bare": "Two."}, "model a")
    assert store.dataset().documents()[2].summary == "Two."
    assert store.set_summaries("hospital", {"bare": "Two."}, "model a") == two
    back = store.set_summaries("hospital", {"bare": None, "d1": None}, "model a")
    assert store.dataset().bundle() == bundle
    assert back.content_hash == first.content_hash
    assert len({first.dataset_id, one.dataset_id, two.dataset_id, back.dataset_id}) == 4


def test_summaries_that_cannot_be(store: Store) -> None:
    before = store.add(full_bundle())
    with pytest.raises(NotFound, match="zoo"):
        store.set_summaries("zoo", {"bare": "x"}, "me")
    for summaries, made_by in (({"bare": "nul\x00"}, "me"), ({"bare": 5}, "me"), ({"bare": "x"}, ""), ({"bare": "x"}, "\ud800")):
        with pytest.raises(InvalidInput):
            store.set_summaries("hospital", summaries, made_by)  # type: ignore[arg-type]
    assert store.set_summaries("hospital", {}, "me") == before
    assert store.dataset().bundle() == full_bundle()


EVERYTHING = [Window(f"d{d}", 0, 10) for d in range(8)]


def test_a_reader_sees_the_old_or_the_new_summaries(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store:
        store.add(numbered_bundle(8, 6))
        dataset, done, seen, problems = store.dataset(), threading.Event(), Counter[str | None](), list[object]()

        def read() -> None:
            try:
                while not done.is_set():
                    fetched = dataset.fetch(EVERYTHING, ENCODING)
                    summaries = {document.summary for document in fetched.documents.values()}
                    if len(fetched.chunks) != 48 or len(fetched.documents) != 8 or len(summaries) != 1:
                        problems.append((len(fetched.chunks), summaries))
                    listed = {document.summary for document in dataset.documents()}
                    if len(listed) != 1:
                        problems.append(listed)
                    seen.update(summaries)
            except Exception as error:  # noqa: BLE001
                problems.append(error)

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for number in range(10):
            store.set_summaries("numbered", {f"d{d}": f"summary {number}" for d in range(8)}, "test")
        done.set()
        for reader in readers:
            reader.join()
        assert problems == []
        assert len(seen) > 1
        assert {document.summary for document in dataset.fetch(EVERYTHING, ENCODING).documents.values()} == {"summary 9"}


SUMMARISER = """
import sys
from ctxasm.store.database import Store
from ctxasm.text.tokens import open_counter
with Store({url!r}, open_counter()) as store:
    store.set_summaries("numbered", {{"d0": "from elsewhere"}}, "test")
"""


@pytest.mark.system
def test_a_handle_sees_the_summaries_of_another_process_at_once(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store:
        store.add(numbered_bundle(2, 2))
        dataset = store.dataset()
        assert dataset.fetch(EVERYTHING, ENCODING).documents["d0"].summary is None
        done = subprocess.run([sys.executable, "-c", SUMMARISER.format(url=shared_url)], capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("", "")
        fetched = dataset.fetch(EVERYTHING, ENCODING)
        assert (fetched.documents["d0"].summary, fetched.documents["d1"].summary) == ("from elsewhere", None)
        assert len(fetched.chunks) == 4


def test_the_payloads_are_ascii(database: Store) -> None:
    database.add(full_bundle())
    database.save_query("hospital", replace(SAVED, metadata={"nul": "\x00", "e": "é"}))
    with database._connections.reading() as connection:
        payload = connection.exec_driver_sql("SELECT payload FROM ctxasm_saved_queries").scalar_one()
    assert payload.isascii()
    assert json.loads(payload)["metadata"] == {"nul": "\x00", "e": "é"}
    assert database.dataset().query("typed-1").metadata == {"nul": "\x00", "e": "é"}
