"""How far long work is, in words. Pure."""

from __future__ import annotations

from ctxasm.app.ui.words.words import number
from ctxasm.model.progress import Progress


def seconds_words(seconds: float) -> str:
    """A time as a person says it: `under a second`, `8 s`, `2 min 10 s`, `1 h 05 min`."""
    whole = round(seconds)
    if whole < 1:
        return "under a second"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def progress_words(progress: Progress | None, elapsed_s: float) -> str:
    """`34 of 120 · 2 min 10 s left · reading manual.pdf`."""
    if progress is None:
        return f"starting · {seconds_words(elapsed_s)}"
    parts = [number(progress.done) if progress.total is None else f"{number(progress.done)} of {number(progress.total)}"]
    left = progress.left_s
    parts.append(f"{seconds_words(left)} left" if left is not None else f"{seconds_words(elapsed_s)} so far")
    return " · ".join((*parts, " ".join(progress.what.split())[:120]))
