"""Many settings tried on the same questions: which are better than one of them, and which cheaper one is hardly worse.

Both answers are adjusted for how many were tried: the best of 64 settings that do not differ looks better than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ctxasm.tuning.statistics.pairs import CLOSE, DRAWS, FEW, LEVEL, tango

EXACT = 12
"""Up to this many questions on which any setting differs, every way to sign them is tried."""


def max_t_p(differences: Sequence[Sequence[float]], draws: int = DRAWS, seed: int = 0) -> list[float]:
    """Adjusted two-sided p values, one a setting, against "no difference". `differences`: a row a question, a column a setting.

    Max-T by sign flips (Westfall and Young 1993, §2.3; single step): the signs of whole questions are flipped, so what settings have in
    common is kept, and each setting is compared with the largest of all under those flips. T is the size of the sum over its root of
    squares, which no flip changes.
    """
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        return [1.0] * (table.shape[1] if table.ndim == 2 else 0)
    table = table[np.any(table, axis=1)]
    scale = np.sqrt((table**2).sum(axis=0))
    weighed = table / np.where(scale > 0, scale, 1.0)
    observed = np.abs(weighed.sum(axis=0))
    rows = table.shape[0]
    if not rows:
        return [1.0] * table.shape[1]
    if rows <= EXACT:
        signs, own = ((np.arange(2**rows)[:, None] >> np.arange(rows)) & 1) * 2 - 1, 0
    else:
        signs, own = np.random.default_rng(seed).integers(0, 2, size=(draws, rows), dtype=np.int8) * 2 - 1, 1
    largest = np.abs(signs @ weighed).max(axis=1)
    reached = [(int((largest >= each - CLOSE).sum()) + own) / (len(largest) + own) for each in observed]
    return [p if width > 0 else 1.0 for p, width in zip(reached, scale, strict=True)]


class Cheaper(NamedTuple):
    """A setting by its place that costs no more than another one: its `difference` of shares, and the least that this can be (`bound`).

    The bound is Tango's, at a one-sided level shared out among all `tried` settings that cost no more (Bonferroni). `shown`: it lies above
    -delta.
    """

    at: int
    difference: float
    bound: float
    shown: bool
    tried: int


def cheaper_settings(whole: np.ndarray, costs: Sequence[float], reference: int, delta: float, level: float = LEVEL) -> list[Cheaper]:
    """The settings that cost no more than the one at `reference`, the cheapest first. `whole`: booleans settings × questions.

    "Within noise" does not show that one is hardly worse: few questions make much noise.
    """
    n, places = int(whole.shape[1]), _no_dearer(costs, reference)
    found = []
    for at in places if n else ():
        better, worse = _flips(whole, at, reference)
        bound = _bound(better, worse, n, level, len(places))
        found.append(Cheaper(at, (better - worse) / n, bound, n >= FEW and bound > -delta, len(places)))
    return found


def questions_to_show(whole: np.ndarray, costs: Sequence[float], at: int, reference: int, delta: float, level: float = LEVEL) -> int:
    """How many more labelled questions would show the setting at a place to lose at most `delta`, if the shares stay as they are.

    0 where it is shown, or loses that much here.
    """
    n, tried = int(whole.shape[1]), len(_no_dearer(costs, reference))
    better, worse = (count / n for count in _flips(whole, at, reference))

    def is_shown(many: int) -> bool:
        return many >= FEW and _bound(better * many, worse * many, many, level, tried) > -delta

    if better - worse <= -delta or is_shown(n):
        return 0
    low, high = n, 2 * n
    while not is_shown(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_shown(middle) else (middle, high)
    return high - n


def _no_dearer(costs: Sequence[float], reference: int) -> list[int]:
    """The cheapest first."""
    places = (at for at, cost in enumerate(costs) if cost <= costs[reference] and at != reference)
    return sorted(places, key=lambda at: (costs[at], at))


def _flips(whole: np.ndarray, at: int, reference: int) -> tuple[int, int]:
    """How many questions a setting gains against the one at `reference`, and how many it loses."""
    return int((whole[at] & ~whole[reference]).sum()), int((whole[reference] & ~whole[at]).sum())


def _bound(better: float, worse: float, n: int, level: float, tried: int) -> float:
    return tango(better, worse, n, 1 - 2 * (1 - level) / tried).low
