"""The units that a text can be shortened by: the sentences of prose, the lines of code and of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from ctxasm.text.sentences import sentence_spans

Span = tuple[int, int]
LOOKED_AT = 200
"""Characters at the head of a line that tell whether it is code or a table row."""
SHARE = 0.4
"""From this share of its lines on a paragraph is taken line by line."""
_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_BEGINS_CODE = re.compile(
    r"\s*(?:[|})\]]|//|/\*|#include\b|#\[|@\w|"
    r"(?:use|fn|pub|def|class|import|from|return|package|public|private|static|const|let|var|if|else)\b[^.!?]*[({;:]\s*$)"
)
_IN_CODE = ("::", "()", "=>", "->", "\t", " | ")
_INDENTED = re.compile(r"(?: {2,}|\t)(?![-*•+] |\d+[.)] )\S")


class _Line(NamedTuple):
    """A line that is not blank. `paragraph` numbers the paragraphs; `fenced`: between fences."""

    start: int
    end: int
    paragraph: int
    fenced: bool


@lru_cache(maxsize=512)
def units_of(text: str) -> tuple[Span, ...]:
    """Spans of the units of `text`: ascending, disjoint; together they hold every visible character.

    A sentence has no white space around it; a line keeps what it is indented by. Takes time linear in the length of `text`.
    """
    lines = list(_lines(text))
    marks = [line.fenced or _is_code(text, line) for line in lines]
    is_code = sum(m or _INDENTED.match(text, *line[:2]) is not None for m, line in zip(marks, lines, strict=True)) > SHARE * len(lines)
    units: list[Span] = []
    for by_line, own in groupby(_paragraphs(lines, marks, is_code), key=lambda paragraph: paragraph[0]):
        paragraphs = [paragraph for _, paragraph in own]
        if by_line:
            units += [(line.start, line.end) for paragraph in paragraphs for line in paragraph]
        else:
            low, high = paragraphs[0][0].start, paragraphs[-1][-1].end
            units += [(low + start, low + end) for start, end in sentence_spans(text[low:high])]
    return tuple(units)


def _lines(text: str) -> Iterator[_Line]:
    paragraph, last, fenced = 0, 0, False
    for found in _LINE.finditer(text):
        start, end = found.start(), found.start() + len(found[0].rstrip())
        if start == end:
            paragraph += 1
            continue
        if text.count("\n", last, start) > 1:
            paragraph += 1
        is_fence = _FENCE.match(text, start, end) is not None
        yield _Line(start, end, paragraph, fenced or is_fence)
        fenced ^= is_fence
        last = end


def _is_code(text: str, line: _Line) -> bool:
    """Whether a line alone looks like code or a table row."""
    head = text[line.start : min(line.end, line.start + LOOKED_AT)]
    return text[line.end - 1] in "{};" or any(mark in head for mark in _IN_CODE) or _BEGINS_CODE.match(head) is not None


def _paragraphs(lines: list[_Line], marks: list[bool], is_code: bool) -> Iterator[tuple[bool, list[_Line]]]:
    """Paragraphs, each with whether it is taken line by line."""
    for _, own in groupby(zip(lines, marks, strict=True), key=lambda pair: pair[0].paragraph):
        pairs = list(own)
        yield is_code or sum(mark for _, mark in pairs) > SHARE * len(pairs), [line for line, _ in pairs]


def pieces_of_unit(text: str, unit: Span, longest: int) -> list[Span]:
    """A unit that is too long, cut into pieces of at most `longest` characters: between words, else between characters."""
    start, end = unit
    pieces: list[Span] = []
    while end - start > longest:
        limit = start + longest
        cut = next((at for at in range(limit, start + longest // 2, -1) if text[at].isspace()), limit)
        pieces.append((start, start + len(text[start:cut].rstrip())))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        pieces.append((start, end))
    return [(low, high) for low, high in pieces if low < high]
