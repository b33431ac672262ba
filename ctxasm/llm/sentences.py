"""Sentences of a text, and words reduced until Dutch and English inflections of one word look alike."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from ctxasm.model.language import STOP_WORDS

_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*•#>|]|\d{1,2}[.)][ \t]))|\n(?=[^\n|]{0,200}\|)|(?<=[.!?…:])[ \t]*\n")
_END = re.compile(r"[.!?…]+[\"'”’)\]⟧»]*(?:[ \t]*\[…\])?(?=\s+[\"'“‘(\[⟦«]*[A-ZÀ-ÖØ-Þ0-9])")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:dr|drs|prof|mr|mrs|ms|mw|dhr|bijv|bv|ca|nr|no|tel|blz|pag|art|evt|incl|excl|max|min|vs|st|resp|zgn|jl|[a-z]|(?:[a-z]\.)+[a-z])\.$",
    re.IGNORECASE,
)
_LEAD = re.compile(r"[\s>#*•|-]*(?:\d{1,2}[.)]\s+)?")
_WORD = re.compile(r"[^\W_]+(?:[.,:][0-9]+)*")
_DOUBLE = re.compile(r"([a-z])\1")
_SUFFIX = re.compile(r"(?:ingen|ing|tjes|tje|jes|je|ers|en|er|es|ed|d|e|s|t)$")


class Stretch(NamedTuple):
    """Characters `start` to `end` of a text."""

    start: int
    end: int


def sentences_of(text: str, start: int = 0, end: int | None = None) -> list[Stretch]:
    """The sentences of `text[start:end]`, without list marks and outer white space, as stretches of `text`."""
    end = len(text) if end is None else end
    edges = [start, *(place for match in _BREAK.finditer(text, start, end) for place in match.span()), end]
    found: list[Stretch] = []
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        found += _within(text, low, high)
    return found


def _within(text: str, low: int, high: int) -> list[Stretch]:
    places = [
        match.end() for match in _END.finditer(text, low, high) if not _ABBREVIATION.search(text[max(low, match.end() - 12) : match.end()])
    ]
    found = []
    for start, end in zip([low, *places], [*places, high], strict=True):
        lead = _LEAD.match(text, start, end)
        begin = lead.end() if lead else start
        stop = begin + len(text[begin:end].rstrip())
        if stop > begin and any(char.isalnum() for char in text[begin:stop]):
            found.append(Stretch(begin, stop))
    return found


def terms_of(text: str) -> list[str]:
    """The meaningful words of a text, reduced by `stem`, in order."""
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without accents, doubled letters and a common ending: `spreekuren` and `spreekuur` meet in `sprekur`."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
    if not plain.isalpha():
        return plain
    if len(plain) > 4:
        plain = _SUFFIX.sub("", plain) or plain
    return _DOUBLE.sub(r"\1", plain)


def is_alike(one: str, other: str) -> float:
    """1 for the same stem, 0.5 where one is the beginning or end of a compound with the other, else 0."""
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    return 0.5 if len(short) >= 4 and not short.isdigit() and (long.startswith(short) or long.endswith(short)) else 0.0
