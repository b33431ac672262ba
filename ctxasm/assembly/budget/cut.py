"""Where a chunk is cut that does not fit whole: at a sentence end where there is one, else at a token."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ctxasm.model.ports import TokenCounter

_SENTENCE_END = re.compile(r"[.!?…][\"')\]»”’]*(?=\s)|\n|[。！？]")
_MARGIN = 512
"""Tokens, and characters, by which a long text is looked at beyond what can fit."""
_HEAD = 400
"""Characters looked at for the smallest cut."""
_LOOK_AHEAD = 12
"""Cuts looked at beyond the one found by halving: sizes of neighbouring cuts need not ascend."""


class Cutter:
    """One chunk's `text`, of which `start` characters are shown anyway. `size_at` is what the set comes to with a cut there."""

    def __init__(self, text: str, start: int, size_at: Callable[[int], int], limit: int, counter: TokenCounter) -> None:
        self.text, self.start, self.size_at, self.limit, self.counter = text, start, size_at, limit, counter

    def cut(self) -> int:
        """The last sentence end that keeps at least half of what fits, else the last token boundary that fits; 0: none."""
        at = longest(self._places(), self._fits)
        if not at:
            return 0
        half = self.start + (at - self.start) / 2
        # One character beyond the cut is looked at, so that a sentence that ends right there is seen to end.
        ends = [end for found in _SENTENCE_END.finditer(self.text, self.start, at + 1) if half <= (end := found.end()) <= at]
        return ends[-1] if ends and self._fits(ends[-1]) else at

    def least(self) -> int:
        """The size with one character of text: what the smallest useful limit would be."""
        places = self._places(self.start + _HEAD)[:8]
        if not places and len(self.text) > self.start + _HEAD:
            places = self._places()[:8]
        if not places:
            return self.size_at(len(self.text))
        # Which cut is the smallest is settled around it: the line break that may follow can be one token with what it ends.
        alone = [self.counter.count(self.text[self.start : at] + "\n") for at in places]
        return min([self.size_at(at) for at, tokens in zip(places, alone, strict=True) if at == places[0] or tokens < alone[0]])

    def _fits(self, at: int) -> bool:
        return self.size_at(at) <= self.limit

    def _places(self, size: int = 0) -> list[int]:
        """Where the chunk may be cut: after a token, with something to see before the cut. `size`: looked at so far only."""
        text = self.text
        own = text[self.start :]
        lead = self.start + len(own) - len(own.lstrip())
        margin = _MARGIN if not size else _MARGIN // 8
        if not size:
            size = 16 * (self.limit + _MARGIN)
            while size < len(text) and self.counter.count(text[:size]) <= self.limit + 2 * _MARGIN:
                size *= 4
        # What lies far beyond the limit is not looked at; the end of a shortened text may fall inside a token.
        places = self.counter.boundaries(text[:size])
        return [at for at in places if lead < at < len(text) and (size >= len(text) or at < size - margin)]


def longest(places: Sequence[int], fits: Callable[[int], bool]) -> int:
    """The highest place that fits, 0 if none: by halving, then a look at the neighbours above."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if fits(places[middle]):
            low = middle + 1
        else:
            high = middle
    best = places[low - 1] if low else 0
    for at in places[low : low + _LOOK_AHEAD]:
        if fits(at):
            best = at
    return best
