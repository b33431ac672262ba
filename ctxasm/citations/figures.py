"""Citation figures of an answer, after ALCE (Gao et al. 2023), and claim coverage, after CiteEval (Xu et al. 2025).

A citation is needed when its source carries the claim alone, or when the others cited do not carry it without it. Only
a claim that its citations carry together has needed citations; an unknown number is never needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.citations.checked import CheckedClaim, Figures
from ctxasm.citations.verdicts import Bench


def figures_of(claims: Sequence[CheckedClaim], bench: Bench) -> Figures:
    """The figures of the claims that were judged, in the order in which they were compared. Declined ones are not among them."""
    stating = carried = reachable = citations = needed = 0
    for at, checked in enumerate(claims):
        known = [number for number in checked.claim.cited if number in bench.positions]
        cited = bool(known) and bench.carries(bench.together(at, known))
        citations += len(checked.claim.cited)
        if cited:
            needed += sum(_needed(bench, at, number, known) for number in known)
        if checked.claim.states:
            stating += 1
            carried += cited
            reachable += cited or _is_reachable(bench, at)
    return figures_of_counts(stating, citations, carried, needed, reachable)


def figures_of_counts(claims: int, citations: int, carried: int, needed: int, reachable: int) -> Figures:
    """The shares of these counts; None for a share of nothing."""
    recall, precision = _share(carried, claims), _share(needed, citations)
    return Figures(claims, citations, recall, precision, _f1(recall, precision), _share(reachable, claims))


def _is_reachable(bench: Bench, at: int) -> bool:
    """Whether any source of the context carries a claim, or those that carry something of it do so together."""
    each = bench.each(at)
    if any(bench.carries(match) for match in each.values()):
        return True
    several = [number for number, match in each.items() if match.score >= bench.scorer.partly / 2]
    return len(several) > 1 and bench.carries(bench.together(at, several))


def _needed(bench: Bench, at: int, number: int, known: Sequence[int]) -> bool:
    rest = [other for other in known if other != number]
    return bench.carries(bench.together(at, (number,))) or not bench.carries(bench.together(at, rest))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _f1(recall: float | None, precision: float | None) -> float | None:
    if recall is None or precision is None:
        return None
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
