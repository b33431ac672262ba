"""The best units of a text that fit together into a number of tokens, gap marks included, counted exactly."""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.assembly.extracts import KeptSpan
from ctxasm.model.characters import is_visible
from ctxasm.model.ports import TokenCounter
from ctxasm.text.units import Span, pieces_of_unit, units_of

PASSED_OVER = 12
"""After so many units in a row that do not fit, what is left is taken for full."""
LOOKED_BEYOND = 64
"""Characters of white space after a unit that are counted with it."""
SAMPLE_CHARS = 2000
LONGEST_PIECE = 160
"""Characters of the pieces of a sentence that alone is too long."""


def fitting_units(text: str, max_tokens: int, counter: TokenCounter) -> list[Span]:
    """The units of `text` with something to see; one that alone has more than `max_tokens` tokens is cut between words."""
    found: list[Span] = []
    for unit in units_of(text):
        if _is_too_long(text, unit, max_tokens, counter):
            found += pieces_of_unit(text, unit, _piece_chars(text, unit, max_tokens, counter))
        else:
            found.append(unit)
    return [unit for unit in found if is_visible(text[slice(*unit)])]


def _piece_chars(text: str, unit: Span, max_tokens: int, counter: TokenCounter) -> int:
    """How many characters of a unit take about a quarter of the limit."""
    sample = text[unit[0] : min(unit[1], unit[0] + SAMPLE_CHARS)]
    return max(4, min(LONGEST_PIECE, max_tokens * len(sample) // max(1, counter.count(sample)) // 4))


def _is_too_long(text: str, unit: Span, max_tokens: int, counter: TokenCounter) -> bool:
    start, end = unit
    if end - start <= max_tokens and len(text[start:end].encode("utf-8", "replace")) <= max_tokens:
        return False  # a token has at least one byte
    return end - start > 16 * max_tokens or counter.count(text[start:end]) > max_tokens


def fill(
    text: str, units: Sequence[Span], ratings: Sequence[float], max_tokens: int, gap: str, counter: TokenCounter
) -> tuple[KeptSpan, ...]:
    """Spans of `text` to keep, ascending: the best rated units that fit, each whole, neighbours as one span.

    A unit rated below 0 is never kept. Where not one unit fits, the best one is cut after a token. Something is kept wherever one
    character fits.
    """
    filling = _Filling(text, units, gap, counter, max_tokens)
    order = sorted([at for at, rating in enumerate(ratings) if rating >= 0], key=lambda at: (-ratings[at], at))
    taken = filling.take(order)
    while taken and counter.count(filling.text()) > max_tokens:
        filling.leave(taken.pop())
    if taken:
        return filling.spans()
    return _head_of(text, units[order[0]], max_tokens, counter) if order else ()


class _Filling:
    """A choice of units that grows. `room` is the limit less the sum of the parts' counts, which is seldom below the whole's."""

    def __init__(self, text: str, units: Sequence[Span], gap: str, counter: TokenCounter, max_tokens: int) -> None:
        self._text, self._units, self._gap, self._counter = text, units, gap, counter
        self._gap_tokens = counter.count(gap)
        self._chosen = [False] * len(units)
        self.room = max_tokens

    def take(self, order: Sequence[int]) -> list[int]:
        """Take units in this order while they fit; returns those taken."""
        taken: list[int] = []
        passed = 0
        for at in order:
            cost = self._cost(at, bool(taken))
            if cost > self.room:
                passed += 1
                if passed > PASSED_OVER:
                    break
                continue
            passed = 0
            self.room -= cost
            self._chosen[at] = True
            taken.append(at)
        return taken

    def _cost(self, at: int, gapped: bool) -> int:
        """What a unit adds: its tokens and the white space after it, with one gap more, none, or one less where it closes one."""
        start, end = self._units[at]
        following = self._units[at + 1][0] if at + 1 < len(self._units) else len(self._text)
        end = min(following, end + LOOKED_BEYOND)
        neighbours = (at > 0 and self._chosen[at - 1]) + (at + 1 < len(self._units) and self._chosen[at + 1])
        return self._counter.count(self._text[start:end]) + (1 - neighbours) * self._gap_tokens * gapped

    def leave(self, at: int) -> None:
        """Give a unit up."""
        self._chosen[at] = False

    def spans(self) -> tuple[KeptSpan, ...]:
        """The chosen units, neighbours joined; what is only white space at either end of the text comes along."""
        spans: list[KeptSpan] = []
        for at, (start, end) in enumerate(self._units):
            if not self._chosen[at]:
                continue
            if at and self._chosen[at - 1]:
                spans[-1] = KeptSpan(spans[-1].start, end)
            else:
                spans.append(KeptSpan(start, end))
        if spans and self._chosen[0]:
            spans[0] = KeptSpan(0, spans[0].end)
        if spans and self._chosen[-1]:
            spans[-1] = KeptSpan(spans[-1].start, len(self._text))
        return tuple(spans)

    def text(self) -> str:
        """The kept text."""
        return self._gap.join([self._text[start:end] for start, end in self.spans()])


def _head_of(text: str, unit: Span, max_tokens: int, counter: TokenCounter) -> tuple[KeptSpan, ...]:
    """As many characters of a unit as fit."""
    start, end = unit
    fitting = [at for at in counter.boundaries(text[start:end]) if counter.count(text[start : start + at]) <= max_tokens]
    if not fitting or not is_visible(text[start : start + fitting[-1]]):
        return ()
    return (KeptSpan(start, start + fitting[-1]),)
