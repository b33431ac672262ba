"""Scores of hits on the scale that a bundle has: any real number, higher is better. Distances are turned.

A distance is known by its name, or by its order: retrievers return the best first, so a file whose lists of plain scores all
rise holds distances (LangChain's `similarity_search_with_score` over FAISS or Chroma), and one whose lists of distances all fall
holds similarities (what Milvus calls distance under a cosine or inner product).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import factorial, prod
from typing import Any, NamedTuple

from ctxasm.data.files.recognised.passages import Passage
from ctxasm.data.files.recognised.values import is_finite, is_nothing

MIN_ODDS = 20
"""How unlikely it must be by chance that all lists rise: 1 in so many orders (a list of 4, or two of 3)."""


class Scored(NamedTuple):
    """The score of each passage of a list as a bundle has it (None: this one was not found but added), and `ranked`: the order
    of the list is the order of retrieval."""

    scores: list[Any]
    ranked: bool
    by: str


def rising(lists: Iterable[Sequence[Passage]]) -> bool:
    """Whether the plain scores of all lists rise, which by chance they would not."""
    return _always(lists, ("score", "pair"), lambda a, b: a <= b)


def falling(lists: Iterable[Sequence[Passage]]) -> bool:
    """Whether what is called a distance falls in all lists, which by chance it would not."""
    return _always(lists, ("distance",), lambda a, b: a >= b)


def _always(lists: Iterable[Sequence[Passage]], measures: Sequence[str], follows: Callable[[float, float], bool]) -> bool:
    odds, is_pair = [], False
    for found in lists:
        scores = [passage.score for passage in found if is_finite(passage.score)]
        if any(passage.measure not in measures for passage in found) or len(set(scores)) < 2:
            continue
        if not all(follows(a, b) for a, b in pairwise(scores)):
            return False
        is_pair = is_pair or any(passage.measure == "pair" for passage in found)
        odds.append(factorial(min(len(set(scores)), MIN_ODDS)))
    # Pairs of a document and a number are what LangChain returns with scores, and there they often are distances.
    return prod(odds) >= (2 if is_pair else MIN_ODDS) and bool(odds)


def score(found: Sequence[Passage], are_distances: bool) -> Scored:
    """The scores of one list. `are_distances`: plain scores of this file are distances."""
    if all(is_nothing(passage.score) for passage in found):
        return Scored([1 / rank for rank in range(1, len(found) + 1)], True, "no_score")
    turned = [_turned(passage, are_distances) for passage in found]
    known = [value for value in turned if is_finite(value)]
    is_falling = len(known) == len(found) and all(a >= b for a, b in pairwise(known))
    is_ranked = is_falling or all(passage.rank is not None for passage in found)
    by = "distance" if any(p.measure == "distance" for p in found) else "rising" if are_distances else ""
    if any(value is None for value in turned):
        by = "added"
    return Scored(turned, is_ranked, by)


def _turned(passage: Passage, are_distances: bool) -> Any:
    value = passage.score
    if value is None:
        return None
    if passage.measure != "distance" and not (are_distances and passage.measure in ("score", "pair")):
        return value
    if not is_finite(value):
        return value
    return 1 / (1 + value) if value >= 0 else 1 - value


NOTES = {
    "no_score": "hits without scores: the score is 1 / rank, in the order of the export (lists: {})",
    "distance": "hits with distances, where lower is better: the score is 1 / (1 + distance) (lists: {})",
    "rising": "scores that rise from the first hit on in every list are distances: the score is 1 / (1 + distance) (lists: {})",
    "added": "passages without a score beside hits that have one were added after retrieval: chunks, not hits (lists: {})",
}
"""What is said about the lists of a file, by `Scored.by`."""
