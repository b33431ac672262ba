"""What a piece of advice does to the labelled questions of the whole dataset, and whether it helps others than the one it was read from.

Advice is chosen on one question, where it always looks good: applied to other questions such changes gained nothing in the mean. So it
is judged by the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.model.records import Query
from ctxasm.tuning.advice_finding import Severity
from ctxasm.tuning.compare import Comparison

MOST_COUNTED = 300
"""Labelled questions that advice is counted on; of more, that many spread evenly."""


class SetEffect(NamedTuple):
    """Of `labelled` questions the ids of those of whose evidence a change brings more pieces into the context (`better`), or fewer
    (`worse`); `tokens` by how many a question's context is longer in the mean. `sampled`: there are more questions.
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
    """The questions that advice is counted on: labelled ones, with hits."""
    labelled = [query for query in queries if query.is_labelled and query.retrieved]
    step = len(labelled) / MOST_COUNTED
    return labelled if step <= 1 else [labelled[int(at * step)] for at in range(MOST_COUNTED)]


def set_effect(compared: Comparison, sampled: bool) -> SetEffect:
    """The effect of B's settings in place of A's."""
    by_change = {change: tuple(each.query_id for each in compared.questions if each.change == change) for change in ("better", "worse")}
    tokens = compared.tokens_b - compared.tokens_a
    return SetEffect(compared.labelled, by_change["better"], by_change["worse"], tokens, sampled)
