"""Statistics that hold for few questions: paired tests and intervals, many settings against one, and how many questions it takes.

`paired_difference` is the one test and the one interval of every page, command and gate. Under no difference each question's difference
might as well have had the other sign. So the chance of a sum at least as large is the share of the 2ⁿ ways to sign the differences that
reach it (Fisher 1935, The Design of Experiments, §21; questions that do not differ cancel out). Where all differences are of one size that
share is the exact McNemar test, the binomial with p = 1/2.

Many settings tried on the same questions are adjusted for how many they are: the best of 64 settings that do not differ looks better than
it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ctxasm.model.amounts import interval, signed

SIGNIFICANCE = 0.05
"""A difference is shown where its two-sided p is at most this."""
FEWEST = 10
"""With fewer questions nothing is claimed, whatever p is."""
CONFIDENCE = 1 - SIGNIFICANCE
NORMAL = NormalDist()
Z = NORMAL.inv_cdf(1 - SIGNIFICANCE / 2)
EXACT = 16
"""Up to this many questions that differ, by unequal amounts, every way to sign them is tried: 65,536 of them."""
DRAWS = 9_999
"""Random ways to sign beyond that. With the observed one counted, p is valid at every level (Phipson and Smyth 2010)."""
TOLERANCE = 1e-9
"""Sums nearer than this are equal: they are added up in another order."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, with the confidence that was asked for (two-sided)."""

    low: float
    high: float
    level: float


def p_words(p: float) -> str:
    """`p = 0.035`; a smaller one than three digits can say is no 0: `p < 0.001`."""
    return "p < 0.001" if p < 0.0005 else f"p = {p:.3f}"


class PairedDifference(NamedTuple):
    """What B has more than A over `n` questions: the mean `difference` of `better` gains and `worse` losses, its interval, and p.

    p is at most .05 exactly where the interval leaves out 0.
    """

    n: int
    better: int
    worse: int
    difference: float
    interval: Interval
    p: float

    @property
    def shown(self) -> bool:
        """Whether the difference, in either direction, is more than chance explains."""
        return self.n >= FEWEST and self.p <= SIGNIFICANCE

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"n": self.n, "better": self.better, "worse": self.worse, **self.figures()}

    def figures(self) -> dict[str, Any]:
        """The difference and how sure it is, as JSON values."""
        return {
            "difference": round(self.difference, 6),
            "interval": [round(self.interval.low, 6), round(self.interval.high, 6)],
            "level": self.interval.level,
            "p": round(self.p, 6),
            "shown": self.shown,
        }

    def certainty(self) -> str:
        """How sure it is: `more than chance explains (p = 0.012)`."""
        if self.n < FEWEST:
            return f"too few questions to tell (n < {FEWEST})"
        return f"{'more than chance explains' if self.shown else 'within noise'} ({p_words(self.p)})"

    def points(self) -> str:
        """`+3.4 points [−1.2, +8.0]`: percentage points, for differences of shares."""
        return f"{signed(self.difference * 100, 1)} points {interval(self.interval.low * 100, self.interval.high * 100, 1)}"

    def sentence(self) -> str:
        """`+3.4 points [−1.2, +8.0] (n = 58), within noise (p = 0.219)`."""
        return f"{self.points()} (n = {self.n}), {self.certainty()}"


def paired_difference(differences: Sequence[float], span: float = 1.0) -> PairedDifference:
    """Of differences, one a question, between -span and span.

    p is that of the sign-flip test, the interval Agresti and Min's. They are worked out differently and may disagree near 5 %: then the
    interval is made to reach 0, or p is the one at which it would leave 0 out. Either only makes the claim weaker.
    """
    found = np.asarray(differences, dtype=np.float64)
    if not found.size:
        return PairedDifference(0, 0, 0, 0.0, Interval(-span, span, CONFIDENCE), 1.0)
    middle, half = _wald_plus(found / span)
    low, high = span * max(-1.0, middle - half), span * min(1.0, middle + half)
    p = sign_flip_p(differences)
    if low <= 0 <= high:
        p = p if p > SIGNIFICANCE else 2 * (1 - NORMAL.cdf(Z * abs(middle) / half))
    elif p > SIGNIFICANCE:
        low, high = min(low, 0.0), max(high, 0.0)
    return PairedDifference(
        found.size, int((found > 0).sum()), int((found < 0).sum()), float(found.mean()), Interval(low, high, CONFIDENCE), p
    )


def _wald_plus(found: np.ndarray) -> tuple[float, float]:
    """The middle and half the width of the interval of a mean of differences between -1 and 1.

    Of differences that are -1, 0 and 1 it is that of paired proportions: Wald's with half a question added to each of the four cells
    (Agresti and Min 2005, Statistics in Medicine 24:729, "Wald + 2"); of others the same with their sum of squares. With no differences
    at all it is about ±2.8 / n at 95 %, where a bootstrap says [0, 0].
    """
    total, squares, many = float(found.sum()), float((found**2).sum()), found.size + 2
    return total / many, Z * sqrt(max(0.0, squares + 1 - total**2 / many)) / many


