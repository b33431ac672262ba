"""What a check found of many answers together, in sentences and in figures.

Figures are pooled (micro averages): every claim and every citation counts once, whatever answer it stands in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from ctxasm.citations.axes import Part, count_parts
from ctxasm.citations.checked import Figures, Share, Verdict
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.citations.figures import figures_of_counts
from ctxasm.citations.summary import (
    DECLINED,
    MAY_NOT_ANSWER,
    NOTHING_TO_CHECK,
    axes_dict,
    claims_sentence,
    facts_sentence,
    has_problem,
    in_order,
    is_declined_answer,
    may_not_answer,
    uses_sentence,
)
from ctxasm.model.amounts import counted
from ctxasm.model.support import Spent


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
