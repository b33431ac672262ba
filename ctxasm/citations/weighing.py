"""How well the sources that a claim cites carry it, all of them counted: one that carries nothing weighs against it.

People judge so, too: of the labelled claims of HAGRID that cite several sources, the worst of them tells more about the label
(AUC .66) than all of them together (.58).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.model.support import Comparison, Match, Scorer


class Weighed(NamedTuple):
    """The match of the cited sources together, the claim's `score`, and the positions of cited sources that carry nothing.

    `score` is the match's, lowered to the mean with the worst source where one carries nothing.
    """

    match: Match
    score: float
    idle: tuple[int, ...]
    is_match: bool

    @property
    def carried(self) -> bool:
        """Whether the claim may be called supported."""
        return self.is_match and not self.idle


def weigh(comparison: Comparison, scorer: Scorer, claim: int, cited: Sequence[int]) -> Weighed:
    """Weigh a claim against the sources at the positions that it cites (at least one)."""
    match = comparison.together(claim, cited)
    alone = {position: comparison.together(claim, (position,)) for position in cited}
    idle = tuple(p for p, one in alone.items() if one.score < scorer.partly and not _is_used(match, one))
    score = (match.score + min(one.score for one in alone.values())) / 2 if idle and len(alone) > 1 else match.score
    return Weighed(match, score, idle, is_match(match, scorer))


def is_match(match: Match, scorer: Scorer) -> bool:
    """Whether a match counts: at the threshold, with a place, and nothing that says otherwise."""
    return match.score >= scorer.threshold and match.conflict is None and bool(match.found)


def _is_used(match: Match, alone: Match) -> bool:
    numbers = {found.number for found in alone.found}
    return any(found.number in numbers for found in match.found)
