"""How well the sources that a claim cites carry it, all of them counted: one that carries nothing weighs against it.

People judge so, too: of the labelled claims of HAGRID that cite several sources, the worst of them tells more about the label
(AUC .66) than all of them together (.58).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ctxasm.model.support import Comparison, Match, Scorer


class Weighed(NamedTuple):
    """The match of the cited sources together, the claim's `score`, and the numbers of cited sources that carry nothing.

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


def weigh(comparison: Comparison, scorer: Scorer, claim: int, cited: Mapping[int, int]) -> Weighed:
    """Weigh a claim against the sources that it cites (at least one), given as position by number."""
    match = comparison.together(claim, tuple(cited.values()))
    used = {found.number for found in match.found}
    alone = {number: comparison.together(claim, (position,)) for number, position in cited.items()}
    idle = tuple(number for number, one in alone.items() if one.score < scorer.partly and number not in used)
    score = (match.score + min(one.score for one in alone.values())) / 2 if idle else match.score
    return Weighed(match, score, idle, is_match(match, scorer))


def is_match(match: Match, scorer: Scorer) -> bool:
    """Whether a match counts: at the threshold, with a place, and nothing that says otherwise."""
    return match.score >= scorer.threshold and match.conflict is None and bool(match.found)
