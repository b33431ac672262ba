"""Adding to a dataset, for every kind of store: the result is what loading both at once would be, or nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from bundles import HOSTILE, apart, full_bundle, numbered_bundle, overlaps, two_windows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxasm.model.errors import InvalidInput, NotFound, StoreUnavailable
from ctxasm.model.ports import TokenCounter, Window
from ctxasm.model.records import Answer, Bundle, Chunk, Document, GoldChunk, Hit, Query
from ctxasm.store import dataset
from ctxasm.store.append import differences, joined
from ctxasm.store.database import Store
from tests.examples import examples

ENCODING = "cl100k_base"
TEXT = "".join(f"Zin nummer {n} gaat over het bezoekuur van de afdeling. " for n in range(12))


def slices(document_id: str, count: int, offsets: bool) -> list[Chunk]:
    """Chunks that overlap their neighbours by 45 characters."""
    places = [(n * 75, n * 75 + 120) if offsets else (None, None) for n in range(count)]
    return [Chunk(document_id, n, TEXT[n * 75 : n * 75 + 120], *place, metadata={"n": n}) for n, place in enumerate(places)]


def everything() -> Bundle:
    """All that the law draws its parts from."""
    documents = (Document("a", "A", "a.html", "Over A.", "2026-01-01", {"lang": "nl"}), Document("b", "B"), Document("c"))
    chunks = (*slices("a", 6, True), *slices("b", 5, False), *slices("c", 2, True))
    hits = [(Hit("a", n, 1.5), Hit("b", 0, 0.5)) for n in range(4)]
    queries = tuple(Query(f"Vraag {n}?", hits[n], f"q{n}", (GoldChunk("a", n),), metadata={"n": n}) for n in range(4))
    answers = (Answer("q0", "Ja [1]."), Answer("q0", "Nee [1]."), Answer("q1", "Ja [1].", ({"n": 1},)))
    return Bundle("whole", documents, chunks, queries, answers)


WHOLE = everything()
KINDS = ("documents", "chunks", "queries", "answers")
PLACES = [(kind, at) for kind in KINDS for at in range(len(getattr(WHOLE, kind)))]


def part(keep: Callable[[str, int], bool]) -> Bundle:
    return Bundle("part", *(tuple(record for at, record in enumerate(getattr(WHOLE, kind)) if keep(kind, at)) for kind in KINDS))


def union(first: Bundle, second: Bundle) -> Bundle:
    """Both in the order of a load of one after the other, each record once."""
    parts = []
    for kind in KINDS:
        own = list(getattr(first, kind))
        parts.append((*own, *(record for record in getattr(second, kind) if record not in own)))
    return Bundle("union", *parts)


def content(store: Store, name: str) -> dict[str, Any]:
    """All that can be read of a dataset, but when and under which number it was loaded."""
    own = store.dataset(name)
    bundle, info = own.bundle(), own.info
    return {
        "documents": bundle.documents,
        "chunks": bundle.chunks,
        "queries": bundle.queries,
        "answers": bundle.answers,
        "facts": {d.document_id: own.document_chunks(d.document_id) for d in bundle.documents},
        "info": (info.documents, info.chunks, info.queries, info.answers, info.content_hash, info.encoding),
        "list": own.query_list(),
        "found": own.find_text("bezoekuur"),
    }


@pytest.fixture
def emptied(store: Store) -> Callable[[], Store]:
    def empty() -> Store:
        for info in store.datasets():
            store.delete(info.name)
        return store

    return empty


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sets(st.sampled_from(PLACES)), st.sets(st.sampled_from(PLACES)), st.booleans())
def test_adding_is_loading_both_at_once(
    emptied: Callable[[], Store], first: set[tuple[str, int]], second: set[tuple[str, int]], streamed: bool
) -> None:
    store = emptied()
    stored, came = part(lambda k, at: (k, at) in first), part(lambda k, at: (k, at) in second)
    store.add(stored, "both")
    if streamed:
        info = store.add_stream("both", came.documents, came.chunks, came.queries, came.answers, join=True)
    else:
        info = store.add(came, "both", join=True)
    expected = union(stored, came)
    # A document that only chunks name is there when another bundle lists it: at once it would have its own place.
    listed = tuple(dict.fromkeys((*(d.document_id for d in stored.documents), *(c.document_id for c in stored.chunks))))
    known = {d.document_id: d for d in expected.documents}
    ordered = tuple(known.pop(name, Document(name)) for name in listed)
    store.add(replace(expected, documents=(*ordered, *known.values())), "union")
    assert content(store, "both") == content(store, "union")
    assert info == store.dataset("both").info


@pytest.mark.parametrize(("before", "after", "kind"), [((3, 4), (9, 4), "text"), ((4, 3), (4, 9), "coincidence")])
def test_what_is_usual_is_found_again_when_records_join(store: Store, before: tuple[int, int], after: tuple[int, int], kind: str) -> None:
    """A dataset becomes one of sliding windows, and is one no more: the overlaps are those of loading both at once."""
    stored, came = ((*two_windows(sliding), *apart(others)) for sliding, others in (before, after))
    store.add(Bundle("both", (), stored))
    assert kind not in overlaps(store, "both")
    store.add(Bundle("both", (), came), join=True)
    assert overlaps(store, "both").count(kind) == after[0]
    store.add(Bundle("once", (), tuple(store.dataset("both").bundle().chunks)))
    assert content(store, "both") == content(store, "once")


def test_what_is_there_already_changes_nothing(store: Store) -> None:
    before = store.add(full_bundle())
    assert store.add(full_bundle(), join=True) == before
    assert store.add(replace(full_bundle(), documents=(), queries=(), answers=()), join=True) == before
    assert store.dataset("hospital").bundle() == full_bundle()


def test_other_content_is_refused_with_all_that_differs_and_nothing_changes(store: Store) -> None:
    before = store.add(full_bundle())
    bundle = full_bundle()
    other = Bundle(
        "other",
        (replace(bundle.documents[0], title="Fietsen"), Document("new")),
        (replace(bundle.chunks[1], text="Another text."), replace(bundle.chunks[2], page_number=4), Chunk("new", 0, "New.")),
        (replace(bundle.queries[0], answer="At home."), replace(bundle.queries[1], query="Anders?"), Query("New?", (), "new")),
        (Answer("q1", "New."),),
    )
    with pytest.raises(InvalidInput) as caught:
        store.add(other, "hospital", join=True)
    told = str(caught.value)
    assert told.startswith("nothing was added to dataset 'hospital': 5 records are there with other content")
    for words in (
        "document 'd1': title is stored as 'Parkeren', got 'Fietsen'",
        "chunk 1 of document 'd1': text is stored as",
        "chunk 3 of document 'd1': page_number is stored without it, got 4",
        "query 'q1': answer is stored as 'At the desk [1].', got 'At home.'",
        "query is stored as",
    ):
        assert words in told
    assert store.datasets() == [before]
    assert store.dataset("hospital").bundle() == bundle


def test_a_record_that_says_more_fills_in_what_is_missing(store: Store) -> None:
    hits = (Hit("a", 0, 2.0),)
    store.add(Bundle("d", (Document("a", "A"),), (Chunk("a", 0, "Text."),), (Query("Wat?", (), "q", metadata={"own": 1}),)))
    query = Query("Wat?", hits, "q", search_method="bm25", metadata={"r": 2})
    more = Bundle("m", (Document("a", None, "a.html", "About A.", None, {"k": 1}),), (), (query,))
    info = store.add(more, "d", join=True)
    own = store.dataset("d")
    assert own.documents() == [Document("a", "A", "a.html", "About A.", None, {"k": 1})]
    assert own.query("q") == Query("Wat?", hits, "q", search_method="bm25", metadata={"r": 2, "own": 1})
    assert (info.documents, info.chunks, info.queries) == (1, 1, 1)
    assert [entry.hits for entry in own.query_list()] == [1]


def test_a_saved_question_is_never_hidden_by_another_of_its_id(store: Store) -> None:
    store.add(numbered_bundle(1, 2))
    store.save_query("numbered", Query("Mine?", (), "mine"))
    with pytest.raises(InvalidInput, match="query 'mine': query is stored as 'Mine\\?', got 'Other\\?'"):
        store.add(Bundle("x", queries=(Query("Other?", (), "mine"),)), "numbered", join=True)
    store.add(Bundle("x", queries=(Query("Mine?", (Hit("d0", 1, 1.0),), "mine"),)), "numbered", join=True)
    assert [(entry.query_id, entry.hits) for entry in store.dataset("numbered").query_list()] == [("q", 1), ("mine", 1)]


def test_only_a_dataset_that_is_there_can_be_joined(store: Store) -> None:
    store.add(numbered_bundle(1, 1, name="a"))
    with pytest.raises(NotFound, match="no dataset 'b': choose one of 'a'"):
        store.add(numbered_bundle(1, 1, name="b"), join=True)


def test_counts_dates_and_origin_follow(store: Store) -> None:
    first = store.add(numbered_bundle(2, 2, name="a"), origin="one.zip")
    store.add(numbered_bundle(1, 1, name="b"))
    info = store.add(Bundle("a", queries=(Query("More?", (), "more"),), replaced=3), origin="two.zip", join=True)
    assert (info.queries, info.replaced, info.origin) == (2, 3, "one.zip + two.zip")
    assert info.created_at == first.created_at <= first.loaded_at <= info.loaded_at
    assert info.dataset_id != first.dataset_id
    assert [one.name for one in store.datasets()] == ["a", "b"]


def test_chunks_in_any_order_and_of_documents_that_nobody_lists(store: Store) -> None:
    store.add(Bundle("d", chunks=tuple(slices("a", 6, True)[::2])))
    mixed = (*slices("z", 3, True)[::-1], *slices("a", 6, True)[1::2], *slices("y", 2, False))
    store.add_stream("d", (), iter(mixed), join=True)
    store.add(Bundle("whole", chunks=(*slices("a", 6, True), *slices("z", 3, True), *slices("y", 2, False))))
    assert content(store, "d") == content(store, "whole")


def test_an_error_of_the_records_undoes_everything(store: Store) -> None:
    before = store.add(numbered_bundle(2, 3, name="a"))

    def broken() -> Iterator[Answer]:
        yield Answer("q", "x")
        raise InvalidInput("the file ends here")

    with pytest.raises(InvalidInput, match="ends here"):
        store.add_stream("a", (Document("new"),), (Chunk("new", 0, "x"), Chunk("d0", 9, "y")), (), broken(), join=True)
    assert store.datasets() == [before]
    assert store.dataset("a").bundle() == numbered_bundle(2, 3, name="a")


MORE = ({"queries": (Query("More?", (), "more"),)}, {"chunks": (Chunk("d0", 7, "more"),)}, {"documents": (Document("d9", "Nine"),)})


@pytest.mark.parametrize("added", MORE, ids=lambda added: next(iter(added)))
def test_handles_of_other_processes_see_what_was_added(shared_url: str, counter: TokenCounter, added: dict[str, Any]) -> None:
    everything = [Window(f"d{d}", 0, 20) for d in range(10)]
    with Store(shared_url, counter) as one, Store(shared_url, counter) as other:
        one.add(numbered_bundle(3, 2, name="a"))
        handle = other.dataset("a")
        handle.fetch(everything, ENCODING)
        one.add(Bundle("x", **added), "a", join=True)
        fetched, expected = handle.fetch(everything, ENCODING), one.dataset("a").fetch(everything, ENCODING)
        assert sorted(fetched.chunks) == sorted(expected.chunks)
        assert fetched.documents == expected.documents
        assert handle.query_list() == one.dataset("a").query_list()
        assert handle.info == one.dataset("a").info


def test_who_reads_all_chunks_is_told_of_new_ones_and_not_of_new_queries(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as store:
        store.add(numbered_bundle(3, dataset.BATCH_ROWS // 2, name="a"))
        reading = store.dataset("a").iter_chunks()
        next(reading)
        store.add(Bundle("x", queries=MORE[0]["queries"]), "a", join=True)
        assert len(list(reading)) == 3 * (dataset.BATCH_ROWS // 2) - 1
        reading = store.dataset("a").iter_chunks()
        next(reading)
        store.add(Bundle("x", chunks=(Chunk("d2", dataset.BATCH_ROWS, "more"),)), "a", join=True)
        with pytest.raises(StoreUnavailable, match="was replaced while it was read"):
            list(reading)


def test_no_row_is_left_over(database: Store) -> None:
    database.add(numbered_bundle(3, 2, name="a"))
    database.add(Bundle("x", (Document("new"),), (Chunk("d1", 5, "five"), Chunk("new", 0, "zero"))), "a", join=True)
    with pytest.raises(InvalidInput):
        database.add(Bundle("x", (Document("more"),), (Chunk("d1", 5, "otherwise"), Chunk("more", 0, "zero"))), "a", join=True)
    with database._connections.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM ctxasm_chunks").scalar_one() == 8
        assert connection.exec_driver_sql("SELECT count(*) FROM ctxasm_documents").scalar_one() == 4


def test_a_dataset_counted_in_another_encoding_is_counted_anew(tmp_path: Any, counter: TokenCounter) -> None:
    class Guess:
        encoding, exact = counter.encoding, False

        def __getattr__(self, name: str) -> Any:
            return getattr(counter, name)

    url = f"sqlite:///{tmp_path / 'd.db'}"
    with Store(url, Guess()) as guessed:
        assert guessed.add(numbered_bundle(2, 3, name="a")).encoding is None
    with Store(url, counter) as store:
        store.add(Bundle("x", chunks=(Chunk("d0", 3, "one more"),)), "a", join=True)
        store.add(store.dataset("a").bundle(), "whole")
        assert content(store, "a") == content(store, "whole")


def test_no_text_can_be_taken_for_another(store: Store) -> None:
    store.add(Bundle("h", (Document(HOSTILE, HOSTILE),), (Chunk(HOSTILE, 0, HOSTILE),)))
    info = store.add(Bundle("h", (Document(HOSTILE, HOSTILE),), (Chunk(HOSTILE, 0, HOSTILE), Chunk(HOSTILE, 1, "x"))), join=True)
    assert (info.documents, info.chunks) == (1, 2)


def test_records_are_found_by_name(store: Store) -> None:
    bundle = full_bundle()
    store.add(bundle)
    store.save_query("hospital", Query("Mine?", (), "mine"))
    own, nowhere = store.dataset("hospital"), ("nowhere", "nul\x00", "\ud800")
    assert own.documents_named(["d1", *nowhere, HOSTILE]) == {d.document_id: d for d in bundle.documents[:2]}
    keys = [("d1", 1), ("d1", 2), ("d1", -1), ("bare", 2**31 - 1), ("d1", 2**40), *((name, 0) for name in nowhere)]
    assert own.chunks_at(keys) == {("d1", 1): bundle.chunks[1], ("bare", 2**31 - 1): bundle.chunks[4]}
    assert own.held_chunks(keys) == {("d1", 1), ("bare", 2**31 - 1)}
    assert own.queries_named(["q1", "mine", *nowhere]) == {"q1": bundle.queries[0], "mine": Query("Mine?", (), "mine")}
    assert (own.documents_named([]), own.chunks_at([]), own.held_chunks([]), own.queries_named([])) == ({}, {}, set(), {})


def test_a_document_is_as_long_as_its_chunks_reach_where_all_of_them_say(store: Store) -> None:
    chunks = (Chunk("a", 0, "x", 0, 9), Chunk("a", 1, "y", 2, 5), Chunk("b", 0, "x", 0, 4), Chunk("b", 1, "y"))
    store.add(Bundle("d", (Document("c"),), chunks))
    assert store.dataset("d").document_lengths(["a", "b", "c", "nowhere", "\x00"]) == {"a": 9, "b": None, "c": 0}


def test_the_rule_of_joining() -> None:
    stored = Query("Wat?", (Hit("a", 0, 1.0),), "q", metadata={"k": (1, 2)})
    assert differences(stored, Query("Wat?", (), "q")) == []
    assert differences(stored, replace(stored, metadata={"k": [1, 2]})) == []
    other = replace(stored, retrieved=(Hit("a", 1, 1.0),), metadata={"k": 3})
    assert [found.field for found in differences(stored, other)] == ["retrieved", "k"]
    assert joined(stored, Query("Wat?", (), "q")) is stored
    chunk = Chunk("a", 0, "x", 0, 1, metadata={"k": 1})
    assert differences(chunk, Chunk("a", 0, "x")) == []
    assert [found.field for found in differences(Chunk("a", 0, "x"), chunk)] == ["start", "end", "k"]
