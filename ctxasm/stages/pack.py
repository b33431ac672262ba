"""Packing regret: how much more value the best packing of whole documents would have kept in the same limit.

A knapsack with one document always in (the one with the best hit), solved by branch and bound over the fractional bound;
where that takes too many steps the bound itself is reported, as a bound.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from ctxasm.model.results import Regret

PACK_K = 60
"""The constant of reciprocal-rank fusion: value of a hit = 1 / (60 + rank)."""
MAX_STEPS = 150


class Item(NamedTuple):
    """A document with what it costs (tokens) and what it is worth."""

    document_id: str
    tokens: int
    value: float


def value_of(ranks: Sequence[int]) -> float:
    """Value of retrieved chunks with these ranks."""
    return sum(1.0 / (PACK_K + rank) for rank in ranks)


def packing_regret(items: Sequence[Item], always: str | None, limit: int, kept_value: float) -> Regret:
    """The best packing against what was kept. `always` is the document that is in every packing."""
    forced = [item for item in items if item.document_id == always]
    room = limit - sum(item.tokens for item in forced)
    start = sum(item.value for item in forced)
    free = sorted((item for item in items if item.document_id != always and item.tokens <= room), key=lambda i: -i.value / max(1, i.tokens))
    if sum(item.tokens for item in free) <= room:
        chosen, best, exact = free, start + sum(item.value for item in free), True
    else:
        chosen, best, exact = _search(free, room)
        best += start
    names = tuple(item.document_id for item in (*forced, *chosen))
    return Regret(kept_value, max(best, kept_value), exact, names)


def _search(items: Sequence[Item], room: int) -> tuple[list[Item], float, bool]:
    """Depth first, richest per token first; returns the packing, its value (or the bound) and whether it is the best."""
    bound = _Bound(items)
    best: tuple[int, ...] = ()
    best_value = -1.0
    stack: list[tuple[int, int, float, tuple[int, ...]]] = [(0, room, 0.0, ())]
    for _ in range(MAX_STEPS):
        if not stack:
            return [items[i] for i in best], best_value, True
        place, left, value, chosen = stack.pop()
        if value > best_value:
            best, best_value = chosen, value
        if place == len(items) or value + bound.at(place, left) <= best_value + 1e-12:
            continue
        stack.append((place + 1, left, value, chosen))
        if items[place].tokens <= left:
            stack.append((place + 1, left - items[place].tokens, value + items[place].value, (*chosen, place)))
    return [items[i] for i in best], bound.at(0, room), False


class _Bound:
    """The value of the fractional packing: never less than any whole one. Items come richest per token first."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.tokens = [0, *accumulate(item.tokens for item in items)]
        self.values = [0.0, *accumulate(item.value for item in items)]

    def at(self, place: int, left: int) -> float:
        """The bound for the items from `place` on in `left` tokens."""
        end = bisect_right(self.tokens, self.tokens[place] + left, place) - 1
        value = self.values[end] - self.values[place]
        if end == len(self.items):
            return value
        room = self.tokens[place] + left - self.tokens[end]
        return value + self.items[end].value * room / max(1, self.items[end].tokens)
