"""Source text that reads as a marker or a header: found in the joined text of a block, also across seams, and defused.

Brackets are swapped one character for one by look-alikes, so that every offset stays what it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ctxasm.model.marker_search import find_forged_headers, find_marker_forms, might_hold_marker, swap_brackets


class Swap(NamedTuple):
    """Characters `low` to `high` of text number `place` were swapped."""

    place: int
    low: int
    high: int


class Body(NamedTuple):
    """Texts of one block with their collisions, already defused where that was asked for.

    `found` pairs the number of the first text concerned with what stood there; `swaps` say which characters changed.
    """

    texts: tuple[str, ...]
    found: tuple[tuple[int, str], ...] = ()
    swaps: tuple[Swap, ...] = ()


def defuse(texts: Sequence[str], swap: bool) -> Body:
    """Find what the answer parser would accept as a marker, or a model as a header, in `texts` joined; swap its brackets.

    What is left may read differently once a bracket is gone, so it is looked at again until nothing is found.
    """
    joined = "".join(texts)
    if not might_hold_marker(joined):
        return Body(tuple(texts))
    starts = [0, *accumulate(len(text) for text in texts)]
    found: list[tuple[int, str]] = []
    swaps: list[Swap] = []
    while spans := sorted({*find_marker_forms(joined), *find_forged_headers(joined)}):
        found += [(bisect_right(starts, low) - 1, joined[low:high]) for low, high in spans]
        if not swap:
            break
        joined = _swapped(joined, spans)
        for low, high in spans:
            swaps += _swaps(starts, low, high)
    if not swaps:
        return Body(tuple(texts), tuple(found))
    return Body(tuple(joined[low:high] for low, high in pairwise(starts)), tuple(found), tuple(swaps))


def _swapped(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """`text` with the brackets of all spans swapped; spans ascend and may overlap."""
    pieces, at = [], 0
    for low, high in spans:
        if high > at:
            pieces += [text[at : max(at, low)], swap_brackets(text[max(at, low) : high])]
            at = high
    return "".join([*pieces, text[at:]])


def _swaps(starts: Sequence[int], low: int, high: int) -> list[Swap]:
    """The span, cut at the texts' borders."""
    first, last = bisect_right(starts, low) - 1, bisect_right(starts, high - 1) - 1
    return [
        Swap(place, max(low, starts[place]) - starts[place], min(high, starts[place + 1]) - starts[place])
        for place in range(first, last + 1)
    ]
