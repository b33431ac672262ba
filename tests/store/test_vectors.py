"""Vectors of chunk texts: kept for all datasets, read in one statement, gone with the dataset that is deleted."""

from __future__ import annotations

import numpy as np
from bundles import full_bundle, numbered_bundle
from test_statements import sent

from ctxasm.llm.embedding import KeptVectors
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.store.database import MemoryStore, Store
from ctxasm.text.chunk_facts import duplicate_key

ONE, TWO = duplicate_key("one"), duplicate_key("two")


class Counting:
    """A fake embedder: length and number of blanks, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_passages(self, texts: list[str]) -> object:
        self.asked += texts
        return [[len(text), text.count(" ")] for text in texts]


def chunks(*texts: str) -> list[FetchedChunk]:
    return [FetchedChunk("d", at, text) for at, text in enumerate(texts)]


def test_what_is_kept_comes_back(store: Store) -> None:
    assert store.read_vectors("e", [ONE]) == store.read_vectors("e", []) == {}
    store.keep_vectors("e", {ONE: b"\x00\xff1", TWO: b"2"})
    store.keep_vectors("e", {ONE: b"later"})
    store.keep_vectors("other", {ONE: b"3"})
    store.keep_vectors("e", {})
    assert store.read_vectors("e", [ONE, duplicate_key("three"), TWO]) == {ONE: b"\x00\xff1", TWO: b"2"}
    assert store.read_vectors("other", [ONE, TWO]) == {ONE: b"3"}


def test_a_text_is_embedded_once(store: Store) -> None:
    embedder = Counting()
    vectors = KeptVectors(embedder, store, "e", 0.9, "1")
    some = chunks("a bc", "a  bc", "d", "a longer text")
    assert np.array_equal(vectors.vectors(some), np.array([[4, 1], [4, 1], [1, 0], [13, 2]], np.float32))
    assert embedder.asked == ["d", "a bc", "a longer text"]
    again = KeptVectors(embedder, store, "e", 0.9, "1").vectors(some[:2])
    assert (again.shape, len(embedder.asked)) == ((2, 2), 3)
    KeptVectors(embedder, store, "e", 0.9, "2").vectors(some[:1])
    assert len(embedder.asked) == 4
    assert vectors.vectors([]).shape == (0, 0)


def test_one_statement_for_any_number(database: Store) -> None:
    many = {duplicate_key(str(number)): bytes([number % 256]) for number in range(1200)}
    database.keep_vectors("e", many)
    texts = set()
    for wanted in (1, 200, 1200):
        with sent(database) as statements:
            assert len(database.read_vectors("e", list(many)[:wanted])) == wanted
        assert len(statements) == 1
        texts |= set(statements)
    assert len(texts) == 1


def test_a_deleted_dataset_leaves_no_vectors(store: Store) -> None:
    store.add(full_bundle(), name="gone")
    store.add(numbered_bundle(1, 3), name="stays")
    gone = [chunk.duplicate_key for chunk in store.dataset("gone").document_chunks("d1") if chunk.duplicate_key]
    stays = [chunk.duplicate_key for chunk in store.dataset("stays").document_chunks("d0") if chunk.duplicate_key]
    titled = [key + b"a title" for key in gone]  # the chunk's own key, then a digest of what is indexed with it
    others = [key + b"a title" for key in stays]
    store.keep_vectors("e", dict.fromkeys([*gone, *stays, *titled, *others], b"v"))
    store.add(full_bundle(), name="gone")
    assert len(store.read_vectors("e", [*gone, *titled])) == 2 * len(set(gone)) > 0
    store.delete("gone")
    assert store.read_vectors("e", [*gone, *titled]) == {}
    assert len(store.read_vectors("e", [*stays, *others])) == 2 * len(set(stays)) > 0


def test_two_stores_may_keep_the_same(shared_url: str, counter: TokenCounter) -> None:
    with Store(shared_url, counter) as one, Store(shared_url, counter) as other:
        one.keep_vectors("e", {ONE: b"1"})
        other.keep_vectors("e", {TWO: b"2", ONE: b"later"})
        assert one.read_vectors("e", [ONE, TWO]) == {ONE: b"1", TWO: b"2"}


class Locked:
    """A shelf that cannot keep anything, and remembers how often it was asked to."""

    def __init__(self) -> None:
        self.asked = 0

    def read_vectors(self, embedder: str, keys: object) -> dict[bytes, bytes]:
        return {}

    def keep_vectors(self, embedder: str, vectors: object) -> bool:
        self.asked += 1
        return False


def test_a_locked_database_is_waited_for_once() -> None:
    shelf = Locked()
    found = KeptVectors(Counting(), shelf, "e", 0.9).vectors(chunks(*(f"text {n}" for n in range(200))))
    assert (len(found), shelf.asked) == (200, 1)


def test_vectors_that_cannot_be_ones_are_made_anew(store: Store) -> None:
    some = chunks("a b", "c d e", "f", "g h")
    right = KeptVectors(Counting(), MemoryStore(), "e", 0.9).vectors(some).tolist()
    keys = [duplicate_key(chunk.text) for chunk in some]
    store.keep_vectors("e", {keys[0]: b"abc", keys[1]: np.float32([np.nan, 1]).tobytes(), keys[2]: np.float32(right[2]).tobytes()})
    store.keep_vectors("e", {keys[3]: np.float32(right[3]).tobytes()})
    assert KeptVectors(Counting(), store, "e", 0.9).vectors(some).tolist() == right
