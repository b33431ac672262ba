"""Two settings on the same questions: who wins which question, and whether that is more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.model.frames import data_frame
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.counting import Outcome
from ctxasm.tuning.statistics import PairedDifference, paired_difference
from ctxasm.tuning.sweep import SweepContext, grid_of, sweep
from ctxasm.tuning.sweep_results import SweepResult

if TYPE_CHECKING:
    from ctxasm.model.frames import DataFrame


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
    """B against A. `result` is by how much more of the labelled questions have all their evidence in B's context.

    `better` and `worse` questions are those that only B, or only A, holds whole. Tokens are means over all questions.
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
    result: PairedDifference
    swept: SweepResult

    @property
    def ties(self) -> int:
        """Labelled questions that both hold, or neither."""
        return self.labelled - len(self.better) - len(self.worse)

    def sentence(self) -> str:
        """What came of it, with how sure that is."""
        if not self.labelled:
            return f"No question is labelled with its evidence; B takes {self.tokens_b:,.0f} tokens a question, A {self.tokens_a:,.0f}."
        hits = f"the hits with {self.swept.reach} neighbours could give {self.ceiling}"
        return (
            f"B holds the evidence of {self.whole_b} of {self.labelled} questions, A of {self.whole_a} ({hits}): "
            f"{self.result.sentence()}; "
            f"{self.tokens_b:,.0f} tokens a question in place of {self.tokens_a:,.0f}."
        )

    def to_pandas(self) -> DataFrame:
        """A row a question: `query_id`, the pieces of evidence `found_a` and `found_b` of those `needed_a` and `needed_b`, `tokens_a` and
        `tokens_b` of the contexts, and the `change`, see `QuestionDelta`.
        """
        columns = ("query_id", "found_a", "needed_a", "tokens_a", "found_b", "needed_b", "tokens_b", "change")
        rows = ((q.query_id, q.a.found, q.a.needed, q.a.tokens, q.b.found, q.b.needed, q.b.tokens, q.change) for q in self.questions)
        return data_frame(rows, columns)

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
            **self.result.figures(),
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


def compare(context: SweepContext, a: AssemblySettings, b: AssemblySettings) -> Comparison:
    """Count both, and say which questions differ. Raises as `sweep`."""
    found = sweep(context, grid_of(a, [a, b], {}))
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
        paired_difference(found.differences(b, a)),
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
