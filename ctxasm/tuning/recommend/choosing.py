"""The choice among a handful of settings, and what it is worth on questions that it was not made on.

One starts from what the prior says, and leaves it only where the questions speak against it: paired, over all limits
pooled, with z above 1.64. What is reported is measured on the other half of the questions, over repeated halves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ctxasm.tuning.statistics.pairs import Interval, agresti_min, sign_flip_p

LEAVE_Z = 1.64
"""From here on questions speak against the prior: one-sided 5 % of the normal distribution."""
REPEATS = 20
"""Times that the questions are cut into halves."""
CLOSE = 1e-12


def chosen(pooled: np.ndarray, first: int) -> int:
    """The candidate to take: `first`, unless another one is better by `LEAVE_Z` standard errors; of those the clearest.

    `pooled` is an array candidates × questions: the share of limits at which the question's evidence is whole.
    """
    n = pooled.shape[1]
    if n < 2:
        return first
    differences = pooled - pooled[first]
    means, spreads = differences.mean(axis=1), differences.std(axis=1, ddof=1)
    z = np.divide(means * np.sqrt(n), spreads, out=np.where(means > CLOSE, np.inf, 0.0), where=spreads > CLOSE)
    best = int(z.argmax())
    return best if z[best] > LEAVE_Z else first


class HeldOut(NamedTuple):
    """What the choice gained on questions that it was not made on: the mean of `differences`, one a question, over repeated halves.

    `interval` is Agresti and Min's, from the gains and losses; `p` that of the sign-flip test against "no gain".
    """

    gain: float
    interval: Interval
    p: float
    n: int
    differences: tuple[float, ...]


def held_out(
    pooled: np.ndarray,
    whole: np.ndarray,
    start: int,
    first: int,
    strata: np.ndarray,
    level: float = 0.95,
    seed: int = 0,
    repeats: int = REPEATS,
) -> HeldOut:
    """Choose on one half of the questions and look at the other, many times. `whole` (candidates × questions) is at one's own limit.

    `strata` are shared out evenly. They must not be outcomes of a setting: where the start does badly by chance, it would do so in both
    halves, and whatever is chosen would look better than it is (by 1.7 points among 9 equal settings at n = 50).
    """
    n = pooled.shape[1]
    sums = np.zeros(n)
    for half, other in halves(strata, repeats, seed):
        taken = chosen(pooled[:, half], first)
        sums[other] += whole[taken, other].astype(float) - whole[start, other].astype(float)
    differences = sums / max(1, repeats)
    better, worse = float(differences[differences > 0].sum()), float(-differences[differences < 0].sum())
    gain = float(differences.mean()) if n else 0.0
    p = sign_flip_p(differences.tolist(), "greater", seed=seed)
    return HeldOut(gain, agresti_min(better, worse, n, level), p, n, tuple(differences.tolist()))


def halves(values: np.ndarray, repeats: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Both ways round, `repeats` cuts into halves in which questions of every value are shared out evenly (stratified)."""
    random = np.random.default_rng(seed)
    for _ in range(repeats):
        shuffled = np.lexsort((random.random(len(values)), values))
        # Neighbours in this order are alike: one of each two goes to either half.
        first = np.zeros(len(values), dtype=bool)
        for at in range(0, len(values), 2):
            pair = shuffled[at : at + 2]
            first[pair[random.integers(len(pair))]] = True
        one, other = np.flatnonzero(first), np.flatnonzero(~first)
        yield one, other
        yield other, one


def whole_rows(whole: np.ndarray) -> Sequence[Sequence[bool]]:
    """Questions × settings, as `cheapest_no_worse` takes them."""
    return [[bool(value) for value in row] for row in whole.T]
