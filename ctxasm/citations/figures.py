"""Citation figures of an answer, after ALCE (Gao et al. 2023), and claim coverage, after CiteEval (Xu et al. 2025).

A citation is needed when its source carries the claim alone, or when the others cited do not carry it without it. Only
a claim that its citations carry together has needed citations; an unknown number is never needed.

There are no shares over an answer that was cut, that declines, or that does nothing but quote what it cites: they would be full of a
text that says little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from ctxasm.citations.checked import CheckedClaim, Claim, Figures, Withheld
from ctxasm.citations.verdicts import Bench

_AROUND = " .,;:!?…\"'“”‘’*_"
"""What may stand around a quote: its marker stood before the full stop."""


def figures_of(claims: Mapping[int, CheckedClaim], bench: Bench) -> Figures:
    """The figures of the claims that were judged, by their place in the comparison. Declined ones are not among them."""
    stating = carried = reachable = citations = needed = 0
    for at, checked in claims.items():
        claim = checked.claim
        each = [(bench.clauses[at] + place, clause) for place, clause in enumerate(claim.clauses)] or [(at, claim)]
        cited = all(_is_carried(bench, place, clause) for place, clause in each)
        for place, clause in each:
            citations += len(clause.cited)
            if _is_carried(bench, place, clause):
                known = _known(bench, clause)
                needed += sum(_needed(bench, place, number, known) for number in known)
        if claim.states:
            stating += 1
            carried += cited
            reachable += cited or _is_reachable(bench, at)
    return figures_of_counts(stating, citations, carried, needed, reachable)


def without_shares(figures: Figures, withheld: Withheld) -> Figures:
    """The counts alone, and why."""
    return Figures(figures.claims, figures.citations, None, None, None, None, withheld)


def only_quotes(claims: Iterable[CheckedClaim], bench: Bench) -> bool:
    """Whether every claim stands word by word in one source that it cites; where nothing is cited, in one that carries it."""
    sources = {source.number: source for source in bench.grounds.sources}

    @cache
    def parts(number: int) -> list[str]:
        source = sources.get(number)
        return [_squeezed(source.text[low:high]) for low, high in source.ranges] if source is not None else []

    def quotes(checked: CheckedClaim) -> bool:
        words = _squeezed(checked.claim.text).strip(_AROUND)
        numbers = checked.claim.cited or checked.claim.inherited or [support.number for support in checked.support]
        return bool(words) and any(words in part for number in numbers for part in parts(number))

    each = [part for checked in claims for part in checked.clauses or (checked,)]
    return bool(each) and all(quotes(checked) for checked in each)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _known(bench: Bench, claim: Claim) -> list[int]:
    return [number for number in claim.cited if number in bench.positions]


def _is_carried(bench: Bench, at: int, claim: Claim) -> bool:
    """Whether the sources that a claim cites, or inherits where it cites none, carry it together."""
    known = _known(bench, claim) or [number for number in claim.inherited if number in bench.positions]
    return bool(known) and bench.carries(bench.together(at, known))


def figures_of_counts(claims: int, citations: int, carried: int, needed: int, reachable: int) -> Figures:
    """The shares of these counts; None for a share of nothing."""
    recall, precision = _share(carried, claims), _share(needed, citations)
    return Figures(claims, citations, recall, precision, _f1(recall, precision), _share(reachable, claims))


def _is_reachable(bench: Bench, at: int) -> bool:
    """Whether any source of the context carries a claim, or those that carry something of it do so together."""
    each = bench.each(at, least=bench.scorer.partly / 2)
    if any(map(bench.carries, each.values())):
        return True
    return len(each) > 1 and bench.carries(bench.together(at, list(each)))


def _needed(bench: Bench, at: int, number: int, known: Sequence[int]) -> bool:
    rest = [other for other in known if other != number]
    return bench.carries(bench.together(at, (number,))) or not bench.carries(bench.together(at, rest))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _f1(recall: float | None, precision: float | None) -> float | None:
    if recall is None or precision is None:
        return None
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
