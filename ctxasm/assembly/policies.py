"""What fits: the budget policies by name. A policy takes `Scales` (what any set of chunks comes to) and returns what it chose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from ctxasm.assembly.chunk_sets import ChunkSet, Repeats, degenerate, fill, in_sequence, taken
from ctxasm.assembly.learned import learned
from ctxasm.assembly.measure import Scales, showing
from ctxasm.assembly.packing import pack, segments
from ctxasm.assembly.stages import OVER, Ahead, Chosen, DocumentPlan, Resolution, Size
from ctxasm.assembly.trim import Cutter, Squeezed, Trimmed, squeezed, trim
from ctxasm.model.results import Candidate, DocumentSize, Key


def drop_documents(scales: Scales) -> Chosen:
    """The longest head of the documents that fits, or what fits of the first (policy `drop_documents` of the five-stage pipeline).

    Kept is the longest prefix of the document order whose whole rendered text fits: sizes need not grow with the set, so
    "drop until it fits" is not enough. Where the best document alone is too big, `oversized=drop` goes on with the next one, and the
    copies that it had displaced are candidates again; `oversized=trim` shows what fits of it.
    """
    rounds, skipped = [_Round(scales, scales.grouped.resolution)], list[str]()
    kept = rounds[0].kept()
    while scales.settings.oversized == "drop" and not kept and rounds[-1].there:
        skipped.append(rounds[-1].there[0])
        left = {document_id: own for document_id, own in scales.own.items() if document_id not in skipped}
        rounds.append(_Round(scales, scales.resolve(left)))
        kept = rounds[-1].kept()
    choice = _Choice(scales, tuple(rounds), kept, tuple(skipped))
    if kept or not rounds[-1].there:
        reasons = {(name, index): "oversized" for name in skipped for index in scales.own[name]}
        return Chosen(rounds[-1].first(kept), choice.sizes, choice.ahead, reasons)
    return _trimmed(choice)


class _Round:
    """One attempt: the documents that are `there`, in their order. `near[i]` is what the first i + 1 come to, as far as any may fit."""

    def __init__(self, scales: Scales, resolution: Resolution) -> None:
        self.scales, self.resolution, self.there = scales, resolution, showing(resolution)
        self.near = scales.near_sizes(resolution)

    @cached_property
    def plans(self) -> tuple[DocumentPlan, ...]:
        """All of them."""
        return self.scales.plans(self.resolution)

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """What the first of them comes to, the first two, and so on."""
        return self.scales.sizes_after(self.plans, self.near)

    def least(self) -> list[int]:
        """The smallest limit at which each document is kept."""
        return list(accumulate([size.budgeted for size in reversed(self.sizes)], min))[::-1]

    def first(self, count: int) -> tuple[DocumentPlan, ...]:
        """The first so many."""
        return self.scales.plans(self.resolution, count)

    def kept(self) -> int:
        """How many documents the longest fitting prefix has."""
        return fitting(self.near, self.scales.limit)


def fitting(sizes: Sequence[Size], limit: int) -> int:
    """The length of the longest prefix that fits."""
    return next((count for count in range(len(sizes), 0, -1) if sizes[count - 1].budgeted <= limit), 0)


@dataclass(frozen=True, slots=True)
class _Choice:
    """The rounds it took and how many documents of the last one are kept. `skipped` were too big alone, `trimmed` is cut down."""

    scales: Scales
    rounds: tuple[_Round, ...]
    kept: int
    skipped: tuple[str, ...]
    trimmed: Trimmed | None = None

    def ahead(self) -> Iterator[Ahead]:
        """What every higher limit shows at which something changes."""
        limit, trimmed = self.scales.limit, self.trimmed
        if len(self.rounds) > 1:
            yield from self._over_rounds()
            return
        only = self.rounds[0]
        least = only.least()
        if trimmed is not None:
            yield from (trimmed.at(higher) for higher in sorted(trimmed.limits) if limit < higher < least[0])
        for plan, size in zip(only.plans, least, strict=True):
            if limit < size < OVER:
                yield Ahead(size, _keys([plan]))

    def _over_rounds(self) -> Iterator[Ahead]:
        """The same where documents were skipped: a higher limit may end an earlier round."""
        sizes = {size.budgeted for each in self.rounds for size in each.sizes}
        for higher in sorted([size for size in sizes if self.scales.limit < size < OVER]):
            for each in self.rounds:
                if count := fitting(each.sizes, higher):
                    yield Ahead(higher, _keys(each.plans[:count]))
                    break

    def sizes(self, missing: Mapping[Key, int]) -> tuple[DocumentSize, ...]:
        """The documents in context order; those skipped as oversized come last."""
        lacking = self._lacking()
        last = self.rounds[-1]
        kept = self.kept if self.trimmed is None else int(self.trimmed.plan is not None)
        sizes, before = [], 0
        for place, (plan, (end, _)) in enumerate(zip(last.plans, last.sizes, strict=True)):
            document_id = plan.document.document_id
            sizes.append(DocumentSize(document_id, end - before, end, place < kept, lacking.get(document_id)))
            before = end
        for each, document_id in zip(self.rounds, self.skipped, strict=False):
            tokens = each.sizes[0].tokens
            sizes.append(DocumentSize(document_id, tokens, tokens, False, lacking.get(document_id)))
        return tuple(sizes)

    def _lacking(self) -> dict[str, int]:
        """How much more limit each document needs that is not kept whole."""
        kept = {plan.document.document_id for plan in self.rounds[-1].plans[: self.kept]}
        lacking: dict[str, int] = {}
        for limit, whole, _ in replace(self, trimmed=None).ahead():
            for document_id in {key[0] for key in whole} - kept:
                lacking.setdefault(document_id, limit - self.scales.limit)
        return lacking


def _trimmed(choice: _Choice) -> Chosen:
    """The best document is too big alone: trim it; every other document is dropped."""
    scales = choice.scales
    document_id = choice.rounds[-1].first(1)[0].document.document_id
    own = scales.own[document_id]

    def plan_of(indexes: Iterable[int]) -> DocumentPlan:
        resolution = scales.resolve({document_id: {index: own[index] for index in sorted(indexes)}})
        return scales.planned(document_id, resolution.shown[document_id])

    found = trim(own, plan_of, scales)
    reasons = {(document_id, index): "oversized" for index in own}
    if found.plan is None:
        reasons[document_id, found.order[0]] = "no_room"
    choice = replace(choice, trimmed=found)
    return Chosen((found.plan,) if found.plan is not None else (), choice.sizes, choice.ahead, reasons, found.yielded)


def _keys(plans: Iterable[DocumentPlan]) -> frozenset[Key]:
    return frozenset([(plan.document.document_id, j.chunk.chunk_index) for plan in plans for j in plan.joined])


BEYOND = 100
"""Chunks past the limit of which it is found out at most what they lack; of those after them it is not said."""
ROOM = 3
"""A chunk is cut where more than this many times `min_chunk_tokens` remain (token-budget guide)."""


def greedy(scales: Scales) -> Chosen:
    """The longest head of the sequence in which every step fits, and the head of the next chunk where room is left (token-budget guide).

    Every step asks what the whole set comes to, so headers, joins and gaps count exactly. The chunk that does not fit is cut where
    enough room is left (`overflow=cut`; the SOURCE-N assembler stops before it, `stop`). Chunks below `min_chunk_tokens` are passed
    over, but the best chunk never is, and it gives way as under every policy: summary, title, then its own end.
    """
    sequence = in_sequence(scales)
    if not sequence:
        return taken(scales, ChunkSet(scales), {})
    small = degenerate(scales, sequence[0])
    walk = _Walk(scales, [candidate for candidate in sequence if candidate.key not in small])
    return walk.chosen(small)


class _Step(NamedTuple):
    """A chunk that is taken where the limit allows: what the set comes to with it, and what it came to before."""

    candidate: Candidate
    size: int
    before: int


class _Walk:
    """The chunks in their order: all that may be taken."""

    def __init__(self, scales: Scales, sequence: Sequence[Candidate]) -> None:
        self.scales, self.limit, self.sequence = scales, scales.limit, sequence
        self.room, self.cuts = ROOM * scales.settings.min_chunk_tokens, scales.settings.overflow == "cut"

    def chosen(self, reasons: Mapping[Key, str]) -> Chosen:
        """What is taken. Chunks that are out for another reason than the budget are in `reasons`."""
        chosen = ChunkSet(self.scales)
        for step in self._steps(chosen):
            if step.size > self.limit:
                break
        else:
            return taken(self.scales, chosen, reasons)
        best = self.sequence[0]
        if step.candidate is best:
            found = squeezed(self.scales, best)
            return found.chosen({**reasons, **found.reasons}, lambda: self._ahead(found))
        if self.cuts and self.limit - step.before > self.room and (at := self._cutter(chosen, step.candidate).cut()):
            return taken(self.scales, chosen, reasons, self._ahead, step.candidate, at)
        chosen.drop(step.candidate)
        return taken(self.scales, chosen, reasons, self._ahead)

    def _steps(self, chosen: ChunkSet) -> Iterator[_Step]:
        """Every step there would be without a limit, taken on `chosen` as it is asked for."""
        repeats, size = Repeats(self.scales), 0
        for candidate in self.sequence:
            if not repeats.takes(candidate, chosen):
                chosen.add(candidate)
                before, size = size, chosen.size()
                yield _Step(candidate, size, before)

    def _cutter(self, chosen: ChunkSet, candidate: Candidate) -> Cutter:
        start = chosen.shown_from(candidate)
        return Cutter(candidate.chunk.text, start, lambda at: chosen.size(candidate, at), self.limit, self.scales.counter)

    def _ahead(self, best: Squeezed | None = None) -> Iterator[Ahead]:
        """What every higher limit shows at which something changes, for `BEYOND` chunks past the limit.

        A step is reached where all before it fit. `best` says from which limits on the best chunk is there that does not fit alone.
        """
        whole: dict[Key, None] = {}
        reach = 0
        limits: dict[int, tuple[int, Key | None]] = {}
        chosen = ChunkSet(self.scales)
        beyond = 0
        for step in self._steps(chosen):
            if beyond == BEYOND:
                break
            beyond += max(reach, step.size) > self.limit
            if not whole and best is not None and step.size > self.limit:
                limits |= {best.least: (0, step.candidate.key), best.whole: (1, None)}
            elif self.cuts and whole and step.size > max(reach, self.limit):
                need = max(reach, self._need(chosen, step))
                if self.limit < need < step.size:
                    limits[need] = (len(whole), step.candidate.key)
            whole[step.candidate.key] = None
            if step.size > reach:
                reach = step.size
            limits[reach] = (len(whole), None)
        keys = list(whole)
        for limit, (count, cut) in sorted(limits.items()):
            if limit > self.limit:
                yield Ahead(limit, frozenset(keys[:count]), cut)

    def _need(self, chosen: ChunkSet, step: _Step) -> int:
        """The smallest limit at which a chunk is cut by a walk that gets that far: with more room than it takes, and a place."""
        return max(step.before + self.room + 1, self._cutter(chosen, step.candidate).least())


STEPS = 3000
"""Chunks looked at in the rounds that find what skipped chunks lack, together."""
ROUNDS = 12
"""Higher limits tried at most for it."""
NO_SIZES: Mapping[Key, int] = {}


def greedy_skip(scales: Scales) -> Chosen:
    """Every chunk that fits beside what was taken before it; the best alone where even it does not fit (bookend guide)."""
    sequence = in_sequence(scales)
    if not sequence:
        return taken(scales, ChunkSet(scales), {})
    best, small = sequence[0], degenerate(scales, sequence[0])
    sequence = [candidate for candidate in sequence if candidate.key not in small]
    chosen, repeats = ChunkSet(scales), Repeats(scales)
    if not chosen.takes([best], scales.limit):
        found = squeezed(scales, best)
        return found.chosen({**small, **found.reasons}, lambda: _ahead(scales, sequence, found))
    fill(chosen, [[candidate] for candidate in sequence[1:]], scales.limit, lambda each: repeats.takes(each[0], chosen))
    return taken(scales, chosen, small, lambda: _ahead(scales, sequence))


def _skip(
    scales: Scales, sequence: Sequence[Candidate], limit: int, before: Mapping[Key, int] = NO_SIZES
) -> tuple[ChunkSet, dict[Key, int]]:
    """What fits in `limit`, and what each skipped chunk would have made of the set.

    `before` is the last of these at a lower limit: up to the first chunk that fits now nothing has changed.
    """
    chosen, repeats = ChunkSet(scales), Repeats(scales)
    sizes: dict[Key, int] = {}
    changed = not before
    for candidate in sequence:
        if repeats.takes(candidate, chosen):
            continue
        chosen.add(candidate)
        if not changed and candidate.key not in before:
            continue
        size = chosen.size() if changed else before[candidate.key]
        if size > limit:
            chosen.drop(candidate)
            sizes[candidate.key] = size
            if candidate is sequence[0]:
                break
        else:
            changed = True
    return chosen, sizes


def _ahead(scales: Scales, sequence: Sequence[Candidate], best: Squeezed | None = None) -> Iterator[Ahead]:
    """What every higher limit shows at which something changes, for as many as are tried."""
    skipped = _skip(scales, sequence, scales.limit)[1]
    if best is not None:
        for limit in sorted({best.least, best.whole}):
            if scales.limit < limit < skipped[best.best.key]:
                yield Ahead(limit, frozenset([best.best.key])) if limit >= best.whole else Ahead(limit, frozenset(), best.best.key)
    for _ in range(min(ROUNDS, STEPS // len(sequence))):
        higher = [size for size in skipped.values() if size < OVER]
        if not higher:
            return
        limit = min(higher)
        chosen, skipped = _skip(scales, sequence, limit, skipped)
        yield Ahead(limit, frozenset(chosen.keys()))


POLICIES: Mapping[str, Callable[[Scales], Chosen]] = {
    "drop_documents": drop_documents,
    "greedy": greedy,
    "greedy_skip": greedy_skip,
    "pack": pack,
    "segments": segments,
    "learned": learned,
}
"""The policies by the names that `budget_policy` takes."""


def choose(scales: Scales) -> Chosen:
    """What fits, by the policy of the settings."""
    return POLICIES[scales.settings.budget_policy](scales)
