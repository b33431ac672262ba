"""Policy `greedy_skip` (bookend guide): chunk by chunk, best score first, passing over what does not fit.

Every step asks what the whole set comes to, as in `greedy`; the best chunk is there as under every policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ctxasm.assembly.budget.best_chunk import Squeezed, squeezed
from ctxasm.assembly.budget.chunk_sets import ChunkSet, Repeats, degenerate, in_sequence
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.budget.taking import taken
from ctxasm.assembly.steps import OVER, Ahead, Chosen
from ctxasm.model.results import Candidate, Key

STEPS = 3000
"""Chunks looked at in the rounds that find what skipped chunks lack, together."""
ROUNDS = 12
"""Higher limits tried at most for it."""
NO_SIZES: Mapping[Key, int] = {}


def greedy_skip(scales: Scales) -> Chosen:
    """Every chunk that fits beside what was taken before it; the best alone where even it does not fit."""
    sequence = in_sequence(scales)
    if not sequence:
        return taken(scales, ChunkSet(scales), {})
    best, small = sequence[0], degenerate(scales, sequence[0])
    sequence = [candidate for candidate in sequence if candidate.key not in small]
    chosen = _walked(scales, sequence, lambda chosen, _: chosen.fits(scales.limit))
    if best.key not in chosen:
        found = squeezed(scales, best)
        return found.chosen({**small, **found.reasons}, lambda: _ahead(scales, sequence, found))
    return taken(scales, chosen, small, lambda: _ahead(scales, sequence))


def _walked(scales: Scales, sequence: Sequence[Candidate], fits: Callable[[ChunkSet, Candidate], bool]) -> ChunkSet:
    """What is taken of the sequence: each chunk with which the set `fits`, none where not even the first does."""
    chosen, repeats = ChunkSet(scales), Repeats(scales)
    for candidate in sequence:
        if repeats.takes(candidate, chosen):
            continue
        chosen.add(candidate)
        if not fits(chosen, candidate):
            chosen.drop(candidate)
            if candidate is sequence[0]:
                break
    return chosen


class _Measured:
    """Whether a set fits in `limit`, and what each chunk that was skipped would have made of it, in `skipped`.

    `before` is the last of these at a lower limit: up to the first chunk that fits now nothing has changed.
    """

    def __init__(self, limit: int, before: Mapping[Key, int] = NO_SIZES) -> None:
        self.limit, self.before = limit, before
        self.skipped: dict[Key, int] = {}
        self.changed = not before

    def __call__(self, chosen: ChunkSet, candidate: Candidate) -> bool:
        if not self.changed and candidate.key not in self.before:
            return True
        size = chosen.size() if self.changed else self.before[candidate.key]
        if size > self.limit:
            self.skipped[candidate.key] = size
            return False
        self.changed = True
        return True


def _ahead(scales: Scales, sequence: Sequence[Candidate], best: Squeezed | None = None) -> Iterator[Ahead]:
    """What every higher limit shows at which something changes, for as many as are tried."""
    measured = _Measured(scales.limit)
    _walked(scales, sequence, measured)
    if best is not None:
        for limit in sorted({best.least, best.whole}):
            if scales.limit < limit < measured.skipped[best.best.key]:
                yield Ahead(limit, frozenset([best.best.key]) if limit >= best.whole else frozenset(), best.best.key)
    for _ in range(min(ROUNDS, STEPS // len(sequence))):
        higher = [size for size in measured.skipped.values() if size < OVER]
        if not higher:
            return
        limit = min(higher)
        measured = _Measured(limit, measured.skipped)
        chosen = _walked(scales, sequence, measured)
        yield Ahead(limit, frozenset(chosen.keys()))
