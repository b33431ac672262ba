"""A claim that one source carries and another contradicts: true to its source, and still not to be taken as it stands.

Any two texts differ in some figure. Another source disputes a claim only where what it says is the same but for that: nearly all words
of the claim beside those in conflict stand around them. What is said of another year is another fact, and a year with other figures too.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ctxasm.citations.axes import support_of
from ctxasm.citations.checked import CheckedClaim, Disputed
from ctxasm.citations.verdicts import Bench
from ctxasm.model.support import Found, Match
from ctxasm.text.dates import period_of
from ctxasm.text.terms import is_alike, terms_of

SAME = 0.75
"""The share of a claim's other words that must stand around the conflict."""
FEWEST = 3
"""Fewer other words do not tell what a claim is about."""
_YEAR = re.compile(r"(?:1\d|20)\d\d")
AROUND = 200
"""Characters on either side of a conflict, where a scorer finds one outside what it compares."""


def with_dispute(checked: CheckedClaim, at: int, bench: Bench) -> CheckedClaim:
    """Claim number `at` of the comparison, with the source that disputes it where one carries it: of several the newest, then the first."""
    if support_of(checked, bench.scorer.threshold) != "full":
        return checked
    if checked.clauses:
        first = bench.clauses[at]
        clauses = (with_dispute(clause, first + place, bench) for place, clause in enumerate(checked.clauses))
        return replace(checked, disputed=next((clause.disputed for clause in clauses if clause.disputed), None))
    holding = {support.number for support in checked.support if checked.verdict in ("supported", "partly")}
    holding |= {checked.better} if checked.better is not None else set()
    dates = {ground.source.number: ground.date for ground in bench.grounds.items}
    texts = {ground.source.number: ground.source.text for ground in bench.grounds.items}
    found = [
        _dispute(match, place, bench, dates, holding)
        for number, match in bench.each(at, but=holding).items()
        if (place := _same_but_for(checked.claim.text, match, texts[number])) is not None
    ]
    newest = min(found, key=lambda one: (one.age != "newer", one.age is None, one.number), default=None)
    return replace(checked, disputed=newest) if newest is not None else checked


def _same_but_for(claim: str, match: Match, text: str) -> Found | None:
    """The stretch that says what the claim says, but for the words in conflict."""
    conflict = match.conflict
    if conflict is None:
        return None
    around = [found for found in match.found if found.number == conflict.number and found.start <= conflict.start < found.end]
    stretch = around[0] if around else Found(conflict.number, max(0, conflict.start - AROUND), conflict.end + AROUND, match.score)
    differing, asked = {*terms_of(conflict.claim)}, [*dict.fromkeys(terms_of(claim))]
    there = [*dict.fromkeys(terms_of(text[stretch.start : stretch.end]))]
    figures = {term for term in asked if any(map(str.isdigit, term))} - differing
    alike = figures if any(map(_YEAR.fullmatch, differing)) else {term for term in figures if _YEAR.fullmatch(term)}
    if not alike <= {*there}:
        return None
    said = [term for term in asked if term not in differing and term not in figures]
    held = sum(max((is_alike(term, other) for other in there), default=0.0) for term in said)
    return stretch if len(said) >= FEWEST and held >= SAME * len(said) else None


def _dispute(match: Match, place: Found, bench: Bench, dates: dict[int, str | None], holding: set[int]) -> Disputed:
    conflict = match.conflict
    assert conflict is not None
    support = next(ground.support(place) for ground in bench.grounds.items if ground.source.number == conflict.number)
    own, others = period_of(dates[conflict.number]), [period_of(dates[number]) for number in sorted(holding)]
    known = [other for other in others if other is not None]
    newer = own is not None and bool(known) and all(own.is_after(other) for other in known)
    older = own is not None and bool(known) and all(other.is_after(own) for other in known)
    return Disputed(conflict, support, dates[conflict.number], "newer" if newer else "older" if older else None)
