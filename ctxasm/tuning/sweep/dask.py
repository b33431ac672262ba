"""Many machines: `dask.distributed` (extra `dask`). Results are taken as they complete, kept by the driver, then released.

Dask itself gives what a lost worker was doing to another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import get_all_start_methods
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from ctxasm.model.errors import InvalidInput
from ctxasm.model.packages import missing_package
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.processes import cores
from ctxasm.tuning.sweep.counting import Counting, Outcome, Tools
from ctxasm.tuning.sweep.work import ATTEMPTS, Done, Task, WorkersEnd, counting_of, sent_work, workers_end

AHEAD = 3
"""Tasks under way for each worker."""
LOOK_S = 5.0
"""Seconds that a result is waited for before looking whether there is anybody to give it."""
LOST_S = 0.5
"""Seconds after which a result that is not there yet may be one that was lost with its worker: then others are looked at first."""
PATIENCE_S = 120.0
"""Seconds without a worker before the sweep is given up."""
FORKED = "forkserver"
"""How Dask starts the processes of our own cluster, where the system can: from one that has imported it already. (A process in
place of one that ended takes 1.6 s of the processor from a fresh interpreter, 1.1 so: where many end, that is most of a sweep's time.)"""
STAYS = "3650 days"
"""After how long Dask gives up a process of our own cluster that ended. (By itself it does so 15 seconds after one ended, if at that
moment its successor is not up yet: where processes end often, the cluster runs empty, and waits for ever.)"""


@dataclass
class Dask:
    """The cluster of `scheduler` (`tcp://host:port`), else one of our own on this machine with a worker a core."""

    scheduler: str | None = None
    workers: int = field(default_factory=cores)
    lost: int = field(default=0, init=False)
    _seen: frozenset[str] = field(default=frozenset(), init=False)
    _nannies: Mapping[Any, Any] = field(default_factory=dict, init=False)

    @property
    def pids(self) -> set[int]:
        """The processes of a cluster of our own, as they are now: Dask starts another one where one ended."""
        return {nanny.pid for nanny in tuple(self._nannies.values()) if nanny.pid}

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[Done]:
        """See `Engine`. Raises WorkersEnd, and InvalidInput where the extra is not installed or no scheduler answers."""
        sent = sent_work(settings, tools)
        with ExitStack() as opened:
            client = self._client(opened)
            under_way = _UnderWay(client, sent)
            for task in tasks:
                under_way.submit(task)
                while len(under_way.tasks) >= max(1, self._width(client)) * AHEAD:
                    yield self._taken(client, under_way)
            while under_way.tasks:
                yield self._taken(client, under_way)

    def _taken(self, client: Any, under_way: _UnderWay) -> Done:
        """The next result. Raises WorkersEnd where for a long time nobody is there to give one."""
        since = monotonic()
        while (done := under_way.next()) is None:
            if self._width(client):
                since = monotonic()
            elif monotonic() - since > PATIENCE_S:
                raise WorkersEnd(
                    f"the Dask cluster has had no worker for {PATIENCE_S:.0f} seconds: start workers, then sweep again (what is kept is "
                    "not counted again)"
                )
        return done

    def _width(self, client: Any) -> int:
        """How many workers there are. Those that were there the last time and are not any more are lost."""
        try:
            now = frozenset(client.scheduler_info(n_workers=-1)["workers"])
        except OSError:
            now = frozenset()
        self.lost += len(self._seen - now)
        self._seen = now
        return len(now)

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
        method = {"distributed.worker.multiprocessing-method": FORKED} if FORKED in get_all_start_methods() else {}
        opened.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": STAYS, **method}))
        cluster = opened.enter_context(
            LocalCluster(n_workers=self.workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1")
        )
        client = opened.enter_context(Client(cluster))
        self._nannies = cluster.workers
        return client


class _UnderWay:
    """What a cluster was given and has not answered yet."""

    def __init__(self, client: Any, sent: bytes) -> None:
        self.client, self.sent = client, sent
        self.tasks: dict[Any, tuple[Task, int]] = {}
        """By future, with how many workers it has outlasted."""
        self._ended: SimpleQueue[Any] = SimpleQueue()

    def submit(self, task: Task, attempts: int = 0) -> None:
        """Give it to the cluster."""
        # The settings go with every task: what is scattered is gone with the last worker that held it, and every task of it.
        future = self.client.submit(_counted, self.sent, tuple(task), pure=False, retries=2)
        self.tasks[future] = (task, attempts)
        future.add_done_callback(self._ended.put)

    def next(self) -> Done | None:
        """A result, or None after some seconds without one. Raises WorkersEnd."""
        from distributed import KilledWorker

        with suppress(Empty):
            future = self._ended.get(timeout=LOOK_S)
            try:
                found = self._fetched(future)
            except TimeoutError:  # whoever held it ended, and another one is at it
                if future.status == "error":  # or the work itself took too long
                    raise
                future.add_done_callback(self._ended.put)
            except CancelledError:
                self._again(future, 1)
            except KilledWorker as error:
                self._again(future, error.allowed_failures + 1)
            else:
                task, _ = self.tasks.pop(future)
                future.release()
                return Done(task, [Outcome(*each) for each in found])
        return None

    def _fetched(self, future: Any) -> Any:
        with suppress(TimeoutError):
            return future.result(timeout=LOST_S)
        if future.status == "pending":
            raise TimeoutError
        return future.result(timeout=LOOK_S)

    def _again(self, future: Any, attempts: int) -> None:
        """Whose work the scheduler gave up is done again, within limits."""
        task, before = self.tasks.pop(future)
        if self.client.status != "running":
            raise WorkersEnd("the Dask scheduler has ended: start it, then sweep again (what is kept is not counted again)")
        if before + attempts >= ATTEMPTS:
            raise workers_end(task)
        self.submit(task, before + attempts)


@lru_cache(maxsize=2)
def _counting(sent: bytes) -> Counting:
    return counting_of(sent)


def _counted(sent: bytes, task: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """In a worker: the outcomes of a task."""
    own = Task(*task)
    return [tuple(outcome) for outcome in _counting(sent).count(own.case, own.places, own.limits)]
