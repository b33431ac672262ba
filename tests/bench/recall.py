"""Recall of a ranking: the share of the pieces of evidence of a question that its first hits hold whole.

A gold chunk is recalled when it, or one that is enough in its place, is among the hits; a span when the hits together hold all of its
characters that any chunk holds. A label whose text is lost never is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctxasm.model.records import Query
from ctxasm.model.results import Key
from ctxasm.tuning.evidence import Evidence, Place, StoredChunks, clipped, evidence_of, joined, size


def needed(query: Query, chunks: Mapping[str, StoredChunks]) -> Evidence | None:
    """What is to be recalled for a question; None for one without labels, or whose labels point nowhere and are not known to be lost."""
    evidence = evidence_of(query, chunks)
    return evidence if evidence.keys() or query.lost_labels else None


def recall(evidence: Evidence, hits: Iterable[Key]) -> float:
    """From 0 to 1."""
    found, pieces = set(hits), evidence.pieces()
    return sum(any(_is_covered(place, found) for place in places) for places in pieces) / len(pieces)


def mean_recall(needs: Sequence[Evidence], rankings: Sequence[Sequence[Key]], k: int) -> float:
    """The mean recall of the first `k` hits over questions; 0 for no questions."""
    shares = [recall(need, ranking[:k]) for need, ranking in zip(needs, rankings, strict=True)]
    return sum(shares) / len(shares) if shares else 0.0


def _is_covered(place: Place, hits: set[Key]) -> bool:
    held = joined((each.start, each.end) for each in place.holding if each.key in hits)
    if place.start is None:
        return any(each.key in hits for each in place.holding)
    return bool(place.needed) and all(size(clipped(held, low, high)) == high - low for low, high in place.needed)
