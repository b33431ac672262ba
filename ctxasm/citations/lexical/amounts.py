"""A figure of the claim must stand in its source with the same limit and end of a range around it (see `around`), or say less."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxasm.citations.lexical.around import Around, arounds
from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.lexicon import figure_words, fits
from ctxasm.citations.lexical.operators import Operator
from ctxasm.citations.lexical.quantity import Quantity
from ctxasm.citations.lexical.words import LETTERS
from ctxasm.model.support import Gated
from ctxasm.text.terms import folded

_WEAKER = frozenset((("above", "least"), ("below", "limit"), ("nearly", "about"), ("nearly", "below"), ("nearly", "limit"), ("about", "")))
"""What a source says of a figure and what a claim may say instead."""
_SIDES = {"until": "limit", "from": "least"}
_RANGED = ("number", "date", "month")
_ENDS = frozenset((("low", "least"), ("high", "limit"), ("low", "above"), ("high", "below")))
"""Ends of a range, and limits that say no more."""


class _Place(NamedTuple):
    """A figure of sentence `at`, what stands around it, and the bits of the claim's figures that may mean the same."""

    at: int
    figure: Quantity
    around: Around
    mask: int


def find_amounts(matter: Matter) -> Iterator[Gated]:
    """A figure of the claim that stands in its sentences with something else around it only."""
    figures, evidence = matter.parts.quantities, matter.evidence
    theirs = [_Place(at, each, around, _agreeing(figures, each)) for at in matter.numbers for each, around in evidence.once(arounds, at)]
    for bit, (ours, mine) in enumerate(matter.around):
        found = [place for place in theirs if place.mask >> bit & 1]
        if not found:
            continue
        limits = {mine.limit}
        if not mine.limit:
            limits |= {op.value for op in _beside(matter, ours.start) if op.kind == "comparison"} | {_SIDES.get(mine.side, "")}
        if not any(_does(place.around.limit, limit) for place in found for limit in limits):
            yield _gated(matter, "comparison", ours, found[0])
        elif ours.kind in _RANGED and all(place.around.end for place in found) and not _keeps_range(matter, bit, mine, found, theirs):
            yield _gated(matter, "date" if ours.is_year else "comparison", ours, found[0])


def _beside(matter: Matter, at: int) -> list[Operator]:
    """The words of the claim that turn what its clause at a character says."""
    low, high = _clause(matter, at)
    return [op for op in matter.operators if low <= op.start < high]


def _clause(matter: Matter, at: int) -> tuple[int, int]:
    """The clause of the claim that has a character; all of it where that parts two clauses."""
    place = bisect_right(matter.spans, at, key=lambda span: span[0]) - 1
    low, high = matter.spans[max(0, place)]
    return (low, high) if low <= at < high else (0, len(matter.parts.text))


def _does(theirs: str, ours: str) -> bool:
    return theirs in ("", ours) or (theirs, ours) in _WEAKER


def _keeps_range(matter: Matter, bit: int, mine: Around, found: Sequence[_Place], theirs: Sequence[_Place]) -> bool:
    """Whether the claim has the other end of the range as well, or says which end its figure is."""
    if mine.limit and any((place.around.end, mine.limit) in _ENDS for place in found):
        return True
    if mine.end:
        return any(place.around.end == mine.end for place in found)
    others = {place.at for place in theirs if place.mask and not place.mask >> bit & 1}
    low, high = _clause(matter, matter.parts.quantities[bit].start)
    words, known = [folded(word) for word in LETTERS.findall(matter.parts.text, low, high)], figure_words()
    tables = {"low": (*known["from"], *known["beginning"]), "high": (*known["until"], *known["ending"])}
    said = {end for end, table in tables.items() if any(fits(one, word) for word in words for one in table)}
    return any(place.at in others or place.around.end in said for place in found)


def _agreeing(figures: Sequence[Quantity], theirs: Quantity) -> int:
    """The figures that may mean the same, as bits."""
    return sum(1 << bit for bit, ours in enumerate(figures) if ours.agrees(theirs))


def _gated(matter: Matter, kind: str, ours: Quantity, place: _Place) -> Gated:
    at, theirs = place.at, place.figure
    text, (low, high) = matter.text(at), matter.evidence.span(at)
    start, end = text.rfind(" ", low, max(low, theirs.start - 1)), text.find(" ", min(high, theirs.end + 1), high)
    return Gated(kind, matter.parts.text[ours.start : ours.end], text[max(low, start) : end if end > 0 else high].strip())  # type: ignore[arg-type]
