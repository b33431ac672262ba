"""Reciprocal-rank fusion."""

import pytest

from ctxasm.retrieval.fusion import fuse_rankings


def test_a_key_found_by_both_rankings_beats_one_found_by_either() -> None:
    fused = fuse_rankings([["a", "b", "c"], ["c", "d"]])
    assert [key for key, _ in fused] == ["c", "a", "b", "d"]
    assert dict(fused)["c"] == pytest.approx(1 / 63 + 1 / 61)


def test_ties_keep_the_order_of_the_first_ranking() -> None:
    assert [key for key, _ in fuse_rankings([["a"], ["b"]])] == ["a", "b"]


def test_k_flattens_the_ranks() -> None:
    assert fuse_rankings([["a"]], k=1) == [("a", 0.5)]


def test_no_rankings_give_nothing() -> None:
    assert fuse_rankings([]) == []
