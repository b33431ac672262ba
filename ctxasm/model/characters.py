"""What a character is: seen by a reader or not, one line or several, and whether it can be written at all."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u00ad\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0]*\Z")


def is_visible(text: str) -> bool:
    """Whether `text` has at least one character that a reader would see."""
    return text[:1].isalnum() or not _INVISIBLE.match(text)


def has_mark(text: str) -> bool:
    """Whether `text` holds a visible character that is neither letter nor digit, in whatever width it is written."""
    return any(not char.isalnum() and is_visible(char) for char in unicodedata.normalize("NFKC", text))


SHORT = 512
"""Titles, sources and summaries up to this length are kept on one line once made, so that a query makes none."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def one_line(text: str) -> str:
    """`text` with every run of white space and control characters collapsed to one blank."""
    return _short_line(text) if len(text) <= SHORT else _line(text)


def _line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


_short_line = lru_cache(maxsize=4096)(_line)


UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""What no database takes as text: NUL, and half a character (a lone surrogate)."""
_HALF = re.compile("[\ud800-\udfff]")


def storable(text: str) -> bool:
    """Whether a store can hold this text; where not, nothing stored can match it."""
    return "\0" not in text and _is_utf8(text)


def mended(text: str) -> str:
    """`text` of the same length as every store can hold it: what it cannot becomes U+FFFD."""
    return text if storable(text) else UNSTORABLE.sub("\ufffd", text)


def encodable(text: str) -> str:
    """`text` of the same length in which every character can be written as UTF-8: tokenizers refuse lone surrogates."""
    return text if _is_utf8(text) else _HALF.sub("\ufffd", text)


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()  # an eighth of the time of a search for surrogates
    except UnicodeEncodeError:
        return False
    return True


_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Characters without width: soft hyphen, zero-width space and joiners, direction marks, byte order mark."""
_CLUSTER = re.compile(rf"\s+|{_UNSEEN.pattern}+|.[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]*", re.DOTALL)
"""White space, characters without width, or a character with the marks that it is composed with."""


def normalised(text: str) -> str:
    """A text in NFC without characters of no width, single spaces between its words: equal for texts that read the same."""
    flat = " ".join(text.split())
    if flat.isascii():
        return flat
    if not flat.isprintable():  # a fifth of the time of a search
        flat = " ".join(_UNSEEN.sub("", text).split())
    return unicodedata.normalize("NFC", flat)


def laid_out(text: str) -> str:
    """The same, except that a line with indentation stays a line with this indentation: in code and data it carries meaning.

    A line break between two lines without is a blank: wrapped prose. Before a single line, and of one blank before the first, it is none:
    what a splitter leaves.
    """
    flat = normalised(text)
    lines = text.splitlines()
    if not any(line[:1].isspace() or not line[:1].isprintable() for line in lines):
        return flat
    lines = [line for line in lines if line.strip()]
    if len(lines) < 2:
        return flat
    if not text.isascii():
        lines = [line for line in unicodedata.normalize("NFC", _UNSEEN.sub("", text)).splitlines() if line.strip()]
    laid: list[str] = []
    before = ""
    for line in lines:
        words = line.split()
        indent = line[: line.index(words[0])].replace("\xa0", " ")
        indent = indent if laid or indent != " " else ""
        body = indent + " ".join(words)
        laid.append(f"\n{body}" if indent or before else f" {body}")
        before = indent
    return "".join(laid).removeprefix(" ")


def normalised_places(text: str) -> tuple[str, list[int]]:
    """`normalised`, and where each of its characters begins in `text`; one more place at the end: that of the end of `text`'s words.

    Characters are composed together with the marks behind them; where that does not give `normalised`, such as for Hangul that is
    written in parts, those characters are no longer found in the other form.
    """
    made: list[str] = []
    places: list[int] = []
    end, is_apart = 0, False
    for found in _CLUSTER.finditer(text):
        cluster = found.group()
        if cluster.isspace():
            is_apart = bool(made)
        elif not _UNSEEN.match(cluster):
            if is_apart:
                made.append(" ")
                places.append(end)
                is_apart = False
            said = unicodedata.normalize("NFC", cluster)
            made.append(said)
            places += [found.start()] * len(said)
            end = found.end()
    return "".join(made), [*places, end]


def harmless(text: str) -> str:
    """`text` with the characters by which it could steer a terminal made visible, one for one."""
    return text.translate(_VISIBLE)


_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | dict.fromkeys(
    (*range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD
)


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a cell may not begin with, because a spreadsheet would take it for a formula."""
LONGEST_CELL = 32_767
"""Characters that a cell of a spreadsheet holds."""


def harmless_cell(text: str) -> str:
    """A cell that a spreadsheet shows as it stands: one that would be a formula begins with an apostrophe."""
    text = UNSTORABLE.sub("\ufffd", text)[: LONGEST_CELL - 1]
    return f"'{text}" if text.lstrip(" \u00a0\ufeff").startswith(FORMULA) else text
