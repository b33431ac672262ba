"""The budget, decided: which documents and chunks are sent, what everything else lacks, and what a better packing would keep.

Brings the choosing stages (`budget`, `trim`, `pack`) together with the renderer, which alone knows what a set costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ctxasm.model.events import Event
from ctxasm.model.passages import Joined, join
from ctxasm.model.plans import DocumentPlan, Layout, Relations, Resolution
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Document
from ctxasm.model.results import Candidate, DocumentSize, Key, Regret
from ctxasm.model.settings import AssemblySettings
from ctxasm.stages import budget, deduplicate, pack, render, summarise
from ctxasm.stages.trim import Trimmed, trim

Join = Callable[[str, Sequence[int]], tuple[Joined, ...]]


@dataclass(frozen=True, slots=True)
class Decision:
    """The chosen set, laid out. `reasons` and `missing` speak for every chunk that is shown nowhere."""

    resolution: Resolution
    layout: Layout
    final: tuple[Joined, ...]
    reasons: Mapping[Key, str]
    missing: Mapping[Key, int]
    sizes: tuple[DocumentSize, ...]
    yielded: tuple[Event, ...]
    regret: Regret


class Desk:
    """Where the budget is decided for one assembly."""

    def __init__(
        self,
        settings: AssemblySettings,
        counter: TokenCounter,
        limit: int,
        documents: Mapping[str, Document],
        own: Mapping[str, Mapping[int, Candidate]],
        join_chunks: Join,
        relations: Relations,
    ) -> None:
        self.settings, self.counter, self.limit, self.documents, self.own = settings, counter, limit, documents, own
        self.join, self.relations = join_chunks, relations
        self.renderer = render.Renderer(settings, counter)

    def decide(self, resolution: Resolution, joined: Mapping[str, tuple[Joined, ...]]) -> Decision:
        """Choose under `drop_documents`, from the resolution and the joined chunks of all candidates."""
        first = self._round(resolution, joined)
        choice = budget.choose(first, self.limit, self.settings.oversized == "drop", self._again)
        missing = budget.missing_tokens(choice, self.limit)
        if choice.kept or not choice.last.plans:
            plans = choice.last.plans[: choice.kept]
            layout = self._lay_out(choice.last, plans)
            reasons, lacks = self._why_documents(choice, missing)
            sizes = budget.document_sizes(choice, None, missing)
            return self._decision(choice.last.resolution, layout, plans, reasons, lacks, sizes, ())
        return self._trimmed(choice, missing)

    def _round(self, resolution: Resolution, joined: Mapping[str, tuple[Joined, ...]]) -> budget.Round:
        order = [document_id for document_id in resolution.order if resolution.shown[document_id]]
        plans = tuple([self._plan(document_id, joined[document_id]) for document_id in order])
        tokens = sum([j.chunk.token_count or 0 for plan in plans for j in plan.joined])
        # What will probably be kept whole is written at once; what will not is only measured.
        likely = self.renderer.lay_out if tokens <= self.limit else self.renderer.measure
        return budget.Round(resolution, plans, likely(plans))

    def _lay_out(self, last: budget.Round, plans: Sequence[DocumentPlan]) -> Layout:
        done = last.layout
        return done if len(plans) == len(last.plans) and done.segments else self.renderer.lay_out(plans)

    def _again(self, without: frozenset[str]) -> budget.Round:
        resolution = self._resolve({document_id: own for document_id, own in self.own.items() if document_id not in without})
        return self._round(resolution, {document_id: self.join(document_id, shown) for document_id, shown in resolution.shown.items()})

    def _resolve(self, own: Mapping[str, Mapping[int, Candidate]]) -> Resolution:
        return deduplicate.resolve(own, self.relations)

    def _plan(self, document_id: str, joined: tuple[Joined, ...]) -> DocumentPlan:
        document = self.documents.get(document_id) or Document(document_id)
        return DocumentPlan(document, joined, summarise.prefix_of(document, self.settings), render.title_of(document))

    def _why_documents(self, choice: budget.Choice, missing: Mapping[str, int]) -> tuple[dict[Key, str], dict[Key, int]]:
        kept = {plan.document.document_id for plan in choice.last.plans[: choice.kept]}
        reasons: dict[Key, str] = {}
        lacks: dict[Key, int] = {}
        for document_id, own in self.own.items():
            if document_id in kept:
                continue
            reason = "oversized" if document_id in choice.skipped else "budget"
            for index in own:
                reasons[document_id, index] = reason
                if document_id in missing:
                    lacks[document_id, index] = missing[document_id]
        for each in choice.rounds:
            _like_originals(each.resolution, reasons, lacks)
        return reasons, lacks

    def _trimmed(self, choice: budget.Choice, missing: Mapping[str, int]) -> Decision:
        """The best document is too big alone: trim it; every other document is dropped."""
        whole = choice.last.plans[0]
        document_id = whole.document.document_id
        own = self.own[document_id]

        def plan_of(indexes: Iterable[int]) -> DocumentPlan:
            resolution = self._resolve({document_id: {index: own[index] for index in sorted(indexes)}})
            return replace(whole, joined=self.join(document_id, resolution.shown[document_id]))

        by_text = self.settings.budget_scope == "rendered"
        found = trim(own, plan_of, self.renderer.measure, self.limit, by_text, self.counter)
        reasons, lacks = self._why_documents(choice, missing)
        reasons[document_id, found.order[0]] = "no_room" if found.plan is None else "oversized"
        resolution = self._resolution_after(choice, found)
        if found.whole_missing:
            # What repeats the best chunk says the same only once that chunk is shown whole.
            lacks[document_id, found.order[0]] = found.whole_missing
        _like_originals(resolution, reasons, lacks)
        reasons |= {(document_id, index): "oversized" for index in found.order[1 if found.plan is None else 0 :]}
        lacks |= {(document_id, index): tokens for index, tokens in found.missing.items()}
        plans = (found.plan,) if found.plan is not None else ()
        sizes = budget.document_sizes(choice, len(plans), missing)
        layout = self.renderer.lay_out(plans)
        return self._decision(resolution, layout, plans, reasons, lacks, sizes, found.yielded)

    def _resolution_after(self, choice: budget.Choice, found: Trimmed) -> Resolution:
        """Who repeats whom now: inside the trimmed document among the chunks left, elsewhere as before."""
        before = choice.last.resolution
        if found.plan is None:
            return before
        document_id = found.plan.document.document_id
        left = found.order[: len(found.order) - len(found.missing)]
        inside = self._resolve({document_id: {index: self.own[document_id][index] for index in sorted(left)}})
        elsewhere = {copy: related for copy, related in before.likeness.items() if copy[0] != document_id}
        likeness = {**elsewhere, **inside.likeness}
        duplicates = {copy: related.key for copy, related in likeness.items()}
        return Resolution(before.order, before.shown, duplicates, before.orphans, before.scores, likeness)

    def _decision(
        self,
        resolution: Resolution,
        layout: Layout,
        plans: Sequence[DocumentPlan],
        reasons: Mapping[Key, str],
        missing: Mapping[Key, int],
        sizes: tuple[DocumentSize, ...],
        yielded: tuple[Event, ...],
    ) -> Decision:
        final = tuple(chain.from_iterable(plan.joined for plan in plans))
        return Decision(resolution, layout, final, reasons, missing, sizes, yielded, self._regret(final, layout, sizes))

    def _regret(self, final: Sequence[Joined], layout: Layout, sizes: Sequence[DocumentSize]) -> Regret:
        """Against the best packing of whole documents; what a trimmed document takes is taken as given."""
        shown = {(j.chunk.document_id, j.chunk.chunk_index) for j in final}
        ranks = {document_id: [c.rank for c in own.values() if c.retrieved] for document_id, own in self.own.items()}
        kept = pack.value_of([c.rank for own in self.own.values() for c in own.values() if c.retrieved and c.key in shown])
        best = min((c for own in self.own.values() for c in own.values() if c.retrieved), key=lambda c: c.rank, default=None)
        if all(size.kept for size in sizes) and len(sizes) == len(layout.ends):
            return Regret(kept, kept, True, tuple(size.document_id for size in sizes))
        taken = dict(zip((j.chunk.document_id for j in final if j.opens), layout.ends, strict=False)) if len(layout.ends) == 1 else {}
        items = [pack.Item(s.document_id, taken.get(s.document_id, s.tokens), pack.value_of(ranks[s.document_id])) for s in sizes]
        return pack.packing_regret(items, best.chunk.document_id if best else None, self.limit, kept)


def _like_originals(resolution: Resolution, reasons: dict[Key, str], lacks: dict[Key, int]) -> None:
    """A copy is present as soon as what it repeats is: it lacks no more than that."""
    for copy, original in resolution.duplicates.items():
        if original in lacks and copy in reasons and lacks[original] <= lacks.get(copy, lacks[original]):
            reasons[copy], lacks[copy] = reasons[original], lacks[original]


def lay_out_baseline(
    order: Sequence[Key],
    candidates: Mapping[Key, Candidate],
    documents: Mapping[str, Document],
    settings: AssemblySettings,
    counter: TokenCounter,
) -> tuple[Layout, tuple[Joined, ...]]:
    """Retrieved chunks in retrieval order, one block each, no summaries."""
    plans = []
    for key in order:
        document = documents.get(key[0]) or Document(key[0])
        plans.append(DocumentPlan(document, join([candidates[key].chunk], 0), "", render.title_of(document)))
    layout = render.Renderer(settings.replace(citation_unit="chunk"), counter).lay_out(plans)
    return layout, tuple(chain.from_iterable(plan.joined for plan in plans))
