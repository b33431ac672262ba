"""The clauses of a sentence that cite for themselves: "The desk opens at 7.00 [1], while bicycles are free [2]".

A sentence is cut between two of its markers where a new clause or a new item begins: straight after the first marker, at
a comma, a semicolon, a dash, a bar or a joining word, else at the last such place before the second one. No cut is made
where one side would say nothing ("According to [1], … "), and none between markers that no such place parts: those are
several sources of one statement ("The museum [1] opened in 2012 [2]"; "A and B [1][2]").

A clause keeps only its own words, without an "and" or "while" that joins it: the subject of its sentence is looked for in all
cited sources together, with the whole sentence. Only a list of names is given the words behind
its last marker: in "Paris [1] and Lyon [2] have trams" both do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from ctxasm.citations.plain_text import STAND_IN, Plain
from ctxasm.citations.spoken_text import ATTRIBUTED, spoken, unmarked
from ctxasm.text.abbreviations import SMALL_WORDS

_ADDING = (
    r"(?:and|or|but|also|while|whereas|although|though|which|who|so|then|yet|plus|en|of|maar|ook|terwijl|hoewel|die|dat|wat|dus|"
    r"und|oder|aber|auch|sondern|während|obwohl|wobei|der|die|das|welche[rs]?|sowie)\b"
)
_RELATING = (
    r"(?:whose|where|when|because|since|as|after|before|until|if|unless|"
    r"waar|want|omdat|doordat|zodat|toen|nadat|voordat|tot|als|tenzij|"
    r"wo|weil|da|denn|sodass|nachdem|bevor|bis|wenn)\b"
)
"""These say something themselves, so a clause keeps them."""
_JOINT = re.compile(rf"\s*(?:(?:[,;:|–—]+(?=\s)|(?<=\s)\()\s*(?:{_ADDING}\s*)*|(?:{_ADDING}\s*)+|(?={_RELATING}))", re.IGNORECASE)
_COORDINATING = r"(?:and|but|while|whereas|en|maar|terwijl|und|aber|während|sowie)\b"
_LATER_JOINT = re.compile(rf"\s*(?:[;|]\s*|,\s+(?={_ADDING}|{_RELATING})|\s[–—]\s+|\s(?={_COORDINATING}))(?:{_ADDING}\s*)*", re.IGNORECASE)
_NOT_ONLY = re.compile(r"\A(?:(?:not only|niet alleen|nicht nur)\s+|(?:while|terwijl)\s+)", re.IGNORECASE)
_ENUMERATES = re.compile(r"\s*,?\s*\b(?:and|or|en|of|und|oder)\b", re.IGNORECASE)
_WORD = re.compile(rf"[^\W_{STAND_IN}]+")
_LOOK = 400
"""How far around a joint words are looked for, in characters."""
_JOINING = frozenset(re.findall(r"\w+", f"{_ADDING} {_RELATING} not only niet alleen nicht nur"))
_SMALL = _JOINING.union(*SMALL_WORDS.values())


class ClauseSpan(NamedTuple):
    """Characters `start` to `end` of a plain text, what they say, and the positions of their markers."""

    start: int
    end: int
    text: str
    markers: tuple[int, ...]


def find_clauses(plain: Plain, low: int, high: int, markers: Sequence[tuple[int, int]]) -> tuple[ClauseSpan, ...]:
    """The clauses of the sentence from `low` to `high`, at least two, or none. `markers`: its own, (place, position), ascending.

    Together the clauses hold every marker, each once. Linear in the length of the sentence.
    """
    runs = [(min(place, high), tuple(position for _, position in run)) for place, run in groupby(markers, lambda marker: marker[0])]
    if len(runs) < 2:
        return ()
    spans, held, start = list[tuple[int, int, tuple[int, ...]]](), tuple[int, ...](), low
    for (place, positions), (following, _) in pairwise(runs):
        held += positions
        cut = _cut_between(plain.text, start, place, following, high)
        if cut is not None:
            spans.append((start, start + len(plain.text[start : cut[0]].rstrip()), held))
            start, held = cut[1], ()
    if not spans:
        return ()
    spans.append((start, high, held + runs[-1][1]))
    behind = runs[-1][0] if _words(plain.text, start, runs[-1][0]) and _words(plain.text, runs[-1][0], high) else None
    clauses = tuple(_written(plain, spans, None if behind is None else (behind, high)))
    return clauses if all(any(map(str.isalnum, clause.text)) for clause in clauses) else ()


def _cut_between(text: str, start: int, place: int, following: int, high: int) -> tuple[int, int] | None:
    """Where the clause that begins at `start` ends, and where the next one begins, between two markers; None where it goes on."""
    if joint := _JOINT.match(text, place, high):
        words = _words(text, start, place, from_end=True)
        last = following if _words(text, place, following) else high
        alone = len(words) == 1 and not _ENUMERATES.match(text, place)  # "However [1], …"
        if words and not alone and _words(text, joint.end(), last):
            return place, joint.end()
    found = None
    for later in _LATER_JOINT.finditer(text, place, following):
        if found is not None or (_words(text, place, later.start()) and _words(text, start, later.start(), from_end=True)):
            found = later.start(), later.end()
    return found if found is not None and _words(text, found[1], high) else None


def _words(text: str, low: int, high: int, *, from_end: bool = False) -> list[str]:
    """The words of the beginning of a stretch, or of its end; none where there is nothing but small words."""
    high, low = (high, max(low, high - _LOOK)) if from_end else (min(high, low + _LOOK), low)
    words = [] if from_end and ATTRIBUTED.search(text, low, high) else _WORD.findall(text, low, high)
    return words if any(word.lower() not in _SMALL for word in words) else []


def _written(plain: Plain, spans: Sequence[tuple[int, int, tuple[int, ...]]], shared: tuple[int, int] | None) -> Iterator[ClauseSpan]:
    places = {position: place for place, position in plain.markers}
    names = shared is not None and all(_is_name(plain.text[low:high]) for low, high, _ in spans[:-1])
    for at, (start, end, positions) in enumerate(spans):
        text = spoken(plain._replace(markers=[(places[position], position) for position in positions]), start, end)
        text = _NOT_ONLY.sub("", text)
        if names and shared and at < len(spans) - 1:
            text = unmarked(f"{text} {plain.text[shared[0] : shared[1]]}")
        yield ClauseSpan(start, end, " | ".join(cell for cell in map(str.strip, text.split("|")) if cell), positions)


def _is_name(text: str) -> bool:
    """Whether every word that is not small begins with a capital letter."""
    return all(word[:1].isupper() for word in _WORD.findall(text) if word.lower() not in _SMALL)
