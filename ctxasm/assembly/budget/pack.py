"""Policy `pack`: the most value within the limit, by documents or passages.

A knapsack over additive costs, then repaired to the exact size: the poorest per token leave while the text is too long, the richest
that fit come in while there is room. Where one other unit beside the first is worth more than all that is left, it takes their place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ctxasm.assembly.budget.chunk_sets import ChunkSet
from ctxasm.assembly.budget.knapsack import Unit, pack_units
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.budget.taking import taken
from ctxasm.assembly.budget.units import (
    ChunkUnit,
    crowded,
    cut_down,
    explained,
    fit,
    index_of_best,
    keys_of,
    refilled,
    set_of,
    start,
    tokens_of,
    unit_of,
)
from ctxasm.assembly.order import groups_of
from ctxasm.assembly.steps import Chosen, Resolution
from ctxasm.model.events import Reason


def pack(scales: Scales) -> Chosen:
    """The units that are worth most together."""
    begun = start(scales)
    if begun is None:
        return taken(scales, ChunkSet(scales), {})
    _, small, among = begun
    units = _units(scales, among)
    always = index_of_best(begun, units)
    found = pack_units([Unit(u.name, u.tokens, u.value) for u in units], always, scales.limit)
    richest = sorted(found.chosen, key=lambda at: (at != always, -units[at].value / max(1, units[at].tokens), units[at].tokens, at))
    chosen = [units[at] for at in richest]
    while len(chosen) > 1 and not fit(scales, chosen):
        chosen.pop()
    if not fit(scales, chosen):
        return crowded(cut_down(scales, begun, chosen[0]), among, units)
    there = {unit.name for unit in chosen}
    offered = [units[at] for at in (*richest, *found.rest) if units[at].name not in there and units[at].value > 0]
    kept = _worth_a_pair(scales, refilled(scales, chosen, offered), units)
    done = taken(scales, set_of(scales, kept), small)
    wanted, shown = {units[at].name for at in found.chosen}, keys_of(done)
    left = [unit for unit in units if not any(c.key in shown for c in unit.members)]
    why = [(unit, _why(scales, unit, chosen[0], wanted)) for unit in left]
    return explained(done, among, {c.key: reason for unit, reason in why for c in unit.members})


def _worth_a_pair(scales: Scales, kept: Sequence[ChunkUnit], units: Sequence[ChunkUnit]) -> Sequence[ChunkUnit]:
    """These units, or the first with one other that fits and is worth more than all of them: what leaves is poor per token, not in all."""
    beside = sum(unit.value for unit in kept[1:])
    richer = sorted((unit for unit in units if unit.value > beside and unit is not kept[0]), key=lambda unit: -unit.value)
    other = next((unit for unit in richer if fit(scales, [kept[0], unit])), None)
    return kept if other is None else refilled(scales, [kept[0], other], kept[1:])


def _why(scales: Scales, unit: ChunkUnit, first: ChunkUnit, wanted: Collection[str | tuple[str, int]]) -> Reason:
    """Why a unit was left. `first` is always in; `wanted` was worth its room by its additive cost."""
    if unit.value <= 0:
        return "no_value"
    if not fit(scales, [unit]):
        return "budget"
    return "outbid" if unit.name not in wanted and fit(scales, [first, unit]) else "crowded_out"


def _units(scales: Scales, among: Resolution) -> list[ChunkUnit]:
    """Documents or passages with their additive costs: a header counts with the first passage of its document."""
    units = []
    for plan in scales.plans(among):
        document_id = plan.document.document_id
        whole = scales.budgeted([plan])
        if scales.settings.pack_unit == "document":
            units.append(unit_of(scales, document_id, [j.chunk.chunk_index for j in plan.joined], whole, document_id))
            continue
        groups = groups_of(plan.joined, "passage")
        texts = [tokens_of(scales, group) for group in groups]
        header = max(0, whole - sum(texts))
        for place, (group, tokens) in enumerate(zip(groups, texts, strict=True)):
            indexes = [j.chunk.chunk_index for j in group]
            units.append(unit_of(scales, document_id, indexes, tokens + (0 if place else header)))
    return units
