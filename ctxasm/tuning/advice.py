"""Advice: single changes of the settings, tried on the labelled questions; the one that is shown to help is offered.

Compare, recommend and sweep decide by the same test and the same rule, so advice never contradicts them. It judges by evidence and tokens:
what neither shows (order, format) is not tried, nor what was measured to bring nothing (`MEASURED_AGAINST`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import thread_time
from typing import Any

from ctxasm.model.amounts import counted, signed
from ctxasm.model.kept import key_of
from ctxasm.model.presets import PRESETS, RECOMMENDED, is_recommended
from ctxasm.model.progress import Progress
from ctxasm.model.settings import AssemblySettings, named, spec_of, specs, spoken_against
from ctxasm.tuning.evidence import EvidenceState
from ctxasm.tuning.recommend import DELTA, Recommendation, decide
from ctxasm.tuning.statistics import FEWEST, PairedDifference
from ctxasm.tuning.sweep import SweepContext, default_axes, grid_of, sweep
from ctxasm.tuning.sweep_results import SweepResult

MOST_COUNTED = 300
"""Labelled questions that are counted; of more, so many that their ids pick."""
LEAST_COUNTED = 30
"""Questions that are counted however long it takes."""
PATIENCE_S = 10.0
"""Seconds of work after which no further question is counted; a busy machine does not shorten it."""
QUOTED = 40
"""Characters of a piece of evidence that name it."""


@dataclass(frozen=True)
class Advice:
    """A change that is shown to help: `decision` takes it over the current settings. `sampled`: there are more labelled questions."""

    decision: Recommendation
    sampled: bool = False

    @property
    def settings(self) -> AssemblySettings:
        """What is offered."""
        return self.decision.settings

    @property
    def name(self) -> str:
        """The change: `Max tokens 4,000`."""
        added = is_recommended(self.settings) and not is_recommended(self.decision.start)
        return RECOMMENDED.capitalize() if added and len(self.decision.changes) > 1 else named(self.decision.changes)

    @property
    def result(self) -> PairedDifference:
        """The change against the current settings, as `compare` has it."""
        return self.decision.against_start()

    def questions_text(self) -> str:
        """`helps 31 of 50 questions, hurts 2`."""
        questions = counted(self.result.n, "sampled question" if self.sampled else "question")
        return f"helps {self.result.better} of {questions}, hurts {self.result.worse}"

    def tokens_text(self) -> str:
        """`−12 % tokens`."""
        found = self.decision.found
        change = signed(100 * (found.tokens(self.decision.taken) / found.tokens(found.start) - 1))
        return "as many tokens" if change == "0" else f"{change} % tokens"


def describe_effect(before: Sequence[EvidenceState], after: Sequence[EvidenceState], text_of: Callable[[EvidenceState], str]) -> str:
    """What a change does to the evidence of one question: `brings “A single room costs…” back`; empty where none is labelled."""
    pairs = list(zip(before, after, strict=True))
    back = [now for was, now in pairs if was.state != "found" and now.state == "found"]
    lost = [was for was, now in pairs if was.state == "found" and now.state != "found"]
    texts = [f"{verb} {_pieces(own, text_of)}{end}" for verb, own, end in (("brings", back, " back"), ("loses", lost, "")) if own]
    return ", ".join(texts) or ("same evidence here" if pairs else "")


def _pieces(states: Sequence[EvidenceState], text_of: Callable[[EvidenceState], str]) -> str:
    if len(states) > 1:
        return f"{len(states)} pieces of evidence"
    text = " ".join(text_of(states[0]).split())
    return f"“{text if len(text) <= QUOTED else f'{text[: QUOTED - 1].rstrip()}…'}”"


def settings_to_try(start: AssemblySettings) -> tuple[AssemblySettings, ...]:
    """The settings to try: each setting of a sweep one step on, every switch, and what is recommended. A higher limit stands last."""
    if not start.enabled:
        return (start.replace(enabled=True),)
    tried = (start.replace(**change) for change in _single_changes(start) if not spoken_against(change))
    return tuple(sorted(dict.fromkeys(each for each in tried if each != start), key=lambda each: each.max_tokens > start.max_tokens))


def _single_changes(start: AssemblySettings) -> Iterator[dict[str, Any]]:
    axes: dict[str, Sequence[Any]] = dict(default_axes())
    if start.window != start.expand_window:
        axes["pool_window"] = range(int(spec_of("pool_window").high or 0) + 1)
    for name, values in axes.items():
        now = getattr(start, name)
        yield from ({name: value} for value in (values if spec_of(name).choices else _steps(values, now)))
    yield from ({spec.name: not getattr(start, spec.name)} for spec in specs() if spec.kind == "bool" and spec.name != "enabled")
    yield dict(PRESETS[RECOMMENDED])


def _steps(values: Sequence[int | None], now: int | None) -> list[int | None]:
    """The next lower and the next higher value; None is the highest."""
    ordered = sorted(values, key=_height)
    below = [value for value in ordered if _height(value) < _height(now)]
    return [*below[-1:], *[value for value in ordered if _height(value) > _height(now)][:1]]


def _height(value: int | None) -> float:
    return inf if value is None else value


def advise(context: SweepContext, start: AssemblySettings) -> Advice | None:
    """Try the changes on the labelled questions; None where nothing is shown to help, or it was cancelled."""
    labelled = [query for query in context.queries if query.is_labelled]
    asked = sorted(labelled, key=lambda query: key_of(query.query_id))[:MOST_COUNTED]  # any first ones of them are a fair sample
    grid, done, began = grid_of(start, (start, *settings_to_try(start)), {}), 0, thread_time()
    if len(asked) < FEWEST:
        return None

    def report(progress: Progress) -> None:
        nonlocal done
        done = progress.done

    def ended() -> bool:
        return context.cancelled() or (done >= LEAST_COUNTED * (len(grid.settings) + 1) and thread_time() - began > PATIENCE_S)

    found = sweep(replace(context, queries=asked, report=report, cancelled=ended), grid)
    if context.cancelled():
        return None
    made = decide_advice(found)
    return None if made is None else Advice(made, found.cancelled or len(asked) < len(labelled))


def decide_advice(found: SweepResult) -> Recommendation | None:
    """What the rule takes of the changes that were tried; None where it keeps the start, or saves too little to be worth a change.

    More room always helps. So a higher limit is taken only where nothing within the limit gains; that is asked only where something is
    shown to gain among all, so it claims no more than the rule does.
    """
    made = decide(found)
    if made.verdict == "keep" or (made.verdict == "cheaper" and found.tokens(made.taken) > (1 - DELTA) * found.tokens(found.start)):
        return None
    limit = made.start.max_tokens
    if made.settings.max_tokens > limit:
        within = decide(found.first(sum(each.max_tokens <= limit for each in found.settings)))
        return within if within.verdict == "gain" else made
    return made
