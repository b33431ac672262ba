"""A chosen set of chunks as what every policy returns: its plans, and all documents on the token axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ctxasm.assembly.budget.chunk_sets import ChunkSet
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.steps import Ahead, Chosen, DocumentPlan
from ctxasm.model.events import Event
from ctxasm.model.results import Candidate, DocumentSize, Key


def nothing_ahead() -> tuple[Ahead, ...]:
    """For a policy in which what a chunk lacks is no single number."""
    return ()


def taken(
    scales: Scales,
    chosen: ChunkSet,
    reasons: Mapping[Key, str],
    ahead: Callable[[], Iterable[Ahead]] = nothing_ahead,
    cut: Candidate | None = None,
    cut_at: int = 0,
    plans: Sequence[DocumentPlan] = (),
    yielded: Sequence[Event] = (),
) -> Chosen:
    """The set with `cut` shown up to character `cut_at`; `plans` replace those of the set where a frame gave way."""
    final = tuple(plans) or tuple(chosen.plans(cut, cut_at))
    kept = {plan.document.document_id for plan in final}
    return Chosen(final, lambda missing: _sizes(scales, kept, missing), ahead, reasons, tuple(yielded))


def _sizes(scales: Scales, kept: set[str], missing: Mapping[Key, int]) -> tuple[DocumentSize, ...]:
    """Every document as a whole on the token axis; one of which anything is shown counts as kept."""
    plans = scales.all_plans()
    sizes, before = [], 0
    for plan, (end, _) in zip(plans, scales.sizes(plans), strict=True):
        document_id = plan.document.document_id
        lacks = [missing[document_id, j.chunk.chunk_index] for j in plan.joined if (document_id, j.chunk.chunk_index) in missing]
        there = document_id in kept
        sizes.append(DocumentSize(document_id, end - before, end, there, None if there else min(lacks, default=None)))
        before = end
    return tuple(sizes)
