"""What is read of a source: the marked stretch with the sentences around it, not the whole. Pure; offsets are those of the context."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cache

from ctxasm.model.results import Assembly
from ctxasm.text.sentences import sentence_spans

AROUND = 3
"""Sentences on either side of what is marked."""
LONGEST_BEFORE, LONGEST_AFTER = 400, 600
"""Characters on either side, where sentences are long (a table, a list without full stops): the mark stays near the head of its source."""

Passage = tuple[int, int]


def passages(assembly: Assembly) -> Callable[[int, int, int], Passage]:
    """A function from (block, start, end) of a mark to the passage around it; each block is cut into sentences once."""

    @cache
    def sentences(block: int) -> tuple[Passage, ...]:
        chunks = [segment for segment in assembly.segments if segment.block == block and segment.kind not in ("header", "prefix")]
        if not chunks:
            return ()
        low = chunks[0].start
        return tuple((low + start, low + end) for start, end in sentence_spans(assembly.text[low : chunks[-1].end]))

    return lambda block, start, end: around(sentences(block), assembly.text, start, end)


def around(sentences: tuple[Passage, ...], text: str, start: int, end: int) -> Passage:
    """From the third sentence before the mark to the third after it; at a blank where that would be too far."""
    if not sentences:
        return start, end
    first = bisect_right(sentences, start, key=lambda span: span[1])
    last = bisect_left(sentences, end, key=lambda span: span[0]) - 1
    low = min(start, sentences[max(0, min(first, len(sentences) - 1) - AROUND)][0])
    high = max(end, sentences[min(len(sentences) - 1, max(last, 0) + AROUND)][1])
    if start - low > LONGEST_BEFORE:
        low = text.find(" ", start - LONGEST_BEFORE, start) + 1 or start
    if high - end > LONGEST_AFTER:
        high = max(end, text.rfind(" ", end, end + LONGEST_AFTER))
    return low, high
