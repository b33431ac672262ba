"""What stands around a figure: that it is the least, the most or about so much ("up to 40"), for how long it holds ("40 a month"), and
that it is one end of a range ("1914–1918"). A figure of the claim must stand so in its source, too, or say less.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.operators import Operator
from ctxasm.citations.lexical.quantity import AND, TO, Quantity
from ctxasm.citations.lexical.words import read_words
from ctxasm.model.support import Gated
from ctxasm.text.number_words import begins_figure
from ctxasm.text.terms import folded

_LIMITS = ("least", "limit", "above", "below", "about", "nearly")
_FILL = re.compile(r"\s*(?:(?:the|a|an|of|only|de|het|een|van|der|die|das|von)\s+)*[€$£¥]?\s*")
_WEAKER = frozenset((("above", "least"), ("below", "limit"), ("nearly", "about"), ("nearly", "below"), ("nearly", "limit"), ("about", "")))
"""What a source says of a figure and what a claim may say instead."""
_JOIN = re.compile(rf"\s*{TO}\s*|\s+(?P<and>{AND})\s+", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|tussen|zwischen)\b", re.IGNORECASE)
BETWEEN_REACH = 25
"""Characters before a figure among which "between" stands."""
_LOW = re.compile(
    r"\b(?:from|since|after|vanaf|van|sinds|ab|seit|von|beg[aiu]n\w*|start\w*|open\w*|first|found\w*|launch\w*)\b", re.IGNORECASE
)
_HIGH = re.compile(r"\b(?:until|till|before|end\w*|last\w*|clos\w*|tot|eind\w*|bis|endet\w*)\b", re.IGNORECASE)
_SIDE = re.compile(
    r"\b(?:(until|till|bis|tot)|since|from|seit|ab|vanaf|sinds)\s+(?:(?:in|het|jaar|the|year|zum|jahr|dem|den|age|of|de|leeftijd|van|alter|von)\s+)*$",
    re.IGNORECASE,
)
SIDE_REACH = 60
"""Characters before a figure among which it is said which end of a range it is, or a range begins in words."""
_OF = re.compile(r"\s+(?:thirds?|quarters?|fifths?|derde|kwart|drittel|viertel)?\s*(?:of|van|der|des|von)\s+", re.IGNORECASE)
_NOT = re.compile(r"\b(?:no|not|never|niet|nicht|kein\w*|geen)\b|n['’]t\b", re.IGNORECASE)
_DENIED = {"above": "limit", "below": "least"}
DENIAL_REACH = 30
"""Characters before a limit among which it may be denied: "may not be higher than"."""
_FROM_WORD = re.compile(r"\b([^\W\d_]+)\s+(?:to|tot|bis)\s+$", re.IGNORECASE)
_RANGED = ("number", "date", "month")
_ENDS = frozenset((("low", "least"), ("high", "limit"), ("low", "above"), ("high", "below")))
"""Ends of a range, and limits that say no more."""
RATE_REACH = 40
"""Characters behind a figure among which it is said for how long or for whom it holds."""
_STOP = re.compile(r"[;:()\n]|\.\s|,\s|\.$|\b(?:and|en|und|but|maar|aber|while|terwijl)\b", re.IGNORECASE)


class Around(NamedTuple):
    """What stands around a figure: a limit, a rate, the end of a range that it is ("low", "high"); each empty where there is none."""

    limit: str
    rate: str
    end: str


class _Place(NamedTuple):
    """A figure of sentence `at`, what stands around it, and the bits of the claim's figures that may mean the same."""

    at: int
    figure: Quantity
    around: Around
    mask: int


def find_amounts(matter: Matter) -> Iterator[Gated]:
    """A figure of the claim that stands in its sentences with something else around it only."""
    text, figures, evidence = matter.parts.text, matter.parts.quantities, matter.evidence
    theirs = [_Place(at, each, around, _agreeing(figures, each)) for at in matter.numbers for each, around in evidence.once(arounds, at)]
    for bit, (ours, mine) in enumerate(around_all(text, 0, len(text), figures, matter.operators)):
        found = [place for place in theirs if place.mask >> bit & 1]
        if not found:
            continue
        side = _SIDE.search(text, max(0, ours.start - SIDE_REACH), ours.start)
        limits = {mine.limit}
        if not mine.limit:
            limits |= {op.value for op in _beside(matter, ours.start) if op.kind == "comparison"} | (
                {"limit" if side[1] else "least"} if side else set()
            )
        if not any(_does(place.around.limit, limit) for place in found for limit in limits):
            yield _gated(matter, "comparison", ours, found[0])
        elif mine.rate and ours.kind == "number" and not any(place.around.rate in ("", mine.rate) for place in found):
            yield _gated(matter, "unit", ours, found[0])
        elif ours.kind in _RANGED and all(place.around.end for place in found) and not _keeps_range(matter, bit, mine, found, theirs):
            yield _gated(matter, "date" if ours.is_year else "comparison", ours, found[0])
    yield from _parts_of(matter)


