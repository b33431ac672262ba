"""Policy `drop_documents`: whole documents leave from the tail until the rest fits (five-stage pipeline).

Kept is the longest prefix of the document order whose whole rendered text fits: sizes need not grow with the set, so
"drop until it fits" is not enough. Where the best document alone is too big, `oversized=drop` goes on with the next one, and the
copies that it had displaced are candidates again; `oversized=trim` shows what fits of it (see `trim`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from ctxasm.assembly.budget.scales import Scales, showing
from ctxasm.assembly.budget.trim import Trimmed, trim
from ctxasm.assembly.steps import OVER, Ahead, Chosen, DocumentPlan, Resolution, Size
from ctxasm.model.results import DocumentSize, Key


def drop_documents(scales: Scales) -> Chosen:
    """The longest head of the documents that fits, or what fits of the first."""
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
