"""A review in which nobody sees which context is whose: questions and sides shuffled by a seed, and what came of the choices. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ctxasm.app.ui.frame.session_records import Choice
from ctxasm.model.amounts import counted, interval, signed
from ctxasm.model.kept import key_of
from ctxasm.tuning.statistics.pairs import agresti_min, p_words, sign_flip_p


def shuffled(query_ids: Sequence[str], seed: int) -> list[str]:
    """The questions in an order that only the seed decides."""
    return sorted(query_ids, key=lambda query_id: key_of("order", str(seed), query_id))


def is_a_left(query_id: str, seed: int) -> bool:
    """Whether A stands on the left: a coin that falls alike for the same seed."""
    return int(key_of("side", str(seed), query_id), 16) % 2 == 0


def chosen(query_id: str, seed: int, side: Literal["left", "right", "same"]) -> Choice:
    """Whose context a click preferred."""
    if side == "same":
        return "same"
    return "A" if is_a_left(query_id, seed) == (side == "left") else "B"


class Verdict(NamedTuple):
    """What the choices come to: `p` two-sided, and the interval of how much more often B was preferred than A."""

    a: int
    b: int
    same: int
    p: float
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """In words."""
        judged = self.a + self.b + self.same
        points = f"{signed(100 * (self.b - self.a) / max(judged, 1))} points {interval(100 * self.low, 100 * self.high)}"
        sure = "more than chance explains" if self.p <= 0.05 else "within noise"
        preferred = f"Of {counted(judged, 'question')} B was preferred for {self.b}, A for {self.a}, neither for {self.same}"
        return f"{preferred}: {points}, {sure} ({p_words(self.p)})."


def verdict(choices: Mapping[str, Choice]) -> Verdict:
    """Count them."""
    counts = Counter(choices.values())
    interval = agresti_min(counts["B"], counts["A"], len(choices) - counts["alike"])
    return Verdict(
        counts["A"],
        counts["B"],
        counts["same"],
        sign_flip_p([1] * counts["B"] + [-1] * counts["A"]),
        interval.low,
        interval.high,
    )
