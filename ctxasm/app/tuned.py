"""Compare, sweep and recommend over a workbench, for commands, pages and Python: real tools, engines by name, outcomes kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.app.parts import equipment
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.progress import Cancelled, Report, never, silent
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.answering.sent_tokens import SentTokens
    from ctxasm.app.workbench import Workbench
    from ctxasm.assembly.stages import Compressor
    from ctxasm.assembly.values import Weights
    from ctxasm.model.datasets import Dataset
    from ctxasm.model.ports import ChunkVectors, TokenCounter
    from ctxasm.model.records import Query
    from ctxasm.model.results import Assembly
    from ctxasm.model.support import Scorer
    from ctxasm.tuning.advice import Advice
    from ctxasm.tuning.compare import Comparison
    from ctxasm.tuning.compare_answers import AnswerDesk, How
    from ctxasm.tuning.engines import Engine
    from ctxasm.tuning.recommend import Recommendation
    from ctxasm.tuning.sweep import Axes, Grid, SweepContext, SweepEstimate
    from ctxasm.tuning.sweep_results import SweepResult

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
        from ctxasm.tuning.engines import InProcess

        return InProcess()
    if kind == "cores" and (not address or address.isdigit()):
        from ctxasm.tuning.engines import AllCores

        return AllCores(max(1, int(address))) if address else AllCores()
    if kind == "dask":
        from ctxasm.tuning.engines import Dask

        return Dask(address or None)
    raise InvalidInput(f"engine must be one of {', '.join(ENGINES)} (cores:N, dask:ADDRESS), got {shown(name)}")


def _asked(workbench: Workbench, dataset: str | None, query_ids: Sequence[str] | None) -> tuple[Dataset, list[Query]]:
    """The dataset and its questions, those of `query_ids` or all. Raises InvalidInput where there is none, NotFound."""
    held = workbench.dataset(dataset)
    queries = held.queries() if query_ids is None else [held.query(query_id) for query_id in dict.fromkeys(query_ids)]
    if not queries:
        raise InvalidInput(f"dataset {held.info.name} has no questions: load queries, or save some with `ctxasm search QUESTION --save`")
    return held, queries


def _context(
    workbench: Workbench,
    dataset: str | None,
    query_ids: Sequence[str] | None = None,
    engine: str = "local",
    keep: bool = True,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> SweepContext:
    """The questions of a dataset, counted with what this workbench has. Raises as `_asked`, and InvalidInput for an unknown engine."""
    from ctxasm import __version__
    from ctxasm.tuning.sweep import SweepContext

    (held, queries), tools, store = _asked(workbench, dataset, query_ids), WorkbenchTools(workbench), workbench.store if keep else None
    return SweepContext(held, queries, tools, __version__, store, open_engine(engine), tools.limit, report, cancelled)


def sweep_grid(start: AssemblySettings, axes: Axes | None) -> Grid:
    """The grid of these axes (None: window, limit, policy and number of hits). Raises InvalidInput."""
    from ctxasm.tuning.sweep import default_axes, grid_of, settings_of

    chosen = default_axes() if axes is None else axes
    return grid_of(start, settings_of(start, chosen), chosen)


def sweep_estimate(
    workbench: Workbench, start: AssemblySettings, axes: Axes | None, dataset: str | None = None, query_ids: Sequence[str] | None = None
) -> SweepEstimate:
    """What a sweep would take."""
    from ctxasm.tuning.sweep import estimate

    return estimate(_context(workbench, dataset, query_ids), sweep_grid(start, axes))


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
    from ctxasm.tuning.sweep import sweep

    return sweep(_context(workbench, dataset, query_ids, engine, keep, report, cancelled), sweep_grid(start, axes))


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
    from ctxasm.tuning.compare import compare

    return compare(_context(workbench, dataset, query_ids, engine, keep, report, cancelled), a, b)


def advice(
    workbench: Workbench, start: AssemblySettings, dataset: str | None = None, *, keep: bool = True, cancelled: Cancelled = never
) -> Advice | None:
    """The single change of the settings that is shown to help on a dataset; None where there is none."""
    from ctxasm.tuning.advice import advise

    if not workbench.dataset(dataset).queries():
        return None
    return advise(_context(workbench, dataset, keep=keep, cancelled=cancelled), start)


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
    from ctxasm.tuning.recommend import DELTA, recommend

    wanted = DELTA if delta is None else delta
    if not 0 < wanted <= 0.5:
        raise InvalidInput(f"delta must be a number above 0 and at most 0.5, got {shown(wanted)}")
    return recommend(_context(workbench, dataset, query_ids, engine, keep, report, cancelled), start, delta=wanted)


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
    from ctxasm.tuning.sweep import estimate

    context = _context(workbench, dataset)
    labelled = sum(query.is_labelled for query in context.queries)
    if not labelled:
        return Plan(0, 0, None)
    grid, both = sweep_grid(start, axes), _grid_to_decide(start, axes)
    return Plan(labelled, len(both.settings) - len(grid.settings), estimate(context, both))


def _grid_to_decide(start: AssemblySettings, axes: Axes) -> Grid:
    """The settings of a grid, then those that a recommendation tries as well."""
    from ctxasm.tuning.recommend import settings_tried, shipped_prior
    from ctxasm.tuning.sweep import grid_of

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
    return _decided(_context(workbench, dataset, None, "local", keep, report, cancelled), start, axes)


def _decided(context: SweepContext, start: AssemblySettings, axes: Axes) -> Decided:
    from ctxasm.tuning.recommend import decide, prior_choice, shipped_prior
    from ctxasm.tuning.sweep import sweep

    found = sweep(context, _grid_to_decide(start, axes))
    own = found.first(len(sweep_grid(start, axes).settings))
    return Decided(own, decide(found, prior=prior_choice(found, shipped_prior())))


def decided_before(
    workbench: Workbench, start: AssemblySettings, axes: Axes, dataset: str, report: Report = silent, cancelled: Cancelled = never
) -> Decided | None:
    """What `decided` would give where all of it was counted before and kept; None where anything is missing. Nothing is counted."""
    from ctxasm.tuning.engines import KeptOnly, NotKept

    context = _context(workbench, dataset, report=report, cancelled=cancelled)
    try:
        made = _decided(replace(context, engine=KeptOnly()), start, axes)
    except NotKept:
        return None
    return None if made.swept.cancelled else made
