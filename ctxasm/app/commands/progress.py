"""Progress of long work as one line on a terminal, drawn over itself; elsewhere nothing, so that a log stays readable."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from ctxasm.model.progress import Progress, Report, silent

QUIET_SECONDS = 0.5
"""Work that is done by then shows nothing."""
_BETWEEN = 0.1


@contextmanager
def told_on_terminal() -> Iterator[Report]:
    """A `Report` that draws on standard error while the block runs, and leaves the line empty."""
    if not sys.stderr.isatty():
        yield silent
        return
    began, drawn = monotonic(), [0.0]

    def report(progress: Progress) -> None:
        now = monotonic()
        if now - began >= QUIET_SECONDS and now - drawn[0] >= _BETWEEN:
            drawn[0] = now
            print(f"\r\033[K{progress_line(progress)}", end="", file=sys.stderr, flush=True)

    try:
        yield report
    finally:
        if drawn[0]:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def progress_line(progress: Progress) -> str:
    """How far the work is: `embedding chunks: 512 of 1,059, 4 s left`."""
    of = f" of {progress.total:,}" if progress.total is not None else ""
    left = f", {progress.left_s:.0f} s left" if progress.left_s is not None else ""
    return f"{progress.what}: {progress.done:,}{of}{left}"
