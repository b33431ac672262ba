"""Source text that would read as a marker or a header: where it stands, and how its brackets are swapped.

Found with the answer parser's own scanner, so that the two cannot disagree; a cheap look first tells which texts, and
which of their lines, are worth it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ctxasm.text.markers.forms import MarkerScanner
from ctxasm.text.markers.grammar import AND, HELD_CHARS, NAME, SEE, is_citable

INVISIBLE = (
    " \\t\\r\\v\\f\\x00-\\x08\\x0e-\\x1f\\x85\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""White space and characters without width, all but the newline."""
_LEAD = rf"[{INVISIBLE}]{{0,62}}"
_SEE, _NAME = SEE.replace(r"\s", f"[{INVISIBLE}]"), NAME.replace("[ _-]", f"[{INVISIBLE}_-]")
_NUMBERED = re.compile(
    rf"\[{_LEAD}(?:\[{_LEAD})?{_SEE}?(?:[\^#]|{_NAME}[{INVISIBLE}:#=._-]{{0,62}})?\d+\^?[{INVISIBLE}]{{0,62}}"
    rf"(?:[\]】］\[,;，、；:&†§‐‑‒–—−-]|{AND}|t/m|(?:to|tot|bis|through)[{INVISIBLE}])",
    re.IGNORECASE,
).match
_TAGS = re.compile(r"<(?:[cC][iI][tT][eE]|[sS][uU][pP])").finditer
_IDS = re.compile(r"\([iI][dD][\s:#=]{0,62}\d").finditer
_OTHERS = re.compile("[【［〔]").finditer
_CLOSER = re.compile(r"[\]】］〕)>]").finditer
MOST_CLOSERS = 4
"""With more brackets before it a subscript is not told from a marker: it is no more than quicker to tell."""
_THINKS = re.compile(r"</?think", re.IGNORECASE).search


class _Brackets(NamedTuple):
    """Brackets that may be a header's: `begins` tells whether there is one, `whole` finds them all."""

    begins: Callable[[str], re.Match[str] | None]
    whole: Callable[[str], Iterator[re.Match[str]]]


def _brackets(opening: str) -> _Brackets:
    # Not behind what cannot stand between the beginning of a line and a header.
    # A whole number and nothing else in it, then an `s`; what is not plain text may fold to either, and what ends may go on.
    other, end = r"[^\x00-\x7f]|\Z", rf"[\]］】](?:[{INVISIBLE}*_]*+(?:[sS]|[^\x00-\x7f]|\Z))"
    begins = rf"{opening}(?<![^{INVISIBLE}\n>#*_|+•·.)-].)[{INVISIBLE}]*+(?:\d[\d{INVISIBLE}]*+(?:{end}|{other})|[^\x00-\x7f])"
    whole = rf"{opening}(?=[{INVISIBLE}]*+(?:\d|[^\x00-\x7f]))([^\[\]［］【】\n]*+)[\]］】]"
    return _Brackets(re.compile(begins).search, re.compile(whole).finditer)


_SQUARE, _ANY_WIDTH = _brackets(r"\["), _brackets(r"[\[［【]")
"""One character is looked for ten times as fast as one of three, and most texts hold only that."""
_LINE_BREAK = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]").split
_LEADING = re.compile(rf"(?:[{INVISIBLE}>#*_|+•·-]|\d{{1,9}}[.)])*+").fullmatch
_NUMBER = re.compile(rf"[{INVISIBLE}]*\d+[{INVISIBLE}]*").fullmatch
_AFTER_NUMBER = re.compile(rf"(?:[{INVISIBLE}]*+[^{INVISIBLE}\n]){{1,64}}+").match
_SOURCE = re.compile(rf"[{INVISIBLE}*_]*+{f'[{INVISIBLE}]*+'.join('source')}[{INVISIBLE}]*+:").match
_SWAP = str.maketrans("[]【】［］〔〕<>＜＞﹤﹥", "⟦⟧⟦⟧⟦⟧⟦⟧‹›‹›‹›")
_SWAP_ROUND = str.maketrans("()", "❨❩")
_SWAP_ESCAPED = str.maketrans("&", "⅋")


def might_hold_marker(text: str) -> bool:
    """Whether looking for markers in `text` is worth the time: never False for a text that holds one, whatever stands around it."""
    return next(_plausible_places(text), None) is not None


