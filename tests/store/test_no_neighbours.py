"""Every store tells why none of its chunks has a neighbour, as the keys alone tell it, and anew after each load."""

from __future__ import annotations

import pytest

from ctxasm.model.events import NoNeighbours, no_neighbours
from ctxasm.model.records import Bundle, Chunk, Document
from ctxasm.store.database import Store

KEYS = [
    [("a", 10), ("a", 20), ("a", 30), ("b", 10), ("b", 20)],
    [("a", 0), ("a", 2)],
    [("a", 0), ("b", 0)],
    [("a", 0), ("a", 1), ("b", 5)],
    [("a", 0)],
]


def bundle(keys: list[tuple[str, int]]) -> Bundle:
    chunks = tuple(Chunk(name, index, f"Text {index} of {name}.") for name, index in keys)
    return Bundle("gaps", tuple(Document(name) for name in dict.fromkeys(name for name, _ in keys)), chunks)


@pytest.mark.parametrize("keys", KEYS)
def test_every_store_tells_it_alike(keys: list[tuple[str, int]], store: Store) -> None:
    store.add(bundle(keys))
    assert store.dataset().no_neighbours() == store.no_neighbours() == no_neighbours(keys)


def test_a_new_load_is_judged_anew(store: Store) -> None:
    store.add(bundle([("a", 0), ("a", 1)]))
    assert store.dataset("gaps").no_neighbours() is None
    store.add(bundle(KEYS[0]))
    assert store.dataset("gaps").no_neighbours() == NoNeighbours("gaps", "a", (10, 20, 30))


def test_documents_without_chunks_are_no_chunks_of_their_own(store: Store) -> None:
    """More documents than chunks do not make each document one chunk, nor the other way round."""
    own = bundle([("a", 5), ("a", 9)])
    store.add(Bundle("gaps", (*own.documents, Document("b"), Document("c")), own.chunks))
    assert store.dataset().no_neighbours() == NoNeighbours("gaps", "a", (5, 9))
