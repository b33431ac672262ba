"""What `ctxasm assemble --all` says of the evidence, and when it fails a check: below a bar, or worse than a baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ctxasm.app.commands.options import say
from ctxasm.model.amounts import counted
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import read_regular
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.evidence import EvidenceState
from ctxasm.tuning.statistics import FEW, paired_difference

MEASURES = ("evidence", "whole")
"""evidence: the mean share of a question's pieces that are whole in its context; whole: the share of questions with all of them."""
NAMED = 10
"""Questions that a message names at most."""
LEAST_DROP = 0.01


class Bar(NamedTuple):
    """A measure must reach `least`."""

    measure: str
    least: float


def bar_of(text: str) -> Bar:
    """A bar from `evidence=0.9`. Raises InvalidInput."""
    name, equals, number = text.partition("=")
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if not equals or name not in MEASURES or not 0 <= least <= 1:
        raise InvalidInput(f"--fail-below is written evidence=0.9 or whole=0.9, with a number from 0 to 1, got {shown(text)}")
    return Bar(name, least)


@dataclass
class EvidenceTally:
    """The evidence of every question that was assembled: pieces that are there whole, and pieces that are needed."""

    questions: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def add(self, assembly: Assembly, states: tuple[EvidenceState, ...]) -> None:
        """Note a question: found, needed, tokens."""
        judged = [state for state in states if state.state != "unknown"]
        found = sum(state.state == "found" for state in judged)
        self.questions[assembly.query.query_id] = found, len(judged), assembly.token_count

    @property
    def labelled(self) -> dict[str, tuple[int, int, int]]:
        """The questions with evidence."""
        return {query_id: counts for query_id, counts in self.questions.items() if counts[1]}

    def measure(self, name: str) -> float | None:
        """One of `MEASURES`; None without labelled questions."""
        return measured(name, {query_id: counts[:2] for query_id, counts in self.labelled.items()})

    def sentence(self) -> str:
        """The evidence as one line."""
        labelled = self.labelled
        if not labelled:
            return "evidence: no question is labelled"
        whole = sum(found == needed for found, needed, _ in labelled.values())
        tokens = sum(counts[2] for counts in self.questions.values()) / len(self.questions)
        of = counted(len(labelled), "question")
        return f"evidence: {self.measure('evidence'):.3f}; whole for {whole} of {of}; {tokens:,.0f} tokens a question"

    def to_dict(self, settings: AssemblySettings, dataset: str) -> dict[str, Any]:
        """As a baseline for a later run."""
        questions = {query_id: dict(zip(("found", "needed", "tokens"), own, strict=True)) for query_id, own in self.questions.items()}
        return {
            "dataset": dataset,
            "settings": settings.changed(),
            "evidence": self.measure("evidence"),
            "whole": self.measure("whole"),
            "questions": questions,
        }

    def passes(self, bars: list[Bar]) -> bool:
        """Whether every bar is reached; what is not is said. A bar that nothing can be said of is missed."""
        return sum(not self._reaches(bar) for bar in bars) == 0  # every one of them is said

    def _reaches(self, bar: Bar) -> bool:
        value = self.measure(bar.measure)
        if value is None:
            say(f"check failed: {bar.measure} cannot be told, because no question is labelled with its evidence")
        elif value < bar.least:
            say(f"check failed: {bar.measure} is {value:.3f}, below {bar.least:g}")
        return value is not None and value >= bar.least

    def is_worse(self, baseline: Mapping[str, tuple[int, int]], least: float) -> bool:
        """Whether evidence is shown to have dropped against a baseline, by at least `least`; how it changed is said in any case.

        Raises InvalidInput where the two cannot be compared: fewer than `FEW` questions are labelled alike in both.
        """
        both = [query_id for query_id, own in self.labelled.items() if query_id in baseline and baseline[query_id][1] == own[1]]
        left_out = sorted((baseline.keys() | self.labelled.keys()) - set(both))
        if left_out:
            say(f"left out of the comparison with the baseline, because their labels differ or are missing: {_named(left_out)}")
        if len(both) < FEW:
            anew = "write the baseline anew with --write-evidence"
            todo = anew if len(self.labelled) >= FEW else f"label more questions (`ctxasm label`), then {anew}"
            raise InvalidInput(
                f"the baseline and this run are not comparable: a comparison needs {FEW} questions that are labelled alike in both, "
                f"got {len(both)}: {todo}"
            )
        shares = {query_id: (self.labelled[query_id][0] - baseline[query_id][0]) / baseline[query_id][1] for query_id in both}
        result = paired_difference(list(shares.values()))
        worse = result.shown and result.difference <= -least
        lost = [query_id for query_id in both if shares[query_id] < 0]
        fewer = f"; less for {_named(lost)}" if lost else ""
        say(f"{'check failed: ' if worse else ''}evidence against the baseline: {result.sentence()}{fewer}")
        return worse


def _named(query_ids: Sequence[str]) -> str:
    return ", ".join(query_ids[:NAMED]) + (f" and {len(query_ids) - NAMED} more" if len(query_ids) > NAMED else "")


def measured(name: str, counts: Mapping[str, tuple[int, int]]) -> float | None:
    """A measure of (found, needed) by question; None for no questions."""
    if not counts:
        return None
    shares = [found / needed if name == "evidence" else float(found == needed) for found, needed in counts.values()]
    return sum(shares) / len(shares)


def write_evidence(path: str, report: Mapping[str, Any]) -> None:
    """Write a baseline. Raises InvalidInput where that cannot be done."""
    try:
        Path(path).write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"--write-evidence: {shown(path)} cannot be written: {error.strerror or error}") from None


def read_baseline(path: str) -> dict[str, tuple[int, int]]:
    """Found and needed by question, from a file that --write-evidence wrote. Raises InvalidInput."""
    wanted = "a file that `ctxasm assemble --all --write-evidence FILE` wrote"
    try:
        questions = json.loads(read_regular(path).decode("utf-8"))["questions"]
        found = {query_id: (int(own["found"]), int(own["needed"])) for query_id, own in questions.items()}
    except OSError as error:
        raise InvalidInput(f"the baseline {shown(path)} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput(f"the baseline {shown(path)} is not {wanted}") from None
    return {query_id: counts for query_id, counts in found.items() if counts[1] > 0}
