"""Loading records as they come is the same as loading them at once, whatever their order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bundles import full_bundle, numbered_bundle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxasm.model.datasets import DatasetInfo
from ctxasm.model.errors import InvalidInput, StoreUnavailable
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Answer, Bundle, Chunk, Document, Query
from ctxasm.store import chunk_facts, load
from ctxasm.store import chunk_facts as placed
from ctxasm.store.database import MemoryStore, Store
from ctxasm.store.digest import ContentDigest
from ctxasm.store.schema import datasets
from ctxasm.text.tokens.estimate import EstimateCounter
from tests.examples import examples


def streamed(store: Store, bundle: Bundle, name: str | None = None) -> DatasetInfo:
    parts = (iter(bundle.documents), iter(bundle.chunks), iter(bundle.queries), iter(bundle.answers))
    return store.add_stream(name or bundle.name, *parts, origin="stream", replaced=lambda: bundle.replaced)


def facts(store: Store, name: str) -> list[FetchedChunk]:
    return list(store.dataset(name).iter_chunks())


def test_a_stream_is_loaded_as_a_bundle_is(store: Store) -> None:
    bundle = full_bundle()
    one, other = store.add(bundle, "at once"), streamed(store, bundle, "as it comes")
    assert store.dataset("as it comes").bundle() == replace(store.dataset("at once").bundle(), name="as it comes")
    assert facts(store, "as it comes") == facts(store, "at once")
    same = {"dataset_id": 0, "name": "", "created_at": one.created_at, "loaded_at": one.loaded_at, "origin": ""}
    assert replace(one, **same) == replace(other, **same)  # type: ignore[arg-type]
    assert store.dataset().info == other


overlapping = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=40)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few chunks take every way."""
    monkeypatch.setattr(load, "RUN_CHUNKS", 3)
    monkeypatch.setattr(load, "BATCH_CHUNKS", 4)
    monkeypatch.setattr(load, "_BATCH_ROWS", 3)


TEXT = "The car park is open all night and you pay at the desk beside the main entrance of the hospital. " * 3


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(overlapping, st.sets(st.integers(0, 4)), st.randoms(use_true_random=False))
def test_any_order_gives_the_same(
    store: Store, small_parts: None, places: list[tuple[int, int]], listed: set[int], order: random.Random
) -> None:
    chunks = [Chunk(f"d{d}", i, f"{TEXT[30 * i : 30 * i + 60]}", metadata={"n": i} if i % 3 == 0 else {}) for d, i in places]
    documents = [Document(f"d{d}", f"Title {d}", metadata={"d": d}) for d in sorted(listed, key=lambda _: order.random())]
    queries = (Query("What?", query_id="a"), Query("Who?", query_id="b"), Query("Why?", query_id="c"))
    bundle = Bundle("x", tuple(documents), tuple(chunks), queries, (Answer("a", "So."),))
    expected = MemoryStore(store._counter)  # type: ignore[arg-type]
    info = expected.add(bundle)
    got = streamed(store, bundle)
    assert store.dataset("x").bundle() == expected.dataset("x").bundle()
    assert (got.content_hash, got.chunks, got.documents) == (info.content_hash, info.chunks, info.documents)
    assert [chunk[:5] + chunk[8:12] for chunk in facts(store, "x")] == [chunk[:5] + chunk[8:12] for chunk in facts(expected, "x")]
    assert store.dataset("x").queries() == list(queries)


def test_documents_that_only_chunks_name_move_behind_another_load(shared_url: str, counter: TokenCounter) -> None:
    """Their numbers are not free any more: another load took them meanwhile."""
    with Store(shared_url, counter) as store, Store(shared_url, counter) as other:
        bundle = Bundle("a", (Document("listed"),), (Chunk("listed", 0, "one"), Chunk("implied", 0, "two"), Chunk("listed", 1, "three")))

        def chunks() -> Iterator[Chunk]:
            yield bundle.chunks[0]
            if not other._connections.is_sqlite:
                other.add(numbered_bundle(3, 2))
            yield from bundle.chunks[1:]

        store.add_stream("a", bundle.documents, chunks())
        expected = MemoryStore(counter)
        assert expected.add(bundle).content_hash == store.dataset("a").info.content_hash
        assert store.dataset("a").bundle() == expected.dataset("a").bundle()
        if not other._connections.is_sqlite:
            assert store.dataset("numbered").bundle() == numbered_bundle(3, 2)
            store.delete("numbered")
        assert store.dataset("a").bundle() == expected.dataset("a").bundle()


def test_a_long_document_is_written_in_parts(store: Store, small_parts: None) -> None:
    bundle = Bundle("long", (Document("d"),), tuple(Chunk("d", i, TEXT[i : i + 80], i, i + 80) for i in range(50)))
    streamed(store, bundle)
    store.add(bundle, "at once")
    assert facts(store, "long") == facts(store, "at once")
    for chunk in facts(store, "long")[1:]:
        assert (chunk.overlap_chars, chunk.overlap_kind) == (79, "offsets")


@pytest.mark.parametrize("order", ["far", "near"])
def test_a_chunk_given_twice(store: Store, small_parts: None, order: str) -> None:
    chunks = [Chunk("a", i, f"text {i}") for i in range(8)] + [Chunk("b", 0, "b")]
    again = Chunk("a", 2, "text 2", page_number=9)
    mixed = [*chunks[:3], again, *chunks[3:]] if order == "near" else [*chunks, again]
    assert store.add_stream("x", [Document("a"), Document("b")], mixed).chunks == 9
    assert store.dataset("x").document_chunks("a")[2].page_number is None
    wrong = replace(again, text="other")
    mixed = [*chunks[:3], wrong, *chunks[3:]] if order == "near" else [*chunks, wrong]
    with pytest.raises(InvalidInput, match=r"chunk 2 of document 'a' must be given once, got it twice with different texts"):
        store.add_stream("x", [Document("a"), Document("b")], mixed)
    assert store.dataset("x").info.chunks == 9


