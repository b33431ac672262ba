"""Many machines: `dask.distributed` (extra `dask`). Results are taken as they complete, kept by the driver, then released.

Dask itself gives what a lost worker was doing to another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ctxasm.model.errors import InvalidInput
from ctxasm.model.packages import missing_package
from ctxasm.model.settings import AssemblySettings
from ctxasm.store.processes import cores
from ctxasm.tuning.sweep.counting import Counting, Outcome, Tools
from ctxasm.tuning.sweep.work import Done, Task, counting_of, sent_work

AHEAD = 3
"""Tasks under way for each worker."""
ALLOWED_FAILURES = 60
"""A task whose worker has ended so many times ends every worker that takes it."""


@dataclass
class Dask:
    """The cluster of `scheduler` (`tcp://host:port`), else one of our own on this machine with a worker a core."""

    scheduler: str | None = None
    workers: int = field(default_factory=cores)
    lost: int = field(default=0, init=False)
    pids: set[int] = field(default_factory=set, init=False)

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[Done]:
        """See `Engine`. Raises InvalidInput where the extra is not installed or no scheduler answers."""
        sent = sent_work(settings, tools)
        with ExitStack() as opened:
            client = self._client(opened)
            told = client.scatter(sent, broadcast=True, hash=False)
            under_way: dict[Any, Task] = {}
            results = self._completed(client)
            for task in tasks:
                future = client.submit(_counted, told, tuple(task), pure=False, retries=2)
                under_way[future] = task
                results.add(future)
                while len(under_way) >= max(1, self._width(client)) * AHEAD:
                    yield self._taken(next(results), under_way)
            while under_way:
                yield self._taken(next(results), under_way)

    def _taken(self, future: Any, under_way: dict[Any, Task]) -> Done:
        task = under_way.pop(future)
        outcomes = [Outcome(*each) for each in future.result()]
        future.release()
        return Done(task, outcomes)

    def _width(self, client: Any) -> int:
        return len(client.scheduler_info(n_workers=-1)["workers"]) or self.workers

    def _completed(self, client: Any) -> Any:
        from distributed import as_completed

        return as_completed()

    def _client(self, opened: ExitStack) -> Any:
        try:
            import dask
            from distributed import Client, LocalCluster
        except ImportError as error:
            missing = missing_package(error) or error
            raise InvalidInput(f"the engine dask needs an extra: pip install 'ctxasm[dask]' ({missing})") from None
        opened.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_FAILURES}))
        if self.scheduler is not None:
            try:
                return opened.enter_context(Client(self.scheduler, timeout=10))
            except (OSError, ValueError) as error:
                raise InvalidInput(f"no Dask scheduler answers at {self.scheduler}: {error}") from None
        cluster = opened.enter_context(
            LocalCluster(n_workers=self.workers, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1")
        )
        client = opened.enter_context(Client(cluster))
        self.pids = {nanny.pid for nanny in cluster.workers.values() if nanny.pid}
        return client


@lru_cache(maxsize=2)
def _counting(sent: bytes) -> Counting:
    return counting_of(sent)


def _counted(sent: bytes, task: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """In a worker: the outcomes of a task."""
    own = Task(*task)
    return [tuple(outcome) for outcome in _counting(sent).count(own.case, own.places, own.limits)]
