"""The best chunk alone does not fit: it is all there is, in as small a frame as it takes, then cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ctxasm.assembly.budget.chunk_sets import ChunkSet
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.budget.taking import taken
from ctxasm.assembly.budget.trim import Squeeze
from ctxasm.assembly.steps import Ahead, Chosen, DocumentPlan
from ctxasm.model.events import Event
from ctxasm.model.results import Candidate, Key


class Squeezed(NamedTuple):
    """What is shown of the best chunk: `plan` is None where not one character fits.

    `whole` is the limit at which it is shown whole in the smallest frame, `least` the one at which any of it is.
    """

    scales: Scales
    best: Candidate
    plan: DocumentPlan | None
    whole: int
    least: int
    yielded: tuple[Event, ...]

    @property
    def reasons(self) -> dict[Key, str]:
        """Why it is not shown, where it is not."""
        return {self.best.key: "no_room"} if self.plan is None else {}

    def chosen(self, reasons: Mapping[Key, str], ahead: Callable[[], Iterable[Ahead]]) -> Chosen:
        """It, and nothing else."""
        alone = ChunkSet(self.scales)
        plans = (self.plan,) if self.plan is not None else ()
        return taken(self.scales, alone, reasons, ahead, plans=plans, yielded=self.yielded)


def squeezed(scales: Scales, best: Candidate) -> Squeezed:
    """Make the frame smaller, then cut the chunk."""
    alone = ChunkSet(scales)
    alone.add(best)
    squeeze = Squeeze(alone.plans()[0], scales.budgeted, scales.limit, scales.counter)
    plan = squeeze.whole(scales.settings.budget_scope == "rendered")
    if plan is not None:
        return Squeezed(scales, best, plan, scales.limit, scales.limit, tuple(squeeze.yielded))
    whole = squeeze.size()
    plan = squeeze.cut()
    least = scales.limit if plan is not None else squeeze.least()
    return Squeezed(scales, best, plan, whole, least, tuple(squeeze.yielded))
