"""What a check found of an answer, in a sentence and in counts.

A *problem* is a claim that is neither carried by what it cites nor declined, one that another source disputes, or a number that no
source has.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, Protocol

from ctxasm.citations.axes import CITATION, SUPPORT, JudgedAnswer, Part, count_parts, words
from ctxasm.citations.checked import VERDICTS, Addressed, CheckedClaim, Share, Verdict
from ctxasm.citations.markers import ResolvedMarker
from ctxasm.model.amounts import agreeing, counted

PROBLEMS: tuple[Verdict, ...] = tuple(verdict for verdict in VERDICTS if verdict not in ("supported", "declined"))
NOTHING_TO_CHECK = "nothing to check"
DECLINED: Literal["declined"] = "declined"
MAY_NOT_ANSWER = "may not answer the question"


class SummedAnswer(JudgedAnswer, Protocol):
    """What of a checked answer its summary is made of."""

    @property
    def markers(self) -> tuple[ResolvedMarker, ...]: ...
    @property
    def addressed(self) -> Addressed | None: ...
    @property
    def passages(self) -> Share: ...
    @property
    def facts(self) -> Share: ...


def summary_sentence(checked: SummedAnswer) -> str:
    """Such as "6 claims: 5 supported, 1 not found; 1 disputed; citation: 1 wrong number; may not answer the question"; "declined"."""
    if not checked.claims:
        said = NOTHING_TO_CHECK
    elif is_declined_answer(checked):
        said = DECLINED
    else:
        said = claims_sentence(len(checked.claims), _declined(checked), count_parts(checked))
    told = {number for claim in checked.claims for number in claim.unknown}
    if untold := [number for number in unknown_numbers(checked) if number not in told]:
        said += f"; unknown {agreeing(len(untold), 'number', 'numbers')} {''.join(f'[{number}]' for number in untold)}"
    doubt = [MAY_NOT_ANSWER] if may_not_answer(checked) else []
    return "; ".join((said, *doubt, *filter(None, (uses_sentence(checked.passages), facts_sentence(checked.facts)))))


def claims_sentence(claims: int, declined: int, parts: Counter[Part]) -> str:
    """Such as "6 claims: 4 supported, 1 not found; 1 disputed; citation: 1 wrong number"; supported are those with a check mark."""
    support = [f"{parts[name]} {words(name)}" for name in SUPPORT if parts[name]] + ([f"{declined} {DECLINED}"] if declined else [])
    citation = [f"{parts[name]} {words(name)}" for name in CITATION if parts[name] and name != "right"]
    said = [f"{counted(claims, 'claim')}{': ' if support else ''}{', '.join(support)}"]
    said += [f"{parts['disputed']} disputed"] if parts["disputed"] else []
    said += [f"citation: {', '.join(citation)}"] if citation else []
    return "; ".join(said)


def uses_sentence(passages: Share) -> str:
    """How many of the passages that the labels of the question expect an answer stands on; empty where none is expected."""
    return f"uses {passages.used} of {passages.expected:,} expected passages" if passages.expected else ""


def facts_sentence(facts: Share) -> str:
    """How many of the facts of a reference answer were found in an answer; empty where there is none."""
    return f"{facts.used} of {counted(facts.expected, 'fact')} of the reference found" if facts.expected else ""


def may_not_answer(checked: SummedAnswer) -> bool:
    """Whether an answer, however well it is carried, may be one to another question."""
    return checked.addressed is not None and checked.addressed.is_doubtful


def summary_dict(checked: SummedAnswer) -> dict[str, Any]:
    """The summary of one answer for its JSON. `verdicts` has those that occur, in the order of VERDICTS; `axes` what they come to."""
    return {
        "sentence": summary_sentence(checked),
        "claims": len(checked.claims),
        "verdicts": in_order(Counter(claim.verdict for claim in checked.claims)),
        "axes": axes_dict(count_parts(checked)),
        "problems": len(problem_claims(checked)),
        "unknown_numbers": list(unknown_numbers(checked)),
        "declined": is_declined_answer(checked),
        "may_not_answer": may_not_answer(checked),
    }


def axes_dict(parts: Counter[Part]) -> dict[str, Any]:
    """How many claims have each value of the two axes, those that occur, and how many are disputed; `full` are those with a check mark."""
    return {
        "support": {name: parts[name] for name in SUPPORT if parts[name]},
        "citation": {name: parts[name] for name in CITATION if parts[name]},
        "disputed": parts["disputed"],
    }


def problem_claims(checked: SummedAnswer) -> tuple[CheckedClaim, ...]:
    """The claims that a reader should look at, in order."""
    return tuple(claim for claim in checked.claims if claim.verdict in PROBLEMS or claim.unknown or claim.disputed)


def unknown_numbers(checked: SummedAnswer) -> tuple[int, ...]:
    """The numbers that the answer cites and no source has, each once, ascending."""
    unknown = {number for marker in checked.markers for number in marker.unknown}
    return tuple(sorted(unknown.union(*(claim.unknown for claim in checked.claims))))


def has_unknown(checked: SummedAnswer) -> bool:
    """Whether the answer cites a number that no source has, or has a marker that names none (`[3-1]`)."""
    return bool(unknown_numbers(checked)) or any(not marker.is_sound for marker in checked.markers)


def has_problem(checked: SummedAnswer) -> bool:
    """Whether anything in the answer needs a look."""
    return bool(problem_claims(checked)) or has_unknown(checked)


def is_declined_answer(checked: SummedAnswer) -> bool:
    """Whether the answer says nothing but that it does not answer."""
    return bool(checked.claims) and _declined(checked) == len(checked.claims)


def _declined(checked: SummedAnswer) -> int:
    return sum(claim.verdict == "declined" for claim in checked.claims)


def in_order(counts: Counter[Verdict]) -> dict[Verdict, int]:
    """Those that occur, in the order of VERDICTS."""
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}