def sign_flip_p(differences: Sequence[float], draws: int = DRAWS, seed: int = 0) -> float:
    """The two-sided p value of differences, one a question, against "no difference".

    Exact where all that differ do so by the same amount, or up to `EXACT` differ; beyond, `draws` random ways with a fixed seed.
    """
    found = np.asarray([each for each in differences if each], dtype=np.float64)
    if not found.size:
        return 1.0
    sizes = np.abs(found)
    if np.ptp(sizes) <= TOLERANCE:
        return _binomial_p(int((found > 0).sum()), found.size)
    signs, observed = _signs(found.size, EXACT, draws, seed)
    reached = np.abs(signs @ sizes) >= abs(float(found.sum())) - TOLERANCE
    return (int(reached.sum()) + observed) / (len(signs) + observed)


def _signs(n: int, exact: int, draws: int, seed: int) -> tuple[np.ndarray, int]:
    """Every way to sign so many up to `exact`, and 0; else random ways, and 1: the observed one, which is counted too."""
    if n <= exact:
        return (((np.arange(2**n)[:, None] >> np.arange(n)) & 1) * 2 - 1).astype(np.int8), 0
    return np.random.default_rng(seed).integers(0, 2, size=(draws, n), dtype=np.int8) * 2 - 1, 1


def _binomial_p(better: int, differing: int) -> float:
    """Twice the chance of at least so many heads."""
    least = max(better, differing - better)
    return min(1.0, 2 * float(Fraction(sum(comb(differing, count) for count in range(least, differing + 1)), 2**differing)))


def tango(better: float, worse: float, n: int, level: float = CONFIDENCE) -> Interval:
    """The score interval of the same difference (Tango 1998, Statistics in Medicine 17:891, equations 3 and 4).

    It holds in the tails too, so it is what a bound at a stricter level is read from.
    """
    if not n:
        return Interval(-1.0, 1.0, level)
    z = NORMAL.inv_cdf((1 + level) / 2)
    observed = (better - worse) / n
    low = _root(better, worse, n, z, -1.0, observed)
    high = -_root(worse, better, n, z, -1.0, -observed)
    return Interval(low, high, level)


def _root(better: float, worse: float, n: int, z: float, low: float, high: float) -> float:
    """The lowest difference from which the observed one is at most `z` standard errors away, by bisection."""
    if _score(better, worse, n, low) <= z:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        if _score(better, worse, n, middle) > z:
            low = middle
        else:
            high = middle
    return high


def _score(better: float, worse: float, n: int, difference: float) -> float:
    """How many standard errors the observed difference lies above `difference`."""
    a, b = 2 * n, -better - worse + (2 * n - better + worse) * difference
    c = -worse * difference * (1 - difference)
    chance = (sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    spread = n * (2 * chance + difference * (1 - difference))
    above = better - worse - n * difference
    if spread <= 0:
        return 0.0 if abs(above) < TOLERANCE else float("inf") if above > 0 else float("-inf")
    return above / sqrt(spread)


EXACT_ROWS = 12
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
    signs, own = _signs(rows, EXACT_ROWS, draws, seed)
    largest = np.abs(signs @ weighed).max(axis=1)
    reached = [(int((largest >= each - TOLERANCE).sum()) + own) / (len(largest) + own) for each in observed]
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


def cheaper_settings(whole: np.ndarray, costs: Sequence[float], reference: int, delta: float, level: float = CONFIDENCE) -> list[Cheaper]:
    """The settings that cost no more than the one at `reference`, the cheapest first. `whole`: booleans settings × questions.

    "Within noise" does not show that one is hardly worse: few questions make much noise.
    """
    n, places = int(whole.shape[1]), _no_dearer(costs, reference)
    found = []
    for at in places if n else ():
        better, worse = _flips(whole, at, reference)
        bound = _bound(better, worse, n, level, len(places))
        found.append(Cheaper(at, (better - worse) / n, bound, n >= FEWEST and bound > -delta, len(places)))
    return found


def questions_to_show(whole: np.ndarray, costs: Sequence[float], at: int, reference: int, delta: float, level: float = CONFIDENCE) -> int:
    """How many more labelled questions would show the setting at a place to lose at most `delta`, if the shares stay as they are.

    0 where it is shown, or loses that much here.
    """
    n, tried = int(whole.shape[1]), len(_no_dearer(costs, reference))
    better, worse = (count / n for count in _flips(whole, at, reference))

    def is_shown(many: int) -> bool:
        return many >= FEWEST and _bound(better * many, worse * many, many, level, tried) > -delta

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


POWER = 0.8


def questions_needed(differing: float, gain: float, level: float = SIGNIFICANCE, power: float = POWER) -> int:
    """Questions that show a `gain` with this power, one-sided at `level`, where a share `differing` of them differs.

    n = (z₁₋ₗ + zₚ)² · q / δ², 6.2 · q / δ² at 5 % and 80 % (Connor 1987, Biometrics 43:207, without its small second term).
    """
    if gain <= 0:
        raise ValueError(f"gain must be above 0, got {gain}")
    z = NormalDist().inv_cdf
    return ceil((z(1 - level) + z(power)) ** 2 * max(differing, gain) / gain**2)
