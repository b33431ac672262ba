"""Source text that reads as a marker, a header or a boundary: found in the joined text of a block, also across seams, and defused.

Brackets are swapped one character for one by look-alikes, so that every offset stays what it was. What is looked for is
what the format needs to keep its blocks apart: a marker that the answer parser would accept, in each format that has
markers; `[N] Source:` at the start of a line in `numbered`, `[SOURCE N]` in `source`, the tags in `xml` and markup that
would hide them. In `grouped` and `minimal` nothing is parsed and no boundary can be kept: text is shown as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from ctxasm.model.formats import Frame
from ctxasm.model.marker_boundaries import find_forged_sources, find_forged_tags, find_open_markup, might_hold_markup, might_hold_source
from ctxasm.model.marker_search import find_forged_headers, find_marker_forms, might_hold_header, might_hold_marker, swap_brackets
from ctxasm.model.settings import Format


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


def defuse_frame(frame: Frame, swap: bool, format: Format) -> tuple[Frame, tuple[str, ...]]:
    """The frame of a block with what it names defused, and what was found.

    The attributes in `xml` are escaped; a tag among them is defused all the same, for readers that undo that first.
    """
    own = frame.after.find(" ") + 1 if frame.numbered else 0
    named = frame.after[own:]
    if not might_collide(named, format):
        return frame, ()
    checked = defuse([named], swap, format)
    return frame._replace(after=frame.after[:own] + checked.texts[0]), tuple(found for _, found in checked.found)


def defuse(texts: Sequence[str], swap: bool, format: Format = "numbered", find: Find = find_collisions) -> Body:
    """Find what the answer parser would accept as a marker, or a model as a boundary, in `texts` joined; swap its brackets.

    What is left may read differently once a bracket is gone, so it is looked at again until nothing is found.
    """
    joined = "".join(texts)
    if not might_collide(joined, format):
        return Body(tuple(texts))
    starts = [0, *accumulate(len(text) for text in texts)]
    found: list[tuple[int, str]] = []
    swaps: list[Swap] = []
    while spans := find(joined, format):
        found += [(bisect_right(starts, low) - 1, joined[low:high]) for low, high in spans]
        if not swap:
            break
        joined = _swapped(joined, spans)
        for low, high in spans:
            swaps += _swaps(starts, low, high)
    if not swaps:
        return Body(tuple(texts), tuple(found))
    return Body(tuple(joined[low:high] for low, high in pairwise(starts)), tuple(found), tuple(swaps))


def _swapped(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """`text` with the brackets of all spans swapped; spans ascend and may overlap."""
    pieces, at = [], 0
    for low, high in spans:
        if high > at:
            pieces += [text[at : max(at, low)], swap_brackets(text[max(at, low) : high])]
            at = high
    return "".join([*pieces, text[at:]])


def _swaps(starts: Sequence[int], low: int, high: int) -> list[Swap]:
    """The span, cut at the texts' borders."""
    first, last = bisect_right(starts, low) - 1, bisect_right(starts, high - 1) - 1
    return [
        Swap(place, max(low, starts[place]) - starts[place], min(high, starts[place + 1]) - starts[place])
        for place in range(first, last + 1)
    ]
