"""A chosen set of chunks made into a decision: written, with what it repeats, what everything else lacks, and its regret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxasm.budgeting.chunk_sets import ChunkSet, Repeats, by_standing
from ctxasm.budgeting.desk import Decision, Desk, final_of
from ctxasm.budgeting.regret import regret_of
from ctxasm.model.events import Event
from ctxasm.model.plans import OVER, DocumentPlan, Resolution
from ctxasm.model.results import Candidate, DocumentSize, Key


class Taken(NamedTuple):
    """What a policy chose. `cut` is shown up to character `cut_at`; `plans` replace those of the set where a frame gave way.

    `missing` is how much more limit chunks need that are not shown; `nothing` is a best chunk of which nothing fits.
    """

    chosen: ChunkSet
    missing: Mapping[Key, int]
    cut: Candidate | None = None
    cut_at: int = 0
    plans: Sequence[DocumentPlan] = ()
    yielded: Sequence[Event] = ()
    nothing: Key | None = None


def settled(desk: Desk, resolution: Resolution, taken: Taken, degenerate: Mapping[Key, str]) -> Decision:
    """The decision. `resolution` is that of all candidates; `degenerate` were too small to be looked at."""
    plans = list(taken.plans) or taken.chosen.plans(taken.cut, taken.cut_at)
    whole = taken.chosen.copy()
    if taken.cut is not None:
        # What is cut no longer says all that its copies say.
        whole.drop(taken.cut)
    repeats = Repeats(desk)
    repeats.settle([c for c in by_standing(desk.candidates.values()) if c.key not in taken.chosen and c.key not in degenerate], whole)
    reasons = dict(degenerate) | ({taken.nothing: "no_room"} if taken.nothing else {})
    missing = {key: tokens for key, tokens in taken.missing.items() if tokens < OVER - desk.limit}
    blocks, written = desk.write(plans)
    final = final_of(plans)
    after = Resolution(
        tuple(plan.document.document_id for plan in plans),
        {plan.document.document_id: tuple(j.chunk.chunk_index for j in plan.joined) for plan in plans},
        {copy: related.key for copy, related in repeats.likeness.items()},
        frozenset(repeats.orphans),
        {},
        repeats.likeness,
    )
    sizes = _sizes(desk, resolution, {j.chunk.document_id for j in final}, missing)
    regret = regret_of(desk.own, final, written, sizes, desk.limit, desk.settings.pack_k)
    return Decision(after, written, blocks, final, reasons, missing, sizes, tuple(taken.yielded), regret)


def _sizes(desk: Desk, resolution: Resolution, kept: set[str], missing: Mapping[Key, int]) -> tuple[DocumentSize, ...]:
    """Every document as a whole on the token axis; one of which anything is shown counts as kept."""
    plans = desk.plans(resolution)
    sizes, before = [], 0
    for plan, (end, _) in zip(plans, desk.sizes(plans), strict=True):
        document_id = plan.document.document_id
        lacks = [missing[document_id, j.chunk.chunk_index] for j in plan.joined if (document_id, j.chunk.chunk_index) in missing]
        there = document_id in kept
        sizes.append(DocumentSize(document_id, end - before, end, there, None if there else min(lacks, default=None)))
        before = end
    return tuple(sizes)
