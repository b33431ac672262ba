"""Facts of large loads on all cores: worker processes of our own, each fed by a thread, results in the order asked.

Counting holds Python's lock between two texts, so threads alone use little more than one core. The processes are started by
their module's name, so whatever program this is (a command, a Streamlit server, a notebook) is not run a second time in them.
"""

from __future__ import annotations

import marshal
import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import IO

from ctxasm.model.errors import StoreUnavailable
from ctxasm.model.ports import TokenCounter
from ctxasm.store.chunk_rows import Placed, Run, place_runs
from ctxasm.store.processes import Helpers, Remote, answer_messages, cores, read_message

START_CHUNKS = 6000
"""From this many chunks on, starting processes costs less than it saves."""
MOST_WORKERS = 6
"""With more of them, this process is what all wait for; each takes about 100 MB."""
AHEAD = 3
"""Batches under way for each worker."""


def placed_in_order(batches: Iterable[Sequence[Run]], counter: TokenCounter) -> Iterator[Placed]:
    """The rows of each batch, in order. Small loads stay in this process, and so does a counter that cannot be sent to another."""
    batches, taken = iter(batches), 0
    for batch in batches:
        yield place_runs(batch, counter)
        taken += sum(len(run.chunks) for run in batch)
        if taken >= START_CHUNKS:
            break
    else:
        return
    sent, count = _sendable(counter), min(cores(), MOST_WORKERS)
    if sent is None or count < 2:
        yield from (place_runs(batch, counter) for batch in batches)
        return
    yield from _spread(batches, sent, count)


def _spread(batches: Iterator[Sequence[Run]], counter: bytes, count: int) -> Iterator[Placed]:
    helpers = Helpers(lambda: _Worker(counter), count, "ctxasm-facts")
    waiting: deque[Future[Placed]] = deque()
    try:
        for batch in batches:
            waiting.append(helpers.submit(lambda worker, batch=batch: worker.place(batch)))  # type: ignore[misc]
            if len(waiting) >= count * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BaseException:
        for worker in helpers.all:
            worker.remote.process.kill()
        raise
    finally:
        helpers.close()


def _sendable(counter: TokenCounter) -> bytes | None:
    try:
        return pickle.dumps(counter)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


class _Worker:
    """A process that places runs."""

    def __init__(self, counter: bytes) -> None:
        self.remote = Remote(__name__)
        try:
            self.remote.send(counter)
        except EOFError:
            self.end()
            raise _ended() from None

    def place(self, batch: Sequence[Run]) -> Placed:
        """The rows of a batch."""
        try:
            answer = self.remote.ask(marshal.dumps([tuple(run) for run in batch]))
        except EOFError:
            raise _ended() from None
        return Placed(*marshal.loads(answer))  # noqa: S302 (written by our own process)

    def end(self) -> None:
        """End it at once."""
        self.remote.end()


def _ended() -> StoreUnavailable:
    return StoreUnavailable("a process that helps with the load ended (out of memory?): free some memory and try again")


def work(source: IO[bytes], sink: IO[bytes]) -> None:
    """A worker's whole life. The first message is the counter."""
    counter: TokenCounter = pickle.loads(read_message(source))  # noqa: S301 (written by the process that started this one)
    answer_messages(source, sink, lambda message: marshal.dumps(tuple(place_runs([Run(*run) for run in marshal.loads(message)], counter))))  # noqa: S302


if __name__ == "__main__":
    work(sys.stdin.buffer, sys.stdout.buffer)
