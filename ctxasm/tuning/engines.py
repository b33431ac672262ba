"""Who counts a sweep: this process, all cores of this machine, or the machines of a Dask cluster (`dask.distributed`, extra `dask`).

The unit of work is one question under some settings. A process that ends is replaced, and what it was working on is done again.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from multiprocessing import get_all_start_methods
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NamedTuple, Protocol

from ctxasm.assembly.stages import Compressor
from ctxasm.assembly.values import Weights
from ctxasm.model.errors import CtxasmError, InvalidInput, missing_package
from ctxasm.model.ports import ChunkVectors, TokenCounter
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.processes import Helpers, Remote, answer_messages, cores, read_message
from ctxasm.tuning.counting import Counting, Outcome, QuestionCase, Tools


class Task(NamedTuple):
    """Question `number` under the settings at these places; `limits` replace max_tokens where zones or the ceiling say so."""

    number: int
    case: QuestionCase
    places: tuple[int, ...]
    limits: Mapping[int, int]


ATTEMPTS = 60
"""A task whose worker has ended so many times ends every worker that takes it."""


class WorkersEnd(CtxasmError):
    """Those who count in other processes end before the work does."""


class TaskOutcomes(NamedTuple):
    """A task's outcomes, in the order of its places."""

    task: Task
    outcomes: Sequence[Outcome]


class Engine(Protocol):
    """Who counts. Tasks are taken as there is room for them, so that memory stays flat; results come in any order."""

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[TaskOutcomes]:
        """Count the tasks."""
        ...


class InProcess:
    """This process alone: the only engine for settings that need an embedder or a model."""

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[TaskOutcomes]:
        """See `Engine`."""
        counting = Counting(settings, tools)
        for task in tasks:
            yield TaskOutcomes(task, counting.count(task.case, task.places, task.limits))


class NotKept(CtxasmError):
    """Something of what is asked for was not counted before."""


class KeptOnly(InProcess):
    """Counts nothing: a sweep that was counted before is read. Raises NotKept where anything of it is missing."""

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[TaskOutcomes]:
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


def workers_end_error(task: Task) -> WorkersEnd:
    """The error of a task that has had its attempts."""
    return WorkersEnd(
        f"every process that takes the question {task.case.query.query_id!r} ends (out of memory?): use --engine local, or free memory"
    )


def needs_this_process(settings: Sequence[AssemblySettings]) -> bool:
    """Whether any of them asks for an embedder or a model, which no other process is given."""
    return any(each.enabled and (each.dedup_semantic or each.compression == "model") for each in settings)


def pack_work(settings: Sequence[AssemblySettings], tools: Tools) -> bytes:
    """What a worker is told first: `Counting` as bytes."""
    counters = {encoding: tools.counter(encoding) for encoding in sorted({each.encoding for each in settings})}
    return pickle.dumps((tuple(settings), counters, tools.weights()))


def unpack_work(sent: bytes) -> Counting:
    """The other end of `pack_work`."""
    settings, counters, weights = pickle.loads(sent)  # noqa: S301 (written by the process that started this one)
    return Counting(settings, PlainTools(counters, weights))


AHEAD = 2
"""Tasks under way for each worker."""


@dataclass
class AllCores:
    """`workers` processes of our own (default: one a core). (The standard pool gives up all that waits when one of its processes ends.)"""

    workers: int = field(default_factory=cores)
    _running: list[_Worker] = field(default_factory=list, init=False)

    @property
    def pids(self) -> set[int]:
        """The processes, as they are now."""
        return {worker.remote.process.pid for worker in self._running if worker.remote is not None}

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[TaskOutcomes]:
        """See `Engine`. Raises WorkersEnd."""
        sent = pack_work(settings, tools)
        helpers = Helpers(lambda: _Worker(sent), self.workers, "ctxasm-sweep")
        self._running, waiting, tasks = helpers.all, set[Future[TaskOutcomes]](), iter(tasks)
        try:
            while True:
                for task in islice(tasks, self.workers * AHEAD - len(waiting)):
                    waiting.add(helpers.submit(lambda worker, task=task: worker.count(task)))  # type: ignore[misc]
                if not waiting:
                    return
                ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in ended)
        except BaseException:
            for worker in helpers.all:
                worker.stop()
            raise
        finally:
            helpers.close()


