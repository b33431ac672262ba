"""Two settings on the same questions: the sign-flip test, and the interval of a difference of paired proportions.

Under no difference each question's difference might as well have had the other sign. So the chance of a sum at least as
large is the share of the 2ⁿ ways to sign the differences that reach it (Fisher 1935, The Design of Experiments, §21; questions that do not
differ cancel out). Where all differences are of one size that share is the exact McNemar test, the binomial with p = 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np

Alternative = Literal["greater", "two-sided"]
EXACT = 16
"""Up to this many questions that differ, by unequal amounts, every way to sign them is tried: 65,536 of them."""
DRAWS = 9_999
"""Random ways to sign beyond that. With the observed one counted, p is valid at every level (Phipson and Smyth 2010)."""
CLOSE = 1e-9
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


def sign_flip_p(differences: Sequence[float], alternative: Alternative = "two-sided", draws: int = DRAWS, seed: int = 0) -> float:
    """The p value of differences, one a question, against "no difference". "greater": that their mean is above 0.

    Exact where all that differ do so by the same amount, or up to `EXACT` differ; beyond, `draws` random ways with a fixed seed.
    """
    found = np.asarray([each for each in differences if each], dtype=np.float64)
    if not found.size:
        return 1.0
    sizes = np.abs(found)
    if np.ptp(sizes) <= CLOSE:
        return _binomial_p(int((found > 0).sum()), found.size, alternative)
    total = float(found.sum())
    if found.size <= EXACT:
        sums, observed = _every_sum(sizes), 0
    else:
        sums, observed = _drawn_sums(sizes, draws, seed), 1
    reached = sums >= total - CLOSE if alternative == "greater" else np.abs(sums) >= abs(total) - CLOSE
    return (int(reached.sum()) + observed) / (sums.size + observed)


def _binomial_p(better: int, differing: int, alternative: Alternative) -> float:
    if alternative == "greater":
        return _tail(better, differing)
    return min(1.0, 2 * _tail(max(better, differing - better), differing))


def _tail(least: int, differing: int) -> float:
    """The chance of at least so many heads."""
    return float(Fraction(sum(comb(differing, count) for count in range(least, differing + 1)), 2**differing))


def _every_sum(sizes: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _drawn_sums(sizes: np.ndarray, draws: int, seed: int) -> np.ndarray:
    signs = np.random.default_rng(seed).integers(0, 2, size=(draws, sizes.size), dtype=np.int8) * 2 - 1
    sums: np.ndarray = signs @ sizes
    return sums


def agresti_min(better: float, worse: float, n: int, level: float = 0.95) -> Interval:
    """The interval of a difference of paired proportions, `better` and `worse` of `n` questions: Wald's with half a question added
    to each of the four cells (Agresti and Min 2005, Statistics in Medicine 24:729, "Wald + 2").

    With no differences at all it is about ±2.8 / n at 95 %, where a bootstrap says [0, 0]. Counts may be fractions: of a
    question that was looked at several times.
    """
    return _wald_plus(better - worse, better + worse, n, level)


def mean_interval(differences: Sequence[float], span: float = 1.0, level: float = 0.95) -> Interval:
    """The interval of a mean of paired differences that lie between -span and span: what `agresti_min` is where they are -1, 0 and 1."""
    found = np.asarray(differences, dtype=np.float64) / span
    interval = _wald_plus(float(found.sum()), float((found**2).sum()), found.size, level)
    return Interval(interval.low * span, interval.high * span, level)


def _wald_plus(total: float, squares: float, n: int, level: float) -> Interval:
    """Of differences with this sum and this sum of squares; beside them half a difference of 1, half one of -1, and one of 0."""
    if not n:
        return Interval(-1.0, 1.0, level)
    z, many = NormalDist().inv_cdf((1 + level) / 2), n + 2
    middle = total / many
    half = z * sqrt(max(0.0, squares + 1 - total**2 / many)) / many
    return Interval(max(-1.0, middle - half), min(1.0, middle + half), level)


def tango(better: float, worse: float, n: int, level: float = 0.95) -> Interval:
    """The score interval of the same difference (Tango 1998, Statistics in Medicine 17:891, equations 3 and 4).

    It holds in the tails too, so it is what a bound at a stricter level is read from.
    """
    if not n:
        return Interval(-1.0, 1.0, level)
    z = NormalDist().inv_cdf((1 + level) / 2)
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
        return 0.0 if abs(above) < CLOSE else float("inf") if above > 0 else float("-inf")
    return above / sqrt(spread)
