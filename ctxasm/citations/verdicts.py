"""The verdict on one claim, from how well its sources carry it. Pure, and the same for every scorer.

A match needs the scorer's threshold: below it nothing is called supported, and what is shown is called a part. A citation that
carries none of its claim makes the claim at best `partly` carried: "wrong source behind a right answer" must be seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ctxasm.citations.checked import CheckedClaim, Claim, Disputed, DroppedSource, Support, Verdict, support_of
from ctxasm.citations.grounds import Grounds
from ctxasm.citations.weighing import Weighed, is_match, weigh
from ctxasm.model.support import NO_MATCH, Comparison, Conflict, Found, Match, Scorer
from ctxasm.text.dates import period_of
from ctxasm.text.terms import is_alike, terms_of

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Bench:
    """The scales of one answer: its sources, how they compare with its claims, and what counts as a match.

    `positions` are the places of the sources by number, `summaries` those of their page summaries. `clauses` are the places in
    the comparison of the first clause of each claim that has any, by the place of the claim.
    """

    grounds: Grounds
    comparison: Comparison
    scorer: Scorer
    positions: Mapping[int, int]
    summaries: Mapping[int, int]
    dropped: Mapping[int, DroppedSource]
    clauses: Mapping[int, int] = field(default_factory=dict)

    def each(self, at: int, but: Collection[int] = (), least: float = 0.0) -> dict[int, Match]:
        """The match of a claim with every source alone that scores at `least` so much, by number; not with those in `but`."""
        found = {n: self.comparison.together(at, (place,)) for n, place in self.positions.items() if n not in but}
        return {number: match for number, match in found.items() if match.score >= least}

    def together(self, at: int, numbers: Sequence[int]) -> Match:
        """The match of a claim with sources taken together."""
        return self.comparison.together(at, [self.positions[number] for number in numbers]) if numbers else NO_MATCH

    def carried(self, at: int, numbers: Sequence[int], *, summaries: bool = False) -> Match | None:
        """The match of a claim with sources taken together, with their page summaries if asked; None where it is none."""
        chosen = [self.positions[number] for number in numbers]
        chosen += [self.summaries[number] for number in numbers if number in self.summaries] if summaries else []
        match = self.comparison.together(at, chosen) if chosen else NO_MATCH
        return match if self.carries(match) else None

    def carries(self, match: Match) -> bool:
        """Whether this is a match at all."""
        return is_match(match, self.scorer)

    def weighed(self, at: int, numbers: Sequence[int]) -> Weighed:
        """A claim weighed against sources that it cites."""
        return weigh(self.comparison, self.scorer, at, {number: self.positions[number] for number in numbers})

    def places(self, match: Match) -> tuple[Support, ...]:
        """Where a match stands, in every coordinate; nothing for one that carries not even a part and says nothing else either."""
        part = max((found.score for found in match.found), default=0.0)
        if max(match.score, part) < self.scorer.partly and match.conflict is None:
            return ()
        by_number = {ground.source.number: ground for ground in self.grounds.items}
        return tuple(by_number[found.number].support(found) for found in match.found)


def judge(claim: Claim, at: int, bench: Bench, *, marked: bool) -> CheckedClaim:
    """The verdict on claim number `at` of the comparison. In an answer without markers a claim's source is looked for."""
    known = tuple(number for number in claim.cited if number in bench.positions)
    unknown = tuple(number for number in claim.cited if number not in bench.positions)
    dropped = tuple(bench.dropped[number] for number in unknown if number in bench.dropped)
    if claim.clauses or known:
        checked = _by_clause(claim, at, bench, known) if claim.clauses else _cited(claim, at, bench, known)
        return replace(checked, unknown=unknown, dropped=dropped) if unknown else checked
    inherited = _inherited(claim, at, bench) if claim.inherited else None
    if inherited is not None and inherited.verdict == "supported":
        return inherited
    better, match = _best(bench, bench.each(at))
    if inherited is not None and better is None:
        return inherited
    if not marked:
        return _attributed(claim, bench, match if better is not None else _merged(at, bench, match))
    verdict: Verdict = "dropped" if dropped else "unknown_marker" if unknown else "uncited"
    return CheckedClaim(
        claim,
        verdict,
        match.score,
        missing=match.missing,
        better=better,
        better_support=_first(bench.places(match)) if better is not None else None,
        unknown=unknown,
        dropped=dropped,
    )


def _cited(claim: Claim, at: int, bench: Bench, known: tuple[int, ...]) -> CheckedClaim:
    """The verdict on a claim by the sources that it cites; where they do not carry it, against all others."""
    weighed = bench.weighed(at, known)
    match = weighed.match
    places = bench.places(match)
    checked = CheckedClaim(claim, "unsupported", weighed.score, places, match.missing, match.conflict, gated=match.gated, idle=weighed.idle)
    if weighed.carried:
        return replace(checked, verdict="supported", carried=True)
    if weighed.is_match:
        return replace(checked, verdict="partly", conflict=_against(at, bench, checked.idle), carried=True)
    better, other = _best(bench, bench.each(at, but=known, least=bench.scorer.threshold))
    if better is not None:
        checked = replace(checked, better=better, better_support=_first(bench.places(other)))
    if match.conflict is not None:
        return replace(checked, verdict="contradicted", support=_where(checked.support, match.conflict))
    if better is not None:
        return replace(checked, verdict="elsewhere")
    if (summary := bench.carried(at, known, summaries=True)) is not None:
        return replace(checked, verdict="prefix_only", summary_support=_in_summary(bench, summary))
    return replace(checked, verdict="partly" if checked.support else "unsupported")


