"""The settings that a recommendation tries: the curated ones and one's own at every limit; what follows from them says `decision`."""

from __future__ import annotations

from collections.abc import Sequence

from ctxasm.model.datasets import Dataset
from ctxasm.model.ports import Shelf
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.recommend.decision import DELTA, PriorChoice, Recommendation, decide
from ctxasm.tuning.recommend.prior import Prior, shipped_prior
from ctxasm.tuning.sweep.counting import Tools
from ctxasm.tuning.sweep.results import SweepResult
from ctxasm.tuning.sweep.sweep import LimitOf, grid_of, sweep
from ctxasm.tuning.sweep.work import Engine


def recommend(
    dataset: Dataset,
    queries: Sequence[Query],
    start: AssemblySettings,
    tools: Tools,
    version: str,
    *,
    prior: Prior | None = None,
    delta: float = DELTA,
    keep: Shelf | None = None,
    engine: Engine | None = None,
    limit_of: LimitOf | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Recommendation:
    """What to ship in place of `start`. Raises as `sweep`."""
    prior = prior or shipped_prior()
    grid = grid_of(start, settings_tried(start, prior), {})
    found = sweep(dataset, queries, grid, tools, version, keep=keep, engine=engine, limit_of=limit_of, report=report, cancelled=cancelled)
    return decide(found, delta, prior_choice(found, prior))


def settings_tried(start: AssemblySettings, prior: Prior) -> tuple[AssemblySettings, ...]:
    """The curated changes on top of `start`, and `start` itself, at its own limit and those of the prior that are lower.

    A higher one is not tried: what a question may cost is not ours to raise.
    """
    own = (start, *(each.on(start) for each in prior.curated))
    limits = [limit for limit in prior.limits if start.budget_mode == "fixed" and limit < start.max_tokens]
    lower = (settings.replace(max_tokens=limit) for settings in own for limit in limits)
    return tuple(dict.fromkeys((*own, *lower)))


def prior_choice(found: SweepResult, prior: Prior) -> PriorChoice:
    """The curated setting that was best on other corpora, on top of the start of a sweep that tried it."""
    start, best = found.settings[found.start], prior.ranked()[0]
    own = next((each.name for each in prior.ranked() if each.on(start) == start), None)
    gain = None if own is None else prior.value(best.name) - prior.value(own)
    return PriorChoice(found.settings.index(best.on(start)), gain, len(prior.corpora))
