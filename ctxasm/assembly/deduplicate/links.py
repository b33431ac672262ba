"""Which texts say the same in nearly the same words, one inside the other, or in meaning.

Near and semantic likeness is only half of it: texts that differ in figures, names or negation do not say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ctxasm.assembly.deduplicate.near import Words
from ctxasm.assembly.deduplicate.same_facts import say_the_same
from ctxasm.model.errors import InvalidInput
from ctxasm.model.events import Likeness
from ctxasm.model.ports import ChunkVectors, FetchedChunk
from ctxasm.model.settings import AssemblySettings

ROWS = 512
"""Texts whose cosines with all others are worked out at a time."""


class Link(NamedTuple):
    """Text `second` repeats text `first` (positions among the different texts). `mutual`: also the other way round.

    `agreed` is False where the two differ in figures, names or negation: then only a newer edition stands for an older.
    """

    first: int
    second: int
    likeness: Likeness
    similarity: float
    mutual: bool = True
    agreed: bool = True


def links_of(texts: Sequence[FetchedChunk], settings: AssemblySettings, vectors: ChunkVectors | None) -> list[Link]:
    """The strongest link of each pair of different texts that has one.

    Raises InvalidInput where semantic copies are asked for and `vectors` is None or cannot be had.
    """
    found: dict[tuple[int, int], Link] = {}
    bodies = [chunk.text for chunk in texts]
    keep_loose = settings.dedup_keep == "newest"
    if settings.dedup_near:
        words = Words(bodies)
        for small, large, similarity in words.inside():
            found[min(small, large), max(small, large)] = Link(large, small, "near", similarity, mutual=False)
        _add(found, words.alike(settings.near_threshold), "near", bodies, keep_loose)
    if settings.dedup_semantic:
        if vectors is None:
            raise InvalidInput("dedup_semantic needs an embedder, got none: pip install wordllama, or switch dedup_semantic off")
        _add(found, _alike_in_meaning(texts, settings.semantic_threshold, vectors), "semantic", bodies, keep_loose)
    return list(found.values())


def _add(
    found: dict[tuple[int, int], Link], pairs: Iterable[tuple[int, int, float]], likeness: Likeness, bodies: Sequence[str], keep_loose: bool
) -> None:
    for first, second, similarity in pairs:
        if (first, second) in found:
            continue
        agreed = say_the_same(bodies[first], bodies[second])
        if agreed or keep_loose:
            found[first, second] = Link(first, second, likeness, similarity, agreed=agreed)


def _alike_in_meaning(texts: Sequence[FetchedChunk], threshold: float | None, vectors: ChunkVectors) -> list[tuple[int, int, float]]:
    """Pairs of a cosine of at least the threshold, in portions of rows, so that memory grows with the texts and not their square."""
    import numpy as np

    if len(texts) < 2:
        return []
    least = vectors.threshold if threshold is None else threshold
    rows = np.asarray(vectors.vectors(texts), dtype=np.float32)
    found: list[tuple[int, int, float]] = []
    for start in range(0, len(rows), ROWS):
        # Rounded, because the last digits depend on how the rows were portioned.
        cosines = np.round(_product(rows[start : start + ROWS], rows[start:], np), 5)
        for one, other in np.argwhere(np.triu(cosines >= least - 1e-9, 1)).tolist():
            found.append((start + one, start + other, min(1.0, float(cosines[one, other]))))
    return found


def _product(one: Any, other: Any, np: Any) -> Any:
    """All dot products. A small one in this thread: the threads of a large one wait for cores, 30 ms on a busy machine."""
    return np.einsum("ij,kj->ik", one, other) if len(other) <= 256 else one @ other.T
