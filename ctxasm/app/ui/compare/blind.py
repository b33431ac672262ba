"""A review in which nobody sees which context is whose: questions and sides shuffled by a seed, and what came of the choices. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ctxasm.app.ui.frame.session_records import Choice
from ctxasm.model.amounts import counted
from ctxasm.model.kept import key_of
from ctxasm.tuning.statistics import PairedDifference, paired_difference


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
    """What the choices come to: `result` is by how much more often B was preferred than A."""

    a: int
    b: int
    same: int
    result: PairedDifference

    @property
    def sentence(self) -> str:
        """In words."""
        judged = self.a + self.b + self.same
        preferred = f"Of {counted(judged, 'question')} B was preferred for {self.b}, A for {self.a}, neither for {self.same}"
        return f"{preferred}: {self.result.sentence()}."


def verdict(choices: Mapping[str, Choice]) -> Verdict:
    """Count them."""
    counts = Counter(choices.values())
    differences = [1] * counts["B"] + [-1] * counts["A"] + [0] * counts["same"]
    return Verdict(counts["A"], counts["B"], counts["same"], paired_difference(differences))
