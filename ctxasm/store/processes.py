"""Processes of our own that help: each waits for what one thread at a time sends it, and whoever is free takes the next piece."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, Protocol, TypeVar


class Ends(Protocol):
    """What can be ended at once."""

    def end(self) -> None: ...


H = TypeVar("H", bound=Ends)
R = TypeVar("R")


class Helpers(Generic[H]):
    """At most `width` of what `start` starts, each when it is first needed."""

    def __init__(self, start: Callable[[], H], width: int, name: str) -> None:
        self.all: list[H] = []
        self._start = start
        self._idle: SimpleQueue[H] = SimpleQueue()
        self._threads = ThreadPoolExecutor(width, name)

    def submit(self, work: Callable[[H], R]) -> Future[R]:
        """Work with a helper when one is free."""
        return self._threads.submit(self._run, work)

    def _run(self, work: Callable[[H], R]) -> R:
        try:
            helper = self._idle.get_nowait()
        except Empty:
            helper = self._start()
            self.all.append(helper)
        try:
            return work(helper)
        finally:
            self._idle.put(helper)

    def close(self) -> None:
        """Begin nothing more, wait for what is under way, and end every helper."""
        self._threads.shutdown(cancel_futures=True)
        for helper in self.all:
            helper.end()


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start_process(command: Sequence[str], environment: Mapping[str, str], *, quiet: bool) -> subprocess.Popen[bytes]:
    """A process that is spoken to by its standard input and output. Raises OSError. `quiet`: what it says of errors is not shown.

    It has a session of its own: Ctrl-C in the terminal is for this process, which then ends it.
    """
    pipe = subprocess.PIPE
    errors = subprocess.DEVNULL if quiet else None
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, env=environment, start_new_session=True)  # noqa: S603


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End it at once, and close what was open to it."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # bytes that nobody takes any more
                stream.close()
