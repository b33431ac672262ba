"""Facts of large loads on all cores: worker processes of our own, each fed by a thread, results in the order asked.

Counting holds Python's lock between two texts, so threads alone use little more than one core. The processes are started by
their module's name, so whatever program this is (a command, a Streamlit server, a notebook) is not run a second time in them.
"""

from __future__ import annotations

import marshal
import os
import pickle
import struct
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import IO

from ctxasm.model.errors import StoreUnavailable
from ctxasm.model.ports import TokenCounter
from ctxasm.store.chunk_rows import Placed, Run, place_runs
from ctxasm.store.processes import Helpers, cores, end_process, start_process

START_CHUNKS = 6000
"""From this many chunks on, starting processes costs less than it saves."""
MOST_WORKERS = 6
"""With more of them, this process is what all wait for; each takes about 100 MB."""
AHEAD = 3
"""Batches under way for each worker."""
_PIPE_BYTES = 2**20
_LENGTH = struct.Struct("<BQ")


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
            worker.process.kill()
        raise
    finally:
        helpers.close()


def _sendable(counter: TokenCounter) -> bytes | None:
    try:
        return pickle.dumps(counter)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


class _Worker:
    """A process that places runs. It ends with its standard input, so with this process too."""

    def __init__(self, counter: bytes) -> None:
        # By the import path of this process, so that it finds the same ctxasm.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = start_process([sys.executable, "-m", __name__], environment, quiet=False)
        for pipe in (self.process.stdin, self.process.stdout):
            _enlarge(pipe)
        try:
            self._send(counter)
        except StoreUnavailable:
            self.end()
            raise

    def place(self, batch: Sequence[Run]) -> Placed:
        """The rows of a batch."""
        self._send(marshal.dumps([tuple(run) for run in batch]))
        try:
            failed, answer = _read(self.process.stdout)
        except (OSError, EOFError):
            raise _ended() from None
        if failed:
            raise pickle.loads(answer)  # noqa: S301 (written by our own process)
        return Placed(*marshal.loads(answer))  # noqa: S302 (written by our own process)

    def _send(self, content: bytes) -> None:
        try:
            _write(self.process.stdin, content)
        except (OSError, EOFError):
            raise _ended() from None

    def end(self) -> None:
        """End it at once."""
        end_process(self.process)


def _ended() -> StoreUnavailable:
    return StoreUnavailable("a process that helps with the load ended (out of memory?): free some memory and try again")


def _enlarge(pipe: IO[bytes] | None) -> None:
    """Let a whole batch fit into the pipe, where the system allows it: each turn through a full pipe waits for Python's lock."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        if pipe is not None:
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _write(stream: IO[bytes] | None, content: bytes, failed: bool = False) -> None:
    if stream is None:
        raise EOFError
    stream.write(_LENGTH.pack(failed, len(content)))
    stream.write(content)
    stream.flush()


def _read(stream: IO[bytes] | None) -> tuple[bool, bytes]:
    head = stream.read(_LENGTH.size) if stream is not None else b""
    if stream is None or len(head) < _LENGTH.size:
        raise EOFError
    failed, size = _LENGTH.unpack(head)
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return bool(failed), content


def work(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer batches until the input ends: a worker's whole life. The first message is the counter."""
    counter: TokenCounter = pickle.loads(_read(source)[1])  # noqa: S301 (written by the process that started this one)
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            batch = [Run(*run) for run in marshal.loads(_read(source)[1])]  # noqa: S302
            try:
                answer, failed = marshal.dumps(tuple(place_runs(batch, counter))), False
            except Exception as error:  # noqa: BLE001 (told where the load is)
                answer, failed = pickle.dumps(error), True
            _write(sink, answer, failed)


if __name__ == "__main__":
    work(sys.stdin.buffer, sys.stdout.buffer)
