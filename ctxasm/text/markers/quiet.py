"""Text that can have no part in a marker or a boundary, wherever it stands: most text, so that most is never searched twice.

Whatever the collision rules look for begins with a bracket, an ampersand or the like. A text without any of these is quiet at once;
one that holds some is when no rule finds anything plausible in it, and none of them stands so near its end that what follows could
complete it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from ctxasm.model.ports import FetchedChunk
from ctxasm.model.settings import Format
from ctxasm.text.markers.collisions import might_collide
from ctxasm.text.visible import SHORT

opens_something = re.compile(r"[\[<(&【［＜﹤]").search
"""Where something may begin that a rule looks for, or None."""
BITS: Mapping[Format, int] = {"numbered": 1, "source": 2, "xml": 4}
"""Where each format stands in the stored number. The others keep no boundaries, so there every text is quiet."""
EDITION_STEP = 8
EDITION = 1
"""One more whenever a rule finds what it did not find before: what is stored of an earlier edition then counts for nothing."""
GAP_MARK = "[…]"
"""The gap mark that is known to be none of it."""
TAIL = 512
"""Characters before its end in which a text may hold what the text behind it completes. No rule looks further ahead from a bracket,
but for runs of digits and of what is not seen."""
_ENDLESS = re.compile(r"(?:[\d\W_]){60}\Z").search
"""Digits and signs without end: how far back what they belong to begins is not known."""
_OPEN_ROUND = re.compile(r"\(\s*(?:[iI][dD]?)?\s*\Z").search


def keeps_to_itself(text: str, format: Format) -> bool:
    """Whether nothing in `text` is, begins or completes what the rules of this format look for, whatever stands around it."""
    return _short_keeps(text, format) if len(text) <= SHORT else _keeps(text, format)


def _keeps(text: str, format: Format) -> bool:
    if opens_something(text) is None:
        return True
    tail = text[-TAIL:]
    # A bracket that opens a marker or a header is completed on its own line.
    if "[" in tail[tail.rfind("\n") + 1 :] or "【" in tail or "［" in tail or "<" in tail or "＜" in tail or "﹤" in tail:
        return False
    return not (_OPEN_ROUND(tail) or _ENDLESS(tail) or might_collide(text, format))


_short_keeps = lru_cache(maxsize=4096)(_keeps)


def quiet_formats(text: str) -> int:
    """The formats in which `text` keeps to itself, as one number to be stored: it also tells by which edition of the rules."""
    found = sum([bit for format, bit in BITS.items() if keeps_to_itself(text, format)])
    return EDITION * EDITION_STEP + found


def all_keep_to_themselves(prefix: str, chunks: Iterable[FetchedChunk], format: Format) -> bool:
    """Whether that is so of a prefix and of each chunk, by what is stored of it where that is of this edition."""
    if prefix and not keeps_to_itself(prefix, format):
        return False
    bit = BITS.get(format, 0)
    for chunk in chunks:
        stored = chunk.quiet
        if stored is None or stored // EDITION_STEP != EDITION:
            if not keeps_to_itself(chunk.text, format):
                return False
        elif bit and not stored & bit:
            return False
    return True


def gap_keeps_to_itself(mark: str, format: Format) -> bool:
    """The same for a gap mark, which stands on a line of its own."""
    return mark == GAP_MARK or keeps_to_itself(mark + "\n", format)
