"""The best document alone is too big: what of it stays (`oversized=trim`).

Read literally, the five-stage pipeline returns an empty context here. Instead chunks leave the document, adjacent before
retrieved, lowest score first; and when not even the best chunk fits beside its fixed parts, these give way (summary, then
title) before the chunk itself is cut at a sentence end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ctxasm.assembly.budget.cut import Cutter, longest
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.passages import join
from ctxasm.assembly.steps import Ahead, DocumentPlan, Measure
from ctxasm.model.events import Yielded
from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Candidate

PlanOf = Callable[[Iterable[int]], DocumentPlan]


@dataclass(frozen=True)
class Trimmed:
    """What is left of an oversized document; `plan` is None when not one character fits.

    `order` lists its chunks, the last to go first; `plan_of` plans the document with some of them, and `measure` says what it comes to.
    `whole` is the limit at which the best chunk is shown whole in the smallest frame, `least` the one at which any of it is.
    """

    plan: DocumentPlan | None
    order: tuple[int, ...]
    plan_of: PlanOf
    measure: Measure
    whole: int
    least: int
    yielded: tuple[Yielded, ...] = ()

    @cached_property
    def heads(self) -> tuple[DocumentPlan, ...]:
        """The document with the first one, two, … of its chunks."""
        return tuple([self.plan_of(self.order[:count]) for count in range(1, len(self.order) + 1)])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """What each head comes to."""
        return tuple([self.measure([plan]) for plan in self.heads])

    @property
    def limits(self) -> set[int]:
        """The limits at which what is shown changes."""
        return {*self.sizes, self.whole, self.least}

    def at(self, limit: int) -> Ahead:
        """What a limit shows that the whole document does not fit in."""
        name = self.heads[0].document.document_id
        best = (name, self.order[0])
        for plan, size in zip(reversed(self.heads), reversed(self.sizes), strict=True):
            if size <= limit:
                return Ahead(limit, frozenset([(name, j.chunk.chunk_index) for j in plan.joined]))
        if limit >= self.whole:
            return Ahead(limit, frozenset([best]))
        return Ahead(limit, frozenset(), best if limit >= self.least else None)


def keep_order(own: Mapping[int, Candidate], best: int | None = None) -> tuple[int, ...]:
    """Chunk indexes, the last to be dropped first: retrieved before adjacent, best score, nearest to a hit, lower index.

    `best` comes before all others: where another one than the best score is never to be dropped.
    """
    hits = [index for index, candidate in own.items() if candidate.retrieved]

    def place(candidate: Candidate) -> tuple[bool, bool, float, int, int]:
        index = candidate.chunk.chunk_index
        distance = min((abs(index - hit) for hit in hits), default=0)
        return (index != best, not candidate.retrieved, -candidate.score, distance, index)

    return tuple(c.chunk.chunk_index for c in sorted(own.values(), key=place))


def trim(own: Mapping[int, Candidate], plan_of: PlanOf, scales: Scales, best: int | None = None) -> Trimmed:
    """Keep the longest head of `keep_order` that fits. `plan_of` plans the document with some of its chunks."""
    order, measure, limit = keep_order(own, best), scales.budgeted, scales.limit
    for count in range(len(order), 0, -1):
        plan = plan_of(order[:count])
        if scales.fits_alone(plan):
            size = measure([plan_of(order[:1])])
            return Trimmed(plan, order, plan_of, measure, size, size)
    squeezed = Squeeze(plan_of(order[:1]), measure, limit, scales.counter)
    # Fixed parts may give way where they count against the limit.
    smaller = squeezed.whole(scales.settings.budget_scope == "rendered")
    if smaller is not None:
        return Trimmed(smaller, order, plan_of, measure, limit, limit, tuple(squeezed.yielded))
    whole = squeezed.size()
    smaller = squeezed.cut()
    least = limit if smaller is not None else squeezed.least()
    return Trimmed(smaller, order, plan_of, measure, whole, least, tuple(squeezed.yielded))


class Squeeze:
    """The best chunk and its fixed parts, made smaller step by step."""

    def __init__(self, plan: DocumentPlan, measure: Measure, limit: int, counter: TokenCounter) -> None:
        self.plan, self.measure, self.limit, self.counter = plan, measure, limit, counter
        self.yielded: list[Yielded] = []

    def _fits(self, plan: DocumentPlan) -> bool:
        return self.measure([plan]) <= self.limit

    def whole(self, may_yield: bool) -> DocumentPlan | None:
        """The whole chunk with a smaller frame, or None."""
        if not may_yield:
            return None
        document_id = self.plan.document.document_id
        if self.plan.prefix:
            self.yielded.append(Yielded(document_id, "summary"))
            self.plan = replace(self.plan, prefix="")
            if self._fits(self.plan):
                return self.plan
        self.yielded.append(Yielded(document_id, "title"))
        title = self.plan.title[: 8 * self.limit]
        self.plan = replace(self.plan, title="…")
        places = [at for at in self.counter.boundaries(title) if at < len(title)]
        at = longest(places, lambda at: self._fits(replace(self.plan, title=title[:at].rstrip() + "…")))
        if at:
            return replace(self.plan, title=title[:at].rstrip() + "…")
        return self.plan if self._fits(self.plan) else None

    def size(self) -> int:
        """Tokens of the whole chunk in its frame as it is now."""
        return self.measure([self.plan])

    def cut(self) -> DocumentPlan | None:
        """The chunk up to where it is cut, None where nothing of it fits."""
        at = self._cutter().cut()
        return self._cut_at(at) if at else None

    def least(self) -> int:
        """The size with one character of text: what the smallest useful limit would be."""
        return self._cutter().least()

    def _cutter(self) -> Cutter:
        text = self.plan.joined[0].chunk.text
        return Cutter(text, 0, lambda at: self.measure([self._cut_at(at)]), self.limit, self.counter)

    def _cut_at(self, at: int) -> DocumentPlan:
        chunk = self.plan.joined[0].chunk
        return replace(self.plan, joined=join([chunk], 0, {chunk.chunk_index: at}))
