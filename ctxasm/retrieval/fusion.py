"""Reciprocal-rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): rankings of different scales into one."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def fuse_rankings(rankings: Sequence[Sequence[Key]], *, k: int = 60, weights: Sequence[float] | None = None) -> list[tuple[Key, float]]:
    """Score each key by the sum of weight / (k + rank) over the rankings that hold it (rank 1 = best), best first.

    Weights are 1 unless given. Ties keep the order of first appearance, so the first ranking decides.
    """
    scores: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda item: -item[1])
