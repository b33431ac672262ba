"""Reciprocal-rank fusion, and the hits that come of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.retrieval.fusion import Ranked, Ranking, fuse_rankings, ranked_hits


def test_a_key_found_by_both_rankings_beats_one_found_by_either() -> None:
    fused = fuse_rankings([["a", "b", "c"], ["c", "d"]])
    assert [key for key, _ in fused] == ["c", "a", "b", "d"]
    assert dict(fused)["c"] == pytest.approx(1 / 63 + 1 / 61)


def test_ties_keep_the_order_of_the_first_ranking() -> None:
    assert [key for key, _ in fuse_rankings([["a"], ["b"]])] == ["a", "b"]


def test_k_flattens_the_ranks() -> None:
    assert fuse_rankings([["a"]], k=1) == [("a", 0.5)]


def test_a_weight_of_nothing_leaves_the_other_ranking() -> None:
    assert [key for key, _ in fuse_rankings([["a", "b"], ["b", "a"]], weights=[1.0, 0.0])] == ["a", "b"]


def test_no_rankings_give_nothing() -> None:
    assert fuse_rankings([]) == []


rankings = st.lists(st.integers(0, 30), unique=True, max_size=20)


@given(rankings, rankings, st.integers(1, 25), st.integers(1, 25))
def test_each_hit_keeps_its_ranks_and_scores(words: list[int], meaning: list[int], limit: int, depth: int) -> None:
    def ranking(name: str, positions: list[int]) -> Ranking:
        return Ranking(name, [Ranked(position, 1.0 / rank) for rank, position in enumerate(positions, 1)])

    both = [ranking("bm25", words), ranking("vector", meaning)]
    hits = ranked_hits(both, limit, k=60, weights={"bm25": 1.0, "vector": 0.5}, depth=depth)
    assert len({hit.position for hit in hits}) == len(hits) <= limit
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert ("bm25_rank" in hit.scores) == (hit.position in words)
        assert ("vector_rank" in hit.scores) == (hit.position in meaning)
        for name, positions in (("bm25", words), ("vector", meaning)):
            if hit.position in positions:
                rank = positions.index(hit.position) + 1
                assert hit.scores[f"{name}_rank"] == rank
                assert hit.scores[name] == pytest.approx(1.0 / rank, abs=1e-6)
        parts = [
            weight / (60 + p.index(hit.position) + 1) for p, weight in ((words[:depth], 1.0), (meaning[:depth], 0.5)) if hit.position in p
        ]
        assert hit.scores["rrf"] == hit.score == pytest.approx(sum(parts), abs=1e-6)
    alone = ranked_hits(both[:1], limit, k=60, weights={"bm25": 1.0}, depth=depth)
    assert [hit.position for hit in alone] == words[:limit]
    assert all("rrf" not in hit.scores for hit in alone)
