"""Chunks of whole sentences: where they may end and begin, and what to do with a sentence that is longer than a chunk."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from ctxasm.data.documents.places import Places, heading_lines, smaller
from ctxasm.text.sentences import sentence_spans

_LINE_END = re.compile(r"\s*\n|\s*\Z")
_SURELY = 2
"""A sentence of this many times the limit, by the tokens of the whole text, is not counted by itself to know that it is longer."""


class Sentences:
    """The sentences of a text. `headings` are offsets at which headings begin that the text alone does not show."""

    def __init__(self, places: Places, headings: Sequence[int], count: Callable[[str], int], max_tokens: int) -> None:
        self._places, self._count, self._max_tokens = places, count, max_tokens
        text = places.text
        spans = sentence_spans(text)
        shown = {at for at in headings if 0 <= at < len(text)}
        self.starts = sorted({start for start, _ in spans} | shown)
        heads = sorted([*heading_lines(text), *((at, _line_end(text, at)) for at in shown)])
        self._bad = self._after(heads)
        self._cuts = sorted({*self.starts, *(end for _, end in spans), *(end for _, end in heads), len(text)} - {0})

    def _after(self, heads: Sequence[tuple[int, int]]) -> set[int]:
        """The places right after a heading, which belongs to what follows."""
        bad = set()
        for _, end in heads:
            following = bisect_left(self.starts, end)
            bad |= {end, *self.starts[following : following + 1]}
        return bad

    def next_chunk(self, start: int, covered: int) -> tuple[int, int] | None:
        """End and tokens of the sentences from `start` that fit; None where not even the first one after `covered` does."""
        tokens = self._places.tokens
        first = bisect_right(tokens, start) - 1
        nearest = self.end_of_sentence(covered)
        if bisect_left(tokens, nearest) - first > _SURELY * self._max_tokens + 16:
            return None
        budget = self._max_tokens
        while True:
            limit = tokens[first + budget] if first + budget < len(tokens) else len(self._places.text)
            end = max(nearest, self._cuts[max(0, bisect_right(self._cuts, limit) - 1)])
            counted = self._count(self._places.text[start:end])
            if counted <= self._max_tokens:
                return self._without_heading(start, covered, end, counted)
            if end == nearest:
                return None
            budget = max(0, smaller(budget, self._max_tokens, counted))

    def _without_heading(self, start: int, covered: int, end: int, counted: int) -> tuple[int, int]:
        """The chunk without headings at its end, unless it is nothing else; at the end of the text they stay."""
        at = bisect_left(self._cuts, end)
        while at > 0 and self._cuts[at] in self._bad and self._cuts[at - 1] > covered:
            at -= 1
        if end == len(self._places.text) or at == 0 or self._cuts[at] in self._bad or self._cuts[at] == end:
            return end, counted
        fewer = self._count(self._places.text[start : self._cuts[at]])
        return (self._cuts[at], fewer) if fewer <= self._max_tokens else (end, counted)

    def start_of_next(self, start: int, end: int, overlap_tokens: int) -> int:
        """The first sentence after `start` from which on at most `overlap_tokens` tokens are left to `end`; else `end`."""
        last = bisect_left(self._places.tokens, end)
        earliest = max(self._places.tokens[max(last - overlap_tokens, 0)], start + 1)
        at = bisect_left(self.starts, earliest)
        while overlap_tokens and at < len(self.starts) and self.starts[at] < end:
            if self._count(self._places.text[self.starts[at] : end]) <= overlap_tokens:
                return self.starts[at]
            at += 1
        return end

    def is_cut(self, place: int) -> bool:
        """Whether no sentence is cut at `place`."""
        at = bisect_left(self._cuts, place)
        return place == 0 or (at < len(self._cuts) and self._cuts[at] == place)

    def end_of_sentence(self, covered: int) -> int:
        """The next place after `covered` at which no sentence is cut."""
        return self._cuts[bisect_right(self._cuts, covered)]


def _line_end(text: str, at: int) -> int:
    found = _LINE_END.search(text, at, at + 2000)
    return found.start() if found is not None and found.start() > at else min(len(text), at + 1)