def _parts_of(matter: Matter) -> Iterator[Gated]:
    """A share or number that the sentences say something of ("two thirds of the teachers"), where the claim says it of all."""
    parts, stems = matter.parts, matter.evidence.stems
    for at in matter.numbers:
        text, high = matter.text(at), matter.evidence.span(at)[1]
        for share in matter.evidence.quantities(at):
            of = _OF.match(text, share.end, high)
            if of is None or share.kind != "number" or share.is_year or any(ours.agrees(share) for ours in parts.quantities):
                continue
            word = next(read_words(text, of.end(), high, stems), None)
            bits = parts.forms.get(word.key, 0) & parts.heavy if word else 0
            start = parts.words[bits.bit_length() - 1].start if bits else 0
            if any(op.kind == "quantifier" for op in _beside(matter, start)):
                continue
            others = [each for one in matter.numbers for clause in matter.evidence.clauses(one) for each in clause.words]
            if word and bits and sum(bool(parts.forms.get(each.key, 0) & bits) for each in others) == 1:
                yield Gated("quantifier", parts.text[start:].split()[0], text[share.start : word.end])
                return


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
    text, clause = matter.parts.text, _clause(matter, matter.parts.quantities[bit].start)
    said = {end for end, word in (("low", _LOW), ("high", _HIGH)) if word.search(text, *clause)}
    return any(place.at in others or place.around.end in said for place in found)


def _agreeing(figures: Sequence[Quantity], theirs: Quantity) -> int:
    """The figures that may mean the same, as bits."""
    return sum(1 << bit for bit, ours in enumerate(figures) if ours.agrees(theirs))


def arounds(evidence: Evidence, at: int) -> list[tuple[Quantity, Around]]:
    """The figures of a sentence with what stands around each."""
    return list(around_all(evidence.text(at), *evidence.span(at), evidence.quantities(at), evidence.operators(at)))


def around_all(
    text: str, low: int, high: int, figures: Sequence[Quantity], operators: Sequence[Operator]
) -> Iterator[tuple[Quantity, Around]]:
    """The figures of a text, in order, with what stands around each."""
    ends, starts = [low, *(each.end for each in figures)], [*(each.start for each in figures[1:]), high]
    for before, figure, after in zip(ends, figures, starts, strict=False):
        yield figure, _around(text, (low, before), figure, (after, high), operators)


def _around(text: str, head: tuple[int, int], figure: Quantity, tail: tuple[int, int], operators: Sequence[Operator]) -> Around:
    """What stands around a figure of a text; `head` is where the text begins and the figure before ends, `tail` where the next one begins
    and the text ends."""
    (low, before), (after, high) = head, tail
    near = (op for op in operators if before <= op.start < after and op.value in _LIMITS)
    limits = [_limit(text, low, op) for op in near if _is_beside(text, figure, op)]
    stop = _STOP.search(text, figure.end, min(high, figure.end + RATE_REACH))
    reach = min(after, figure.end + RATE_REACH, stop.start() if stop else high)
    held = [op.value for op in operators if figure.end <= op.start < reach and op.kind == "unit"]
    if not held and before == low:
        rates = [op for op in operators if op.end <= figure.start and op.kind == "unit"]
        held = [op.value for op in rates if _STOP.search(text, op.end, figure.start) is None]
    return Around(limits[-1] if limits else "", held[0] if held else "", _end(text, low, high, figure, before, after))


def _is_beside(text: str, figure: Quantity, op: Operator) -> bool:
    """Whether a limit stands just before a figure, or just behind it ("40 or more")."""
    before = op.end <= figure.start and _FILL.fullmatch(text, op.end, figure.start) is not None
    return op.kind == "comparison" and (before or text[figure.end : op.start] == " ")


def _limit(text: str, low: int, op: Operator) -> str:
    """What a limit means: "not more than" is the most."""
    return _DENIED.get(op.value, op.value) if _NOT.search(text, max(low, op.start - DENIAL_REACH), op.start) else op.value


def _end(text: str, low: int, high: int, figure: Quantity, before: int, after: int) -> str:
    """Which end of a range a figure is; `before` and `after` are where the figures beside it end and begin."""
    if after < high and _is_range(text, figure, figure.end, after):
        return "low"
    if (before > low and _is_range(text, figure, before, figure.start)) or _begins_words(text, low, figure.start):
        return "high"
    side = _SIDE.search(text, max(low, figure.start - SIDE_REACH), figure.start)
    is_dated = figure.is_year or figure.kind in ("date", "month")
    return "" if side is None or not is_dated else "high" if side[1] else "low"


def _is_range(text: str, figure: Quantity, low: int, high: int) -> bool:
    """Whether what stands between two figures makes a range of them: "and" does behind "between" only."""
    join = _JOIN.fullmatch(text, low, high)
    if join is None or not join["and"]:
        return join is not None
    return _BETWEEN.search(text, max(0, min(low, figure.start) - BETWEEN_REACH), low) is not None


def _begins_words(text: str, low: int, at: int) -> bool:
    """Whether a number in words begins a range that ends with a figure: "two to three weeks"."""
    before = _FROM_WORD.search(text, max(low, at - SIDE_REACH), at)
    return before is not None and begins_figure(folded(before[1]))


def _gated(matter: Matter, kind: str, ours: Quantity, place: _Place) -> Gated:
    at, theirs = place.at, place.figure
    text, (low, high) = matter.text(at), matter.evidence.span(at)
    start, end = text.rfind(" ", low, max(low, theirs.start - 1)), text.find(" ", min(high, theirs.end + 1), high)
    return Gated(kind, matter.parts.text[ours.start : ours.end], text[max(low, start) : end if end > 0 else high].strip())  # type: ignore[arg-type]
