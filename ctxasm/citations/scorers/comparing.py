"""What all comparisons by a model have in common: positions to texts, the order of sources, the gate, and no work done twice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.support import NO_MATCH, Match, Source, Spent

Gate = Callable[[str, Sequence[Source], Match], Match]
"""Looks at a match for what a model does not see, such as another number: (claim, the sources compared, their match) -> the
match as it stands. It may lower the score and fill `missing` and `conflict`. It is asked only about matches that would count,
and where a model sees a contradiction without naming it."""


def canonical(source: Source) -> tuple[int, tuple[tuple[int, int], ...], str, str]:
    """What puts sources in one order, however they were given. A source and its page summary share a number."""
    return source.number, source.ranges, source.text, source.title


def require_thresholds(partly: float, threshold: float) -> None:
    """Raises InvalidInput where the two cannot be those of a scorer."""
    if not 0 < partly <= threshold <= 1:
        raise InvalidInput(f"partly and threshold must be above 0, in that order, and at most 1, got {shown((partly, threshold))}")


class ModelComparison(ABC):
    """See the port `Comparison`. `partly` is the score from which on a match counts, and the gate is asked."""

    def __init__(self, claims: Sequence[str], sources: Sequence[Source], partly: float, gate: Gate | None, spent: Spent) -> None:
        self._claims, self._sources, self._partly, self._gate = list(claims), list(sources), partly, gate
        self._matches: dict[tuple[str, tuple[int, ...]], Match] = {}
        self.spent = spent

    def each(self, claim: int) -> Sequence[Match]:
        """The match with every source alone, in their order."""
        return [self.together(claim, [at]) for at in range(len(self._sources))]

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        """The match with some sources taken together, whatever their order."""
        text = self._claims[claim]
        chosen = tuple(sorted(set(sources), key=lambda at: (canonical(self._sources[at]), at)))
        if not chosen or not text.strip():
            return NO_MATCH
        if (text, chosen) not in self._matches:
            match = self._compared(text, chosen)
            if self._gate is not None and self._is_doubtful(text, chosen, match):
                match = self._gate(text, [self._sources[at] for at in chosen], match)
            self._matches[text, chosen] = match
        return self._matches[text, chosen]

    def _is_doubtful(self, claim: str, chosen: Sequence[int], match: Match) -> bool:
        """Whether the gate has something to look at."""
        return match.score >= self._partly

    @abstractmethod
    def _compared(self, claim: str, chosen: Sequence[int]) -> Match:
        """The match of a claim with the sources at these positions, before the gate. At least one, each once."""
