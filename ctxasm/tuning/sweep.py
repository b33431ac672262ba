"""A sweep: every setting of a grid on every question. What was counted before is read, and every question is kept as it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from time import monotonic, perf_counter
from typing import Any, NamedTuple

import numpy as np

from ctxasm.model.datasets import Dataset
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.kept import key_of
from ctxasm.model.ports import Shelf
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.model.settings_text import parse
from ctxasm.store.records import decoding
from ctxasm.tuning.counting import WIDEST, Counting, Outcome, QuestionCase, Tools, case_of, widened
from ctxasm.tuning.engines import Engine, InProcess, Task, needs_this_process
from ctxasm.tuning.evidence import labels_of
from ctxasm.tuning.sweep_results import UNCOUNTED, SweepResult

Axes = Mapping[str, Sequence[Any]]
"""The values of each setting that is tried, by name."""
MOST_SETTINGS = 20_000


def default_axes() -> dict[str, tuple[Any, ...]]:
    """Window, limit, every policy, and the number of hits: the rival of a wider window."""
    return {
        "expand_window": (0, 1, 2, 3),
        "max_tokens": (2000, 4000, 8000),
        "budget_policy": spec_of("budget_policy").choices,
        "top_k": (5, 10, None),
    }


def axes_of(texts: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """Axes from `name=v1,v2` texts, as `--grid` takes them. Raises InvalidInput, InvalidSetting."""
    axes: dict[str, tuple[Any, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise InvalidInput(f"an axis is written name=value,value, got {shown(text)}")
        spec = spec_of(name.strip())
        if spec.name in axes:
            raise InvalidInput(f"the axis {spec.name} is given twice: write all its values in one")
        axes[spec.name] = tuple(dict.fromkeys(parse(spec, value) for value in values.split(",")))
    return axes


def settings_of(start: AssemblySettings, axes: Axes) -> tuple[AssemblySettings, ...]:
    """Every combination, the last axis changing fastest. Raises InvalidInput for more than can be tried, or an axis without values."""
    count = 1
    for name, values in axes.items():
        if not values:
            raise InvalidInput(f"the axis {name} needs at least one value")
        count *= len(values)
    if count > MOST_SETTINGS:
        raise InvalidInput(f"a sweep tries at most {MOST_SETTINGS:,} settings, got {count:,}: give fewer values")
    return tuple(start.replace(**dict(zip(axes, values, strict=True))) for values in product(*axes.values()))


COUNTED_AS = 1
"""Raised when a mend changes what is counted between two versions of the package."""
NO_LIMIT = 10**12
HELD_DOCUMENTS = 32
LimitOf = Callable[[Query, AssemblySettings], int]
"""What the zones of a model's window leave (`budget_mode=window`)."""


class Grid(NamedTuple):
    """The settings to try, by the axes that they are made of, and the place of those that one started from."""

    settings: tuple[AssemblySettings, ...]
    axes: Mapping[str, tuple[object, ...]]
    start: int


def grid_of(start: AssemblySettings, settings: Sequence[AssemblySettings], axes: Axes) -> Grid:
    """A grid; the settings that one started from join it at the end where they are not among them."""
    tried = tuple(dict.fromkeys(settings))
    tried = tried if start in tried else (*tried, start)
    return Grid(tried, {name: tuple(values) for name, values in axes.items()}, tried.index(start))


def outcomes_key(version: str) -> str:
    """The shelf on which the outcomes of this version are kept."""
    return f"sweep {version} {COUNTED_AS}"


@dataclass(frozen=True, slots=True)
class SweepContext:
    """What a sweep takes beside its grid: the questions of a dataset, what counting them needs, and who counts.

    `keep` is where outcomes are kept, each under what it depends on (all of the question's data, the setting, `version`), as each
    question is done: what is there is not counted again, so a sweep that was ended goes on, and another one takes over what they share.
    """

    dataset: Dataset
    queries: Sequence[Query]
    tools: Tools
    version: str
    keep: Shelf | None = None
    engine: Engine = field(default_factory=InProcess)
    limit_of: LimitOf | None = None
    report: Report = silent
    cancelled: Cancelled = never


def sweep(context: SweepContext, grid: Grid) -> SweepResult:
    """Count every question under every setting of the grid. A question that cannot be assembled is among `failures`.

    Raises InvalidInput where the engine cannot be had, or settings need an embedder or a model and the engine is another process.
    """
    if not isinstance(context.engine, InProcess) and needs_this_process(grid.settings):
        raise InvalidInput(
            "dedup_semantic and compression=model need an embedder or a model, which only this process has: use engine local"
        )
    return _Sweep(context, grid).run()


def _name_of(settings: AssemblySettings, tools: Tools) -> str:
    """What outcomes are kept under, of all that decides them but the question."""
    weights = tools.weights() if settings.budget_policy == "learned" else None
    return key_of(json.dumps(settings.to_dict(), sort_keys=True), *([] if weights is None else [repr(weights)]))[:32]