_WORST: tuple[Verdict, ...] = (
    "contradicted",
    "elsewhere",
    "unknown_marker",
    "dropped",
    "unsupported",
    "uncited",
    "prefix_only",
    "partly",
    "supported",
)


def _by_clause(claim: Claim, at: int, bench: Bench, known: tuple[int, ...]) -> CheckedClaim:
    """The verdict on a claim whose clauses cite for themselves: that of the worst of them.

    Where some are carried and others not found, the claim is carried in part. So it is where each is carried, but all of their sources
    together hold less than a part of the whole, or say otherwise.
    """
    first = bench.clauses[at]
    clauses = tuple(judge(clause, first + place, bench, marked=True) for place, clause in enumerate(claim.clauses))
    worst = min(clauses, key=lambda clause: (_WORST.index(clause.verdict), clause.score))
    checked = replace(
        worst,
        claim=claim,
        support=_each(clause.support for clause in clauses),
        missing=_each(clause.missing for clause in clauses if worst.verdict == "supported" or clause.verdict != "supported"),
        gated=_each(clause.gated for clause in clauses),
        idle=_each(clause.idle for clause in clauses),
        clauses=clauses,
    )
    if worst.verdict == "supported":
        whole = bench.together(at, known)
        if whole.score < bench.scorer.partly or whole.conflict is not None:
            score = min(whole.score, worst.score)
            return replace(checked, verdict="partly", score=score, missing=whole.missing, conflict=whole.conflict, gated=whole.gated)
    elif worst.verdict in ("unsupported", "uncited") and checked.support:
        return replace(checked, verdict="partly")
    return checked


def _each(groups: Iterable[tuple[_Item, ...]]) -> tuple[_Item, ...]:
    """What the groups hold, each once, in order."""
    return tuple(dict.fromkeys(item for group in groups for item in group))


def _inherited(claim: Claim, at: int, bench: Bench) -> CheckedClaim | None:
    """The verdict on a claim by the sources that its block cites; None where they carry nothing of it.

    They may be meant for other claims of the block: none weighs against this one, and one that says otherwise is told, but
    contradicts nothing.
    """
    known = tuple(number for number in claim.inherited if number in bench.positions)
    match = bench.together(at, known)
    places = bench.places(match)
    if bench.carries(match):
        return CheckedClaim(claim, "supported", match.score, places, match.missing)
    if not places:
        return None
    return CheckedClaim(claim, "partly", match.score, places, match.missing, match.conflict, gated=match.gated)


def _against(at: int, bench: Bench, numbers: Sequence[int]) -> Conflict | None:
    """What a cited source says otherwise, although others carry the claim."""
    found = (bench.together(at, (number,)).conflict for number in numbers)
    return next((conflict for conflict in found if conflict is not None), None)


def _merged(at: int, bench: Bench, best: Match) -> Match:
    """The match of all sources together where that is one, else the best alone."""
    return bench.carried(at, tuple(bench.positions)) or best


def _attributed(claim: Claim, bench: Bench, match: Match) -> CheckedClaim:
    verdict: Verdict = "contradicted" if match.conflict is not None else "supported" if bench.carries(match) else "no_source"
    places = bench.places(match) if verdict != "no_source" else ()
    if match.conflict is not None:
        places = _where(places, match.conflict)
    return CheckedClaim(claim, verdict, match.score, places, match.missing, match.conflict, gated=match.gated)


def _best(bench: Bench, each: Mapping[int, Match]) -> tuple[int | None, Match]:
    """The source that matches best, and its number where that is a match at all; the lowest number of equals."""
    ranked = sorted(each.items(), key=lambda item: (not bench.carries(item[1]), -item[1].score, item[0]))
    if not ranked:
        return None, NO_MATCH
    number, match = ranked[0]
    return (number if bench.carries(match) else None), match


def _in_summary(bench: Bench, match: Match) -> Support | None:
    """The first stretch of a match that lies in a page summary."""
    by_number = {ground.source.number: ground for ground in bench.grounds.items}
    for found in match.found:
        summary = by_number[found.number].summary
        if summary is not None and any(low <= found.start < high for low, high in summary.ranges):
            return by_number[found.number].support(found)
    return None


def _where(places: tuple[Support, ...], conflict: Conflict) -> tuple[Support, ...]:
    """The places that hold the words of a conflict, all where none does."""
    return tuple(p for p in places if p.number == conflict.number and p.start <= conflict.start < p.end) or places


def _first(places: Sequence[Support]) -> Support | None:
    return places[0] if places else None


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
