"""Where a quote stands in a source. A judge's quote that stands nowhere in the evidence is no evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxasm.model.support import Source

MIN_CHARS = 8
"""Letters and digits of a quote that proves something: "the" stands in every source. A shorter one must be all there is."""
MIN_PART_CHARS = 4
"""Of each part of a quote with gaps."""
_SAME = str.maketrans({**dict.fromkeys("‘’‚‛´`", "'"), **dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‐‑‒–—−", "-")})
_GAP = re.compile(r"\s*(?:\[?…\]?|\[?\.\.\.\]?)\s*")
_AROUND = " \t\r\n\"'.,;:!?-"


def locate_quote(quote: str, source: Source) -> tuple[tuple[int, int], ...]:
    """The spans of `quote` in the evidence of `source`; a quote with gaps ("… …") has one for each part. Empty if any is absent.

    Exact first, then without regard to white space, case, and the shapes of quotes and dashes. Linear in the text.
    """
    if span := _exact(quote, source):
        return (span,) if _proves(quote, source) else ()
    parts = [part for part in _GAP.split(quote) if any(map(str.isalnum, part))]
    if not _proves(quote, source) or (len(parts) > 1 and min(map(_letters, parts)) < MIN_PART_CHARS):
        return ()
    spans = [_loose(part, source) for part in parts]
    return tuple(span for span in spans if span) if spans and all(spans) else ()


def locate_words(words: str, text: str, ranges: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The first span of a few words inside `ranges` of `text`, whole words only, by the same measure; None where absent."""
    wanted, _ = _folded(_bare(words), 0)
    if not wanted:
        return None
    for low, high in ranges:
        folded, places = _folded(text[low:high], low)
        at = folded.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            if _ends_word(folded, at) and _ends_word(folded, end):
                return places[at], places[end - 1] + 1
            at = folded.find(wanted, at + 1)
    return None


def _exact(quote: str, source: Source) -> tuple[int, int] | None:
    wanted = quote.strip()
    for low, high in source.ranges if wanted else ():
        if (at := source.text.find(wanted, low, high)) >= 0:
            return at, at + len(wanted)
    return None


def _loose(quote: str, source: Source) -> tuple[int, int] | None:
    wanted, _ = _folded(_bare(quote), 0)
    for low, high in source.ranges if wanted else ():
        folded, places = _folded(source.text[low:high], low)
        if (at := folded.find(wanted)) >= 0:
            return places[at], places[at + len(wanted) - 1] + 1
    return None


def _folded(text: str, offset: int) -> tuple[str, list[int]]:
    """`text` in lower case with every run of white space as one space, and where each of its characters came from."""
    letters, places, blank = list[str](), list[int](), True
    for at, char in enumerate(text.translate(_SAME), offset):
        if char.isspace():
            if blank:
                continue
            char = " "
        blank = char == " "
        lower = char.lower()
        letters.append(lower if len(lower) == 1 else char)
        places.append(at)
    if letters and letters[-1] == " ":
        del letters[-1], places[-1]
    return "".join(letters), places


def _ends_word(text: str, at: int) -> bool:
    """Whether a word may end or begin at `at`: a stop between digits is part of a number."""
    if at <= 0 or at >= len(text):
        return True
    left, right = text[at - 1], text[at]
    if left.isalnum() and right.isalnum():
        return False
    inside = left in ".,:" and right.isdigit() and at > 1 and text[at - 2].isdigit()
    return not inside and not (right in ".,:" and left.isdigit() and at + 1 < len(text) and text[at + 1].isdigit())


def _bare(quote: str) -> str:
    """`quote` without the punctuation around it."""
    return quote.translate(_SAME).strip(_AROUND)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _proves(quote: str, source: Source) -> bool:
    return _letters(quote) >= MIN_CHARS or any(_bare(source.text[low:high]) == _bare(quote) for low, high in source.ranges)
