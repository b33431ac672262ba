"""Policy `greedy` (token-budget guide): chunk by chunk, best score first, up to the first that does not fit.

Every step asks what the whole set comes to, so headers, joins and gaps count exactly. The chunk that does not fit is cut where
enough room is left (`overflow=cut`; the SOURCE-N assembler stops before it, `stop`). Chunks below `min_chunk_tokens` are passed over
(see `ChunkSet`), but the best chunk never is, and it gives way as under every policy: summary, title, then its own end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ctxasm.assembly.budget.best_chunk import Squeezed, squeezed
from ctxasm.assembly.budget.chunk_sets import ChunkSet, Repeats, degenerate, in_sequence
from ctxasm.assembly.budget.cut import Cutter
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.budget.taking import taken
from ctxasm.assembly.steps import Ahead, Chosen
from ctxasm.model.results import Candidate, Key

BEYOND = 100
"""Chunks past the limit of which it is found out at most what they lack; of those after them it is not said."""
ROOM = 3
"""A chunk is cut where more than this many times `min_chunk_tokens` remain (token-budget guide)."""


def greedy(scales: Scales) -> Chosen:
    """The longest head of the sequence in which every step fits, and the head of the next chunk where room is left."""
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
