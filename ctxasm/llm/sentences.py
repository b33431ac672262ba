"""Sentences of a text, found by a few patterns alone."""

from __future__ import annotations

import re
from typing import NamedTuple

_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*•#>|]|\d{1,2}[.)][ \t]))|\n(?=[^\n|]{0,200}\|)|(?<=[.!?…:])[ \t]*\n")
_END = re.compile(r"[.!?…]+[\"'”’)\]⟧»]*(?:[ \t]*\[…\])?(?=\s+[\"'“‘(\[⟦«]*[A-ZÀ-ÖØ-Þ0-9])")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:dr|drs|prof|mr|mrs|ms|mw|dhr|bijv|bv|ca|nr|no|tel|blz|pag|art|evt|incl|excl|max|min|vs|st|resp|zgn|jl|[a-z]|(?:[a-z]\.)+[a-z])\.$",
    re.IGNORECASE,
)
_LEAD = re.compile(r"[\s>#*•|-]*(?:\d{1,2}[.)]\s+)?")


class Stretch(NamedTuple):
    """Characters `start` to `end` of a text."""

    start: int
    end: int


def sentences_of(text: str, start: int = 0, end: int | None = None) -> list[Stretch]:
    """The sentences of `text[start:end]`, without list marks and outer white space, as stretches of `text`."""
    end = len(text) if end is None else end
    edges = [start, *(place for match in _BREAK.finditer(text, start, end) for place in match.span()), end]
    found: list[Stretch] = []
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        found += _within(text, low, high)
    return found


def _within(text: str, low: int, high: int) -> list[Stretch]:
    places = [
        match.end() for match in _END.finditer(text, low, high) if not _ABBREVIATION.search(text[max(low, match.end() - 12) : match.end()])
    ]
    found = []
    for start, end in zip([low, *places], [*places, high], strict=True):
        lead = _LEAD.match(text, start, end)
        begin = lead.end() if lead else start
        stop = begin + len(text[begin:end].rstrip())
        if stop > begin and any(char.isalnum() for char in text[begin:stop]):
            found.append(Stretch(begin, stop))
    return found
