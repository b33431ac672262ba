"""Two rankings of one corpus to one list of hits, each hit with its rank and score by either."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ctxasm.retrieval.bm25_index import Ranked
from ctxasm.retrieval.fusion import fuse_rankings


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
