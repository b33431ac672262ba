"""Long work tells how far it is, and can be ended: for loading documents, enriching them, building an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Cancelled = Callable[[], bool]
"""Whether the work is no longer wanted, like `threading.Event().is_set`. Asked between units of work: it must be quick."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` units (None: not known yet), what is being worked on, and the seconds since the work began."""

    done: int
    total: int | None
    what: str
    elapsed_s: float

    @property
    def share(self) -> float:
        """From 0 to 1; 0 where the total is not known."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds that are left at the pace so far; None where nothing is done yet or the total is not known."""
        return self.elapsed_s * (self.total - self.done) / self.done if self.total and self.done else None


Report = Callable[[Progress], None]
"""Told after every unit of work."""


def never() -> bool:
    """A `Cancelled` that lets everything go on."""
    return False


def silent(progress: Progress) -> None:
    """A `Report` that tells nobody."""
