"""Timing in turns, and tables of it. Absolute times are this machine's; the ratios are what counts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence


def in_turns(contestants: Mapping[str, Callable[[int], object]], rounds: int, warm: int = 2) -> dict[str, float]:
    """Median milliseconds of each, all run in turn for every round, so that a drifting machine slows all alike."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(-warm, rounds):
        for name, run in contestants.items():
            began = time.perf_counter()
            run(max(0, number))
            if number >= 0:
                times[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(each) for name, each in times.items()}


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    cells = [list(columns), *[[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(f"\n{title}")
    for place, row in enumerate(cells):
        print(
            "  "
            + "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
        )
        if place == 0:
            print("  " + "  ".join("-" * width for width in widths))
