"""Two scorers in a row: the second, which costs, is asked only about claims that the first finds carried by nothing.

Scores of different scorers do not compare, so those of the second are stretched until its two thresholds lie on those of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ctxasm.citations.weighing import is_match
from ctxasm.model.messages import Cancel
from ctxasm.model.support import Comparison, Match, Scorer, Source, Spent


class DoubtfulScorer:
    """Compares by `first`, and by `second` where the first finds nothing that carries the claim: no source, nor all together."""

    def __init__(self, first: Scorer, second: Scorer) -> None:
        self.name = f"{first.name}+{second.name}"
        self.threshold, self.partly = first.threshold, first.partly
        self.first, self.second = first, second

    def compare(
        self, claims: Sequence[str], sources: Sequence[Source], question: str = "", cancel: Cancel | None = None
    ) -> DoubtfulComparison:
        """Compare all by the first, then the doubtful by the second. Raises ModelUnavailable."""
        known = self.first.compare(claims, sources, question, cancel)
        doubtful = [at for at in range(len(claims)) if claims[at].strip() and sources and not self._is_carried(known, at, len(sources))]
        asked = self.second.compare([claims[at] for at in doubtful], sources, question, cancel)
        return DoubtfulComparison(self, known, asked, {at: place for place, at in enumerate(doubtful)})

    def _is_carried(self, comparison: Comparison, at: int, sources: int) -> bool:
        return any(is_match(match, self.first) for match in (*comparison.each(at), comparison.together(at, range(sources))))

    def stretched(self, match: Match) -> Match:
        """A match of the second on the scale of the first."""
        found = tuple(one._replace(score=self._stretched(one.score)) for one in match.found)
        return match._replace(score=self._stretched(match.score), found=found)

    def _stretched(self, score: float) -> float:
        marks = ((0.0, 0.0), (self.second.partly, self.partly), (self.second.threshold, self.threshold), (1.0, 1.0))
        for (low, to_low), (high, to_high) in pairwise(marks):
            if score < high and low < high:
                return to_low + (score - low) / (high - low) * (to_high - to_low)
        return 1.0


class DoubtfulComparison:
    """See the port `Comparison`. `second` holds the claims at `places`."""

    def __init__(self, scorer: DoubtfulScorer, first: Comparison, second: Comparison, places: dict[int, int]) -> None:
        self._scorer, self._first, self._second, self._places = scorer, first, second, places
        self.spent = Spent(*map(sum, zip(first.spent, second.spent, strict=True)))

    def each(self, claim: int) -> Sequence[Match]:
        """See `Comparison`."""
        place = self._places.get(claim)
        return self._first.each(claim) if place is None else [self._scorer.stretched(match) for match in self._second.each(place)]

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        """See `Comparison`."""
        place = self._places.get(claim)
        return self._first.together(claim, sources) if place is None else self._scorer.stretched(self._second.together(place, sources))
