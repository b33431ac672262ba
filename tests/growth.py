"""Whether work on a text takes time linear in its length, told by processor time, so that other work on the machine does not count."""

from __future__ import annotations

import time
from collections.abc import Callable

PART = 8
SLACK_SECONDS = 0.02
"""What does not grow, and the grain of the clock."""


def is_linear(work: Callable[[str], object], text: str) -> bool:
    """Whether `text` takes at most twice as long for each character as an eighth of it: quadratic work takes eight times as long."""
    part = min(seconds(work, text[: len(text) // PART]) for _ in range(3))
    return any(seconds(work, text) <= 2 * PART * part + SLACK_SECONDS for _ in range(3))


def seconds(work: Callable[[str], object], text: str) -> float:
    """Of processor time."""
    started = time.process_time()
    work(text)
    return time.process_time() - started