class Broken(Exception):
    pass


def breaking(part: list[object]) -> Iterator[object]:
    yield from part
    raise Broken


@pytest.mark.parametrize("part", [0, 1, 2, 3])
def test_a_stream_that_breaks_changes_nothing(store: Store, part: int) -> None:
    store.add(full_bundle())
    new = numbered_bundle(3, 300, name="hospital")
    parts = [list(new.documents), list(new.chunks), list(new.queries), [Answer("q", "So.")]]
    parts[part] = breaking(parts[part])  # type: ignore[call-overload]
    with pytest.raises(Broken):
        store.add_stream("hospital", *parts)  # type: ignore[arg-type]
    assert store.dataset("hospital").bundle() == full_bundle()
    assert store.add(new).chunks == 900


BAD = [
    ({"documents": [Document("d"), Document("d")]}, "document_id must be unique, got 'd' twice"),
    ({"documents": [Document("\x00")]}, "document_id"),
    ({"chunks": [Chunk("d", -1, "x")]}, "chunk_index must be"),
    ({"chunks": [Chunk("d", 0, "x"), Chunk("d", 1, "\ud800")]}, "must hold no NUL and no lone surrogate"),
    ({"chunks": [Chunk("d", 0, "x", metadata={"a": object()})]}, "metadata"),
    ({"queries": [Query("a", query_id="q"), Query("b", query_id="q")]}, "query_id must be unique, got 'q' twice"),
    ({"answers": [Answer("q", "\x00")]}, r"answers\[0\].answer"),
]


def test_records_that_cannot_be_kept_change_nothing(store: Store) -> None:
    store.add(full_bundle("x"))
    for parts, said in BAD:
        with pytest.raises(InvalidInput, match=said):
            store.add_stream("x", **{"documents": [], "chunks": [], **parts})  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="dataset name"):
        store.add_stream(" ", [], [])
    assert store.dataset("x").bundle() == full_bundle("x")


@pytest.fixture
def working(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes from the first batch on."""
    monkeypatch.setattr(chunk_facts, "START_CHUNKS", 1)
    monkeypatch.setattr(chunk_facts, "AHEAD", 1)


@pytest.mark.system
def test_worker_processes_find_the_same_facts(shared_url: str, counter: TokenCounter, working: None) -> None:
    bundle = Bundle("w", (), tuple(Chunk(f"d{d}", i, TEXT[7 * i + d : 7 * i + d + 90]) for d in range(60) for i in range(25)))
    with Store(shared_url, counter) as store:
        info = streamed(store, bundle)
        expected = MemoryStore(counter)
        assert info.content_hash == expected.add(bundle).content_hash
        assert facts(store, "w") == facts(expected, "w")


def test_an_error_in_a_worker_is_told_where_the_load_is(tmp_path: Path, counter: TokenCounter, working: None) -> None:
    with Store(f"sqlite:///{tmp_path}/w.db", counter) as store:
        chunks = (Chunk("d", i, " " * 400_001 if i == 900 else f"text {i}") for i in range(1000))
        with pytest.raises(InvalidInput, match="no run of 400,000 blanks"):
            store.add_stream("w", [Document("d")], chunks)
        assert store.datasets() == []


class Dying:
    """A counter that ends the process it is used in, but not the one that made it."""

    encoding, exact = "cl100k_base", True

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def __getattr__(self, name: str) -> object:
        return getattr(self._counter, name)

    def __reduce__(self) -> tuple[object, tuple[int]]:
        import os

        return os._exit, (9,)


def test_a_worker_that_dies_is_told(tmp_path: Path, counter: TokenCounter, working: None) -> None:
    with Store(f"sqlite:///{tmp_path}/w.db", Dying(counter)) as store:  # type: ignore[arg-type]
        with pytest.raises(StoreUnavailable, match="a process that helps with the load ended"):
            store.add(numbered_bundle(10, 100))
        assert store.datasets() == []


def test_the_number_of_a_failed_load_is_not_used_again(database: Store) -> None:
    with pytest.raises(Broken):
        database.add_stream("x", [Document("d")], breaking([Chunk("d", 0, "x")]))  # type: ignore[arg-type]
    database.add(numbered_bundle(1, 1))
    with database._connections.reading() as connection:
        assert connection.execute(datasets.select()).one().first_document_no == 2


wholes = st.none() | st.integers(-(2**63) + 1, 2**63 - 1)
words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5)


@given(
    st.builds(
        Chunk, words, st.integers(0, 2**31 - 1), words, wholes, wholes, wholes, st.none() | words, wholes, st.just({}) | st.just({"é": 1})
    )
)
def test_what_is_hashed_of_a_chunk_is_what_the_digest_hashes(chunk: Chunk) -> None:
    one, other = ContentDigest(), ContentDigest()
    one.chunk(chunk)
    made = placed.place_runs([placed.Run(chunk.document_id, 0, None, [placed.raw_chunk(chunk)])], EstimateCounter("cl100k_base", ""))
    other.add_digested(made.digested)
    assert one.hex() == other.hex()
