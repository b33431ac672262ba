"""Policy `drop_documents`: whole documents leave from the tail until the rest fits (five-stage pipeline)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ctxasm.budgeting.desk import Decision, Desk, final_of, like_originals
from ctxasm.budgeting.regret import regret_of
from ctxasm.model.events import Event
from ctxasm.model.passages import Joined
from ctxasm.model.plans import OVER, DocumentPlan, Resolution, Written
from ctxasm.model.results import DocumentSize, Key
from ctxasm.stages import budget
from ctxasm.stages.trim import Trimmed, trim


def decide(desk: Desk, resolution: Resolution, joined: Mapping[str, tuple[Joined, ...]]) -> Decision:
    """Choose from the resolution and the joined chunks of all candidates."""
    return _DropDocuments(desk).decide(resolution, joined)


class _DropDocuments:
    def __init__(self, desk: Desk) -> None:
        self.desk, self.limit = desk, desk.limit

    def decide(self, resolution: Resolution, joined: Mapping[str, tuple[Joined, ...]]) -> Decision:
        order = [document_id for document_id in resolution.order if resolution.shown[document_id]]
        first = self._round(resolution, tuple([self.desk.plan(document_id, joined[document_id]) for document_id in order]))
        choice = budget.choose(first, self.limit, self.desk.settings.oversized == "drop", self._again)
        missing = budget.missing_tokens(choice, self.limit)
        if choice.kept or not choice.last.plans:
            plans = choice.last.plans[: choice.kept]
            reasons, lacks = self._why(choice, missing)
            sizes = budget.document_sizes(choice, None, missing)
            done = choice.last.written if len(plans) == len(choice.last.plans) else None
            return self._decision(choice.last.resolution, plans, done, reasons, lacks, sizes, ())
        return self._trimmed(choice, missing)

    def _round(self, resolution: Resolution, plans: tuple[DocumentPlan, ...]) -> budget.Round:
        tokens = sum([j.chunk.token_count or 0 for plan in plans for j in plan.joined])
        # What will probably be kept whole is written at once; what will not is only measured.
        if tokens > self.limit:
            return budget.Round(resolution, plans, self.desk.sizes(plans))
        _, written = self.desk.write(plans)
        return budget.Round(resolution, plans, self.desk.written_sizes(plans, written), written)

    def _again(self, without: frozenset[str]) -> budget.Round:
        resolution = self.desk.resolve({document_id: own for document_id, own in self.desk.own.items() if document_id not in without})
        return self._round(resolution, self.desk.plans(resolution))

    def _why(self, choice: budget.Choice, missing: Mapping[str, int]) -> tuple[dict[Key, str], dict[Key, int]]:
        kept = {plan.document.document_id for plan in choice.last.plans[: choice.kept]}
        reasons: dict[Key, str] = {}
        lacks: dict[Key, int] = {}
        for document_id, own in self.desk.own.items():
            if document_id in kept:
                continue
            reason = "oversized" if document_id in choice.skipped else "budget"
            for index in own:
                reasons[document_id, index] = reason
                if document_id in missing:
                    lacks[document_id, index] = missing[document_id]
        for each in choice.rounds:
            like_originals(each.resolution, reasons, lacks)
        return reasons, lacks

    def _trimmed(self, choice: budget.Choice, missing: Mapping[str, int]) -> Decision:
        """The best document is too big alone: trim it; every other document is dropped."""
        whole = choice.last.plans[0]
        document_id = whole.document.document_id
        own = self.desk.own[document_id]

        def plan_of(indexes: Iterable[int]) -> DocumentPlan:
            resolution = self.desk.resolve({document_id: {index: own[index] for index in sorted(indexes)}})
            return replace(whole, joined=self.desk.join(document_id, resolution.shown[document_id]))

        by_text = self.desk.settings.budget_scope == "rendered"
        found = trim(own, plan_of, self.desk.budgeted, self.limit, by_text, self.desk.counter)
        reasons, lacks = self._why(choice, missing)
        reasons[document_id, found.order[0]] = "no_room" if found.plan is None else "oversized"
        resolution = self._resolution_after(choice, found)
        if found.whole_missing:
            # What repeats the best chunk says the same only once that chunk is shown whole.
            lacks[document_id, found.order[0]] = found.whole_missing
        like_originals(resolution, reasons, lacks)
        reasons |= {(document_id, index): "oversized" for index in found.order[1 if found.plan is None else 0 :]}
        lacks |= {(document_id, index): tokens for index, tokens in found.missing.items()}
        plans = (found.plan,) if found.plan is not None else ()
        sizes = budget.document_sizes(choice, len(plans), missing)
        return self._decision(resolution, plans, None, reasons, lacks, sizes, found.yielded)

    def _resolution_after(self, choice: budget.Choice, found: Trimmed) -> Resolution:
        """Who repeats whom now: inside the trimmed document among the chunks left, elsewhere as before."""
        before = choice.last.resolution
        if found.plan is None:
            return before
        document_id = found.plan.document.document_id
        left = found.order[: len(found.order) - len(found.missing)]
        inside = self.desk.resolve({document_id: {index: self.desk.own[document_id][index] for index in sorted(left)}})
        elsewhere = {copy: related for copy, related in before.likeness.items() if copy[0] != document_id}
        likeness = {**elsewhere, **inside.likeness}
        duplicates = {copy: related.key for copy, related in likeness.items()}
        return Resolution(before.order, before.shown, duplicates, before.orphans, before.scores, likeness)

    def _decision(
        self,
        resolution: Resolution,
        plans: Sequence[DocumentPlan],
        written: Written | None,
        reasons: Mapping[Key, str],
        missing: Mapping[Key, int],
        sizes: tuple[DocumentSize, ...],
        yielded: tuple[Event, ...],
    ) -> Decision:
        blocks = self.desk.blocks(plans)
        written = written or self.desk.renderer.write(blocks)
        final = final_of(plans)
        # Where the limit in characters is broken no number of tokens would help.
        lacks = {key: tokens for key, tokens in missing.items() if tokens < OVER - self.limit}
        regret = regret_of(self.desk.own, final, written, sizes, self.limit, self.desk.settings.pack_k)
        return Decision(resolution, written, blocks, final, reasons, lacks, sizes, yielded, regret)
