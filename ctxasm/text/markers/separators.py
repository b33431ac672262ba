"""What stands between two blocks, and lines of source text that would pass for it.

A line is the separator to a reader whatever the white space, the characters without width, the case and the width of its
letters; of a rule (one mark, three times or more) whatever its length. Its marks are swapped one character for one by
look-alikes, its letters and digits stay.
"""

from __future__ import annotations

import re

from ctxasm.model.visible import is_visible
from ctxasm.text.markers.search import INVISIBLE, folded
from ctxasm.text.visible import one_line

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
    """Spans of `text` that a reader would take for the separator `line`, ascending, disjoint; none where it is empty."""
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
    """`line` with every mark replaced by a look-alike that no reader folds back; the length stays the same."""
    return "".join([_swapped(char) if _is_mark(char) else char for char in line])


def _seen(line: str) -> str:
    """What is compared of a line: its visible characters without differences of case and width."""
    return _UNSEEN("", folded(_UNSEEN("", line)))


def _is_mark(char: str) -> bool:
    return any(not each.isalnum() for each in _seen(char))


def _swapped(char: str) -> str:
    swapped = char.translate(_LOOK_ALIKES)
    return swapped if swapped != char else _OTHER