class _Worker:
    """A process that counts; another one as soon as it ends."""

    def __init__(self, sent: bytes) -> None:
        self._sent, self._stopped = sent, False
        self.remote: Remote | None = None

    def count(self, task: Task) -> TaskOutcomes:
        """The outcomes of a task, however often the process ends meanwhile."""
        message = pickle.dumps(tuple(task))
        for _ in range(ATTEMPTS):
            try:
                if self.remote is None:
                    self.remote = Remote(__name__)
                    self.remote.send(self._sent)
                found = pickle.loads(self.remote.ask(message))  # noqa: S301 (written by our own process)
                return TaskOutcomes(task, [Outcome(*each) for each in found])
            except EOFError:
                if self._stopped:
                    raise
                self.end()
        raise workers_end_error(task)

    def stop(self) -> None:
        """End it at once, whatever it is doing."""
        self._stopped = True
        if (remote := self.remote) is not None:
            remote.process.kill()

    def end(self) -> None:
        """See `Ends`."""
        remote, self.remote = self.remote, None
        if remote is not None:
            remote.end()


def _work() -> None:
    """A worker's whole life."""
    counting = unpack_work(read_message(sys.stdin.buffer))

    def answer(message: bytes) -> bytes:
        task = Task(*pickle.loads(message))  # noqa: S301 (written by the process that started this one)
        return pickle.dumps([tuple(outcome) for outcome in counting.count(task.case, task.places, task.limits)])

    answer_messages(sys.stdin.buffer, sys.stdout.buffer, answer)


AHEAD_ON_CLUSTER = 3
"""Tasks under way for each worker."""
LOOK_S = 5.0
"""Seconds that a result is waited for before looking whether there is anybody to give it."""
LOST_S = 0.5
"""Seconds after which a result that is not there yet may be one that was lost with its worker: then others are looked at first."""
PATIENCE_S = 120.0
"""Seconds without a worker before the sweep is given up."""
START_METHOD = "forkserver"
"""How Dask starts the processes of our own cluster, where the system can: from one that has imported it already. (A process in
place of one that ended takes 1.6 s of the processor from a fresh interpreter, 1.1 so: where many end, that is most of a sweep's time.)"""
LOST_WORKER_TIMEOUT = "3650 days"
"""After how long Dask gives up a process of our own cluster that ended. (By itself it does so 15 seconds after one ended, if at that
moment its successor is not up yet: where processes end often, the cluster runs empty, and waits for ever.)"""


