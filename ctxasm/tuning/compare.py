"""Two settings on the same questions: who wins which question, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ctxasm.model.amounts import counted, interval, signed
from ctxasm.model.datasets import Dataset
from ctxasm.model.ports import Shelf
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.statistics.pairs import Interval, agresti_min, p_words, sign_flip_p
from ctxasm.tuning.sweep.counting import Outcome, Tools
from ctxasm.tuning.sweep.results import SweepResult
from ctxasm.tuning.sweep.sweep import LimitOf, grid_of, sweep
from ctxasm.tuning.sweep.work import Engine


class QuestionDelta(NamedTuple):
    """One question under both. `change` is "better" or "worse" for B by pieces of evidence found, "unchanged", or "unlabelled"."""

    query_id: str
    a: Outcome
    b: Outcome
    change: str

    @property
    def tokens(self) -> int:
        """By how many tokens B's context is longer."""
        return self.b.tokens - self.a.tokens


@dataclass(frozen=True)
class Comparison:
    """B against A. `difference` is by how much more of the labelled questions have all their evidence in B's context, with its
    `interval`; `p` is two-sided. `better` and `worse` questions are those that only B, or only A, holds whole.
    """

    a: AssemblySettings
    b: AssemblySettings
    questions: tuple[QuestionDelta, ...]
    better: tuple[str, ...]
    worse: tuple[str, ...]
    labelled: int
    whole_a: int
    whole_b: int
    ceiling: int
    tokens_a: float
    tokens_b: float
    interval: Interval
    p: float
    swept: SweepResult

    @property
    def difference(self) -> float:
        """Of the shares of questions, B minus A."""
        return (self.whole_b - self.whole_a) / self.labelled if self.labelled else 0.0

    @property
    def ties(self) -> int:
        """Labelled questions that both hold, or neither."""
        return self.labelled - len(self.better) - len(self.worse)

    def sentence(self) -> str:
        """What came of it, with how sure that is."""
        if not self.labelled:
            return f"No question is labelled with its evidence; B takes {self.tokens_b:,.0f} tokens a question, A {self.tokens_a:,.0f}."
        low, high = self.interval.low * 100, self.interval.high * 100
        sure = "more than chance explains" if self.p <= 0.05 else "within noise"
        hits = f"the hits with {self.swept.reach} neighbours could give {self.ceiling}"
        return (
            f"B holds the evidence of {self.whole_b} of {counted(self.labelled, 'question')}, A of {self.whole_a} ({hits}): "
            f"{signed(self.difference * 100, 1)} points {interval(low, high, 1)}, {sure} ({p_words(self.p)}); "
            f"{self.tokens_b:,.0f} tokens a question in place of {self.tokens_a:,.0f}."
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "dataset": self.swept.dataset,
            "digest": self.swept.digest,
            "version": self.swept.version,
            "a": self.a.changed(),
            "b": self.b.changed(),
            "sentence": self.sentence(),
            "labelled": self.labelled,
            "gold": self.swept.gold,
            "whole": {"a": self.whole_a, "b": self.whole_b, "ceiling": self.ceiling},
            "tokens": {"a": round(self.tokens_a, 3), "b": round(self.tokens_b, 3)},
            "difference": round(self.difference, 6),
            "interval": [round(self.interval.low, 6), round(self.interval.high, 6)],
            "level": self.interval.level,
            "p": round(self.p, 6),
            "win": len(self.better),
            "tie": self.ties,
            "loss": len(self.worse),
            "better": list(self.better),
            "worse": list(self.worse),
            "failures": dict(self.swept.failures),
            "questions": [
                {"query_id": each.query_id, "a": each.a._asdict(), "b": each.b._asdict(), "tokens": each.tokens, "change": each.change}
                for each in self.questions
            ],
        }


def compare(
    dataset: Dataset,
    queries: Sequence[Query],
    a: AssemblySettings,
    b: AssemblySettings,
    tools: Tools,
    version: str,
    *,
    keep: Shelf | None = None,
    engine: Engine | None = None,
    limit_of: LimitOf | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Comparison:
    """Count both, and say which questions differ. Raises as `sweep`."""
    grid = grid_of(a, [a, b], {})
    found = sweep(dataset, queries, grid, tools, version, keep=keep, engine=engine, limit_of=limit_of, report=report, cancelled=cancelled)
    return compared(found, 0, found.settings.index(b))


def compared(found: SweepResult, a: int, b: int) -> Comparison:
    """Two settings of a sweep."""
    better, worse = found.flips(b, a)
    n = len(found.labelled)
    return Comparison(
        found.settings[a],
        found.settings[b],
        tuple(_deltas(found, a, b)),
        better,
        worse,
        n,
        int(found.whole[a].sum()),
        int(found.whole[b].sum()),
        int(found.reachable.sum()),
        found.tokens(a),
        found.tokens(b),
        agresti_min(len(better), len(worse), n),
        sign_flip_p(found.differences(b, a)),
        found,
    )


def _deltas(found: SweepResult, a: int, b: int) -> list[QuestionDelta]:
    deltas = []
    for at, query_id in enumerate(found.query_ids):
        one, other = found.outcome(a, at), found.outcome(b, at)
        if one is not None and other is not None:
            change = "better" if other.found > one.found else "worse" if other.found < one.found else "unchanged"
            deltas.append(QuestionDelta(query_id, one, other, change if one.needed else "unlabelled"))
    return deltas
