"""One suite for every kind of store: memory, SQLite in a file and in memory, PostgreSQL."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from bundles import HOSTILE, apart, full_bundle, numbered_bundle, overlaps, two_windows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxasm.model.errors import InvalidInput, NotFound
from ctxasm.model.ports import FetchedChunk, TokenCounter, Window
from ctxasm.model.records import Bundle, Chunk, Document, Hit, Query
from ctxasm.store.database import MemoryStore, Store
from ctxasm.store.memory import MemorySource
from ctxasm.text.chunk_facts import chunk_facts
from tests.examples import examples

ENCODING = "cl100k_base"


def keys(chunks: object) -> list[tuple[str, int]]:
    return sorted((chunk.document_id, chunk.chunk_index) for chunk in chunks)  # type: ignore[attr-defined]


def test_a_bundle_comes_back_whole(store: Store) -> None:
    bundle = full_bundle()
    info = store.add(bundle, origin="folder/hospital")
    dataset = store.dataset("hospital")
    assert dataset.bundle() == bundle
    assert dataset.documents() == list(bundle.documents)
    assert dataset.queries() == list(bundle.queries)
    assert dataset.answers() == list(bundle.answers)
    assert dataset.query("q1") == bundle.queries[0]
    assert [(entry.query_id, entry.hits) for entry in dataset.query_list()] == [("q1", 2), (HOSTILE, 0)]
    assert (info.documents, info.chunks, info.queries, info.answers, info.replaced) == (3, 5, 2, 2, 2)
    assert (info.encoding, info.origin) == (ENCODING, "folder/hospital")
    assert dataset.info == info == store.datasets()[0]


def test_facts_are_those_found_at_load(store: Store, counter: TokenCounter) -> None:
    bundle = full_bundle()
    store.add(bundle)
    dataset = store.dataset()
    for document in bundle.documents:
        own = [chunk for chunk in bundle.chunks if chunk.document_id == document.document_id]
        assert dataset.document_chunks(document.document_id) == chunk_facts(own, counter)
    second = dataset.document_chunks("d1")[1]
    assert (second.overlap_chars, second.overlap_kind) == (23, "offsets")
    assert second.token_count == counter.count(second.text)


def test_what_neighbours_share_as_a_rule_is_told_by_the_dataset_where_a_document_has_one_pair(store: Store, counter: TokenCounter) -> None:
    store.add(Bundle("alone", (), two_windows(1)))
    assert overlaps(store, "alone") == ["coincidence"]
    store.add(Bundle("mixed", (), (*two_windows(3), *apart(4))))
    assert overlaps(store, "mixed") == ["coincidence"] * 3 + ["none"] * 4
    store.add(Bundle("sliding", (), (*two_windows(4), *apart(3))))
    assert overlaps(store, "sliding") == ["text"] * 4 + ["none"] * 3
    first, second = store.dataset("sliding").document_chunks("sliding0")
    shared = second.text[: second.overlap_chars]
    assert first.text.endswith(shared)
    assert (second.token_count, second.overlap_tokens) == (counter.count(second.text), counter.count(shared))


def test_another_encoding_has_no_token_facts_but_all_others(store: Store) -> None:
    store.add(full_bundle())
    (chunk,) = store.fetch([Window("d1", 1, 1)], "o200k_base").chunks
    assert (chunk.token_count, chunk.overlap_tokens) == (None, None)
    assert (chunk.overlap_chars, chunk.overlap_kind) == (23, "offsets")
    assert chunk.duplicate_key is not None


def test_fetch_brings_what_the_windows_cover(store: Store) -> None:
    store.add(full_bundle())
    fetched = store.fetch([Window("d1", -5, 1), Window("d1", 3, 9), Window(HOSTILE, 0, 0), Window("nowhere", 0, 3)], ENCODING)
    assert keys(fetched.chunks) == sorted([("d1", 0), ("d1", 1), ("d1", 3), (HOSTILE, 0)])
    assert dict(fetched.documents) == {d.document_id: d for d in full_bundle().documents if d.document_id != "bare"}
    assert (fetched.statements, fetched.document_statements) == (1, 1)
    assert fetched.elapsed_ms > 0
    assert all(type(chunk) is FetchedChunk for chunk in fetched.chunks)


def test_windows_past_every_range_are_empty(store: Store) -> None:
    store.add(full_bundle())
    windows = [Window("d1", 2**31, 2**70), Window("bare", 2**31 - 1, 2**64), Window("d1", -(2**80), -1), Window("d1", 5, 4)]
    assert keys(store.fetch(windows, ENCODING).chunks) == [("bare", 2**31 - 1)]
    assert list(store.fetch([Window("nul\x00", 0, 1), Window("\ud800", 0, 1)], ENCODING).chunks) == []
    assert list(store.fetch([], ENCODING).chunks) == []


def test_fetch_equals_a_plain_scan(store: Store) -> None:
    bundle = numbered_bundle(30, 12)
    store.add(bundle)
    dataset = store.dataset()
    random_numbers = random.Random(7)
    for _ in range(30):
        documents = random_numbers.sample(range(35), random_numbers.randint(1, 20))
        windows = [Window(f"d{d}", low := random_numbers.randint(-2, 13), low + random_numbers.randint(0, 6)) for d in documents]
        expected = [c for c in bundle.chunks for w in windows if c.document_id == w.document_id and w.low <= c.chunk_index <= w.high]
        assert keys(dataset.fetch(windows, ENCODING).chunks) == keys(expected)


def test_loading_a_name_again_replaces_it(store: Store) -> None:
    first = store.add(numbered_bundle(3, 4, "old {0} {1}", name="a"))
    store.add(numbered_bundle(1, 1, "other", name="b"))
    dataset = store.dataset("a")
    assert len(dataset.documents()) == 3
    second = store.add(numbered_bundle(2, 5, "new {0} {1}", name="a"))
    assert [info.name for info in store.datasets()] == ["a", "b"]
    assert second.dataset_id != first.dataset_id
    assert second.created_at == first.created_at <= first.loaded_at <= second.loaded_at
    assert second.content_hash != first.content_hash
    current = store.dataset("a")
    assert [chunk.text for chunk in current.document_chunks("d1")] == [f"new 1 {c}" for c in range(5)]
    assert current.document_chunks("d2") == []
    assert [chunk.text for chunk in store.dataset("b").document_chunks("d0")] == ["other"]


def test_equal_records_have_an_equal_content_hash(store: Store) -> None:
    first = store.add(full_bundle("a"))
    second = store.add(full_bundle("b"))
    assert first.content_hash == second.content_hash
    moved = replace(full_bundle("c"), chunks=tuple(replace(chunk, page_number=99) for chunk in full_bundle().chunks))
    assert store.add(moved).content_hash != first.content_hash


def test_delete_removes_one_dataset(store: Store) -> None:
    store.add(full_bundle("a"))
    store.add(full_bundle("b"))
    store.delete("b")
    assert [info.name for info in store.datasets()] == ["a"]
    assert store.dataset().bundle() == full_bundle("a")
    assert keys(store.fetch([Window("d1", 0, 0)], ENCODING).chunks) == [("d1", 0)]
    with pytest.raises(NotFound, match=r"'b'.*'a'"):
        store.delete("b")
    store.delete("a")
    with pytest.raises(NotFound, match="empty"):
        store.fetch([Window("d1", 0, 0)], ENCODING)


def test_names_that_cannot_be(store: Store) -> None:
    for name in ("", "  ", "nul\x00", "\ud800", "x" * 2001):
        with pytest.raises(InvalidInput, match="dataset name"):
            store.add(full_bundle(), name)
        with pytest.raises(NotFound):
            store.dataset(name)
        with pytest.raises(NotFound):
            store.delete(name)
    assert store.datasets() == []


def test_a_hostile_name_is_a_name(store: Store) -> None:
    store.add(full_bundle("plain"))
    assert store.add(full_bundle(HOSTILE)).name == HOSTILE
    assert store.dataset(HOSTILE).bundle() == full_bundle(HOSTILE)
    store.delete(HOSTILE)
    assert [info.name for info in store.datasets()] == ["plain"]


def test_unknown_names_are_answered_with_those_that_exist(store: Store) -> None:
    with pytest.raises(NotFound, match="the store holds no dataset: it is empty"):
        store.dataset()
    store.add(full_bundle())
    with pytest.raises(NotFound, match=r"'zoo'.*'hospital'"):
        store.dataset("zoo")
    with pytest.raises(NotFound, match=r"'q9'.*'q1'"):
        store.dataset().query("q9")
    with pytest.raises(NotFound, match="no query"):
        store.dataset().query("nul\x00")


PHRASES = [
    ("OPEN ALL NIGHT", [("d1", 0), ("d1", 1)]),
    ("%", [(HOSTILE, 0)]),
    ("_", [(HOSTILE, 0)]),
    ("\\", [(HOSTILE, 0)]),
    ("'; drop", [(HOSTILE, 0)]),
    ("É", [(HOSTILE, 0)]),
    ("שלום", [(HOSTILE, 0)]),
    ("all%night", []),
    ("nowhere said", []),
    ("", []),
    (" \n", []),
    ("nul\x00", []),
    ("\ud800", []),
]


def test_find_text(store: Store) -> None:
    store.add(numbered_bundle(1, 1, "open all night % _ é", name="another dataset"))
    store.add(full_bundle())
    dataset = store.dataset("hospital")
    found = {phrase: [(chunk.document_id, chunk.chunk_index) for chunk in dataset.find_text(phrase)] for phrase, _ in PHRASES}
    assert found == dict(PHRASES)


def test_find_text_stops_at_its_limit_in_document_order(store: Store) -> None:
    store.add(numbered_bundle(4, 3))
    found = store.dataset().find_text("chunk", limit=5)
    assert [(chunk.document_id, chunk.chunk_index) for chunk in found] == [("d0", 0), ("d0", 1), ("d0", 2), ("d1", 0), ("d1", 1)]
    assert found[0].token_count is not None
    assert store.dataset().find_text("chunk", limit=0) == []


def test_partial_bundles_load(store: Store) -> None:
    store.add(Bundle("nothing"))
    assert store.dataset().bundle() == Bundle("nothing")
    store.add(Bundle("orphans", chunks=(Chunk("x", 1, "b"), Chunk("x", 0, "a"), Chunk("x", 1, "b"))))
    dataset = store.dataset("orphans")
    assert dataset.documents() == [Document("x")]
    assert [chunk.text for chunk in dataset.document_chunks("x")] == ["a", "b"]
    assert dataset.info.chunks == 2


CHUNK = Chunk("d", 0, "text")
BAD = {
    "chunk_index": Bundle("bad", chunks=(replace(CHUNK, chunk_index=-1),)),
    "chunk_index ": Bundle("bad", chunks=(replace(CHUNK, chunk_index=2**31),)),
    "start": Bundle("bad", chunks=(replace(CHUNK, start=2**63),)),
    "page_number": Bundle("bad", chunks=(replace(CHUNK, page_number=-(2**70)),)),
    "row_number": Bundle("bad", chunks=(replace(CHUNK, row_number=1.5),)),  # type: ignore[arg-type]
    "different texts": Bundle("bad", chunks=(CHUNK, replace(CHUNK, text="other"))),
    "text": Bundle("bad", chunks=(replace(CHUNK, text="a\x00b"),)),
    "text ": Bundle("bad", chunks=(replace(CHUNK, text=None),)),  # type: ignore[arg-type]
    "section": Bundle("bad", chunks=(replace(CHUNK, section="\udfff"),)),
    "document_id": Bundle("bad", (Document("d"), Document("d"))),
    "document_id ": Bundle("bad", (Document("x" * 3000),)),
    "title": Bundle("bad", (Document("d", title="\x00"),)),
    "metadata": Bundle("bad", (Document("d", metadata={"a": object()}),)),
    "metadata ": Bundle("bad", (Document("d", metadata={"a": float("nan")}),)),
    "query_id": Bundle("bad", queries=(Query("a", query_id="q"), Query("b", query_id="q"))),
    "score": Bundle("bad", queries=(Query("a", (Hit("d", 0, float("inf")),)),)),
    "query": Bundle("bad", queries=(Query(" "),)),
}


def test_bad_records_change_nothing(store: Store) -> None:
    store.add(full_bundle("bad"))
    for field, bundle in BAD.items():
        with pytest.raises(InvalidInput, match=field.strip()) as raised:
            store.add(bundle)
        assert "\n" not in str(raised.value)
    assert store.dataset().bundle() == full_bundle("bad")


class Unlucky:
    """A counter that fails after some texts, in the middle of a load."""

    encoding, exact = ENCODING, True

    def __init__(self, counter: TokenCounter, texts: int) -> None:
        self._counter, self._texts = counter, texts

    def count_many(self, texts: list[str]) -> list[int]:
        self._texts -= len(texts)
        if self._texts < 0:
            raise MemoryError("the counter broke")
        return self._counter.count_many(texts)

    def __getattr__(self, name: str) -> object:
        return getattr(self._counter, name)


def test_an_error_in_the_middle_of_a_load_changes_nothing(store: Store, counter: TokenCounter) -> None:
    store.add(numbered_bundle(3, 3, "old"))
    before = store.datasets()
    store._counter = Unlucky(counter, 1500)  # type: ignore[assignment]
    with pytest.raises(MemoryError, match="the counter broke"):
        store.add(numbered_bundle(900, 3, "new {0} {1}"))
    store._counter = counter
    assert store.datasets() == before
    assert {chunk.text for chunk in store.dataset().bundle().chunks} == {"old"}
    assert store.add(numbered_bundle(2, 2, "next")).chunks == 4


class Estimating:
    """A counter without a vocabulary."""

    encoding, exact = ENCODING, False

    def count_many(self, texts: list[str]) -> list[int]:
        return [1 for _ in texts]


def test_estimates_are_never_stored(store: Store) -> None:
    store._counter = Estimating()  # type: ignore[assignment]
    assert store.add(full_bundle()).encoding is None
    for chunk in store.fetch([Window("d1", 0, 3)], ENCODING).chunks:
        assert (chunk.token_count, chunk.overlap_tokens) == (None, None)
        assert chunk.duplicate_key is not None


def test_five_megabytes_in_one_chunk(store: Store) -> None:
    store._counter = Estimating()  # type: ignore[assignment]
    text = "Ziekenhuis 👩‍🚀 é\r\n" * 260_000
    store.add(Bundle("big", (Document("d"),), (Chunk("d", 0, text),)))
    (chunk,) = store.fetch([Window("d", 0, 0)], ENCODING).chunks
    assert chunk.text == text


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)
wholes = st.none() | st.integers(-(2**63) + 1, 2**63 - 1)


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.tuples(texts.filter(bool), st.integers(0, 2**31 - 1)),
        st.builds(Chunk, st.just(""), st.just(0), texts, wholes, wholes, wholes, st.none() | texts, wholes),
        max_size=8,
    )
)
def test_any_chunks_come_back_whole_and_as_from_memory(store: Store, counter: TokenCounter, drawn: dict[tuple[str, int], Chunk]) -> None:
    chunks = [replace(chunk, document_id=document_id, chunk_index=index) for (document_id, index), chunk in drawn.items()]
    store.add(Bundle("drawn", chunks=tuple(chunks)))
    plain = MemorySource((), chunks, counter)
    windows = [Window(document_id, 0, 2**31) for document_id in dict.fromkeys(chunk.document_id for chunk in chunks)]
    assert sorted(store.fetch(windows, ENCODING).chunks) == sorted(plain.fetch(windows, ENCODING).chunks)
    assert keys(store.dataset().bundle().chunks) == keys(chunks)
    assert set(map(repr, store.dataset().bundle().chunks)) == set(map(repr, chunks))


def test_a_database_in_memory_that_two_stores_open_is_read_anew(counter: TokenCounter) -> None:
    url = "sqlite:///file:shared?mode=memory&cache=shared&uri=true"
    with Store(url, counter) as one, Store(url, counter) as other:
        one.add(full_bundle())
        dataset = one.dataset()
        assert dataset.fetch([Window("d1", 0, 0)], ENCODING).chunks
        other.add(Bundle("hospital", (Document("d1"),), (Chunk("d1", 0, "new"),)))
        assert [chunk.text for chunk in dataset.fetch([Window("d1", 0, 0)], ENCODING).chunks] == ["new"]


def test_chunks_held_in_memory_are_those_of_the_newest_load(counter: TokenCounter) -> None:
    with MemoryStore(counter) as store:
        store.add(full_bundle())
        dataset = store.dataset()
        assert dataset.fetch([Window("d1", 1, 1)], ENCODING).chunks[0].token_count is not None
        store.add(Bundle("x", (), (Chunk("d1", 9, "more"),)), "hospital", join=True)
        assert [chunk.text for chunk in dataset.fetch([Window("d1", 9, 9)], ENCODING).chunks] == ["more"]
        store.delete("hospital")
        with pytest.raises(NotFound):
            dataset.fetch([Window("d1", 1, 1)], ENCODING)
