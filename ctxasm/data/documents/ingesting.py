"""Documents become a dataset: found, read one by one, cut into chunks, loaded in one transaction.

Each finished document is kept on the shelf "ingest NAME" until the dataset is loaded, so that work that was ended or
killed goes on where it was. Afterwards an unchanged document is known by the dataset's own metadata: the same files with
the same options are no work, and a changed one is the only one that is read.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.ingest.apart import LOOK_S, Readers
from ctxasm.ingest.collecting import Source, collect, default_name, named_sources
from ctxasm.ingest.cutting import Cut, cut, mark_of
from ctxasm.ingest.finding import FoundFile
from ctxasm.ingest.kinds import Kind, MissingPackage, UnreadableDocument, kind_of
from ctxasm.ingest.known import Known
from ctxasm.ingest.options import IngestOptions, ReadLimits, limits_from
from ctxasm.ingest.packed import read_bytes
from ctxasm.ingest.source import SourceText
from ctxasm.loading import LoadReport, replacing
from ctxasm.model.errors import InvalidInput, NotFound
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import Bundle, Chunk, Document

if TYPE_CHECKING:
    from ctxasm.store.dataset import Dataset
    from ctxasm.store.memory import MemoryDataset
    from ctxasm.workbench import Workbench

__all__ = ["FileProblem", "IngestOptions", "IngestReport", "ReadLimits", "Source", "ingest"]


class FileProblem(NamedTuple):
    """A file that is not in the dataset, and why. `broken`: it is a document that could not be read; else it is none."""

    file: str
    reason: str
    broken: bool


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest brought. `load` is None where nothing was loaded: ended before its end, or nothing could be read.

    `read` documents were read now, `reused` known before, `gone` ones of the dataset are no longer among the files.
    `waiting` are the documents that were not reached when the work was ended; what is done is kept for the next time.
    """

    load: LoadReport | None
    read: int = 0
    reused: int = 0
    gone: int = 0
    waiting: int = 0
    cancelled: bool = False
    problems: tuple[FileProblem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def broken(self) -> tuple[FileProblem, ...]:
        """The documents that could not be read."""
        return tuple(problem for problem in self.problems if problem.broken)

    @property
    def summary(self) -> str:
        """The ingest as one sentence."""
        if self.cancelled:
            done = self.read + self.reused
            others = f"the other {done} {'is' if done == 1 else 'are'} kept for the next time"
            return f"ended with {self.waiting} of {done + self.waiting} documents not read; {others}"
        if self.load is None:
            return "nothing was loaded: no document could be read"
        if not self.load.changed:
            return f"{self.load.summary} (nothing changed)"
        counts = ((self.read, "read"), (self.reused, "known before"), (self.gone, "gone"), (self.waiting, "not read yet"))
        return f"{self.load.summary} ({', '.join(f'{count:,} {what}' for count, what in counts if count)})"


def ingest(
    workbench: Workbench,
    sources: Sequence[Source],
    options: IngestOptions | None = None,
    name: str | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
    *,
    part: bool = False,
    retry: bool = False,
    limits: ReadLimits | None = None,
) -> IngestReport:
    """Load documents as the dataset `name` (default: the name of the first source), replacing one of that name.

    `report` is told after every document, `cancelled` asked all the time; then nothing is loaded, and what is done is kept.
    `part` reads nothing and loads what is done; `retry` reads again what could not be read before. A document that cannot
    be read is a problem of the report, never an error. Raises InvalidInput for a source that is not there, StoreUnavailable.
    """
    from ctxasm.bundle.files import dataset_name

    options, limits = options or IngestOptions(), limits or limits_from(os.environ)
    collected = collect(sources, limits)
    name = dataset_name(name or default_name(sources))
    workbench.links.check_load(name)
    run = _Run(workbench, name, options, limits, retry)
    run.origin = f"documents of {named_sources(sources)}"
    run.problems += [FileProblem(skipped.name, skipped.reason, False) for skipped in collected.skipped]
    run.problems += [FileProblem(refused.name, refused.reason, True) for refused in collected.refused]
    return run.over(collected.files, part, report, cancelled)


class _Run:
    """One ingest under way: which documents are done, by the marks of what they are made of."""

    def __init__(self, workbench: Workbench, name: str, options: IngestOptions, limits: ReadLimits, retry: bool) -> None:
        self.workbench, self.name, self.options, self.limits, self.retry = workbench, name, options, limits, retry
        self.counter = workbench.counter()
        self.encoding = self.counter.encoding if self.counter.exact else f"about {self.counter.encoding}"
        self.dataset: Dataset | MemoryDataset | None = None
        with suppress(NotFound):
            self.dataset = workbench.store.dataset(name)
        self.known = Known(name, self.dataset, workbench.store, limits)
        self.done: list[tuple[str, str]] = []
        self.read = self.waiting = self.finished = 0
        self.origin = "documents"
        self.problems: list[FileProblem] = []
        self.notes: list[str] = []

    def over(self, files: Sequence[FoundFile], part: bool, report: Report, cancelled: Cancelled) -> IngestReport:
        """Read what is not known yet, several documents at once; then load everything that is done, in the order of the files."""
        began = perf_counter()
        waiting: deque[_Under] = deque()
        with Readers(self.limits) as readers:
            for position, file in enumerate([*files, None]):
                while waiting and (file is None or len(waiting) >= 2 * readers.width):
                    if not self._finish(waiting.popleft(), len(files), began, report, cancelled):
                        return self._ended(len(files))
                if cancelled():
                    return self._ended(len(files))
                if file is not None:
                    waiting.append(self._begin(position, file, part, readers))
        report(Progress(len(files), len(files), self.name, perf_counter() - began))
        return self._loaded()

    def _begin(self, position: int, file: FoundFile, part: bool, readers: Readers) -> _Under:
        """Have a document read, unless it is known."""
        kind = kind_of(file.name)
        if kind is None:
            raise ValueError(f"{file.name} is no document")
        under = _Under(position, file.name, kind)
        try:
            data = read_bytes(file, self.limits)
            under.mark = mark_of(data, kind, self.options, self.encoding)
            if not self.known.has(under.mark):
                if not self.retry and (reason := self.known.failure(under.mark)) is not None:
                    raise UnreadableDocument(reason)
                if part:
                    self.waiting += 1
                    under.mark = ""
                else:
                    under.result = readers.submit(file.name, data, under.pages)
        except UnreadableDocument as error:
            under.mark = ""
            self.problems.append(FileProblem(file.name, str(error), True))
        return under

    def _finish(self, under: _Under, total: int, began: float, report: Report, cancelled: Cancelled) -> bool:
        """Wait for a document and keep it; what cannot be read becomes a problem. False where the work is no longer wanted."""
        said = ""
        while True:
            if (what := ", ".join([under.name, *under.pages])) != said:
                report(Progress(under.position, total, said := what, perf_counter() - began))
            if cancelled():
                return False
            try:
                source = under.result.result(timeout=LOOK_S) if under.result is not None else None
                break
            except TimeoutError:
                continue
            except UnreadableDocument as error:
                if not isinstance(error, MissingPackage):
                    self.known.keep_failure(under.mark, str(error))
                return self._fail(under, error)
        try:
            if source is not None:
                self._keep(under.mark, cut(under.name, source, under.kind, under.mark, self.options, self.counter))
        except InvalidInput as error:  # such as a run of blanks that no tokenizer can count
            return self._fail(under, error)
        self.finished += 1
        self.done += [(under.name, under.mark)] if under.mark else []
        return True

    def _fail(self, under: _Under, error: InvalidInput) -> bool:
        self.finished += 1
        self.problems.append(FileProblem(under.name, str(error), True))
        return True

    def _keep(self, mark: str, made: Cut) -> None:
        self.known.keep(mark, made)
        self.read += 1
        self.notes += [f"{made.document.document_id}: {note}" for note in made.notes]

    def _ended(self, total: int) -> IngestReport:
        """The report of work that was not wanted to its end: nothing is loaded, what is done is kept."""
        self.waiting = total - self.finished
        return self._report(None, cancelled=True)

    def _loaded(self) -> IngestReport:
        """Load what is done, unless it is nothing or exactly what is loaded already."""
        if not self.done:
            return self._report(None)
        if self.dataset is not None and self.done == self.known.order:
            self.known.forget()
            return self._report(LoadReport(self.dataset.info, False, ()))
        documents: list[Document] = []
        chunks: list[Chunk] = []
        for name, mark in self.done:
            made = self.known.cut(mark).named(name)
            documents.append(made.document)
            chunks += made.chunks
        if self.read == len(self.done):  # else it is the same dataset brought up to date, which the summary says
            self.notes += replacing(self.workbench, self.name)
        info = self.workbench.store.add(Bundle(self.name, tuple(documents), tuple(chunks)), origin=self.origin)
        self.known.forget()
        return self._report(LoadReport(info, True, tuple(self.notes)))

    def _report(self, load: LoadReport | None, cancelled: bool = False) -> IngestReport:
        names = {name for name, _ in self.done}
        gone = 0 if load is None else sum(name not in names for name, _ in self.known.order)
        problems = tuple(sorted(self.problems))
        return IngestReport(load, self.read, len(self.done) - self.read, gone, self.waiting, cancelled, problems, tuple(self.notes))


@dataclass(slots=True)
class _Under:
    """A document under way: `mark` is empty where it will not be loaded, `result` None where it need not be read."""

    position: int
    name: str
    kind: Kind
    mark: str = ""
    pages: list[str] = field(default_factory=list)
    result: Future[SourceText] | None = None
