"""Whether work on a text takes time linear in its length, told by processor time, so that other work on the machine does not count.

What shares the machine shares its caches too, so processor time varies: part and whole are measured by turns, and the least
of each counts. Linear work passes in the first turn, work that is not is given every chance.

The fast suite measures a part of a text where that alone takes long enough to tell; among the slow tests all of it is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from tests.examples import LONG_VARIABLE

PART = 8
SHARES = (16, 8, 4, 2)
"""What part of a text is tried in the fast suite before all of it."""
LEAST_CHARS = 1_000
"""No shorter part is tried: within what a rule looks around, its work grows with the text."""
TURNS = 8
SLACK_SECONDS = 0.006
"""What does not grow, and the grain of the clock."""
ENOUGH_SECONDS = 0.015
"""Of a text that takes this long quadratic work is told: its eighth takes a 64th, and 16 of those with the slack are less."""


def is_linear(work: Callable[[str], object], text: str) -> bool:
    """Whether `text` takes at most twice as long for each character as an eighth of it: quadratic work takes eight times as long.

    The eighth must take the same path through the work.
    """
    whole = part = each = float("inf")
    for share in SHARES if LONG_VARIABLE not in os.environ else ():
        shorter = text[: len(text) // share]
        if len(shorter) < LEAST_CHARS or each * len(shorter) < ENOUGH_SECONDS:
            continue
        work(shorter[: len(shorter) // PART])  # what is loaded the first time is no part of the work
        if (taken := seconds(work, shorter)) >= ENOUGH_SECONDS:
            text, whole = shorter, taken
            break
        each = taken / len(shorter)
    for _ in range(TURNS):
        part = min(part, seconds(work, text[: len(text) // PART]))
        if whole <= 2 * PART * part + SLACK_SECONDS:
            return True
        whole = min(whole, seconds(work, text))
        if whole <= 2 * PART * part + SLACK_SECONDS:
            return True
    return False


def seconds(work: Callable[[str], object], text: str) -> float:
    """Of processor time."""
    started = time.process_time()
    work(text)
    return time.process_time() - started
