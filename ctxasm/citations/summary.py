"""What a check found, in a sentence and in figures: of one answer, and of many together.

A *problem* is a claim that is neither carried by what it cites nor declined, or a number that no source has. Figures of
many answers are pooled (micro averages): every claim and every citation counts once, whatever answer it stands in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ctxasm.citations.checked import CheckedAnswer, CheckedClaim, Figures, Verdict
from ctxasm.citations.figures import figures_of_counts
from ctxasm.model.support import Spent

VERDICTS: tuple[Verdict, ...] = (
    "supported",
    "partly",
    "elsewhere",
    "prefix_only",
    "contradicted",
    "unsupported",
    "uncited",
    "unknown_marker",
    "dropped",
    "no_source",
    "declined",
)
"""All verdicts, in the order in which a summary names them."""
PROBLEMS: tuple[Verdict, ...] = tuple(verdict for verdict in VERDICTS if verdict not in ("supported", "declined"))
NOTHING_TO_CHECK, DECLINED = "nothing to check", "declined"
_WORDS: dict[Verdict, str] = {
    "partly": "partly supported",
    "elsewhere": "points elsewhere",
    "prefix_only": "summary only",
    "unsupported": "not found",
    "unknown_marker": "unknown source",
    "dropped": "source dropped",
    "no_source": "no source",
}


def verdict_words(verdict: Verdict, count: int = 1) -> str:
    """A verdict as a label, or after `count` in a summary."""
    return "point elsewhere" if verdict == "elsewhere" and count > 1 else _WORDS.get(verdict, verdict)


def summary_sentence(checked: CheckedAnswer) -> str:
    """Such as "6 claims: 4 supported, 1 points elsewhere, 1 uncited"; "declined"; or "nothing to check"."""
    counts = Counter(claim.verdict for claim in checked.claims)
    if not counts:
        said = NOTHING_TO_CHECK
    elif counts.keys() == {"declined"}:
        said = DECLINED
    else:
        said = _sentence(counts)
    told = {number for claim in checked.claims if claim.verdict in ("unknown_marker", "dropped") for number in claim.unknown}
    if untold := [number for number in unknown_numbers(checked) if number not in told]:
        said += f"; unknown number{'s' if len(untold) > 1 else ''} {''.join(f'[{number}]' for number in untold)}"
    return said


def summary_dict(checked: CheckedAnswer) -> dict[str, Any]:
    """The summary of one answer for its JSON. `verdicts` has those that occur, in the order of VERDICTS."""
    return {
        "sentence": summary_sentence(checked),
        "claims": len(checked.claims),
        "verdicts": _in_order(Counter(claim.verdict for claim in checked.claims)),
        "problems": len(problem_claims(checked)),
        "unknown_numbers": list(unknown_numbers(checked)),
        "declined": is_declined_answer(checked),
    }


def problem_claims(checked: CheckedAnswer) -> tuple[CheckedClaim, ...]:
    """The claims that a reader should look at, in order."""
    return tuple(claim for claim in checked.claims if claim.verdict in PROBLEMS or claim.unknown)


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
    return bool(checked.claims) and all(claim.verdict == "declined" for claim in checked.claims)


@dataclass(slots=True)
class Totals:
    """Many checked answers, added one by one so that none has to be kept."""

    answers: int = 0
    with_problems: int = 0
    declined: int = 0
    empty: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
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
        self.verdicts.update(claim.verdict for claim in checked.claims)
        self.elapsed_ms += checked.elapsed_ms
        self.spent = Spent(*(before + now for before, now in zip(self.spent, checked.spent, strict=True)))
        figures = checked.figures
        self._claims += figures.claims
        self._citations += figures.citations
        self._carried += round((figures.recall or 0) * figures.claims)
        self._needed += round((figures.precision or 0) * figures.citations)
        self._reachable += round((figures.coverage or 0) * figures.claims)

    @property
    def figures(self) -> Figures:
        """The pooled figures."""
        return figures_of_counts(self._claims, self._citations, self._carried, self._needed, self._reachable)

    def to_dict(self) -> dict[str, Any]:
        """The summary of many answers for JSON."""
        return {
            "answers": self.answers,
            "with_problems": self.with_problems,
            "declined": self.declined,
            "nothing_to_check": self.empty,
            "claims": self.verdicts.total(),
            "verdicts": _in_order(self.verdicts),
            "figures": figures_dict(self.figures),
            "spent": self.spent._asdict(),
            "elapsed_ms": round(self.elapsed_ms, 4),
        }

    def sentences(self) -> tuple[str, ...]:
        """The same in words: answers, claims, figures."""
        parts = [_counted(self.answers, "answer"), f"{self.with_problems} with a problem"]
        parts += [f"{self.declined} {DECLINED}"] if self.declined else []
        parts += [f"{self.empty} with {NOTHING_TO_CHECK}"] if self.empty else []
        claims = _sentence(self.verdicts) if self.verdicts else NOTHING_TO_CHECK
        return (", ".join(parts), claims, *figures_sentence(self.figures))


def figures_dict(figures: Figures) -> dict[str, Any]:
    """Figures for JSON; a share of nothing is null."""
    return {name: getattr(figures, name) for name in ("claims", "citations", "recall", "precision", "f1", "coverage")}


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
    words = ", ".join(f"{name} {'–' if value is None else f'{value:.2f}'}" for name, value in shares)
    return (f"{words} over {_counted(figures.claims, 'claim')} and {_counted(figures.citations, 'citation')}",)


def _sentence(counts: Counter[Verdict]) -> str:
    ordered = _in_order(counts)
    total = sum(ordered.values())
    return f"{_counted(total, 'claim')}: {', '.join(f'{count} {verdict_words(verdict, count)}' for verdict, count in ordered.items())}"


def _in_order(counts: Counter[Verdict]) -> dict[Verdict, int]:
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
