"""Source text that reads as a marker, a header or a boundary: found in the joined text of a block, also across seams, and defused.

Brackets are swapped one character for one by look-alikes, so that every offset stays what it was. What is looked for is
what the format needs to keep its blocks apart: a marker that the answer parser would accept, in each format that has
markers; `[N] Source:` at the start of a line in `numbered`, `[SOURCE N]` in `source`, the tags in `xml` and markup that
would hide them. In `grouped` and `minimal` nothing is parsed and no boundary can be kept: text is shown as it is. A line
that equals the separator between blocks, where one is set, is looked for in every format. Text that can have no part in any of
this, wherever it stands, is quiet: that is found once, at load.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from ctxasm.model.characters import SHORT, is_visible, one_line
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.settings import AssemblySettings, Format
from ctxasm.text.formats import Frame
from ctxasm.text.markers.boundaries import find_forged_sources, find_forged_tags, find_open_markup, might_hold_markup, might_hold_source
from ctxasm.text.markers.lines import NEUTRAL
from ctxasm.text.markers.search import (
    INVISIBLE,
    find_forged_headers,
    find_marker_forms,
    folded,
    might_hold_header,
    might_hold_marker,
    swap_brackets,
)

BLANK_LINE = "\n\n"
_LINES = re.compile("[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+").finditer
_UNSEEN = re.compile(f"[{INVISIBLE}\x7f]+").sub
_RULE = re.compile(r"(.)\1\1+").fullmatch
_LOOK_ALIKES = str.maketrans("-=*_#~|:/<>[]()·", "‐꞊∗ˍ⌗∼∣∶∕‹›⟦⟧❨❩∙")
_OTHER = "·"


def separator_line(separator: str) -> str:
    """A separator on one line; empty where it shows nothing, and blocks stand a blank line apart."""
    line = one_line(separator)
    return line if is_visible(line) else ""


def joint(line: str) -> str:
    """What is written between two blocks: the line between two blank ones, or one blank line."""
    return f"\n\n{line}\n\n" if line else BLANK_LINE


def find_separators(text: str, line: str) -> list[tuple[int, int]]:
    """Spans of `text` that a reader would take for the separator `line`, ascending, disjoint; none where it is empty.

    A line is the separator to a reader whatever the white space, the characters without width, the case and the width of its
    letters; of a rule (one mark, three times or more) whatever its length.
    """
    if not line:
        return []
    wanted, found = _seen(line), []
    rule = _RULE(wanted)
    for each in _LINES(text):
        seen = _seen(each[0])
        if (seen == wanted or (rule and len(seen) > 2 and seen == rule[1] * len(seen))) and _seen(swap_marks(each[0])) != seen:
            found.append(each.span())
    return found


def swap_marks(line: str) -> str:
    """`line` with every mark replaced by a look-alike that no reader folds back; letters, digits and the length stay the same."""
    return "".join([_look_alike(char) if _is_mark(char) else char for char in line])


def _seen(line: str) -> str:
    """What is compared of a line: its visible characters without differences of case and width."""
    return _UNSEEN("", folded(_UNSEEN("", line)))


def _is_mark(char: str) -> bool:
    return any(not each.isalnum() for each in _seen(char))


def _look_alike(char: str) -> str:
    swapped = char.translate(_LOOK_ALIKES)
    return swapped if swapped != char else _OTHER


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
_INDENTED = re.compile(r" {4}| {0,3}\t").match


def find_behind_a_line(text: str, format: Format) -> list[tuple[int, int]]:
    """`find_collisions` of a text that may also be put behind other lines, where an indent makes no code of its first."""
    found = find_collisions(text, format)
    return _united(found, find_collisions(NEUTRAL + text, format), -len(NEUTRAL)) if _INDENTED(text) else found


def _united(spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]], shift: int) -> list[tuple[int, int]]:
    """Both, the others moved by `shift`; ascending, one a beginning."""
    return list(dict(sorted([*spans, *((low + shift, high + shift) for low, high in others)])).items())


def defuse_block(
    frame: Frame,
    texts: Sequence[str],
    swap: bool,
    format: Format,
    find: Find = find_collisions,
    separator: str = "",
) -> tuple[Frame, tuple[str, ...], Body]:
    """The header and the texts of a block defused where they stand, one behind the other; what was found in the header.

    The attributes in `xml` are escaped; a tag among them is defused all the same, for readers that undo that first.
    """
    head = len(frame.after)

    def find_here(text: str, format: Format) -> list[tuple[int, int]]:
        found = find(text, format)
        # An indent that is no code behind the header is some in a copy without it.
        return _united(found, find(text[head:], format), head) if _INDENTED(text, head) else found

    checked = defuse((frame.after, *texts), swap, format, find_here, separator)
    if not checked.found:
        return frame, (), Body(tuple(texts))
    named = tuple(found for place, found in checked.found if place == 0)
    swaps = tuple(swap._replace(place=swap.place - 1) for swap in checked.swaps if swap.place)
    body = Body(checked.texts[1:], tuple((place - 1, found) for place, found in checked.found if place), swaps)
    return frame._replace(after=checked.texts[0]), named, body


def defuse(texts: Sequence[str], swap: bool, format: Format = "numbered", find: Find = find_collisions, separator: str = "") -> Body:
    """Find what the answer parser would accept as a marker, or a model as a boundary, in `texts` joined; swap its brackets.

    `separator` is the line between blocks, whose marks are swapped. What is left may read differently once a bracket is gone,
    so it is looked at again until nothing is found.
    """
    joined = "".join(texts)
    starts = [0, *accumulate(map(len, texts))]
    found: list[tuple[int, str]] = []
    swaps: list[Swap] = []
    while True:
        lines = find_separators(joined, separator)
        found += [(bisect_right(starts, low) - 1, joined[low:high]) for low, high in lines]
        if swap:
            # A line of ``` that goes is no fence any more: what it hid is looked at without it.
            joined = _swapped(joined, lines, swap_marks)
        spans = find(joined, format)
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


opens_something = re.compile(r"[\[<(&【［〔＜﹤]").search
"""Where something may begin that a rule looks for, or None."""
BITS: Mapping[Format, int] = {"numbered": 1, "source": 2, "xml": 4}
"""Where each format stands in the stored number. The others keep no boundaries, so there every text is quiet."""
EDITION_STEP = 8
EDITION = 3
"""One more whenever a rule finds what it did not find before: what is stored of an earlier edition then counts for nothing."""
GAP_MARK = "[…]"
"""The gap mark that is known to be none of it."""
TAIL = 512
"""Characters before its end in which a text may hold what the text behind it completes. No rule looks further ahead from a bracket,
but for runs of digits and of what is not seen."""
_ENDLESS = re.compile(r"[\d\W_]{60}").fullmatch
"""Digits and signs without end: how far back what they belong to begins is not known."""
_OPEN_SQUARE = re.compile(r"\[[^\]\n]*+\Z").search
"""A bracket that opens a marker or a header is completed on its own line."""
_OPEN_ANGLE = re.compile(r"<(?:c(?:i(?:te?)?)?|su?)?\Z", re.IGNORECASE).search
_OPEN_ROUND = re.compile(r"\(\s*(?:[iI](?:[dD][\s:#=]*)?)?\s*\Z").search


def keeps_to_itself(text: str, format: Format) -> bool:
    """Whether nothing in `text` is, begins or completes what the rules of this format look for, whatever stands around it.

    Most text, so that most is never searched twice. Whatever the rules look for begins with a bracket, an ampersand or the like: a
    text without any of these is quiet at once; one that holds some is when no rule finds anything plausible in it, and none of them
    stands so near its end that what follows could complete it.
    """
    return _short_keeps(text, format) if len(text) <= SHORT else _keeps(text, format)


def _keeps(text: str, format: Format) -> bool:
    if opens_something(text) is None:
        return True
    tail = text[-TAIL:]
    angled = _OPEN_ANGLE(tail) if format != "xml" else "<" in tail or "＜" in tail or "﹤" in tail
    if angled or "【" in tail or "［" in tail or "〔" in tail:
        return False
    return not (_OPEN_SQUARE(tail) or _OPEN_ROUND(tail) or _ENDLESS(tail[-60:]) or might_collide(text, format))


_short_keeps = lru_cache(maxsize=4096)(_keeps)


def quiet_formats(text: str) -> int:
    """The formats in which `text` keeps to itself, as one number to be stored: it also tells by which edition of the rules."""
    found = sum([bit for format, bit in BITS.items() if keeps_to_itself(text, format)])
    return EDITION * EDITION_STEP + found


def loud_among(chunks: Iterable[FetchedChunk], format: Format, known: dict[tuple[str, int], bool]) -> set[int]:
    """The indexes of those of a document's chunks of which that is not so, by what is stored of it where that is of this edition.

    What is found of the other chunks is kept in `known`, which is of this format.
    """
    bit, loud = BITS.get(format, 0), set[int]()
    for chunk in chunks:
        stored = chunk.quiet
        if stored is None or stored // EDITION_STEP != EDITION:
            key = (chunk.document_id, chunk.chunk_index)
            if key not in known:
                known[key] = keeps_to_itself(chunk.text, format)
            if not known[key]:
                loud.add(chunk.chunk_index)
        elif bit and not stored & bit:
            loud.add(chunk.chunk_index)
    return loud


def gap_keeps_to_itself(mark: str, format: Format) -> bool:
    """The same for a gap mark, which stands on a line of its own."""
    return mark == GAP_MARK or keeps_to_itself(mark + "\n", format)
