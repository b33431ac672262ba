"""Policies `greedy` (token-budget guide) and `greedy_skip` (bookend guide): chunk by chunk, best score first.

Every step asks what the whole set comes to, so headers, joins and gaps count exactly. `greedy` stops at the first chunk
that does not fit, and cuts it where enough room is left; `greedy_skip` passes over it. Chunks below `min_chunk_tokens` are
passed over, but the best chunk never is, and it gives way as under every policy: summary, title, then its own end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxasm.budgeting.chunk_sets import ChunkSet, Repeats, by_standing, degenerate
from ctxasm.budgeting.desk import Decision, Desk
from ctxasm.budgeting.settling import Taken, settled
from ctxasm.model.plans import OVER, Resolution
from ctxasm.model.results import Candidate, Key
from ctxasm.stages.cut import Cutter
from ctxasm.stages.trim import Squeeze

BEYOND = 100
"""Chunks past the limit of which it is found out at most what they lack; of those after them it is not said."""
STEPS = 3000
"""Chunks looked at in these rounds together."""
ROUNDS = 12
"""Higher limits tried at most to find what skipped chunks lack."""
NO_SIZES: Mapping[Key, int] = {}
ROOM = 3
"""`greedy` cuts a chunk where more than this many times `min_chunk_tokens` remain (token-budget guide)."""


def decide(desk: Desk, resolution: Resolution) -> Decision:
    """Choose chunk by chunk. `resolution` is that of all candidates; what applies follows from the chosen set."""
    # What a newer chunk stands for is not looked at, and is not the best: that one stands in its place.
    sequence = [c for c in by_standing(desk.candidates.values()) if not desk.superseded(c.key)]
    if not sequence:
        return settled(desk, resolution, Taken(ChunkSet(desk), {}), {})
    small = degenerate(desk, sequence[0])
    walk = _Walk(desk, [c for c in sequence if c.key not in small])
    taken = walk.skipping() if desk.settings.budget_policy == "greedy_skip" else walk.greedy()
    return settled(desk, resolution, taken, small)


class _Step(NamedTuple):
    """A chunk that is taken where the limit allows: what the set comes to with it, and what it came to before.

    `need` is the smallest limit at which it is shown at all, whole or cut, by a walk that gets that far.
    """

    candidate: Candidate
    size: int
    before: int
    need: int


class _Walk:
    """The chunks in their order: all that may be taken."""

    def __init__(self, desk: Desk, sequence: Sequence[Candidate]) -> None:
        self.desk, self.limit, self.room = desk, desk.limit, ROOM * desk.settings.min_chunk_tokens
        self.sequence = sequence

    def greedy(self) -> Taken:
        """The longest head of the sequence in which every step fits, and the head of the next chunk where room is left."""
        steps, repeats = self._all_steps()
        stop = next((at for at, step in enumerate(steps) if step.size > self.limit), len(steps))
        missing = {step.candidate.key: step.need - self.limit for step in steps[max(stop, 1) :]}
        if not stop:
            taken, whole = self._squeezed(steps[0].candidate)
            return taken._replace(missing=self._with_repeats({**missing, **taken.missing}, steps, repeats, whole))
        chosen = ChunkSet(self.desk)
        for step in steps[:stop]:
            chosen.add(step.candidate)
        taken = Taken(chosen, self._with_repeats(missing, steps, repeats, steps[0].size))
        if stop == len(steps) or self.limit - steps[stop].before <= self.room:
            return taken
        candidate = steps[stop].candidate
        chosen.add(candidate)
        at = self._cutter(chosen, candidate).cut()
        if at:
            return taken._replace(cut=candidate, cut_at=at)
        chosen.drop(candidate)
        return taken

    def _all_steps(self) -> tuple[list[_Step], Repeats]:
        """Every step there would be without a limit, as far as `BEYOND` past it, and what only repeats others then."""
        chosen, repeats = ChunkSet(self.desk), Repeats(self.desk)
        steps: list[_Step] = []
        size = reach = beyond = 0
        for candidate in self.sequence:
            if repeats.takes(candidate, chosen):
                continue
            if beyond == BEYOND:
                break
            chosen.add(candidate)
            before, size = size, chosen.size()
            # What fits now is not asked for what it would have needed.
            need = self._need(chosen, candidate, before, size, reach) if steps and max(reach, size) > self.limit else size
            steps.append(_Step(candidate, size, before, max(reach, need)))
            reach = max(reach, size)
            beyond += reach > self.limit
        return steps, repeats

    def _need(self, chosen: ChunkSet, candidate: Candidate, before: int, size: int, reach: int) -> int:
        """The smallest limit at which the chunk fits, whole or cut, as far as that is above `reach`."""
        need = before + self.room + 1
        if size <= max(need, reach):
            return size
        return min(size, max(need, self._cutter(chosen, candidate).least()))

    def _cutter(self, chosen: ChunkSet, candidate: Candidate) -> Cutter:
        start = chosen.shown_from(candidate)
        return Cutter(candidate.chunk.text, start, lambda at: chosen.size(candidate, at), self.limit, self.desk.counter)

    def _with_repeats(self, missing: dict[Key, int], steps: Sequence[_Step], repeats: Repeats, whole: int) -> dict[Key, int]:
        """And what copies lack: what they repeat must be shown whole. `whole`: the smallest size of the best chunk, whole."""
        reach: dict[Key, int] = {}
        highest = 0
        for at, step in enumerate(steps):
            highest = max(highest, step.size)
            reach[step.candidate.key] = highest if at else min(whole, highest)
        for key, related in repeats.likeness.items():
            missing[key] = reach[related.key] - self.limit
        return self._with_followers(missing, repeats, {key: tokens - self.limit for key, tokens in reach.items()})

    def _with_followers(self, missing: dict[Key, int], repeats: Repeats, whole: Mapping[Key, int]) -> dict[Key, int]:
        """And what neighbours of copies lack, and what newer ones stand for: as much as those. `whole`: to be shown whole."""
        for document_id, index in repeats.orphans:
            parents = [(document_id, parent) for parent in self.desk.candidates[document_id, index].parents]
            if all(parent in missing for parent in parents):
                missing[document_id, index] = max(missing[parent] for parent in parents)
        for key, newer in self.desk.relations.superseded.items():
            if (tokens := whole.get(newer.key, missing.get(newer.key))) is not None:
                missing[key] = tokens
        return {key: tokens for key, tokens in missing.items() if tokens > 0}

    def _squeezed(self, best: Candidate) -> tuple[Taken, int]:
        """The best chunk alone does not fit: it is all there is, in as small a frame as it takes, then cut.

        Also returns what it comes to whole in the smallest frame.
        """
        alone = ChunkSet(self.desk)
        alone.add(best)
        squeeze = Squeeze(alone.plans()[0], self.desk.budgeted, self.limit, self.desk.counter)
        plan = squeeze.whole(self.desk.settings.budget_scope == "rendered")
        whole = squeeze.size()
        if plan is not None:
            return Taken(alone, {}, None, 0, (plan,), squeeze.yielded), whole
        if (plan := squeeze.cut()) is not None:
            return Taken(alone, {}, best, squeeze.cut_at, (plan,), squeeze.yielded), whole
        alone.drop(best)
        return Taken(alone, {best.key: squeeze.least() - self.limit}, None, 0, (), squeeze.yielded, best.key), whole

    def skipping(self) -> Taken:
        """Every chunk that fits beside what was taken before it; the best alone where even it does not fit."""
        best = self.sequence[0]
        chosen, repeats, sizes = self._skip(self.limit)
        present = {*repeats.likeness, *repeats.orphans, *chosen.keys()}
        whole, taken = 0, Taken(chosen, {})
        missing: dict[Key, int] = {}
        if best.key in sizes:
            taken, whole = self._squeezed(best)
            missing, present = dict(taken.missing), {best.key}
            sizes = {best.key: sizes[best.key]}
        limit, last = self.limit, repeats
        for _ in range(min(ROUNDS, STEPS // len(self.sequence))):
            higher = [size for size in sizes.values() if limit < size < OVER]
            if not higher:
                break
            limit = min(higher)
            chosen, last, sizes = self._skip(limit, sizes)
            now = {*last.likeness, *chosen.keys()}
            for key in now - present - missing.keys():
                related = last.likeness.get(key)
                missing[key] = (whole if whole and related and related.key == best.key else limit) - self.limit
            missing = self._with_followers(missing, last, {})
            present |= now
        return taken._replace(missing={key: tokens for key, tokens in missing.items() if tokens > 0})

    def _skip(self, limit: int, before: Mapping[Key, int] = NO_SIZES) -> tuple[ChunkSet, Repeats, dict[Key, int]]:
        """What fits in `limit`, what only repeats it, and what each skipped chunk would have made of the set.

        `before` is the last of these at a lower limit: up to the first chunk that fits now nothing has changed.
        """
        chosen, repeats = ChunkSet(self.desk), Repeats(self.desk)
        sizes: dict[Key, int] = {}
        changed = not before
        for candidate in self.sequence:
            if repeats.takes(candidate, chosen):
                continue
            chosen.add(candidate)
            if not changed and candidate.key not in before:
                continue
            size = chosen.size() if changed else before[candidate.key]
            if size > limit:
                chosen.drop(candidate)
                sizes[candidate.key] = size
                if candidate is self.sequence[0]:
                    break
            else:
                changed = True
        return chosen, repeats, sizes
