"""Where a text may be cut so that token counts add up.

An encoding first splits text by a regular expression without look-behind, then merges bytes inside each piece. So
count(A + B) = count(A) + count(B) whenever a piece of A + B ends at the seam and A's pieces are the same inside A + B.
Sufficient for that, looking only at the characters around the seam:

1. A ends in a letter and B starts with a non-letter (o200k: nor with a mark or an apostrophe, which extend a word);
2. A ends in a number and B starts with a non-number;
3. A ends in a newline and B starts with optional other white space and then a visible character (o200k: not `/`, which
   a run of punctuation and newlines swallows; r50k and p50k split newlines differently: never).

A character that Python's Unicode tables do not know makes no safe seam: the tokenizer's tables may be newer.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_BLANKS = "\t\x0b\x0c \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACES = _BLANKS + "\r\n"
# A subset of the safe cuts that a regular expression can find at once: ASCII only, valid for every family.
_FAST_CUT = re.compile(r"[A-Za-z](?=[\t-\r -&(-@\[-`{-~])|[0-9](?=[\t-\r -/:-~])")
_LOOK = 64
"""Characters looked at first, on either side of a seam; ten times more where they hold no cut."""


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """One letter: L letter, M mark, N number, W white space, U unassigned, O other."""
    if character in _SPACES:
        return "W"
    category = unicodedata.category(character)
    if category in ("Cn", "Cs"):
        return "U"
    return category[0] if category[0] in "LMN" else "O"


class Seams:
    """The rules of one family of encodings: "cl100k", "o200k" or "r50k"."""

    def __init__(self, family: str) -> None:
        self.family = family
        self._after_letter = "NWO" if family == "o200k" else "MNWO"
        self._newlines = family != "r50k"

    def safe(self, last: str, text: str) -> bool:
        """Whether counts add up between a text that ends in the character `last` and the non-empty `text`."""
        if last == "\n" or last == "\r":
            return self._newlines and self._starts_visible(text)
        kind = _kind(last)
        if kind == "L":
            first = text[0]
            return _kind(first) in self._after_letter and not (self.family == "o200k" and first == "'")
        return kind == "N" and _kind(text[0]) in "LMWO"

    def _starts_visible(self, text: str) -> bool:
        first = text[0]
        if first in _BLANKS:
            rest = text.lstrip(_BLANKS)
            return bool(rest) and rest[0] not in "\r\n" and _kind(rest[0]) != "U"
        if first in "\r\n" or (first == "/" and self.family == "o200k"):
            return False
        return _kind(first) != "U"

    def first_cut(self, text: str) -> int | None:
        """The first safe cut found strictly inside `text` (an offset), or None."""
        found = _FAST_CUT.search(text, 0, 4 * _LOOK)
        if found is None:
            slow = self._scan(text, range(1, min(len(text), 20 * _LOOK)))
            if slow is not None:
                return slow
            found = _FAST_CUT.search(text)
        return found.end() if found else self._scan(text, range(1, len(text)))

    def last_cut(self, text: str) -> int | None:
        """A safe cut strictly inside `text` (an offset), one of the last, or None. Meant for short texts."""
        blank = text.rfind(" ")  # most often a word stands before it, and then nothing has to be looked for
        if blank > 0 and ("a" <= text[blank - 1] <= "z" or "A" <= text[blank - 1] <= "Z"):
            return blank
        near = self._scan(text, range(len(text) - 1, max(0, len(text) - 6), -1))
        if near is not None:
            return near
        cut = None
        for found in _FAST_CUT.finditer(text):
            cut = found.end()
        return cut if cut is not None else self._scan(text, range(len(text) - 1, 0, -1))

    def _scan(self, text: str, places: range) -> int | None:
        for at in places:
            if self.safe(text[at - 1], text[at : at + _LOOK]):
                return at
        return None
