"""Processes of our own that help: each waits for what one thread at a time sends it, and whoever is free takes the next piece."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Generic, Protocol, TypeVar

_PIPE_BYTES = 2**20
_LENGTH = struct.Struct("<BQ")


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


class Remote:
    """A process that runs a module of ours and answers messages. It ends with its standard input, so with this process too.

    Started by the module's name, so whatever program this is (a command, a Streamlit server, a notebook) is not run a second time.
    """

    def __init__(self, module: str) -> None:
        # By the import path of this process, so that it finds the same ctxasm.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = start_process([sys.executable, "-m", module], environment, quiet=False)
        for pipe in (self.process.stdin, self.process.stdout):
            _enlarge(pipe)

    def send(self, message: bytes) -> None:
        """Send a message that is not answered. Raises EOFError where the process has ended."""
        try:
            _write(self.process.stdin, message)
        except OSError:
            raise EOFError from None

    def ask(self, message: bytes) -> bytes:
        """The answer to a message. Raises EOFError where the process has ended, and what answering raised."""
        self.send(message)
        try:
            failed, answer = _read(self.process.stdout)
        except OSError:
            raise EOFError from None
        if failed:
            raise pickle.loads(answer)  # noqa: S301 (written by our own process)
        return answer

    def end(self) -> None:
        """End it at once."""
        end_process(self.process)


def read_message(source: IO[bytes]) -> bytes:
    """In the process: the next message. Raises EOFError at the end."""
    return _read(source)[1]


def answer_messages(source: IO[bytes], sink: IO[bytes], answer: Callable[[bytes], bytes]) -> None:
    """In the process: answer messages until the input ends. What answering raises is raised where it was asked."""
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            message = read_message(source)
            try:
                answered, failed = answer(message), False
            except Exception as error:  # noqa: BLE001 (told where it was asked)
                answered, failed = pickle.dumps(error), True
            _write(sink, answered, failed)


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
