"""Whether work on a text takes time linear in its length, told by processor time, so that other work on the machine does not count.

What shares the machine shares its caches too, so processor time varies: part and whole are measured by turns, and the least
of each counts. Linear work passes in the first turn, work that is not is given every chance.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PART = 8
TURNS = 8
SLACK_SECONDS = 0.02
"""What does not grow, and the grain of the clock."""


def is_linear(work: Callable[[str], object], text: str) -> bool:
    """Whether `text` takes at most twice as long for each character as an eighth of it: quadratic work takes eight times as long.

    The eighth must take the same path through the work.
    """
    part = whole = float("inf")
    for _ in range(TURNS):
        part = min(part, seconds(work, text[: len(text) // PART]))
        whole = min(whole, seconds(work, text))
        if whole <= 2 * PART * part + SLACK_SECONDS:
            return True
    return False


def seconds(work: Callable[[str], object], text: str) -> float:
    """Of processor time."""
    started = time.process_time()
    work(text)
    return time.process_time() - started
