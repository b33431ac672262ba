"""What a check found, of one answer or of many together, in sentences and in figures.

A *problem* is a claim that is neither carried by what it cites nor declined, one that another source disputes, or a number that no
source has. Figures of many are pooled (micro averages): every claim and every citation counts once, whatever answer it stands in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ctxasm.citations.axes import CITATION, SUPPORT, Part, count_parts, words
from ctxasm.citations.checked import VERDICTS, CheckedAnswer, CheckedClaim, Figures, Share, Verdict
from ctxasm.citations.figures import figures_of_counts
from ctxasm.model.support import Spent

PROBLEMS: tuple[Verdict, ...] = tuple(verdict for verdict in VERDICTS if verdict not in ("supported", "declined"))
NOTHING_TO_CHECK = "nothing to check"
DECLINED: Literal["declined"] = "declined"
MAY_NOT_ANSWER = "may not answer the question"


def summary_sentence(checked: CheckedAnswer) -> str:
    """Such as "6 claims: 5 supported, 1 not found; 1 disputed; citation: 1 wrong number; may not answer the question"; "declined"."""
    if not checked.claims:
        said = NOTHING_TO_CHECK
    elif is_declined_answer(checked):
        said = DECLINED
    else:
        said = claims_sentence(len(checked.claims), _declined(checked), count_parts(checked))
    told = {number for claim in checked.claims for number in claim.unknown}
    if untold := [number for number in unknown_numbers(checked) if number not in told]:
        said += f"; unknown number{'s' if len(untold) > 1 else ''} {''.join(f'[{number}]' for number in untold)}"
    doubt = [MAY_NOT_ANSWER] if may_not_answer(checked) else []
    return "; ".join((said, *doubt, *filter(None, (uses_sentence(checked.passages), facts_sentence(checked.facts)))))


def claims_sentence(claims: int, declined: int, parts: Counter[Part]) -> str:
    """Such as "6 claims: 4 supported, 1 not found; 1 disputed; citation: 1 wrong number"; supported are those that are also cited right."""
    support = [f"{parts[name]} {words(name)}" for name in SUPPORT if parts[name]] + ([f"{declined} {DECLINED}"] if declined else [])
    citation = [f"{parts[name]} {words(name)}" for name in CITATION if parts[name] and name != "right"]
    said = [f"{counted(claims, 'claim')}{': ' if support else ''}{', '.join(support)}"]
    said += [f"{parts['disputed']} disputed"] if parts["disputed"] else []
    said += [f"citation: {', '.join(citation)}"] if citation else []
    return "; ".join(said)


def uses_sentence(passages: Share) -> str:
    """How many of the passages that the labels of the question expect an answer stands on; empty where none is expected."""
    return f"uses {passages.used} of {counted(passages.expected, 'expected passage')}" if passages.expected else ""


def facts_sentence(facts: Share) -> str:
    """How many of the facts of a reference answer were found in an answer; empty where there is none."""
    return f"{facts.used} of {counted(facts.expected, 'fact')} of the reference found" if facts.expected else ""


def may_not_answer(checked: CheckedAnswer) -> bool:
    """Whether an answer, however well it is carried, may be one to another question."""
    return checked.addressed is not None and checked.addressed.is_doubtful


def summary_dict(checked: CheckedAnswer) -> dict[str, Any]:
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
    """How many claims have each value of the two axes, those that occur, and how many are disputed; `full` are cited right, too."""
    return {
        "support": {name: parts[name] for name in SUPPORT if parts[name]},
        "citation": {name: parts[name] for name in CITATION if parts[name]},
        "disputed": parts["disputed"],
    }


def problem_claims(checked: CheckedAnswer) -> tuple[CheckedClaim, ...]:
    """The claims that a reader should look at, in order."""
    return tuple(claim for claim in checked.claims if claim.verdict in PROBLEMS or claim.unknown or claim.disputed)


def unknown_numbers(checked: CheckedAnswer) -> tuple[int, ...]:
    """The numbers that the answer cites and no source has, each once, ascending."""
    unknown = {number for marker in checked.markers for number in marker.unknown}
    return tuple(sorted(unknown.union(*(claim.unknown for claim in checked.claims))))


def has_unknown(checked: CheckedAnswer) -> bool:
    """Whether the answer cites a number that no source has, or has a marker that names none (`[3-1]`)."""
    return bool(unknown_numbers(checked)) or any(not marker.is_sound for marker in checked.markers)


def has_problem(checked: CheckedAnswer) -> bool:
    """Whether anything in the answer needs a look."""
    return bool(problem_claims(checked)) or has_unknown(checked)


def is_declined_answer(checked: CheckedAnswer) -> bool:
    """Whether the answer says nothing but that it does not answer."""
    return bool(checked.claims) and _declined(checked) == len(checked.claims)


def _declined(checked: CheckedAnswer) -> int:
    return sum(claim.verdict == "declined" for claim in checked.claims)


def in_order(counts: Counter[Verdict]) -> dict[Verdict, int]:
    """Those that occur, in the order of VERDICTS."""
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def counted(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


@dataclass(slots=True)
class Totals:
    """Many checked answers, added one by one so that none has to be kept."""

    answers: int = 0
    with_problems: int = 0
    declined: int = 0
    empty: int = 0
    may_not_answer: int = 0
    withheld: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    parts: Counter[Part] = field(default_factory=Counter)
    passages: Share = Share(0, 0)
    facts: Share = Share(0, 0)
    elapsed_ms: float = 0.0
    spent: Spent = Spent()
    _claims: int = 0
    _citations: int = 0
    _carried: int = 0
    _needed: int = 0
    _reachable: int = 0

    def add(self, checked: CheckedAnswer) -> None:
        """Count one more answer."""
        self.answers += 1
        self.with_problems += has_problem(checked)
        self.declined += is_declined_answer(checked)
        self.empty += not checked.claims
        self.may_not_answer += may_not_answer(checked)
        self.verdicts.update(claim.verdict for claim in checked.claims)
        self.parts += count_parts(checked)
        self.passages = _sum(self.passages, checked.passages)
        self.facts = _sum(self.facts, checked.facts)
        self.elapsed_ms += checked.elapsed_ms
        self.spent = Spent(*(before + now for before, now in zip(self.spent, checked.spent, strict=True)))
        figures = checked.figures
        if figures.withheld:
            self.withheld += 1
            return
        self._claims += figures.claims
        self._citations += figures.citations
        self._carried += round((figures.recall or 0) * figures.claims)
        self._needed += round((figures.precision or 0) * figures.citations)
        self._reachable += round((figures.coverage or 0) * figures.claims)

    @property
    def figures(self) -> Figures:
        """The pooled figures, of the answers that have any."""
        return figures_of_counts(self._claims, self._citations, self._carried, self._needed, self._reachable)

    def to_dict(self) -> dict[str, Any]:
        """The summary of many answers for JSON."""
        return {
            "answers": self.answers,
            "with_problems": self.with_problems,
            "declined": self.declined,
            "nothing_to_check": self.empty,
            "may_not_answer": self.may_not_answer,
            "claims": self.verdicts.total(),
            "verdicts": in_order(self.verdicts),
            "axes": axes_dict(self.parts),
            "passages": self.passages._asdict(),
            "facts": self.facts._asdict(),
            "figures": {**asdict(self.figures), "withheld": self.withheld},
            "spent": self.spent._asdict(),
            "elapsed_ms": round(self.elapsed_ms, 4),
        }

    def sentences(self) -> tuple[str, ...]:
        """The same in words: answers, claims, figures."""
        parts = [counted(self.answers, "answer"), f"{self.with_problems} with a problem"]
        parts += [f"{self.declined} {DECLINED}"] if self.declined else []
        parts += [f"{self.empty} with {NOTHING_TO_CHECK}"] if self.empty else []
        parts += [f"{self.may_not_answer} that {MAY_NOT_ANSWER}"] if self.may_not_answer else []
        claims = self.verdicts.total()
        said = claims_sentence(claims, self.verdicts["declined"], self.parts) if claims else NOTHING_TO_CHECK
        labels = filter(None, (uses_sentence(self.passages), facts_sentence(self.facts)))
        return (", ".join(parts), said, *labels, *self._figures_sentences())

    def _figures_sentences(self) -> tuple[str, ...]:
        without = f"no shares over {counted(self.withheld, 'answer')} (cut, declined or only quoting)"
        return (*figures_sentence(self.figures), *((without,) if self.withheld else ()))


def _sum(one: Share, other: Share) -> Share:
    return Share(one.used + other.used, one.expected + other.expected)


def figures_sentence(figures: Figures) -> tuple[str, ...]:
    """Such as "citation recall 0.83, precision 0.75, F1 0.79, coverage 0.83 over 6 claims and 8 citations"; nothing for no claims."""
    if not figures.claims and not figures.citations:
        return ()
    shares = (
        ("citation recall", figures.recall),
        ("precision", figures.precision),
        ("F1", figures.f1),
        ("coverage", figures.coverage),
    )
    told = ", ".join(f"{name} {'–' if value is None else f'{value:.2f}'}" for name, value in shares)
    return (f"{told} over {counted(figures.claims, 'claim')} and {counted(figures.citations, 'citation')}",)
