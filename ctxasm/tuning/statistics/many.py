"""Many settings tried on the same questions: which are better than one of them, and which cheaper one is hardly worse.

Both answers are adjusted for how many were tried: the best of 64 settings that do not differ looks better than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ctxasm.tuning.statistics.pairs import CLOSE, DRAWS, tango

EXACT = 12
"""Up to this many questions on which any setting differs, every way to sign them is tried."""


class Cheaper(NamedTuple):
    """A setting by its place: `bound` is the least that its difference can be, adjusted for how many were tried."""

    at: int
    difference: float
    bound: float


def max_t_p(differences: Sequence[Sequence[float]], draws: int = DRAWS, seed: int = 0) -> list[float]:
    """Adjusted p values, one a setting, that its mean difference is above 0. `differences`: a row a question, a column a setting.

    Max-T by sign flips (Westfall and Young 1993, §2.3; single step): the signs of whole questions are flipped, so what settings have in
    common is kept, and each setting is compared with the largest of all under those flips. T is the sum over its root of
    squares, which no flip changes.
    """
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        return [1.0] * (table.shape[1] if table.ndim == 2 else 0)
    table = table[np.any(table, axis=1)]
    scale = np.sqrt((table**2).sum(axis=0))
    weighed = table / np.where(scale > 0, scale, 1.0)
    observed = weighed.sum(axis=0)
    rows = table.shape[0]
    if not rows:
        return [1.0] * table.shape[1]
    if rows <= EXACT:
        signs, own = ((np.arange(2**rows)[:, None] >> np.arange(rows)) & 1) * 2 - 1, 0
    else:
        signs, own = np.random.default_rng(seed).integers(0, 2, size=(draws, rows), dtype=np.int8) * 2 - 1, 1
    largest = (signs @ weighed).max(axis=1)
    reached = [(int((largest >= each - CLOSE).sum()) + own) / (len(largest) + own) for each in observed]
    return [p if width > 0 else 1.0 for p, width in zip(reached, scale, strict=True)]


class Promising(NamedTuple):
    """A setting by its place that did as well here. `questions` in all would show that it is hardly worse, if shares stay as they are."""

    at: int
    questions: int


def cheapest_no_worse(
    whole: Sequence[Sequence[bool]], costs: Sequence[float], reference: int, delta: float = 0.05, level: float = 0.95
) -> Cheaper | None:
    """The cheapest setting *shown* to be at most `delta` worse than the one at `reference`; None where no cheaper one is.

    `whole`: a row a question, a column a setting. Shown: Tango's one-sided lower bound of the paired difference, at a level shared
    out among all that are cheaper (Bonferroni), lies above -delta. "Within noise" is not that: few questions make much noise.
    """
    n, candidates = len(whole), _cheaper(costs, reference)
    for at in candidates:
        better, worse = _flips(whole, at, reference)
        bound = _bound(better, worse, n, level, len(candidates))
        if n and bound > -delta:
            return Cheaper(at, (better - worse) / n, bound)
    return None


def cheapest_as_good(
    whole: Sequence[Sequence[bool]], costs: Sequence[float], reference: int, delta: float = 0.05, level: float = 0.95
) -> Promising | None:
    """The cheapest setting that lost no more questions than it gained against the one at `reference`, and how many it takes to show
    what `cheapest_no_worse` asks; None where there is none.
    """
    n, candidates = len(whole), _cheaper(costs, reference)
    for at in candidates:
        better, worse = _flips(whole, at, reference)
        if n and better >= worse and (better - worse) / n > -delta:
            # More questions narrow the bound: the least number lies between two that double.
            low, high = 0, n
            while _bound(better * high / n, worse * high / n, high, level, len(candidates)) <= -delta:
                low, high = high, high * 2
            while high - low > 1:
                middle = (low + high) // 2
                shown = _bound(better * middle / n, worse * middle / n, middle, level, len(candidates)) > -delta
                low, high = (low, middle) if shown else (middle, high)
            return Promising(at, high)
    return None


def _cheaper(costs: Sequence[float], reference: int) -> list[int]:
    """The settings that cost less than the one at `reference`, the cheapest first."""
    return sorted((at for at, cost in enumerate(costs) if cost < costs[reference]), key=lambda at: (costs[at], at))


def _flips(whole: Sequence[Sequence[bool]], at: int, reference: int) -> tuple[int, int]:
    """How many questions a setting gains against the one at `reference`, and how many it loses."""
    return sum(row[at] and not row[reference] for row in whole), sum(row[reference] and not row[at] for row in whole)


def _bound(better: float, worse: float, n: int, level: float, tried: int) -> float:
    return tango(better, worse, n, 1 - 2 * (1 - level) / tried).low
