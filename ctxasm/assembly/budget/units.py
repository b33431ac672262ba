"""Units of several chunks that are taken or left together. The unit of the best hit is always in, cut down where it is too large alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ctxasm.assembly.budget.chunk_sets import ChunkSet, degenerate, fill
from ctxasm.assembly.budget.knapsack import value_of
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.budget.taking import taken
from ctxasm.assembly.budget.trim import trim
from ctxasm.assembly.deduplicate.resolution import repeats_itself
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.render import shown_tokens
from ctxasm.assembly.steps import Chosen, DocumentPlan, Resolution
from ctxasm.model.events import Reason
from ctxasm.model.results import Candidate, Key

REFILLS = 200
"""Units offered at most to the room that is left."""


class ChunkUnit(NamedTuple):
    """Chunks that are taken or left together, with what they are worth and roughly cost."""

    name: str | tuple[str, int]
    members: tuple[Candidate, ...]
    tokens: int
    value: float


class Start(NamedTuple):
    """From where units are made: the best chunk, those too small to be looked at, and who repeats whom among the rest."""

    best: Candidate
    small: Mapping[Key, str]
    among: Resolution


def start(scales: Scales) -> Start | None:
    """None where nothing was retrieved."""
    return scales.once("start", lambda: _start(scales))


def _start(scales: Scales) -> Start | None:
    best = best_of(scales)
    if best is None:
        return None
    small = degenerate(scales, best)
    left = {document_id: {index: c for index, c in own.items() if c.key not in small} for document_id, own in scales.own.items()}
    return Start(best, small, scales.resolve({document_id: own for document_id, own in left.items() if own}))


def best_of(scales: Scales) -> Candidate | None:
    """The chunk that is always in: the best hit, or the newer one that stands for it. None where nothing was retrieved."""
    best = best_hit(scales.candidates.values())
    newer = scales.relations.superseded.get(best.key) if best is not None else None
    return best if newer is None else scales.candidates.get(newer.key, best)


def best_hit(candidates: Iterable[Candidate]) -> Candidate | None:
    """The hit of the best rank, of equals the best score: the one that is always in."""
    return min((c for c in candidates if c.retrieved), key=lambda c: (c.rank, -c.score, *c.key), default=None)


def unit_of(scales: Scales, document_id: str, indexes: Sequence[int], tokens: int, name: str | None = None) -> ChunkUnit:
    """These chunks of a document as a unit."""
    members = tuple([scales.own[document_id][index] for index in indexes])
    value = value_of([c.rank for c in members if c.retrieved], scales.settings.pack_k)
    return ChunkUnit(name or (document_id, indexes[0]), members, tokens, value)


def tokens_of(scales: Scales, group: Sequence[Joined]) -> int:
    """What the shown spans of these chunks count, one by one."""
    return sum([shown_tokens(j, scales.counter) for j in group])


def index_of_best(begun: Start, units: Sequence[ChunkUnit]) -> int:
    """The unit of the best chunk, of several the last. Each chunk that is left of all stands in one."""
    there = {candidate.key: at for at, unit in enumerate(units) for candidate in unit.members}
    return there[_key_of_best(begun)]


def _key_of_best(begun: Start) -> Key:
    """The best chunk, or the one that stays where that one only repeats it or stands inside it."""
    return begun.among.duplicates.get(begun.best.key, begun.best.key)


def fit(scales: Scales, units: Sequence[ChunkUnit]) -> bool:
    """Whether these units fit together."""
    return set_of(scales, units).size() <= scales.limit


def refilled(scales: Scales, chosen: Sequence[ChunkUnit], offered: Sequence[ChunkUnit]) -> list[ChunkUnit]:
    """The chosen units and whatever of the offered ones still fits, in their order."""
    kept, offered = list(chosen), offered[:REFILLS]
    if not any(scales.relations):
        return kept + [offered[place] for place in fill(set_of(scales, kept), [unit.members for unit in offered], scales.limit)]
    there = {candidate.key for unit in kept for candidate in unit.members}
    for unit in offered:
        keys = [candidate.key for candidate in unit.members]
        # What brings nothing new makes the same set again.
        if there.issuperset(keys) or fit(scales, [*kept, unit]):
            kept.append(unit)
            there.update(keys)
    return kept


def explained(done: Chosen, among: Resolution, reasons: Mapping[Key, Reason]) -> Chosen:
    """With why chunks were left; a copy was left for the same reason as what it repeats."""
    copies = {copy: reasons[key] for copy, key in among.duplicates.items() if key in reasons}
    return replace(done, reasons={**copies, **reasons, **done.reasons})


def crowded(done: Chosen, among: Resolution, units: Iterable[ChunkUnit]) -> Chosen:
    """With why chunks were left of units that were offered whatever room there was."""
    if not done.plans:
        return done
    shown = keys_of(done)
    left = [c.key for unit in units for c in unit.members if c.key not in shown]
    return explained(done, among, dict.fromkeys(left, "crowded_out"))


def keys_of(done: Chosen) -> set[Key]:
    """The chunks that are shown."""
    return {(j.chunk.document_id, j.chunk.chunk_index) for j in done.final}


def set_of(scales: Scales, units: Sequence[ChunkUnit]) -> ChunkSet:
    """What these units show once what they repeat among themselves is gone."""
    documents: dict[str, dict[int, Candidate]] = {}
    for unit in units:
        for candidate in unit.members:
            chunk = candidate.chunk
            documents.setdefault(chunk.document_id, {})[chunk.chunk_index] = candidate
    if repeats_itself(documents, scales.relations):
        shown = scales.resolve({document_id: dict(sorted(own.items())) for document_id, own in documents.items()}).shown
        documents = {document_id: {index: documents[document_id][index] for index in own} for document_id, own in shown.items() if own}
    return ChunkSet(scales, documents)


def cut_down(scales: Scales, begun: Start, unit: ChunkUnit) -> Chosen:
    """The unit of the best chunk alone is too large: its best chunks, or the best one cut."""
    own = {candidate.chunk.chunk_index: candidate for candidate in unit.members}
    document_id = unit.members[0].chunk.document_id

    def plan_of(indexes: Iterable[int]) -> DocumentPlan:
        return set_of(scales, [unit._replace(members=tuple([own[index] for index in sorted(indexes)]))]).plans()[0]

    found = trim(own, plan_of, scales, _key_of_best(begun)[1])
    if found.plan is None:
        return taken(scales, ChunkSet(scales), {**begun.small, (document_id, found.order[0]): "no_room"}, yielded=found.yielded)
    return taken(scales, ChunkSet(scales), begun.small, plans=(found.plan,), yielded=found.yielded)
