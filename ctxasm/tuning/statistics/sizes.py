"""How many labelled questions it takes to show a difference."""

from __future__ import annotations

from math import ceil
from statistics import NormalDist

POWER = 0.8
LEVEL = 0.05


def questions_needed(differing: float, gain: float, level: float = LEVEL, power: float = POWER) -> int:
    """Questions that show a `gain` with this power, one-sided at `level`, where a share `differing` of them differs.

    n = (z₁₋ₗ + zₚ)² · q / δ², 6.2 · q / δ² at 5 % and 80 % (Connor 1987, Biometrics 43:207, without its small second term).
    """
    if gain <= 0:
        raise ValueError(f"gain must be above 0, got {gain}")
    z = NormalDist().inv_cdf
    return ceil((z(1 - level) + z(power)) ** 2 * max(differing, gain) / gain**2)
