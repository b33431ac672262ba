"""Facts of large loads on all cores: worker processes of our own, each fed by a thread, results in the order asked.

Counting holds Python's lock between two texts, so threads alone use little more than one core. The processes are started by
their module's name, so whatever program this is (a command, a Streamlit server, a notebook) is not run a second time in them.
"""

from __future__ import annotations

import marshal
import os
import pickle
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import IO

from ctxasm.model.errors import StoreUnavailable
from ctxasm.model.ports import TokenCounter
from ctxasm.store.placed import Placed, Run, place_runs

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
    sent, count = _sendable(counter), min(_cores(), MOST_WORKERS)
    if sent is None or count < 2:
        yield from (place_runs(batch, counter) for batch in batches)
        return
    yield from _spread(batches, sent, count)


def _spread(batches: Iterator[Sequence[Run]], counter: bytes, count: int) -> Iterator[Placed]:
    with _Crew(counter, count) as crew:
        waiting: deque[Future[Placed]] = deque()
        for batch in batches:
            waiting.append(crew.submit(batch))
            if len(waiting) >= count * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _sendable(counter: TokenCounter) -> bytes | None:
    try:
        return pickle.dumps(counter)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


class _Crew:
    """Some processes that place runs. They end with their standard input, so with this process too."""

    def __init__(self, counter: bytes, count: int) -> None:
        self._counter, self._count = counter, count
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._all: list[subprocess.Popen[bytes]] = []
        self._threads = ThreadPoolExecutor(count, "ctxasm-facts")

    def __enter__(self) -> _Crew:
        for _ in range(self._count):
            command = [sys.executable, "-m", __name__]
            # In a session of their own: a Ctrl-C is for this process, which then ends them.
            worker = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(), start_new_session=True
            )
            self._all.append(worker)
            for pipe in (worker.stdin, worker.stdout):
                _enlarge(pipe)
            _write(_input(worker), self._counter)
            self._idle.put(worker)
        return self

    def submit(self, batch: Sequence[Run]) -> Future[Placed]:
        """Place these runs when a worker is free."""
        return self._threads.submit(self._run, [tuple(run) for run in batch])

    def _run(self, batch: list[tuple[object, ...]]) -> Placed:
        worker = self._idle.get()
        try:
            try:
                _write(_input(worker), marshal.dumps(batch))
                failed, answer = _read(worker.stdout)
            except (OSError, EOFError):
                raise StoreUnavailable(
                    "a process that helps with the load ended (out of memory?): free some memory and try again"
                ) from None
            if failed:
                raise pickle.loads(answer)  # noqa: S301 (written by our own process)
            return Placed(*marshal.loads(answer))  # noqa: S302 (written by our own process)
        finally:
            self._idle.put(worker)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        for worker in self._all:
            if kind is not None:
                worker.kill()
            with suppress(OSError):
                _input(worker).close()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.wait()
            if worker.stdout is not None:
                worker.stdout.close()


def _environment() -> dict[str, str]:
    """The import path of this process, so that the worker finds the same ctxasm."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _input(worker: subprocess.Popen[bytes]) -> IO[bytes]:
    if worker.stdin is None:
        raise OSError("the worker has no standard input")
    return worker.stdin


def _enlarge(pipe: IO[bytes] | None) -> None:
    """Let a whole batch fit into the pipe, where the system allows it: each turn through a full pipe waits for Python's lock."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        if pipe is not None:
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _write(stream: IO[bytes], content: bytes, failed: bool = False) -> None:
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
