"""Documents are read in processes of their own, several at once, each within a time and a size that no file can exceed."""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ctxasm.data.documents.collecting import MissingPackage, UnreadableDocument
from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.source import SourceText
from ctxasm.data.documents.worker import read_source_json
from ctxasm.model.errors import InvalidInput
from ctxasm.store.processes import Helpers, cores, end_process, start_process

KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "HOME")
"""What a reader needs of the environment. It gets no keys."""
MOST_READERS = 4
LOOK_S = 0.05


class ReadingEnded(Exception):
    """The work is no longer wanted."""


class _WorkerCrashed(Exception):
    """The process did not survive a document."""


class Readers:
    """Reads documents apart: `submit` as many as `width`, and take their results in any order. Close it, or use `with`."""

    def __init__(self, limits: ReadLimits, width: int | None = None) -> None:
        self.width = width or min(MOST_READERS, cores())
        self._unwanted = threading.Event()
        self._helpers = Helpers(lambda: _Reader(limits), self.width, "ingest")

    def submit(self, name: str, data: bytes, pages: list[str]) -> Future[SourceText]:
        """Read a document when its turn comes; what is to be said of its pages is put into `pages`.

        The result raises UnreadableDocument, or ReadingEnded after `close`.
        """
        return self._helpers.submit(lambda reader: reader.read(name, data, pages, self._unwanted))

    def close(self) -> None:
        """End everything, at once."""
        self._unwanted.set()
        self._helpers.close()

    def __enter__(self) -> Readers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class _Reader:
    """One process, started when it is needed, and again after it was ended."""

    def __init__(self, limits: ReadLimits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read(self, name: str, data: bytes, pages: list[str], unwanted: threading.Event) -> SourceText:
        """Raises UnreadableDocument, or ReadingEnded when `unwanted` is set."""
        used = self._process is not None
        try:
            return self._read(name, data, pages, unwanted)
        except _WorkerCrashed as error:
            if not used:
                raise UnreadableDocument(str(error)) from None
        # What broke it may be what the documents before left behind.
        try:
            return self._read(name, data, pages, unwanted)
        except _WorkerCrashed as error:
            raise UnreadableDocument(str(error)) from None

    def _read(self, name: str, data: bytes, pages: list[str], unwanted: threading.Event) -> SourceText:
        process, deadline = self._started(), time.monotonic() + self._limits.seconds
        try:
            _send(process, name, data)
            while True:
                answer = self._next_answer(unwanted, deadline)
                if "source" in answer:
                    return read_source_json(answer["source"])
                if "refused" in answer:
                    raise UnreadableDocument(str(answer["refused"]))
                if "missing" in answer:
                    raise MissingPackage(str(answer["missing"]))
                if "broke" in answer:
                    raise _WorkerCrashed(str(answer["broke"]))
                pages[:] = [f"page {int(answer['page']):,} of {int(answer['of']):,}"]
        except UnreadableDocument:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            self.end()
            raise UnreadableDocument("it made its reader give a wrong answer: it is damaged") from None
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the process at once."""
        if self._process is not None:
            process, self._process = self._process, None
            end_process(process)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.end()
        package = Path(__file__).resolve().parents[3]
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        environment |= {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-P", str(Path(__file__).with_name("worker.py")), json.dumps(dataclasses.asdict(self._limits))]
        try:
            process = start_process(command, environment, quiet=True)
        except OSError as error:
            raise InvalidInput(
                f"documents are read in a process of their own, which cannot be started: {error.strerror or error}"
            ) from None
        self._answers = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(process.stdout, self._answers), daemon=True).start()
        self._process = process
        return process

    def _next_answer(self, unwanted: threading.Event, deadline: float) -> dict[str, Any]:
        while not unwanted.is_set():
            if time.monotonic() > deadline:
                self.end()
                raise UnreadableDocument(f"reading it takes longer than {self._limits.seconds:,} seconds (CTXASM_INGEST_SECONDS)")
            try:
                line = self._answers.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if not line:
                raise _WorkerCrashed("it made its reader crash: it is damaged, or needs more memory than is allowed")
            answer: dict[str, Any] = json.loads(line)
            return answer
        raise ReadingEnded


def _send(process: subprocess.Popen[bytes], name: str, data: bytes) -> None:
    if process.stdin is None:
        raise ValueError("the reader was started without an input")
    try:
        process.stdin.write(json.dumps({"name": name, "size": len(data)}).encode() + b"\n")
        process.stdin.write(data)
        process.stdin.flush()
    except OSError:
        return  # it is gone: its answers end, which says so


def _listen(stream: IO[bytes] | None, answers: queue.SimpleQueue[bytes]) -> None:
    """Put each line of the answers into the queue, at the end an empty one."""
    try:
        while stream is not None and (line := stream.readline()):
            answers.put(line)
    except (OSError, ValueError):
        pass  # closed while it was read
    finally:
        answers.put(b"")
