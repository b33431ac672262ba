"""Advice on the current trace: each piece is read from figures of this assembly, tried out, and dropped where it does not help.

Nothing is canned: a rule fires on figures, names changes of settings, and each change is assembled once. What is shown is
the difference that was measured. Labelled evidence decides where there is any; else the rank of what was retrieved does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ctxasm.model.errors import CtxasmError
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice_age import AGE_RULES
from ctxasm.tuning.advice_evidence import EVIDENCE_RULES
from ctxasm.tuning.advice_finding import SEVERITIES, Changes, Check, Finding, Rule, Severity
from ctxasm.tuning.advice_form import FORM_RULES
from ctxasm.tuning.advice_space import SPACE_RULES
from ctxasm.tuning.advice_view import Evidence, View

MOST_TRIALS = 10
RULES: tuple[Check, ...] = (*EVIDENCE_RULES, *AGE_RULES, *SPACE_RULES, *FORM_RULES)
AssembleWith = Callable[[AssemblySettings], Assembly]
"""The same query under other settings. May raise CtxasmError: then the change is no help."""


class Measured(NamedTuple):
    """One assembly in figures. `found` of `evidence` labelled pieces; `hits` of the retrieved chunks are in the context.

    `value` is the sum of 1 / (60 + rank) over those hits; the best block stands at `best_place` of `blocks`, the middle of the
    second best at `second_at` of the context (0 to 1); the last four are as in `View`.
    """

    found: int
    evidence: int
    share: float
    hits: int
    value: float
    tokens: int
    unused: int
    overshoot: int
    best_place: int
    blocks: int
    second_at: float | None
    scaffold: int
    cut_passages: int
    passages: int
    neutralised: int


class Effect(NamedTuple):
    """What a change did, assembled and measured."""

    before: Measured
    after: Measured


@dataclass(frozen=True, slots=True)
class Advice:
    """A change of settings and why. `figures` are what the rule read; `effect` is None where nothing could be tried."""

    rule: Rule
    severity: Severity
    figures: Mapping[str, Any]
    changes: Changes
    effect: Effect | None


def advise(
    assembly: Assembly,
    *,
    evidence: Evidence | None = None,
    assemble_with: AssembleWith | None = None,
    cancel: Callable[[], bool] = lambda: False,
    max_trials: int = MOST_TRIALS,
) -> tuple[Advice, ...]:
    """What could be better about this assembly, gravest first, then what brings most; each change at most once.

    With `assemble_with` every change is tried, at most `max_trials` assemblies in all, and what does not help is not given;
    without it the first change of each finding is given untried. `cancel` is asked before each trial: what was found stays.
    """
    view = View(assembly, evidence)
    findings = sorted(_findings(view), key=lambda finding: SEVERITIES.index(finding.severity))
    trials = _Trials(view, evidence, assemble_with, cancel, max_trials) if assemble_with is not None else None
    given: dict[tuple[tuple[str, object], ...], Advice] = {}
    for finding in findings:
        advice = trials.advice(finding) if trials is not None else _untried(view, finding)
        if advice is not None:
            given.setdefault(tuple(sorted(advice.changes.items())), advice)
    return tuple(sorted(given.values(), key=_standing))


def _standing(advice: Advice) -> tuple[int, float, float]:
    after = advice.effect.after if advice.effect is not None else None
    return SEVERITIES.index(advice.severity), -(after.share if after else 0.0), -(after.value if after else 0.0)


def _findings(view: View) -> Iterable[Finding]:
    for check in RULES:
        finding = check(view)
        if finding is not None:
            yield finding


def _untried(view: View, finding: Finding) -> Advice | None:
    proposals = [changes for changes in finding.proposals if _changed(view, changes) is not None]
    return Advice(finding.rule, finding.severity, finding.figures, proposals[0], None) if proposals else None


def _changed(view: View, changes: Changes) -> AssemblySettings | None:
    """The settings with the changes; None where they allow no such value or stay the same."""
    try:
        changed = view.settings.replace(**changes)
    except CtxasmError:
        return None
    return None if changed == view.settings else changed


class _Trials:
    """Assembles changes, each once, until there were enough."""

    def __init__(self, before: View, evidence: Evidence | None, assemble_with: AssembleWith, cancel: Callable[[], bool], most: int) -> None:
        self._before, self._evidence, self._assemble, self._cancel, self._left = before, evidence, assemble_with, cancel, most
        self._tried: dict[AssemblySettings, View | None] = {}

    def advice(self, finding: Finding) -> Advice | None:
        """The change that helps, measured."""
        helpful: list[tuple[Changes, View]] = []
        for changes in finding.proposals:
            after = self._after(changes)
            if after is not None and finding.helps(self._before, after):
                helpful.append((changes, after))
                if not finding.best:
                    break
        if not helpful:
            return None
        changes, after = max(helpful, key=lambda pair: (pair[1].share, pair[1].value, -pair[1].assembly.token_count))
        effect = Effect(measured(self._before), measured(after))
        return Advice(finding.rule, finding.severity, finding.figures, changes, effect)

    def _after(self, changes: Changes) -> View | None:
        settings = _changed(self._before, changes)
        if settings is None:
            return None
        if settings not in self._tried:
            if self._left <= 0 or self._cancel():
                return None
            self._left -= 1
            try:
                self._tried[settings] = View(self._assemble(settings), self._evidence)
            except CtxasmError:
                self._tried[settings] = None
        return self._tried[settings]


def measured(view: View) -> Measured:
    """An assembly in figures."""
    assembly = view.assembly
    hits = sum(fate.fate in ("kept", "truncated", "merged", "duplicate_of") for fate in view.hits)
    return Measured(
        view.found,
        len(view.evidence),
        view.share,
        hits,
        view.value,
        assembly.token_count,
        assembly.unused_tokens,
        assembly.overshoot_tokens,
        view.place_of_best,
        len(view.block_ranks),
        view.middle_of_second if len(view.block_ranks) > 1 else None,
        view.scaffold_tokens,
        view.cut_passages,
        len(view.passages),
        view.neutralised,
    )