def _plausible_places(text: str) -> Iterator[int]:
    """Where a marker may begin, in any order."""
    for looked_for, opener in ((_OTHERS, ""), (_TAGS, "<"), (_IDS, "(")):
        if opener in text:
            yield from [found.start() for found in looked_for(text)]
    at = text.find("[")
    while at >= 0:
        found = _NUMBERED(text, at)
        if found and not _is_subscript(text, found):
            yield at
        at = text.find("[", at + 1)


def _is_subscript(text: str, found: re.Match[str]) -> bool:
    """Whether what would be a marker is none, whatever else is one: `argv[1]`. Told only where nothing before `text` has a say in it."""
    at = found.start()
    if at < HELD_CHARS or text[at - 1] == "_" or "[" in found[0][1:] or "［" in found[0]:
        return False
    before = text[at - HELD_CHARS : at]
    # What stands before a marker counts only as far back as the last one.
    ends = [closer.end() for closer in _CLOSER(before)]
    return len(ends) <= MOST_CLOSERS and not any(_is_citable(before[end:]) for end in (0, *ends))


_is_citable = lru_cache(maxsize=4096)(is_citable)
"""The same text stands in block after block."""


def find_marker_forms(text: str) -> list[tuple[int, int]]:
    """Spans of `text` that an answer parser would read as a marker, strictly, were they copied into an answer, ascending, disjoint.

    Not in code, not subscripts. Entries of source lists and what a `<think>` would hide count: a copy of the bracket
    alone would be a marker.
    """
    return _scan(text) if might_hold_marker(text) else []


def _scan(text: str) -> list[tuple[int, int]]:
    found, in_fence = _scan_once(text)
    if _THINKS(text):
        # Where thinking ends code begins anew, also thinking that began in another text.
        for lead in ("", "<think>"):
            others, open_ended = _scan_once(lead + text, hide_thinking=True)
            found += [(low - len(lead), high - len(lead)) for low, high in others]
            in_fence = in_fence or open_ended
    if in_fence:  # a fence that nothing closes is no code here: a source could hide behind it all that follows
        found += _scan_once(text, code=False)[0]
    return _united(found)


def _united(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if spans and low < spans[-1][1]:
            low, high = spans[-1][0], max(high, spans.pop()[1])
        spans.append((low, high))
    return spans


def _scan_once(text: str, *, code: bool = True, hide_thinking: bool = False) -> tuple[list[tuple[int, int]], bool]:
    scanner = MarkerScanner(hide_thinking=hide_thinking, code=code, reading="strict", alone=True)
    forms = scanner.feed(text) + scanner.finish()
    return [(form.start, form.end) for form in forms if form.form != "malformed"], scanner.in_fence


def might_hold_header(text: str) -> bool:
    """Whether looking for headers in `text` is worth the time: never False for a text that holds one."""
    return _brackets_of(text).begins(text) is not None


def _brackets_of(text: str) -> _Brackets:
    return _ANY_WIDTH if "［" in text or "【" in text else _SQUARE


def find_forged_headers(text: str) -> list[tuple[int, int]]:
    """Spans of the bracket in every line that reads as a block header, `[3] Source: …`, in code as well, in any width of letter."""
    if not might_hold_header(text):
        return []
    found: list[tuple[int, int]] = []
    last = 0
    for bracket in _brackets_of(text).whole(text):
        (low, high), before = bracket.span(), last
        last = high
        if not _NUMBER(folded(bracket[1])):
            continue
        after = _AFTER_NUMBER(text, high)
        if after and _SOURCE(folded(after[0])):
            # Nothing but marks of a list or a quote before it on its line, and no other bracket.
            *lines, lead = _LINE_BREAK(text[before:low])
            if (lines or not before) and _LEADING(lead):
                found.append((low, high))
    return found


def folded(text: str) -> str:
    """`text` without differences of case and width."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def swap_brackets(marker: str) -> str:
    """A marker with each bracket replaced by a look-alike that no parser takes for one; the length stays the same.

    Round brackets only where they are the marker's own, ampersands only where they stand for a bracket.
    """
    swapped = marker.translate(_SWAP)
    if marker.startswith("("):
        return swapped.translate(_SWAP_ROUND)
    return swapped.translate(_SWAP_ESCAPED) if marker.startswith("&") else swapped
