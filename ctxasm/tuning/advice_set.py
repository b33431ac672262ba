"""What a piece of advice does to the labelled questions of the whole dataset, and whether it helps others than the one it was read from.

Advice is chosen on one question, where it always looks good: applied to other questions such changes gained nothing in the mean. So it
is judged by the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from time import monotonic
from typing import NamedTuple

from ctxasm.model.progress import Cancelled, Progress
from ctxasm.model.records import Query
from ctxasm.tuning.advice_finding import Severity
from ctxasm.tuning.compare import Comparison

MOST_COUNTED = 300
"""Labelled questions that advice is counted on; of more, that many spread evenly."""
LEAST_COUNTED = 30
"""Questions that are counted however long it takes."""
PATIENCE_S = 10.0
"""Seconds after which no further question is counted: what a person waits for at most. (300 questions took 1 to 9 seconds of one core.)"""
STRIDE = 0.618
"""What part of them lies between two that are counted one after the other, so that the first ones are spread evenly too."""


class SetEffect(NamedTuple):
    """Of `labelled` questions the ids of those of whose evidence a change brings more pieces into the context (`better`), or fewer
    (`worse`); `tokens` by how many a question's context is longer in the mean. `sampled`: there are more questions
    that are labelled.
    """

    labelled: int
    better: tuple[str, ...]
    worse: tuple[str, ...]
    tokens: float
    sampled: bool = False

    def helps_others(self, severity: Severity, query_id: str) -> bool:
        """Whether advice of this kind is worth giving to others than the question that it was read from.

        What is missing must be gained by more than lose something; tokens must be fewer, and no more questions lose than gain; and of
        what evidence cannot judge (order, boundaries) it is asked that it does no harm.
        """
        gained, lost = (len([name for name in names if name != query_id]) for names in (self.better, self.worse))
        match severity:
            case "loss":
                return gained > lost
            case "risk":
                return gained >= lost
            case "waste":
                return gained >= lost and self.tokens < 0


def counted_on(queries: Sequence[Query]) -> list[Query]:
    """The questions that advice is counted on: labelled ones, with hits; any first ones of them are spread evenly over all."""
    labelled = [query for query in queries if query.is_labelled and query.retrieved]
    step = max(1.0, len(labelled) / MOST_COUNTED)
    some = [labelled[int(at * step)] for at in range(min(len(labelled), MOST_COUNTED))]
    stride = next((at for at in range(int(STRIDE * len(some)), len(some)) if gcd(at, len(some)) == 1), 1)
    return [some[at * stride % len(some)] for at in range(len(some))]


class Patience:
    """Whether counting ends: on request, or when it took long enough and some questions are counted. A `Report` tells it how many are."""

    def __init__(self, cancelled: Cancelled, cells: int) -> None:
        self._cancelled, self._cells, self._began = cancelled, cells, monotonic()
        self._enough = False

    def report(self, progress: Progress) -> None:
        """See `Report`; `cells` are counted for a question."""
        self._enough = progress.done >= LEAST_COUNTED * self._cells

    def ended(self) -> bool:
        """See `Cancelled`."""
        return self._cancelled() or (self._enough and monotonic() - self._began > PATIENCE_S)


def set_effect(compared: Comparison, sampled: bool) -> SetEffect:
    """The effect of B's settings in place of A's."""
    by_change = {change: tuple(each.query_id for each in compared.questions if each.change == change) for change in ("better", "worse")}
    tokens = compared.tokens_b - compared.tokens_a
    return SetEffect(compared.labelled, by_change["better"], by_change["worse"], tokens, sampled)
