"""Source text that reads as a marker, a header or a boundary: found in the joined text of a block, also across seams, and defused.

Brackets are swapped one character for one by look-alikes, so that every offset stays what it was. What is looked for is
what the format needs to keep its blocks apart: a marker that the answer parser would accept, in each format that has
markers; `[N] Source:` at the start of a line in `numbered`, `[SOURCE N]` in `source`, the tags in `xml` and markup that
would hide them. In `grouped` and `minimal` nothing is parsed and no boundary can be kept: text is shown as it is. A line
that equals the separator between blocks, where one is set, is looked for in every format.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ctxasm.model.settings import AssemblySettings, Format
from ctxasm.text.formats import Frame
from ctxasm.text.markers.boundaries import find_forged_sources, find_forged_tags, find_open_markup, might_hold_markup, might_hold_source
from ctxasm.text.markers.search import find_forged_headers, find_marker_forms, might_hold_header, might_hold_marker, swap_brackets
from ctxasm.text.markers.separators import find_separators, separator_line, swap_marks


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


def might_collide(text: str, format: Format) -> bool:
    """Whether looking for collisions in `text` is worth the time: never False for a text that holds one."""
    match format:
        case "numbered":
            return might_hold_marker(text) or might_hold_header(text)
        case "source":
            return might_hold_marker(text) or might_hold_source(text)
        case "xml":
            return might_hold_marker(text) or might_hold_markup(text)
        case "grouped" | "minimal":
            return False


def find_collisions(text: str, format: Format) -> list[tuple[int, int]]:
    """Spans of `text` that read as a marker or a boundary of this format, ascending, one a beginning; they may overlap."""
    match format:
        case "numbered":
            found = [*find_marker_forms(text), *find_forged_headers(text)]
        case "source":
            found = [*find_marker_forms(text), *find_forged_sources(text)]
        case "xml":
            found = [*find_marker_forms(text), *find_open_markup(text), *find_forged_tags(text)]
        case "grouped" | "minimal":
            found = []
    return list(dict(sorted(found)).items())


Find = Callable[[str, Format], list[tuple[int, int]]]
"""`find_collisions`, or what remembers its answers."""
_LINE = "-\n"
"""A line that makes nothing of what follows it."""
_INDENTED = re.compile(r" {4}| {0,3}\t").match


def find_behind_a_line(text: str, format: Format) -> list[tuple[int, int]]:
    """`find_collisions` of a text that may also be put behind other lines, where an indent makes no code of its first."""
    if not _INDENTED(text):
        return find_collisions(text, format)
    return _united(find_collisions(text, format), find_collisions(_LINE + text, format), -len(_LINE))


def _united(spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]], shift: int) -> list[tuple[int, int]]:
    """Both, the others moved by `shift`; ascending, one a beginning."""
    return list(dict(sorted([*spans, *((low + shift, high + shift) for low, high in others)])).items())


def defuse_block(
    frame: Frame, texts: Sequence[str], swap: bool, format: Format, find: Find = find_collisions, separator: str = ""
) -> tuple[Frame, tuple[str, ...], Body]:
    """The header and the texts of a block defused where they stand, one behind the other; what was found in the header.

    The attributes in `xml` are escaped; a tag among them is defused all the same, for readers that undo that first.
    """
    head = len(frame.after)

    def find_here(text: str, format: Format) -> list[tuple[int, int]]:
        # An indent that is no code behind the header is some in a copy without it.
        return _united(find(text, format), find(text[head:], format) if _INDENTED(text, head) else [], head)

    checked = defuse((frame.after, *texts), swap, format, find_here, separator)
    if not checked.found:
        return frame, (), Body(tuple(texts))
    told = tuple(found for place, found in checked.found if place == 0)
    swaps = tuple(swap._replace(place=swap.place - 1) for swap in checked.swaps if swap.place)
    body = Body(checked.texts[1:], tuple((place - 1, found) for place, found in checked.found if place), swaps)
    return frame._replace(after=checked.texts[0]), told, body


def defuse(texts: Sequence[str], swap: bool, format: Format = "numbered", find: Find = find_collisions, separator: str = "") -> Body:
    """Find what the answer parser would accept as a marker, or a model as a boundary, in `texts` joined; swap its brackets.

    `separator` is the line between blocks, whose marks are swapped. What is left may read differently once a bracket is gone,
    so it is looked at again until nothing is found.
    """
    joined = "".join(texts)
    if not might_collide(joined, format) and not find_separators(joined, separator):
        return Body(tuple(texts))
    starts = [0, *accumulate(len(text) for text in texts)]
    found: list[tuple[int, str]] = []
    swaps: list[Swap] = []
    while True:
        lines = find_separators(joined, separator)
        found += [(bisect_right(starts, low) - 1, joined[low:high]) for low, high in lines]
        if swap:
            # A line of ``` that goes is no fence any more: what it hid is looked at without it.
            joined = _swapped(joined, lines, swap_marks)
        spans = find(joined, format) if might_collide(joined, format) else []
        found += [(bisect_right(starts, low) - 1, joined[low:high]) for low, high in spans]
        if not swap or not (lines or spans):
            break
        joined = _swapped(joined, spans, swap_brackets)
        for low, high in (*lines, *spans):
            swaps += _swaps(starts, low, high)
    if not swaps:
        return Body(tuple(texts), tuple(found))
    return Body(tuple(joined[low:high] for low, high in pairwise(starts)), tuple(found), tuple(swaps))


def separator_of(settings: AssemblySettings) -> str:
    """The line between blocks as it is written: one that reads as a marker or a boundary itself is defused like all other text."""
    line = separator_line(settings.block_separator)
    if line and settings.marker_collisions == "neutralise":
        return defuse([line], True, settings.format).texts[0]
    return line


def _swapped(text: str, spans: Sequence[tuple[int, int]], swapped: Callable[[str], str]) -> str:
    """`text` with what all spans hold swapped; spans ascend and may overlap."""
    pieces, at = [], 0
    for low, high in spans:
        if high > at:
            pieces += [text[at : max(at, low)], swapped(text[max(at, low) : high])]
            at = high
    return "".join([*pieces, text[at:]])


def _swaps(starts: Sequence[int], low: int, high: int) -> list[Swap]:
    """The span, cut at the texts' borders."""
    first, last = bisect_right(starts, low) - 1, bisect_right(starts, high - 1) - 1
    return [
        Swap(place, max(low, starts[place]) - starts[place], min(high, starts[place + 1]) - starts[place])
        for place in range(first, last + 1)
    ]
