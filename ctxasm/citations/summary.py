"""What a check found of many answers together, in sentences and in figures.

Figures are pooled (micro averages): every claim and every citation counts once, whatever answer it stands in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ctxasm.citations.checked import (
    DECLINED,
    NOTHING_TO_CHECK,
    CheckedAnswer,
    Figures,
    Verdict,
    counted,
    figures_dict,
    has_problem,
    in_order,
    is_declined_answer,
    verdicts_sentence,
)
from ctxasm.citations.figures import figures_of_counts
from ctxasm.model.support import Spent


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
            "verdicts": in_order(self.verdicts),
            "figures": figures_dict(self.figures),
            "spent": self.spent._asdict(),
            "elapsed_ms": round(self.elapsed_ms, 4),
        }

    def sentences(self) -> tuple[str, ...]:
        """The same in words: answers, claims, figures."""
        parts = [counted(self.answers, "answer"), f"{self.with_problems} with a problem"]
        parts += [f"{self.declined} {DECLINED}"] if self.declined else []
        parts += [f"{self.empty} with {NOTHING_TO_CHECK}"] if self.empty else []
        claims = verdicts_sentence(self.verdicts) if self.verdicts else NOTHING_TO_CHECK
        return (", ".join(parts), claims, *figures_sentence(self.figures))


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
    return (f"{words} over {counted(figures.claims, 'claim')} and {counted(figures.citations, 'citation')}",)
