"""The order of chunks from the text that they share: right on shuffled real chunks, silent where nothing tells it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from ctxasm.text.overlap import linked_runs, run_indexes
from tests.real_data import load_real, real_folder

TEXT = "".join(f"Sentence number {number} says {number * number}. " for number in range(60))


def cut(size: int, overlap: int) -> list[str]:
    return [TEXT[at : at + size] for at in range(0, len(TEXT) - overlap, size - overlap)]


def test_overlapping_chunks_are_linked_in_their_order() -> None:
    texts = cut(300, 60)
    order = random.Random(3).sample(range(len(texts)), len(texts))
    (run,) = linked_runs([texts[at] for at in order])
    assert [order[at] for at in run] == list(range(len(texts)))


def test_chunks_that_share_nothing_stay_apart() -> None:
    runs = linked_runs(cut(300, 0))
    assert all(len(run) == 1 for run in runs)
    assert run_indexes(runs) == [2 * at for at in range(len(runs))]


def test_runs_are_numbered_through_with_a_free_index_between() -> None:
    assert run_indexes([[2, 0], [1], [3, 4]]) == [1, 3, 0, 5, 6]


def test_what_is_ambiguous_is_not_linked() -> None:
    first, second, *_ = cut(300, 60)
    assert linked_runs([first, second, second]) == [[0], [1], [2]]
    assert linked_runs([first, first, second]) == [[0], [1], [2]]


def test_a_ring_is_no_order() -> None:
    one, other = "An end that goes on and on. ", "A start that was seen before. "
    texts = [one + "Text of the first. " + other, other + "Text of the second. " + one]
    assert linked_runs(texts) == [[0], [1]]


def counts(documents: Sequence[Sequence[str]]) -> tuple[int, int, int]:
    """Pairs in all, those that were found, and links that are none."""
    pairs = right = wrong = 0
    for texts in documents:
        order = random.Random(1).sample(range(len(texts)), len(texts))
        pairs += len(texts) - 1
        for before, after in (pair for run in linked_runs([texts[at] for at in order]) for pair in pairwise(run)):
            if order[after] == order[before] + 1:
                right += 1
            else:
                wrong += 1
    return pairs, right, wrong


@pytest.mark.skipif(real_folder() is None, reason="the real bundles are not beside the project")
@pytest.mark.parametrize(("name", "least"), [("debfaq-nl", 0.98), ("chunkeval", 0.98), ("codebase", 0.0), ("andocs", 0.05)])
def test_real_chunks_are_linked_where_they_overlap_and_hardly_ever_else(name: str, least: float) -> None:
    documents: dict[str, list[tuple[int, str]]] = {}
    for chunk in load_real(name).chunks:
        documents.setdefault(chunk.document_id, []).append((chunk.chunk_index, chunk.text))
    pairs, right, wrong = counts([[text for _, text in sorted(own)] for own in documents.values()])
    assert right >= least * pairs
    assert wrong <= 0.04 * (right + wrong)
