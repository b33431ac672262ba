"""How many examples a law is tried on: a part of them each time, all of them among the slow tests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Row = TypeVar("Row")

SHARE = 24
LEAST = 4
ROWS = 8
LONG_VARIABLE = "CTXASM_LONG_LAWS"
COUNT_VARIABLE = "CTXASM_LAW_EXAMPLES"


def examples(count: int) -> int:
    """Of `count` examples the part to run now. CTXASM_LAW_EXAMPLES sets another number for every law."""
    if wanted := os.environ.get(COUNT_VARIABLE):
        return int(wanted)
    return count if os.environ.get(LONG_VARIABLE) else min(count, max(LEAST, count // SHARE))


def few(rows: Sequence[Row]) -> Sequence[Row]:
    """Of `rows` the part to run now: one of eight, from all over, and all of them among the slow tests."""
    return rows if os.environ.get(LONG_VARIABLE) else rows[::ROWS]


def in_turn(rows: Sequence[Row], turn: int, turns: int) -> Sequence[Row]:
    """Of `rows` the part whose turn it is now, so that `turns` of them try each row once; all of them among the slow tests."""
    return rows if os.environ.get(LONG_VARIABLE) else rows[turn % turns :: turns]
