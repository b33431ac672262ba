"""Policies `pack` and `segments`: units of several chunks, chosen together.

`pack` solves a knapsack over additive costs and then repairs the exact size: the poorest per token leave while the text is
too long, the richest that fit come in while there is room. `segments` takes relevant runs, best first, as they fit. The
unit of the best hit is always in, cut down where it is too large alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctxasm.budgeting.chunk_sets import ChunkSet, degenerate
from ctxasm.budgeting.desk import Decision, Desk
from ctxasm.budgeting.settling import Taken, settled
from ctxasm.model.passages import Joined
from ctxasm.model.plans import DocumentPlan, Resolution
from ctxasm.model.results import Candidate, Key
from ctxasm.stages import order, pack, segments
from ctxasm.stages.render import shown_tokens
from ctxasm.stages.trim import trim

REFILLS = 200
"""Units offered at most to the room that is left."""


class _Unit(NamedTuple):
    """Chunks that are taken or left together, with what they are worth and roughly cost."""

    name: str | tuple[str, int]
    members: tuple[Candidate, ...]
    tokens: int
    value: float


def decide(desk: Desk, resolution: Resolution) -> Decision:
    """Choose by units. `resolution` is that of all candidates; what applies follows from the chosen set."""
    best = best_hit(desk.candidates.values())
    if best is None:
        return settled(desk, resolution, Taken(ChunkSet(desk), {}), {})
    if newer := desk.relations.superseded.get(best.key):
        best = desk.candidates.get(newer.key, best)
    small = degenerate(desk, best)
    left = {document_id: {index: c for index, c in own.items() if c.key not in small} for document_id, own in desk.own.items()}
    among = desk.resolve({document_id: own for document_id, own in left.items() if own})
    choice = _Choice(desk, best)
    taken = choice.runs(among) if desk.settings.budget_policy == "segments" else choice.pack(among)
    return settled(desk, resolution, taken, small)


def best_hit(candidates: Iterable[Candidate]) -> Candidate | None:
    """The hit of the best rank, of equals the best score: the one that is always in."""
    return min((c for c in candidates if c.retrieved), key=lambda c: (c.rank, -c.score, *c.key), default=None)


class _Choice:
    def __init__(self, desk: Desk, best: Candidate) -> None:
        self.desk, self.best = desk, best
        self.pack_k = desk.settings.pack_k

    def pack(self, resolution: Resolution) -> Taken:
        """The most value within the limit, by documents or passages, repaired to the exact size."""
        units = self._units(resolution)
        always = self._index_of_best(units)
        found = pack.pack_units([pack.Unit(u.name, u.tokens, u.value) for u in units], always, self.desk.limit)
        richest = sorted(found.chosen, key=lambda at: (at != always, -units[at].value / max(1, units[at].tokens), units[at].tokens, at))
        chosen = [units[at] for at in richest]
        while len(chosen) > 1 and not self._fits(chosen):
            chosen.pop()
        if not self._fits(chosen):
            return self._cut_down(chosen[0])
        taken = {unit.name for unit in chosen}
        offered = [units[at] for at in (*richest, *found.rest) if units[at].name not in taken and units[at].value > 0]
        return self._refilled(chosen, offered)

    def runs(self, resolution: Resolution) -> Taken:
        """Relevant runs, best first, each as it fits beside those before it."""
        chunks, openings = self._run_chunks(resolution)
        runs = segments.best_runs(chunks, self.desk.limit, openings)
        units = [self._unit(run.document_id, run.indexes, run.tokens) for run in runs]
        always = self._index_of_best(units)
        first = units[always or 0]
        if not self._fits([first]):
            return self._cut_down(first)
        return self._refilled([first], [unit for unit in units if unit is not first])

    def _refilled(self, chosen: Sequence[_Unit], offered: Sequence[_Unit]) -> Taken:
        """The chosen units and whatever of the offered ones still fits, in their order."""
        kept = list(chosen)
        for unit in offered[:REFILLS]:
            if self._fits([*kept, unit]):
                kept.append(unit)
        return Taken(self._set(kept), {})

    def _fits(self, units: Sequence[_Unit]) -> bool:
        return self._set(units).size() <= self.desk.limit

    def _set(self, units: Sequence[_Unit]) -> ChunkSet:
        """What these units show once what they repeat among themselves is gone."""
        documents: dict[str, dict[int, Candidate]] = {}
        for unit in units:
            for candidate in unit.members:
                documents.setdefault(candidate.chunk.document_id, {})[candidate.chunk.chunk_index] = candidate
        resolution = self.desk.resolve({document_id: dict(sorted(own.items())) for document_id, own in documents.items()})
        chosen = ChunkSet(self.desk)
        for document_id in resolution.order:
            for index in resolution.shown[document_id]:
                chosen.add(documents[document_id][index])
        return chosen

    def _cut_down(self, unit: _Unit) -> Taken:
        """The unit of the best hit alone is too large: its best chunks, or the best one cut."""
        own = {candidate.chunk.chunk_index: candidate for candidate in unit.members}
        document_id = unit.members[0].chunk.document_id

        def plan_of(indexes: Iterable[int]) -> DocumentPlan:
            resolution = self.desk.resolve({document_id: {index: own[index] for index in sorted(indexes)}})
            return self.desk.plan(document_id, self.desk.join(document_id, resolution.shown[document_id]))

        settings = self.desk.settings
        best = next((key[1] for key in self._says_best() if key[0] == document_id and key[1] in own), None)
        found = trim(own, plan_of, self.desk.budgeted, self.desk.limit, settings.budget_scope == "rendered", self.desk.counter, best)
        chosen = ChunkSet(self.desk)
        if found.plan is None:
            missing = {(document_id, index): tokens for index, tokens in found.missing.items() if index == found.order[0]}
            return Taken(chosen, missing, None, 0, (), found.yielded, (document_id, found.order[0]))
        for j in found.plan.joined:
            chosen.add(own[j.chunk.chunk_index])
        cut = own[found.cut[1]] if found.cut else None
        return Taken(chosen, {}, cut, found.cut_at, (found.plan,), found.yielded)

    def _units(self, resolution: Resolution) -> list[_Unit]:
        """Documents or passages with their additive costs: a header counts with the first passage of its document."""
        units = []
        for plan in self.desk.plans(resolution):
            document_id = plan.document.document_id
            whole = self.desk.budgeted([plan])
            if self.desk.settings.pack_unit == "document":
                units.append(self._unit(document_id, [j.chunk.chunk_index for j in plan.joined], whole, document_id))
                continue
            texts = [self._tokens(group) for group in order.groups_of(plan.joined, "passage")]
            header = max(0, whole - sum(texts))
            for place, (group, tokens) in enumerate(zip(order.groups_of(plan.joined, "passage"), texts, strict=True)):
                units.append(self._unit(document_id, [j.chunk.chunk_index for j in group], tokens + (0 if place else header)))
        return units

    def _tokens(self, group: Sequence[Joined]) -> int:
        return sum([shown_tokens(j, self.desk.counter) for j in group])

    def _unit(self, document_id: str, indexes: Sequence[int], tokens: int, name: str | None = None) -> _Unit:
        members = tuple([self.desk.own[document_id][index] for index in indexes])
        value = pack.value_of([c.rank for c in members if c.retrieved], self.pack_k)
        return _Unit(name or (document_id, indexes[0]), members, tokens, value)

    def _index_of_best(self, units: Sequence[_Unit]) -> int | None:
        """The unit of the best hit, or of the chunk that says the same."""
        there = {candidate.key: at for at, unit in enumerate(units) for candidate in unit.members}
        return next((there[key] for key in self._says_best() if key in there), 0 if units else None)

    def _says_best(self) -> tuple[Key, ...]:
        """The best hit, and what says the same."""
        return (self.best.key, *(related.key for related in self.desk.relations.copies.get(self.best.key, ())))

    def _run_chunks(self, resolution: Resolution) -> tuple[dict[str, list[segments.RunChunk]], dict[str, int]]:
        """The shown chunks of every document with their tokens, and what a run of it takes besides. Only hits are worth something."""
        chunks: dict[str, list[segments.RunChunk]] = {}
        openings: dict[str, int] = {}
        for plan in self.desk.plans(resolution):
            document_id = plan.document.document_id
            own = self.desk.own[document_id]
            chunks[document_id] = [
                segments.RunChunk(j.chunk.chunk_index, self._tokens([j]), self._value(own[j.chunk.chunk_index])) for j in plan.joined
            ]
            openings[document_id] = max(0, self.desk.size([plan]).tokens - self._tokens(plan.joined)) + 1
        return chunks, openings

    def _value(self, candidate: Candidate) -> float:
        return segments.value_of(candidate.rank) if candidate.retrieved else 0.0
