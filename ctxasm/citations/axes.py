"""A verdict as the two things that people ask about a claim: is it so (support), and does its number lead there (citation). Pure.

The eleven verdicts say how a claim was judged; these two say what of it is good. They are worked out here and nowhere else, and so
are their words. A claim with clauses has the worst of their citations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol, assert_never, get_args

from ctxasm.citations.checked import CheckedClaim

InSources = Literal["full", "partly", "not_found", "contradicted"]
"""How much of a claim the sources of the context carry, cited or not."""
ByNumber = Literal["right", "inherited", "missing", "wrong_number", "dropped", "unknown"]
"""Whether the number behind a claim leads to what carries it."""
Part = Literal[InSources, ByNumber, "disputed"]
"""What a claim can be counted, shown or failed under."""
SUPPORT: tuple[InSources, ...] = get_args(InSources)
CITATION: tuple[ByNumber, ...] = get_args(ByNumber)
"""Both from good to bad."""
Shown = Part | Literal["declined"]
"""What a claim is shown as: its worst part, or that it declines."""
WORST: tuple[Part, ...] = (
    "contradicted",
    "unknown",
    "dropped",
    "not_found",
    "disputed",
    "wrong_number",
    "partly",
    "missing",
    "inherited",
    "full",
    "right",
)
"""All of them, in the order in which a reader should look."""
WORDS: dict[Part, str] = {
    "full": "supported",
    "not_found": "not found",
    "wrong_number": "wrong number",
    "missing": "no citation",
    "unknown": "unknown number",
    "dropped": "source dropped",
    "right": "right number",
}
FINE: frozenset[Part] = frozenset({"full", "right", "inherited"})
"""What asks nothing of a reader."""


class Axes(NamedTuple):
    """`support` is None for a claim that declines; `citation` also where no number is asked for, or where nothing carries the claim, so
    that no number could be right."""

    support: InSources | None = None
    citation: ByNumber | None = None


class JudgedAnswer(Protocol):
    """What of a checked answer its axes are worked out from."""

    @property
    def claims(self) -> tuple[CheckedClaim, ...]: ...
    @property
    def threshold(self) -> float: ...
    @property
    def marked(self) -> bool: ...


def axes_of(checked: CheckedClaim, answer: JudgedAnswer) -> Axes:
    """The two axes of a claim of `answer`."""
    support = support_of(checked, answer.threshold)
    if not answer.marked:
        return Axes(support)
    if not checked.clauses:
        return Axes(support, _citation(checked, support))
    each = (_citation(clause, support_of(clause, answer.threshold)) for clause in checked.clauses)
    return Axes(support, max((found for found in each if found), key=CITATION.index, default=None))


def support_of(checked: CheckedClaim, threshold: float) -> InSources | None:
    """How much of a claim the sources carry, by a scorer with this threshold; partly, where they carry only some of its clauses."""
    if checked.clauses:
        each = {support_of(clause, threshold) for clause in checked.clauses}
        if "contradicted" in each:
            return "contradicted"
        alike = each.pop() if len(each) == 1 else "partly"
        return "partly" if alike == "full" and checked.verdict == "partly" and not checked.idle else alike
    match checked.verdict:
        case "declined":
            return None
        case "contradicted":
            return "contradicted"
        case "supported" | "elsewhere":
            return "full"
        case "partly":
            # All of it may be carried, beside a cited source that carries nothing; the claim's own score does not tell, it is lowered.
            whole = bool(checked.idle) and any(found.score >= threshold for found in checked.support)
            return "full" if whole else "partly"
        case "prefix_only" | "unsupported" | "no_source":
            return "partly" if checked.support else "not_found"
        case "uncited" | "unknown_marker" | "dropped":
            return "full" if checked.better is not None else "not_found"


def _citation(checked: CheckedClaim, support: InSources | None) -> ByNumber | None:
    if checked.unknown:
        explained = checked.verdict == "dropped" or {source.number for source in checked.dropped} >= {*checked.unknown}
        return "dropped" if explained else "unknown"
    if support is None:
        return None
    if not checked.claim.cited:
        return "inherited" if checked.claim.inherited and checked.verdict in ("supported", "partly") else "missing"
    if checked.better is not None or (checked.idle and support in ("full", "partly")):
        return "wrong_number"
    if support == "not_found":
        return None
    return "right"


def parts_of(checked: CheckedClaim, answer: JudgedAnswer) -> tuple[Part, ...]:
    """Everything that a claim is to be counted under, worst first.

    `full`, the check mark, only where the claim is also cited right, itself or by its block, or no number is asked for, and no other
    source disputes it.
    """
    axes = axes_of(checked, answer)
    is_sound = (axes.citation is None or axes.citation in FINE) and checked.disputed is None
    support = axes.support if axes.support != "full" or is_sound else None
    found: Iterable[Part | None] = (support, axes.citation, "disputed" if checked.disputed else None)
    return tuple(sorted((part for part in found if part), key=WORST.index))


def doubtful(answer: JudgedAnswer) -> tuple[CheckedClaim, ...]:
    """The claims that no source is found to carry in full: worth a second look by a scorer that understands more."""
    return tuple(claim for claim in answer.claims if axes_of(claim, answer).support not in ("full", None))


def count_parts(answer: JudgedAnswer) -> Counter[Part]:
    """How many claims of an answer are counted under each."""
    return Counter(part for claim in answer.claims for part in parts_of(claim, answer))


def words(part: Part) -> str:
    """One of them as a label, or after a count."""
    return WORDS.get(part, part)


def label(checked: CheckedClaim, answer: JudgedAnswer) -> str:
    """A claim in a few words: `supported`, `supported, wrong number`, `partly, disputed`; `declined`."""
    axes = axes_of(checked, answer)
    said: Iterable[Part | None] = (
        axes.support,
        axes.citation if axes.citation != "right" else None,
        "disputed" if checked.disputed else None,
    )
    return ", ".join(words(part) for part in said if part) or checked.verdict


def is_carried(checked: CheckedClaim, answer: JudgedAnswer) -> bool:
    """Whether the sources that a claim cites carry all of it."""
    return axes_of(checked, answer).support == "full" and checked.verdict in ("supported", "partly")


def sign(part: Shown) -> str:
    """The sign that stands for a part beside its colour."""
    match part:
        case "full" | "right":
            return "✓"
        case "inherited":
            return "↑"
        case "partly":
            return "◐"
        case "not_found":
            return "?"
        case "contradicted":
            return "≠"
        case "disputed":
            return "⇄"
        case "wrong_number":
            return "→"
        case "missing":
            return "–"
        case "unknown":
            return "✗"
        case "dropped":
            return "⌀"
        case "declined":
            return "∅"
        case _:
            assert_never(part)
