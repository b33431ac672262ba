"""The stretches of a source that can carry a claim: windows of a few sentences, each within one range of its evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ctxasm.model.errors import ModelUnavailable
from ctxasm.model.messages import Cancel
from ctxasm.model.support import Source

Split = Callable[[str], Sequence[tuple[int, int]]]
"""The sentences of a text as spans: ascending and disjoint."""
MAX_SENTENCE_CHARS = 600
"""A longer sentence is cut at white space: models read a few hundred tokens, and a table or a log has no full stops."""


class Window(NamedTuple):
    """Characters `start` to `end` of a source: `sentences` of them, the first being number `first` of the source."""

    start: int
    end: int
    first: int
    sentences: int


def sentences_of(source: Source, split: Split) -> list[list[tuple[int, int]]]:
    """The spans of the sentences in each range of `source`, in its text. Blank ones are left out."""
    found = []
    for low, high in source.ranges:
        part = source.text[low:high]
        spans = [(low + a, low + b) for start, end in split(part) for a, b in _pieces(part, start, end)]
        found.append([(start, end) for start, end in spans if not source.text[start:end].isspace()])
    return [spans for spans in found if spans]


def windows_of(sentences: Sequence[Sequence[tuple[int, int]]], widest: int, step: int = 1) -> list[Window]:
    """Windows of up to `widest` sentences, the narrow ones first, so that the first of equals is the narrowest.

    With `step` above 1 only the widest that fit, `step` sentences apart, the last of a range always included.
    """
    found: list[Window] = []
    for size in range(1, widest + 1) if step == 1 else (widest,):
        before = 0
        for spans in sentences:
            width = size if step == 1 else min(size, len(spans))
            last = len(spans) - width
            starts = sorted({*range(0, last, step), last}) if last >= 0 else []
            found += [Window(spans[at][0], spans[at + width - 1][1], before + at, width) for at in starts]
            before += len(spans)
    return found


def stop_if(cancel: Cancel | None) -> None:
    """Raises ModelUnavailable once a check is no longer wanted."""
    if cancel is not None and cancel():
        raise ModelUnavailable("the check was stopped on request before every claim was compared")


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence, cut at white space into parts of at most MAX_SENTENCE_CHARS characters."""
    pieces = []
    while end - start > MAX_SENTENCE_CHARS:
        limit = start + MAX_SENTENCE_CHARS
        blank = max((match.start() for match in re.finditer(r"\s", text[start:limit])), default=0)
        cut = start + blank if blank > MAX_SENTENCE_CHARS // 2 else limit
        pieces.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    return [*pieces, (start, end)] if start < end else pieces