class _Sweep:
    def __init__(self, context: SweepContext, grid: Grid) -> None:
        self.context, self.grid = context, grid
        start = grid.settings[grid.start]
        widest = widened(max(WIDEST, *(each.window for each in grid.settings)))
        self.tried = (*grid.settings, start.replace(enabled=True, top_k=None, relevance_floor=None, max_chars=None, **widest))
        self.names = [_name_of(each, context.tools) for each in self.tried]
        self.windowed = [at for at, each in enumerate(grid.settings) if each.enabled and each.budget_mode == "window"]
        self.cells = np.full((len(self.tried), len(context.queries), 3), UNCOUNTED, dtype=np.int32)
        self.digests: dict[int, str] = {}
        self.failures: dict[str, str] = {}
        self.reused = self.not_to_count = 0
        self.stopped = False

    def run(self) -> SweepResult:
        began, done, context = monotonic(), 0, self.context
        total = len(context.queries) * len(self.tried)

        def report() -> None:
            context.report(Progress(done + self.not_to_count, total, "counting contexts", monotonic() - began))

        for task, outcomes in context.engine.run(self._tasks(), self.tried, context.tools):
            self._store(task, outcomes)
            done += len(outcomes)
            report()
        report()
        return SweepResult(
            context.dataset.info.name,
            key_of(*(f"{at} {digest}" for at, digest in sorted(self.digests.items()))),
            context.version,
            self.grid.settings,
            self.grid.axes,
            self.grid.start,
            tuple(query.query_id for query in context.queries),
            self.cells[:-1],
            self.cells[-1],
            monotonic() - began,
            self.reused,
            self.stopped or context.cancelled(),
            self.failures,
            labels_of(context.queries),
        )

    def _tasks(self) -> Iterator[Task]:
        """What is left to count of each question, read when there is room for it."""
        context, encoding = self.context, self.tried[0].encoding
        document_chunks = lru_cache(maxsize=HELD_DOCUMENTS)(context.dataset.document_chunks)
        for number, query in enumerate(context.queries):
            if context.cancelled():
                self.stopped = True
                return
            try:
                case = case_of(query, context.dataset, document_chunks, encoding)
                limits = self._limits(query)
            except InvalidInput as error:
                self.failures[query.query_id] = str(error)
                self.not_to_count += len(self.tried)
                continue
            self.digests[number] = case.digest
            left = self._uncounted(number, case, limits)
            self.not_to_count += len(self.tried) - len(left)
            if left:
                yield Task(number, case, left, {at: limit for at, limit in limits.items() if at in set(left)})

    def _limits(self, query: Query) -> dict[int, int]:
        limits = {len(self.grid.settings): NO_LIMIT}
        if self.windowed and self.context.limit_of is None:
            raise InvalidInput("budget_mode=window needs the limit that the zones leave: give limit_of")
        if self.context.limit_of is not None:
            limits |= {at: self.context.limit_of(query, self.grid.settings[at]) for at in self.windowed}
        return limits

    def _outcome_key(self, case: QuestionCase, at: int, limits: Mapping[int, int]) -> str:
        return f"{case.digest} {self.names[at]} {limits.get(at, '')}"

    def _uncounted(self, number: int, case: QuestionCase, limits: Mapping[int, int]) -> tuple[int, ...]:
        """The settings that are not kept yet. Those that are stand in the cells from here on."""
        if self.context.keep is None:
            return tuple(range(len(self.tried)))
        keys = {self._outcome_key(case, at, limits): at for at in range(len(self.tried))}
        for key, value in self.context.keep.read_kept(outcomes_key(self.context.version), list(keys)).items():
            with decoding("a kept cell of a sweep"):
                self.cells[keys[key], number] = json.loads(value)
        left = np.flatnonzero(self.cells[:, number, 0] == UNCOUNTED)
        self.reused += len(self.tried) - len(left)
        return tuple(int(at) for at in left)

    def _store(self, task: Task, outcomes: Sequence[Outcome]) -> None:
        for at, outcome in zip(task.places, outcomes, strict=True):
            self.cells[at, task.number] = outcome
        if self.context.keep is not None:
            keys = (self._outcome_key(task.case, at, task.limits) for at in task.places)
            values = {key: json.dumps(tuple(outcome)) for key, outcome in zip(keys, outcomes, strict=True)}
            self.context.keep.keep(outcomes_key(self.context.version), values)


TRIED_S = 0.5
"""Questions are counted for so long to find the pace."""


@dataclass(frozen=True, slots=True)
class SweepEstimate:
    """`settings` × `questions` = `cells`; `seconds` on one core at the pace of those tried, None where settings ask for a model.

    `model_chunks` is the most chunks that compression=model may send to it: the cells under it, times their hits.
    """

    settings: int
    questions: int
    cells: int
    seconds: float | None
    model_chunks: int


def estimate(context: SweepContext, grid: Grid) -> SweepEstimate:
    """Count the first questions for half a second, and nothing that costs money."""
    queries = context.queries
    asking = [each for each in grid.settings if each.enabled and each.compression == "model"]
    chunks = sum(len(query.retrieved) * (2 * each.window + 1) for query in queries for each in asking)
    cells = len(grid.settings) * len(queries)
    if needs_this_process(grid.settings):
        return SweepEstimate(len(grid.settings), len(queries), cells, None, chunks)
    counting, began, tried = Counting(grid.settings, context.tools), perf_counter(), 0
    limits = {at: each.max_tokens for at, each in enumerate(grid.settings) if each.budget_mode == "window"}
    for query in queries:
        case = case_of(query, context.dataset, context.dataset.document_chunks, grid.settings[0].encoding)
        counting.count(case, range(len(grid.settings)), limits)
        tried += 1
        if perf_counter() - began >= TRIED_S:
            break
    pace = (perf_counter() - began) / tried if tried else 0.0
    return SweepEstimate(len(grid.settings), len(queries), cells, pace * len(queries), chunks)
