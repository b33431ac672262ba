"""The unit of work of a sweep, one question under some settings, and who does it: this process, or others that it feeds."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ctxasm.assembly.budget.values import Weights
from ctxasm.assembly.extracts import Compressor
from ctxasm.model.errors import CtxasmError
from ctxasm.model.ports import ChunkVectors, TokenCounter
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.sweep.cases import QuestionCase
from ctxasm.tuning.sweep.counting import Counting, Outcome, Tools


class Task(NamedTuple):
    """Question `number` under the settings at these places; `limits` replace max_tokens where zones or the ceiling say so."""

    number: int
    case: QuestionCase
    places: tuple[int, ...]
    limits: Mapping[int, int]


ATTEMPTS = 60
"""A task whose worker has ended so many times ends every worker that takes it."""


class WorkersEnd(CtxasmError):
    """Who counts in other processes ends before the work does."""


class Done(NamedTuple):
    """A task's outcomes, in the order of its places."""

    task: Task
    outcomes: Sequence[Outcome]


class Engine(Protocol):
    """Who counts. Tasks are taken as there is room for them, so that memory stays flat; results come in any order."""

    @property
    def lost(self) -> int:
        """Workers that ended and were replaced, as far as it was noticed: of a cluster not those that it replaced between two looks."""
        ...

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[Done]:
        """Count the tasks."""
        ...


@dataclass
class InProcess:
    """This process alone: the only engine for settings that need an embedder or a model."""

    lost: int = field(default=0, init=False)

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[Done]:
        """See `Engine`."""
        counting = Counting(settings, tools)
        for task in tasks:
            yield Done(task, counting.count(task.case, task.places, task.limits))


class NotKept(CtxasmError):
    """Something of what is asked for was not counted before."""


class KeptOnly(InProcess):
    """Counts nothing: a sweep that was counted before is read. Raises NotKept where anything of it is missing."""

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[Done]:
        """See `Engine`."""
        for task in tasks:
            raise NotKept(f"the question {task.case.query.query_id!r} was not counted under {len(task.places):,} of the settings")
        yield from ()


class PlainTools:
    """The tools of settings that need neither an embedder nor a model: counters, exact or estimated, and weights."""

    def __init__(self, counters: Mapping[str, TokenCounter], weights: Weights | None) -> None:
        self._counters, self._weights = counters, weights

    def weights(self) -> Weights | None:
        """See `Tools`."""
        return self._weights

    def counter(self, encoding: str) -> TokenCounter:
        """See `Tools`."""
        return self._counters[encoding]

    def vectors(self, settings: AssemblySettings) -> ChunkVectors | None:
        """None."""
        return None

    def compressor(self, settings: AssemblySettings) -> Compressor | None:
        """The one that goes by words."""
        return None


def workers_end(task: Task) -> WorkersEnd:
    """The error of a task that has had its attempts."""
    return WorkersEnd(
        f"every process that takes the question {task.case.query.query_id!r} ends (out of memory?): use --engine local, or free memory"
    )


def needs_this_process(settings: Sequence[AssemblySettings]) -> bool:
    """Whether any of them asks for an embedder or a model, which no other process is given."""
    return any(each.enabled and (each.dedup_semantic or each.compression == "model") for each in settings)


def sent_work(settings: Sequence[AssemblySettings], tools: Tools) -> bytes:
    """What a worker is told first: `Counting` as bytes."""
    counters = {encoding: tools.counter(encoding) for encoding in sorted({each.encoding for each in settings})}
    return pickle.dumps((tuple(settings), counters, tools.weights()))


def counting_of(sent: bytes) -> Counting:
    """The other end of `sent_work`."""
    settings, counters, weights = pickle.loads(sent)  # noqa: S301 (written by the process that started this one)
    return Counting(settings, PlainTools(counters, weights))
