"""Policy `greedy_skip` (bookend guide): chunk by chunk, best score first, passing over what does not fit.

Every step asks what the whole set comes to, as in `greedy`; the best chunk is there as under every policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ctxasm.assembly.budget.best_chunk import Squeezed, squeezed
from ctxasm.assembly.budget.chunk_sets import ChunkSet, Repeats, degenerate, fill, in_sequence
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
    chosen, repeats = ChunkSet(scales), Repeats(scales)
    if not chosen.takes([best], scales.limit):
        found = squeezed(scales, best)
        return found.chosen({**small, **found.reasons}, lambda: _ahead(scales, sequence, found))
    fill(chosen, [[candidate] for candidate in sequence[1:]], scales.limit, lambda each: repeats.takes(each[0], chosen))
    return taken(scales, chosen, small, lambda: _ahead(scales, sequence))


def _skip(
    scales: Scales, sequence: Sequence[Candidate], limit: int, before: Mapping[Key, int] = NO_SIZES
) -> tuple[ChunkSet, dict[Key, int]]:
    """What fits in `limit`, and what each skipped chunk would have made of the set.

    `before` is the last of these at a lower limit: up to the first chunk that fits now nothing has changed.
    """
    chosen, repeats = ChunkSet(scales), Repeats(scales)
    sizes: dict[Key, int] = {}
    changed = not before
    for candidate in sequence:
        if repeats.takes(candidate, chosen):
            continue
        chosen.add(candidate)
        if not changed and candidate.key not in before:
            continue
        size = chosen.size() if changed else before[candidate.key]
        if size > limit:
            chosen.drop(candidate)
            sizes[candidate.key] = size
            if candidate is sequence[0]:
                break
        else:
            changed = True
    return chosen, sizes


def _ahead(scales: Scales, sequence: Sequence[Candidate], best: Squeezed | None = None) -> Iterator[Ahead]:
    """What every higher limit shows at which something changes, for as many as are tried."""
    skipped = _skip(scales, sequence, scales.limit)[1]
    if best is not None:
        for limit in sorted({best.least, best.whole}):
            if scales.limit < limit < skipped[best.best.key]:
                yield Ahead(limit, frozenset([best.best.key])) if limit >= best.whole else Ahead(limit, frozenset(), best.best.key)
    for _ in range(min(ROUNDS, STEPS // len(sequence))):
        higher = [size for size in skipped.values() if size < OVER]
        if not higher:
            return
        limit = min(higher)
        chosen, skipped = _skip(scales, sequence, limit, skipped)
        yield Ahead(limit, frozenset(chosen.keys()))
