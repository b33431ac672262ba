"""Whether a claim that differs from its sentences is still carried: one logistic decision over the differences.

The weights are data (`decision.json`), fitted on labelled claims by `python -m tests.bench.fit_decision`, none of them below zero: no
difference makes a claim safer. `docs/about/measurements.md` shows what each certainty gives on claims that were not fitted on.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

from ctxasm.citations.lexical.alignment import REWORDED, Difference
from ctxasm.model.support import Gated, GateKind

Certainty = Literal["strict", "usual"]
CERTAINTIES: tuple[Certainty, ...] = get_args(Certainty)
MOST_OF_A_SORT = 3.0
"""More of one sort counts no more."""
MOST_REASONS = 3
_KINDS: dict[str, GateKind] = {
    **dict.fromkeys(("limit", "end", "side"), "comparison"),
    **dict.fromkeys(("order", "exchanged"), "roles"),
    **dict.fromkeys(("sentence", "subject", "pronoun"), "subject"),
    **dict.fromkeys(("opposite", "sign"), "opposite"),
    "figure": "figure",
}
"""What a reader is told by the first word of a sort; an operator is told by its own kind, all else is wording."""


class Weights(NamedTuple):
    """The weight of each sort of difference, the bias, and by certainty the risk from which on a claim is refused: one that follows a
    single sentence in other words, and one that is joined from several."""

    bias: float
    sorts: dict[str, float]
    limits: dict[str, tuple[float, float]]


class Decision(NamedTuple):
    """The chance that a claim with some differences is false, and why it is refused: nothing where it is not."""

    risk: float
    reasons: tuple[Gated, ...] = ()


@cache
def read_weights() -> Weights:
    """The weights that the project ships."""
    data = json.loads(files(__package__).joinpath("decision.json").read_text(encoding="utf-8"))
    return Weights(data["bias"], data["weights"], data["limits"])


def amounts(found: Iterable[Difference]) -> dict[str, float]:
    """How much there is of each sort of difference."""
    counted: defaultdict[str, float] = defaultdict(float)
    for difference in found:
        counted[difference.sort] += difference.amount
    return {sort: min(amount, MOST_OF_A_SORT) for sort, amount in counted.items()}


def decide(found: Sequence[Difference], certainty: Certainty) -> Decision:
    """Whether a claim with some differences is carried."""
    weights = read_weights()
    total = weights.bias + sum(weights.sorts.get(sort, 0.0) * amount for sort, amount in amounts(found).items())
    risk = round(1 / (1 + math.exp(-total)), 4)
    alone, joined = weights.limits[certainty]
    if risk < (alone if any(one.sort == REWORDED for one in found) else joined):
        return Decision(risk)
    told = [one for one in found if weights.sorts.get(one.sort) and one.sort != REWORDED] or list(found)
    ranked = sorted(told, key=lambda one: -weights.sorts.get(one.sort, 0.0) * one.amount)
    reasons = tuple(dict.fromkeys(Gated(kind_of(one.sort), one.claim, one.source) for one in ranked))[:MOST_REASONS]
    return Decision(risk, reasons)


def kind_of(sort: str) -> GateKind:
    """What a reader is told of a sort of difference."""
    first = sort.removeprefix("free ").split()[0]
    return first if first in get_args(GateKind) else _KINDS.get(first, "wording")  # type: ignore[return-value]
