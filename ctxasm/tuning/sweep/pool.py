"""All cores of this machine: processes of our own. One that ends is replaced, and what it was working on is done again.

(The standard pool gives up everything that waits when one of its processes ends.)
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from threading import Lock

from ctxasm.model.settings import AssemblySettings
from ctxasm.store.processes import Helpers, Remote, answer_messages, cores, read_message
from ctxasm.tuning.sweep.counting import Outcome, Tools
from ctxasm.tuning.sweep.work import ATTEMPTS, Done, Task, counting_of, sent_work, workers_end

AHEAD = 2
"""Tasks under way for each worker."""


@dataclass
class AllCores:
    """`workers` processes (default: one a core)."""

    workers: int = field(default_factory=cores)
    lost: int = field(default=0, init=False)
    pids: set[int] = field(default_factory=set, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def run(self, tasks: Iterable[Task], settings: Sequence[AssemblySettings], tools: Tools) -> Iterator[Done]:
        """See `Engine`. Raises WorkersEnd."""
        sent = sent_work(settings, tools)
        helpers = Helpers(lambda: _Worker(self, sent), self.workers, "ctxasm-sweep")
        waiting: set[Future[Done]] = set()
        try:
            for task in tasks:
                waiting.add(helpers.submit(lambda worker, task=task: worker.count(task)))  # type: ignore[misc]
                while len(waiting) >= self.workers * AHEAD:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from _results(done)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from _results(done)
        except BaseException:
            for worker in helpers.all:
                worker.stop()
            raise
        finally:
            helpers.close()

    def replaced(self, gone: int, new: int) -> None:
        """Note that a process stands in for one that ended."""
        with self._lock:
            self.lost += 1
            self.pids = (self.pids - {gone}) | {new}

    def started(self, pid: int) -> None:
        """Note a process."""
        with self._lock:
            self.pids.add(pid)


def _results(done: Iterable[Future[Done]]) -> Iterator[Done]:
    ready = deque(done)
    while ready:
        yield ready.popleft().result()


class _Worker:
    """A process that counts; another one as soon as it ends."""

    def __init__(self, engine: AllCores, sent: bytes) -> None:
        self._engine, self._sent, self._stopped = engine, sent, False
        self._remote = Remote(__name__)
        engine.started(self._remote.process.pid)
        self._ready = False

    def count(self, task: Task) -> Done:
        """The outcomes of a task, however often the process ends meanwhile."""
        message = pickle.dumps(tuple(task))
        for _ in range(ATTEMPTS):
            try:
                if not self._ready:
                    self._remote.send(self._sent)
                    self._ready = True
                found = pickle.loads(self._remote.ask(message))  # noqa: S301 (written by our own process)
                return Done(task, [Outcome(*each) for each in found])
            except EOFError:
                if self._stopped:
                    raise
                self._replace()
        raise workers_end(task)

    def _replace(self) -> None:
        gone = self._remote.process.pid
        self._remote.end()
        self._remote, self._ready = Remote(__name__), False
        self._engine.replaced(gone, self._remote.process.pid)

    def stop(self) -> None:
        """End it at once, whatever it is doing."""
        self._stopped = True
        self._remote.process.kill()

    def end(self) -> None:
        """See `Ends`."""
        self._remote.end()


def _work() -> None:
    """A worker's whole life."""
    counting = counting_of(read_message(sys.stdin.buffer))

    def answer(message: bytes) -> bytes:
        task = Task(*pickle.loads(message))  # noqa: S301 (written by the process that started this one)
        return pickle.dumps([tuple(outcome) for outcome in counting.count(task.case, task.places, task.limits)])

    answer_messages(sys.stdin.buffer, sys.stdout.buffer, answer)


if __name__ == "__main__":
    _work()
