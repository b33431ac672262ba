"""A sweep: every setting of a grid on every question. What was counted before is read, and every question is kept as it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from time import monotonic, perf_counter
from typing import Any, NamedTuple

import numpy as np

from ctxasm.model.datasets import Dataset
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.kept import key_of
from ctxasm.model.ports import FetchedChunk, Shelf
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import Query
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.model.settings_text import parse
from ctxasm.store.decoding import decoding
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


def shelf_of(version: str) -> str:
    """The shelf on which the outcomes of this version are kept."""
    return f"sweep {version} {COUNTED_AS}"


def sweep(
    dataset: Dataset,
    queries: Sequence[Query],
    grid: Grid,
    tools: Tools,
    version: str,
    *,
    keep: Shelf | None = None,
    engine: Engine | None = None,
    limit_of: LimitOf | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
) -> SweepResult:
    """Count every question under every setting of the grid.

    `keep` is where outcomes are kept, each under what it depends on (all of the question's data, the setting, `version`), as each
    question is done: what is there is not counted again, so a sweep that was ended goes on, and another one takes over what they
    share. A question that cannot be assembled is among `failures`. Raises InvalidInput where the engine cannot be had, or settings need
    an embedder or a model and the engine is another process.
    """
    engine = engine or InProcess()
    if not isinstance(engine, InProcess) and needs_this_process(grid.settings):
        raise InvalidInput(
            "dedup_semantic and compression=model need an embedder or a model, which only this process has: use engine local"
        )
    return _Sweep(dataset, queries, grid, tools, version, keep, engine, limit_of).run(report, cancelled)


def _name_of(settings: AssemblySettings, tools: Tools) -> str:
    """What outcomes are kept under, of all that decides them but the question."""
    weights = tools.weights() if settings.budget_policy == "learned" else None
    return key_of(json.dumps(settings.to_dict(), sort_keys=True), *([] if weights is None else [repr(weights)]))[:32]


class _Sweep:
    def __init__(
        self,
        dataset: Dataset,
        queries: Sequence[Query],
        grid: Grid,
        tools: Tools,
        version: str,
        keep: Shelf | None,
        engine: Engine,
        limit_of: LimitOf | None,
    ) -> None:
        self.dataset, self.queries, self.grid, self.tools, self.engine = dataset, tuple(queries), grid, tools, engine
        self.version, self.keep, self.limit_of = version, keep, limit_of
        start = grid.settings[grid.start]
        widest = widened(max(WIDEST, *(each.window for each in grid.settings)))
        self.tried = (*grid.settings, start.replace(enabled=True, top_k=None, relevance_floor=None, max_chars=None, **widest))
        self.names = [_name_of(each, tools) for each in self.tried]
        self.windowed = [at for at, each in enumerate(grid.settings) if each.enabled and each.budget_mode == "window"]
        self.cells = np.full((len(self.tried), len(self.queries), 3), UNCOUNTED, dtype=np.int32)
        self.digests: dict[int, str] = {}
        self.failures: dict[str, str] = {}
        self.reused = 0
        self.stopped = False

    def run(self, report: Report, cancelled: Cancelled) -> SweepResult:
        began = monotonic()
        total, done = len(self.queries) * len(self.tried), 0
        self.elsewhere = 0

        def told() -> None:
            report(Progress(done + self.elsewhere, total, "counting contexts", monotonic() - began))

        for task, outcomes in self.engine.run(self._tasks(cancelled), self.tried, self.tools):
            self._take(task, outcomes)
            done += len(outcomes)
            told()
        told()
        self.stopped = self.stopped or cancelled()
        return SweepResult(
            self.dataset.info.name,
            key_of(*(f"{at} {digest}" for at, digest in sorted(self.digests.items()))),
            self.version,
            self.grid.settings,
            self.grid.axes,
            self.grid.start,
            tuple(query.query_id for query in self.queries),
            self.cells[:-1],
            self.cells[-1],
            monotonic() - began,
            self.reused,
            self.engine.lost,
            self.stopped,
            self.failures,
            labels_of(self.queries),
        )

    def _tasks(self, cancelled: Cancelled) -> Iterator[Task]:
        """What is left to count of each question, read when there is room for it."""
        held = lru_cache(maxsize=HELD_DOCUMENTS)(self._document_chunks)
        encoding = self.tried[0].encoding
        for number, query in enumerate(self.queries):
            if cancelled():
                self.stopped = True
                return
            try:
                case = case_of(query, self.dataset, held, encoding)
                limits = self._limits(query)
            except InvalidInput as error:
                self.failures[query.query_id] = str(error)
                self.elsewhere += len(self.tried)
                continue
            self.digests[number] = case.digest
            left = self._left(number, case, limits)
            self.elsewhere += len(self.tried) - len(left)
            if left:
                yield Task(number, case, left, {at: limit for at, limit in limits.items() if at in set(left)})

    def _document_chunks(self, document_id: str) -> Sequence[FetchedChunk]:
        return self.dataset.document_chunks(document_id)

    def _limits(self, query: Query) -> dict[int, int]:
        limits = {len(self.grid.settings): NO_LIMIT}
        if self.windowed and self.limit_of is None:
            raise InvalidInput("budget_mode=window needs the limit that the zones leave: give limit_of")
        if self.limit_of is not None:
            limits |= {at: self.limit_of(query, self.grid.settings[at]) for at in self.windowed}
        return limits

    def _key(self, case: QuestionCase, at: int, limits: Mapping[int, int]) -> str:
        return f"{case.digest} {self.names[at]} {limits.get(at, '')}"

    def _left(self, number: int, case: QuestionCase, limits: Mapping[int, int]) -> tuple[int, ...]:
        """The settings that are not kept yet. Those that are stand in the cells from here on."""
        if self.keep is None:
            return tuple(range(len(self.tried)))
        keys = {self._key(case, at, limits): at for at in range(len(self.tried))}
        for key, value in self.keep.read_kept(shelf_of(self.version), list(keys)).items():
            with decoding("a kept cell of a sweep"):
                self.cells[keys[key], number] = json.loads(value)
        left = np.flatnonzero(self.cells[:, number, 0] == UNCOUNTED)
        self.reused += len(self.tried) - len(left)
        return tuple(int(at) for at in left)

    def _take(self, task: Task, outcomes: Sequence[Outcome]) -> None:
        for at, outcome in zip(task.places, outcomes, strict=True):
            self.cells[at, task.number] = outcome
        if self.keep is not None:
            values = {self._key(task.case, at, task.limits): json.dumps(tuple(o)) for at, o in zip(task.places, outcomes, strict=True)}
            self.keep.keep(shelf_of(self.version), values)


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


def estimate(dataset: Dataset, queries: Sequence[Query], grid: Grid, tools: Tools) -> SweepEstimate:
    """Count the first questions for half a second, and nothing that costs money."""
    asking = [each for each in grid.settings if each.enabled and each.compression == "model"]
    chunks = sum(len(query.retrieved) * (2 * each.window + 1) for query in queries for each in asking)
    cells = len(grid.settings) * len(queries)
    if needs_this_process(grid.settings):
        return SweepEstimate(len(grid.settings), len(queries), cells, None, chunks)
    counting, began, tried = Counting(grid.settings, tools), perf_counter(), 0
    limits = {at: each.max_tokens for at, each in enumerate(grid.settings) if each.budget_mode == "window"}
    for query in queries:
        case = case_of(query, dataset, dataset.document_chunks, grid.settings[0].encoding)
        counting.count(case, range(len(grid.settings)), limits)
        tried += 1
        if perf_counter() - began >= TRIED_S:
            break
    pace = (perf_counter() - began) / tried if tried else 0.0
    return SweepEstimate(len(grid.settings), len(queries), cells, pace * len(queries), chunks)