@dataclass
class Dask:
    """The cluster of `scheduler` (`tcp://host:port`), else one of our own on this machine with a worker a core."""

    scheduler: str | None = None
    workers: int = field(default_factory=cores)
    _nannies: Mapping[Any, Any] = field(default_factory=dict, init=False)

    @property
    def pids(self) -> set[int]:
        """The processes of a cluster of our own, as they are now: Dask starts another one where one ended."""
        return {nanny.pid for nanny in tuple(self._nannies.values()) if nanny.pid}

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[TaskOutcomes]:
        """See `Engine`. Raises WorkersEnd, and InvalidInput where the extra is not installed or no scheduler answers."""
        sent = pack_work(settings, tools)
        with ExitStack() as opened:
            client = self._client(opened)
            submitted = _ClusterTasks(client, sent)
            for task in tasks:
                submitted.submit(task)
                while len(submitted.tasks) >= max(1, self._worker_count(client)) * AHEAD_ON_CLUSTER:
                    yield self._next_outcomes(client, submitted)
            while submitted.tasks:
                yield self._next_outcomes(client, submitted)

    def _next_outcomes(self, client: Any, submitted: _ClusterTasks) -> TaskOutcomes:
        """The next result. Raises WorkersEnd where for a long time nobody is there to give one."""
        since = monotonic()
        while (done := submitted.next()) is None:
            if self._worker_count(client):
                since = monotonic()
            elif monotonic() - since > PATIENCE_S:
                raise WorkersEnd(
                    f"the Dask cluster has had no worker for {PATIENCE_S:.0f} seconds: start workers, then sweep again (what is kept is "
                    "not counted again)"
                )
        return done

    def _worker_count(self, client: Any) -> int:
        """How many workers there are."""
        try:
            return len(client.scheduler_info(n_workers=-1)["workers"])
        except OSError:
            return 0

    def _client(self, opened: ExitStack) -> Any:
        try:
            import dask
            from distributed import Client, LocalCluster
        except ImportError as error:
            missing = missing_package(error) or error
            raise InvalidInput(f"the engine dask needs an extra: pip install 'ctxasm[dask]' ({missing})") from None
        if self.scheduler is not None:
            try:
                return opened.enter_context(Client(self.scheduler, timeout=10))
            except (OSError, ValueError) as error:
                raise InvalidInput(f"no Dask scheduler answers at {self.scheduler}: {error}") from None
        method = {"distributed.worker.multiprocessing-method": START_METHOD} if START_METHOD in get_all_start_methods() else {}
        opened.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": LOST_WORKER_TIMEOUT, **method}))
        cluster = opened.enter_context(
            LocalCluster(n_workers=self.workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1")
        )
        client = opened.enter_context(Client(cluster))
        self._nannies = cluster.workers
        return client


class _ClusterTasks:
    """What a cluster was given and has not answered yet."""

    def __init__(self, client: Any, sent: bytes) -> None:
        self.client, self.sent = client, sent
        self.tasks: dict[Any, tuple[Task, int]] = {}
        """By future, with how many workers it has outlasted."""
        self._ended: SimpleQueue[Any] = SimpleQueue()

    def submit(self, task: Task, attempts: int = 0) -> None:
        """Give it to the cluster."""
        # The settings go with every task: what is scattered is gone with the last worker that held it, and every task of it.
        future = self.client.submit(_count_task, self.sent, tuple(task), pure=False, retries=2)
        self.tasks[future] = (task, attempts)
        future.add_done_callback(self._ended.put)

    def next(self) -> TaskOutcomes | None:
        """A result, or None after some seconds without one. Raises WorkersEnd."""
        from distributed import KilledWorker

        with suppress(Empty):
            future = self._ended.get(timeout=LOOK_S)
            try:
                found = self._fetch(future)
            except TimeoutError:  # whoever held it ended, and another one is at it
                if future.status == "error":  # or the work itself took too long
                    raise
                future.add_done_callback(self._ended.put)
            except CancelledError:
                self._resubmit(future, 1)
            except KilledWorker as error:
                self._resubmit(future, error.allowed_failures + 1)
            else:
                task, _ = self.tasks.pop(future)
                future.release()
                return TaskOutcomes(task, [Outcome(*each) for each in found])
        return None

    def _fetch(self, future: Any) -> Any:
        with suppress(TimeoutError):
            return future.result(timeout=LOST_S)
        if future.status == "pending":
            raise TimeoutError
        return future.result(timeout=LOOK_S)

    def _resubmit(self, future: Any, attempts: int) -> None:
        """Whose work the scheduler gave up is done again, within limits."""
        task, before = self.tasks.pop(future)
        if self.client.status != "running":
            raise WorkersEnd("the Dask scheduler has ended: start it, then sweep again (what is kept is not counted again)")
        if before + attempts >= ATTEMPTS:
            raise workers_end_error(task)
        self.submit(task, before + attempts)


@lru_cache(maxsize=2)
def _counting(sent: bytes) -> Counting:
    return unpack_work(sent)


def _count_task(sent: bytes, task: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """In a worker: the outcomes of a task."""
    own = Task(*task)
    return [tuple(outcome) for outcome in _counting(sent).count(own.case, own.places, own.limits)]


if __name__ == "__main__":
    _work()
