"""What of a document or chunk is shown that does not fit whole.

Read literally, the five-stage pipeline returns an empty context where the best document alone is too big. Instead
(`oversized=trim`) chunks leave the document, adjacent before retrieved, lowest score first; and when not even the best chunk fits
beside its fixed parts, these give way (summary, then title) before the chunk itself is cut: at a sentence end where there is one,
else at a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ctxasm.assembly.chunk_sets import ChunkSet, taken
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.passages import join
from ctxasm.assembly.stages import Ahead, Chosen, DocumentPlan, Measure
from ctxasm.model.events import Event, Yielded
from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Candidate, Key

_SENTENCE_END = re.compile(r"[.!?…][\"')\]»”’]*(?=\s)|\n|[。！？]")
_MARGIN = 512
"""Tokens, and characters, by which a long text is looked at beyond what can fit."""
_HEAD = 400
"""Characters looked at for the smallest cut."""
_LOOK_AHEAD = 12
"""Cuts looked at beyond the one found by halving: sizes of neighbouring cuts need not ascend."""


class Cutter:
    """One chunk's `text`, of which `start` characters are shown anyway. `size_at` is what the set comes to with a cut there."""

    def __init__(self, text: str, start: int, size_at: Callable[[int], int], limit: int, counter: TokenCounter) -> None:
        self.text, self.start, self.size_at, self.limit, self.counter = text, start, size_at, limit, counter

    def cut(self) -> int:
        """The last sentence end that keeps at least half of what fits, else the last token boundary that fits; 0: none."""
        at = longest(self._places(), self._fits)
        if not at:
            return 0
        half = self.start + (at - self.start) / 2
        # One character beyond the cut is looked at, so that a sentence that ends right there is seen to end.
        ends = [end for found in _SENTENCE_END.finditer(self.text, self.start, at + 1) if half <= (end := found.end()) <= at]
        return ends[-1] if ends and self._fits(ends[-1]) else at

    def least(self) -> int:
        """The size with one character of text: what the smallest useful limit would be."""
        places = self._places(self.start + _HEAD)[:8]
        if not places and len(self.text) > self.start + _HEAD:
            places = self._places()[:8]
        if not places:
            return self.size_at(len(self.text))
        # Which cut is the smallest is settled around it: the line break that may follow can be one token with what it ends.
        alone = [self.counter.count(self.text[self.start : at] + "\n") for at in places]
        return min([self.size_at(at) for at, tokens in zip(places, alone, strict=True) if at == places[0] or tokens < alone[0]])

    def _fits(self, at: int) -> bool:
        return self.size_at(at) <= self.limit

    def _places(self, size: int = 0) -> list[int]:
        """Where the chunk may be cut: after a token, with something to see before the cut. `size`: looked at so far only."""
        text = self.text
        own = text[self.start :]
        lead = self.start + len(own) - len(own.lstrip())
        margin = _MARGIN if not size else _MARGIN // 8
        if not size:
            size = 16 * (self.limit + _MARGIN)
            while size < len(text) and self.counter.count(text[:size]) <= self.limit + 2 * _MARGIN:
                size *= 4
        # What lies far beyond the limit is not looked at; the end of a shortened text may fall inside a token.
        places = self.counter.boundaries(text[:size])
        return [at for at in places if lead < at < len(text) and (size >= len(text) or at < size - margin)]


def longest(places: Sequence[int], fits: Callable[[int], bool]) -> int:
    """The highest place that fits, 0 if none: by halving, then a look at the neighbours above."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if fits(places[middle]):
            low = middle + 1
        else:
            high = middle
    best = places[low - 1] if low else 0
    for at in places[low : low + _LOOK_AHEAD]:
        if fits(at):
            best = at
    return best


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
