"""The most value within a limit: a knapsack of documents or passages with one unit always in (the one with the best hit).

Solved by branch and bound over the fractional packing (Horowitz and Sahni 1974), which proves most real cases in a few
dozen steps; where that takes too long, by a table over the tokens (Bellman 1957), which no instance can make slow; where
the table would be too large, the best packing found stands beside a bound that no packing exceeds. Costs are taken as
additive: what a set costs when rendered is measured, and repaired, by the caller.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import fsum
from typing import NamedTuple

from ctxasm.model.results import Regret

PACK_K = 60
"""The constant of reciprocal-rank fusion: value of a hit = 1 / (60 + rank)."""
MAX_STEPS = 1000
"""Steps of branch and bound (about 1 µs each) before the table takes over."""
MAX_CELLS = 16_000_000
"""Units × tokens of the largest table (about 1 ns each)."""
TICKS = 2**52
"""Values are compared as whole numbers of this share of their sum, so that sums do not depend on their order."""


class Unit(NamedTuple):
    """What is taken or left as a whole: a document, or a passage (document, first index), with its tokens and its worth."""

    name: str | tuple[str, int]
    tokens: int
    value: float


class Packing(NamedTuple):
    """Indexes of the units taken, ascending; their value, and a bound that no packing exceeds: the value where `exact`.

    `rest` are the others in the order in which what is left over should be offered to them: richest per token first,
    those without value by size.
    """

    chosen: tuple[int, ...]
    value: float
    bound: float
    exact: bool
    rest: tuple[int, ...] = ()


def value_of(ranks: Sequence[int], pack_k: int = PACK_K) -> float:
    """Value of retrieved chunks with these ranks, whatever their order."""
    return fsum(1.0 / (pack_k + rank) for rank in ranks)


def pack_units(units: Sequence[Unit], always: int | None, limit: int) -> Packing:
    """The units that are worth most within `limit` tokens, the unit `always` among them (alone where it is too large).

    Of equal values the one with fewer tokens; units without value are left to `rest`. Equals are told apart by name.
    """
    return _pack(units, always, limit, MAX_CELLS)


def packing_regret(items: Sequence[Unit], always: str | None, limit: int, kept_value: float) -> Regret:
    """The best packing against what was kept. `always` names the document that is in every packing."""
    forced = next((place for place, item in enumerate(items) if item.name == always), None)
    packing = _pack(items, forced, limit, 0)
    first = (forced,) if forced is not None else ()
    names = tuple(str(items[place].name) for place in (*first, *(place for place in packing.chosen if place != forced)))
    return Regret(kept_value, max(packing.bound, kept_value), packing.exact, names)


def _pack(units: Sequence[Unit], always: int | None, limit: int, max_cells: int) -> Packing:
    forced = () if always is None else (always,)
    room = limit - sum(units[place].tokens for place in forced)
    order = _richest_first(units, frozenset(forced))
    # A document that comes to nothing, or less than nothing beside the others, is always worth it.
    gifts = [place for place in order if units[place].tokens < 0 or units[place].tokens == 0 < units[place].value] if room >= 0 else []
    room -= sum(units[place].tokens for place in gifts)
    open_ = [place for place in order if units[place].value > 0 and 0 < units[place].tokens <= room]
    open_value = fsum(units[place].value for place in open_)
    ticks = {place: max(1, round(units[place].value / open_value * TICKS)) for place in open_}
    # The bound is proven for this very order: by ticks, not by the values they stand for.
    open_.sort(key=lambda place: -(ticks[place] << 64) // units[place].tokens)
    sack = _Sack([units[place].tokens for place in open_], [ticks[place] for place in open_], max(0, room))
    taken, most = sack.solve(max_cells)
    chosen = tuple(sorted((*forced, *gifts, *(open_[at] for at in taken))))
    value = fsum(units[place].value for place in chosen)
    bound = value
    if most is not None:
        beside = fsum(units[place].value for place in (*forced, *gifts))
        bound = max(value, beside + min(1.0, (most + len(open_)) / TICKS) * open_value)
    left = frozenset(chosen)
    return Packing(chosen, value, bound, most is None, tuple(place for place in order if place not in left))


def _richest_first(units: Sequence[Unit], without: frozenset[int]) -> list[int]:
    """Places by value per token, then fewer tokens, then name: an order that the order of the input does not touch."""

    def standing(place: int) -> tuple[float, int, str, int]:
        name, tokens, value = units[place]
        document_id, first = (name, -1) if isinstance(name, str) else name
        return (-value / max(1, tokens), tokens, document_id, first)

    return sorted((place for place in range(len(units)) if place not in without), key=standing)


class _Sack:
    """Positive `tokens` and `ticks` of units, richest per token first, and the room for them."""

    def __init__(self, tokens: Sequence[int], ticks: Sequence[int], room: int) -> None:
        self.tokens, self.ticks, self.room = tokens, ticks, room
        # Fewer tokens among equal values: one number that compares by value first, then by tokens.
        self.worth = [tick * (room + 1) - size for tick, size in zip(ticks, tokens, strict=True)]
        self.token_sums = [0, *accumulate(tokens)]
        self.worth_sums = [0, *accumulate(self.worth)]

    def solve(self, max_cells: int) -> tuple[list[int], int | None]:
        """Which to take; and where that is not proven to be the best, the ticks that no packing exceeds."""
        if self.token_sums[-1] <= self.room:
            return list(range(len(self.tokens))), None
        best, bound = self._branch()
        if bound is None or len(self.tokens) * self.room > max_cells:
            return best, bound if bound is None else (bound + self.room) // (self.room + 1)
        return self._table(), None

    def _branch(self) -> tuple[list[int], int | None]:
        """Depth first: take what fits in order, then give back the last taken and go on after it."""
        # This loop is most of what a packing takes, so what it reads is at hand and `_bound` is written out.
        tokens, worths, token_sums, worth_sums = self.tokens, self.worth, self.token_sums, self.worth_sums
        count = len(tokens)
        taken: list[int] = []
        best: list[int] = []
        most = worth = place = 0
        left = self.room
        for _ in range(MAX_STEPS):
            if place < count:
                start = token_sums[place]
                end = bisect_right(token_sums, start + left, place) - 1
                gain = worth_sums[end] - worth_sums[place]
                rest = -(-worths[end] * (start + left - token_sums[end]) // tokens[end]) if end < count else 0
                if worth + gain + rest > most:
                    taken += range(place, end)
                    worth += gain
                    left -= token_sums[end] - start
                    if worth > most:
                        best, most = taken.copy(), worth
                    place = end + 1
                    if place < count:
                        continue
            elif worth > most:
                best, most = taken.copy(), worth
            if not taken:
                return best, None
            last = taken.pop()
            worth -= worths[last]
            left += tokens[last]
            place = last + 1
        return best, max(most, self._open(taken, place))

    def _open(self, taken: Sequence[int], place: int) -> int:
        """The highest bound among the branches not looked into yet: each taken unit might be given back."""
        bounds, worth, left = [], 0, self.room
        for at in taken:
            bounds.append(worth + self._bound(at + 1, left))
            worth, left = worth + self.worth[at], left - self.tokens[at]
        return max([*bounds, worth + self._bound(place, left)])

    def _bound(self, place: int, left: int) -> int:
        """The worth of the fractional packing of the units from `place` on: never less than any whole one's."""
        if place >= len(self.tokens):
            return 0
        end = bisect_right(self.token_sums, self.token_sums[place] + left, place) - 1
        worth = self.worth_sums[end] - self.worth_sums[place]
        if end == len(self.tokens):
            return worth
        return worth + -(-self.worth[end] * (self.token_sums[place] + left - self.token_sums[end]) // self.tokens[end])

    def _table(self) -> list[int]:
        """Most ticks for every number of tokens, unit by unit; then back from the fewest tokens that hold the most."""
        import numpy as np

        most = np.zeros(self.room + 1, np.int64)
        taken = np.zeros((len(self.tokens), self.room + 1), np.bool_)
        for row, size, tick in zip(taken, self.tokens, self.ticks, strict=True):
            gain = most[: self.room + 1 - size] + tick
            np.greater(gain, most[size:], out=row[size:])
            np.maximum(gain, most[size:], out=most[size:])
        left = int(np.searchsorted(most, most[-1]))
        best = []
        for at in range(len(self.tokens) - 1, -1, -1):
            if taken[at, left]:
                best.append(at)
                left -= self.tokens[at]
        return best[::-1]
