"""Compare, sweep and recommend over a workbench, for commands, pages and Python: real tools, engines by name, outcomes kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.app.parts import equipment
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.answering.sent_tokens import SentTokens
    from ctxasm.app.workbench import Workbench
    from ctxasm.assembly.budget.values import Weights
    from ctxasm.assembly.extracts import Compressor
    from ctxasm.model.datasets import Dataset
    from ctxasm.model.ports import ChunkVectors, TokenCounter
    from ctxasm.model.records import Query
    from ctxasm.model.results import Assembly
    from ctxasm.model.support import Scorer
    from ctxasm.tuning.advice import Advice
    from ctxasm.tuning.compare import Comparison
    from ctxasm.tuning.compare_answers import AnswerDesk, How
    from ctxasm.tuning.recommend.decision import Recommendation
    from ctxasm.tuning.sweep.estimate import SweepEstimate
    from ctxasm.tuning.sweep.grid import Axes
    from ctxasm.tuning.sweep.results import SweepResult
    from ctxasm.tuning.sweep.sweep import Grid
    from ctxasm.tuning.sweep.work import Engine

ENGINES = ("local", "cores", "dask")
"""Who counts: this process, all cores of this machine, or a Dask cluster (`dask:tcp://host:port`; without an address one of our own)."""


@dataclass(frozen=True, slots=True)
class WorkbenchTools:
    """What counting needs, as this workbench has it. A `Tools`."""

    workbench: Workbench

    def counter(self, encoding: str) -> TokenCounter:
        """See `Tools`."""
        return self.workbench.counter(encoding)

    def vectors(self, settings: AssemblySettings) -> ChunkVectors | None:
        """See `Tools`."""
        return equipment(settings, self.workbench.config, self.workbench.store)["vectors"]

    def compressor(self, settings: AssemblySettings) -> Compressor | None:
        """See `Tools`."""
        return equipment(settings, self.workbench.config, self.workbench.store)["compressor"]

    def weights(self) -> Weights | None:
        """See `Tools`."""
        return self.workbench.weights()

    def limit(self, query: Query, settings: AssemblySettings) -> int:
        """What the zones leave. A `LimitOf`."""
        limit = self.workbench.zones.plan(query, settings, self.counter(settings.encoding)).limit
        return settings.max_tokens if limit is None else limit


def open_engine(name: str) -> Engine:
    """An engine by name. Raises InvalidInput naming those that exist."""
    kind, _, address = name.partition(":")
    if kind == "local" and not address:
        from ctxasm.tuning.sweep.work import InProcess

        return InProcess()
    if kind == "cores" and (not address or address.isdigit()):
        from ctxasm.tuning.sweep.pool import AllCores

        return AllCores(max(1, int(address))) if address else AllCores()
    if kind == "dask":
        from ctxasm.tuning.sweep.dask import Dask

        return Dask(address or None)
    raise InvalidInput(f"engine must be one of {', '.join(ENGINES)} (cores:N, dask:ADDRESS), got {shown(name)}")


def _asked(workbench: Workbench, dataset: str | None, query_ids: Sequence[str] | None) -> tuple[Dataset, list[Query]]:
    """The dataset and its questions, those of `query_ids` or all. Raises InvalidInput where there is none, NotFound."""
    held = workbench.dataset(dataset)
    queries = held.queries() if query_ids is None else [held.query(query_id) for query_id in dict.fromkeys(query_ids)]
    if not queries:
        raise InvalidInput(f"dataset {held.info.name} has no questions: load queries, or save some with `ctxasm search QUESTION --save`")
    return held, queries


def _kept(workbench: Workbench, engine: str, keep: bool) -> dict[str, Any]:
    tools = WorkbenchTools(workbench)
    return {"keep": workbench.store if keep else None, "engine": open_engine(engine), "limit_of": tools.limit}


def sweep_grid(start: AssemblySettings, axes: Axes | None) -> Grid:
    """The grid of these axes (None: window, limit, policy and number of hits). Raises InvalidInput."""
    from ctxasm.tuning.sweep.grid import default_axes, settings_of
    from ctxasm.tuning.sweep.sweep import grid_of

    chosen = default_axes() if axes is None else axes
    return grid_of(start, settings_of(start, chosen), chosen)


def sweep_estimate(
    workbench: Workbench, start: AssemblySettings, axes: Axes | None, dataset: str | None = None, query_ids: Sequence[str] | None = None
) -> SweepEstimate:
    """What a sweep would take."""
    from ctxasm.tuning.sweep.estimate import estimate

    held, queries = _asked(workbench, dataset, query_ids)
    return estimate(held, queries, sweep_grid(start, axes), WorkbenchTools(workbench))


def swept(
    workbench: Workbench,
    start: AssemblySettings,
    axes: Axes | None = None,
    dataset: str | None = None,
    query_ids: Sequence[str] | None = None,
    *,
    engine: str = "local",
    keep: bool = True,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> SweepResult:
    """Every setting of the grid on every question. See `ctxasm.sweep`."""
    from ctxasm import __version__
    from ctxasm.tuning.sweep.sweep import sweep

    held, queries = _asked(workbench, dataset, query_ids)
    grid, tools = sweep_grid(start, axes), WorkbenchTools(workbench)
    with_ = _kept(workbench, engine, keep)
    return sweep(held, queries, grid, tools, __version__, report=report, cancelled=cancelled, **with_)


def compared(
    workbench: Workbench,
    a: AssemblySettings,
    b: AssemblySettings,
    dataset: str | None = None,
    query_ids: Sequence[str] | None = None,
    *,
    engine: str = "local",
    keep: bool = True,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Comparison:
    """Two settings on every question. See `ctxasm.compare`."""
    from ctxasm import __version__
    from ctxasm.tuning.compare import compare

    held, queries = _asked(workbench, dataset, query_ids)
    with_ = _kept(workbench, engine, keep)
    return compare(held, queries, a, b, WorkbenchTools(workbench), __version__, report=report, cancelled=cancelled, **with_)


def advice(
    workbench: Workbench, start: AssemblySettings, dataset: str | None = None, *, keep: bool = True, cancelled: Cancelled = never
) -> Advice | None:
    """The single change of the settings that is shown to help on a dataset; None where there is none."""
    from ctxasm import __version__
    from ctxasm.tuning.advice import advise

    held, tools = workbench.dataset(dataset), WorkbenchTools(workbench)
    kept = workbench.store if keep else None
    return advise(held, held.queries(), start, tools, __version__, keep=kept, limit_of=tools.limit, cancelled=cancelled)


@dataclass(frozen=True, slots=True)
class AnswerWorkbench:
    """What asking needs, as a workbench has it for one of its datasets. An `AnswerTools`."""

    workbench: Workbench
    dataset: str

    def assemble(self, query: Query, settings: AssemblySettings, choice: PromptChoice) -> Assembly:
        """See `AnswerTools`."""
        return self.workbench.assemble(query, settings, self.dataset, choice)

    def counter(self, encoding: str) -> TokenCounter:
        """See `AnswerTools`."""
        return self.workbench.counter(encoding)

    def learn(self, model: str, sent: SentTokens | None) -> None:
        """See `AnswerTools`."""
        self.workbench.zones.ratios.learn(model, sent)


def answer_desk(
    workbench: Workbench,
    how: How,
    dataset: str | None = None,
    query_ids: Sequence[str] | None = None,
    scorer: Scorer | None = None,
    keep: bool = True,
) -> AnswerDesk:
    """Where the questions of a dataset are answered one way; `scorer` (default: lexical) checks. Raises InvalidInput, NotFound."""
    from ctxasm import __version__
    from ctxasm.tuning.compare_answers import AnswerDesk

    held, queries = _asked(workbench, dataset, query_ids)
    tools = AnswerWorkbench(workbench, held.info.name)
    return AnswerDesk(tools, queries, how, scorer or workbench.open_scorer(), __version__, workbench.store if keep else None)


def recommendation(
    workbench: Workbench,
    start: AssemblySettings,
    dataset: str | None = None,
    query_ids: Sequence[str] | None = None,
    *,
    delta: float | None = None,
    engine: str = "local",
    keep: bool = True,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> Recommendation:
    """What to ship in place of `start`. See `ctxasm.recommend`."""
    from ctxasm import __version__
    from ctxasm.tuning.recommend.decision import DELTA
    from ctxasm.tuning.recommend.recommending import recommend

    wanted = DELTA if delta is None else delta
    if not 0 < wanted <= 0.5:
        raise InvalidInput(f"delta must be a number above 0 and at most 0.5, got {shown(wanted)}")
    held, queries = _asked(workbench, dataset, query_ids)
    with_ = _kept(workbench, engine, keep)
    tools = WorkbenchTools(workbench)
    return recommend(held, queries, start, tools, __version__, delta=wanted, report=report, cancelled=cancelled, **with_)


class Plan(NamedTuple):
    """What deciding would take: how many of the questions are labelled, the settings that `more` are tried for the recommendation alone,
    and all of it; None where no question is labelled.
    """

    labelled: int
    more: int
    estimate: SweepEstimate | None


class Decided(NamedTuple):
    """What the grid came to, and what follows from it and from the settings of the recommendation together."""

    swept: SweepResult
    recommended: Recommendation


def plan_of(workbench: Workbench, start: AssemblySettings, axes: Axes, dataset: str) -> Plan:
    """What `decided` would take. Raises InvalidInput, NotFound."""
    from ctxasm.tuning.sweep.estimate import estimate

    held, queries = _asked(workbench, dataset, None)
    labelled = sum(query.is_labelled for query in queries)
    if not labelled:
        return Plan(0, 0, None)
    grid, both = sweep_grid(start, axes), _grid_to_decide(start, axes)
    return Plan(labelled, len(both.settings) - len(grid.settings), estimate(held, queries, both, WorkbenchTools(workbench)))


def _grid_to_decide(start: AssemblySettings, axes: Axes) -> Grid:
    """The settings of a grid, then those that a recommendation tries as well."""
    from ctxasm.tuning.recommend.prior import shipped_prior
    from ctxasm.tuning.recommend.recommending import settings_tried
    from ctxasm.tuning.sweep.sweep import grid_of

    return grid_of(start, (*sweep_grid(start, axes).settings, *settings_tried(start, shipped_prior())), axes)


def decided(
    workbench: Workbench,
    start: AssemblySettings,
    axes: Axes,
    dataset: str,
    report: Report = silent,
    cancelled: Cancelled = never,
    *,
    keep: bool = True,
) -> Decided:
    """Sweep a grid and the settings of a recommendation as one table, and decide on all of it."""
    return _decided(workbench, start, axes, dataset, report, cancelled, _kept(workbench, "local", keep))


def _decided(
    workbench: Workbench,
    start: AssemblySettings,
    axes: Axes,
    dataset: str,
    report: Report,
    cancelled: Cancelled,
    with_: Mapping[str, Any],
) -> Decided:
    from ctxasm import __version__
    from ctxasm.tuning.recommend.decision import decide
    from ctxasm.tuning.recommend.prior import shipped_prior
    from ctxasm.tuning.recommend.recommending import prior_choice
    from ctxasm.tuning.sweep.sweep import sweep

    held, queries = _asked(workbench, dataset, None)
    grid, tools = _grid_to_decide(start, axes), WorkbenchTools(workbench)
    found = sweep(held, queries, grid, tools, __version__, report=report, cancelled=cancelled, **with_)
    own = found.first(len(sweep_grid(start, axes).settings))
    return Decided(own, decide(found, prior=prior_choice(found, shipped_prior())))


def decided_before(
    workbench: Workbench, start: AssemblySettings, axes: Axes, dataset: str, report: Report = silent, cancelled: Cancelled = never
) -> Decided | None:
    """What `decided` would give where all of it was counted before and kept; None where anything is missing. Nothing is counted."""
    from ctxasm.tuning.sweep.work import KeptOnly, NotKept

    with_ = _kept(workbench, "local", True) | {"engine": KeptOnly()}
    try:
        made = _decided(workbench, start, axes, dataset, report, cancelled, with_)
    except NotKept:
        return None
    return None if made.swept.cancelled else made
