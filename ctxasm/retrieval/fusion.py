"""Several rankings of one corpus to one list of hits: reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Ranked(NamedTuple):
    """A text by its position in the index, and its score."""

    position: int
    score: float


def fuse_rankings(rankings: Sequence[Sequence[Key]], *, k: int = 60, weights: Sequence[float] | None = None) -> list[tuple[Key, float]]:
    """Score each key by the sum of weight / (k + rank) over the rankings that hold it (rank 1 = best), best first.

    Weights are 1 unless given. Ties keep the order of first appearance, so the first ranking decides.
    """
    scores: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda item: -item[1])


class Ranking(NamedTuple):
    """The best of one method, best first. `score_of` is its score of any position, None where that is not known or means nothing."""

    name: str
    best: Sequence[Ranked]
    score_of: Callable[[int], float | None] = lambda position: None


class Scored(NamedTuple):
    """A position with the score it is ranked by, and its scores per method."""

    position: int
    score: float
    scores: Mapping[str, float]


def ranked_hits(rankings: Sequence[Ranking], limit: int, *, k: int, weights: Mapping[str, float], depth: int) -> list[Scored]:
    """The best `limit` of one ranking as it is, of several by reciprocal-rank fusion of the first `depth` of each."""
    ranks = {ranking.name: {item.position: rank for rank, item in enumerate(ranking.best, 1)} for ranking in rankings}
    known = {ranking.name: {item.position: item.score for item in ranking.best} for ranking in rankings}
    if len(rankings) == 1:
        order = [(item.position, item.score) for item in rankings[0].best[:limit]]
    else:
        lists = [[item.position for item in ranking.best[:depth]] for ranking in rankings]
        order = fuse_rankings(lists, k=k, weights=[weights[ranking.name] for ranking in rankings])[:limit]
    hits = []
    for position, score in order:
        scores: dict[str, float] = {}
        for ranking in rankings:
            own = known[ranking.name].get(position)
            own = ranking.score_of(position) if own is None else own
            if own is not None:
                scores[ranking.name] = round(own, 6)
            if position in ranks[ranking.name]:
                scores[f"{ranking.name}_rank"] = ranks[ranking.name][position]
        if len(rankings) > 1:
            scores["rrf"] = round(score, 6)
        hits.append(Scored(position, round(score, 6), scores))
    return hits
