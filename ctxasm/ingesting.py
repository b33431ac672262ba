"""Documents become a dataset: found, read one by one, cut into chunks, loaded in one transaction.

Each finished document is kept on the shelf "ingest NAME" until the dataset is loaded, so that work that was ended or
killed goes on where it was. Afterwards an unchanged document is known by the dataset's own metadata: the same files with
the same options are no work, and a changed one is the only one that is read.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.ingest.collecting import Source, collect, default_name
from ctxasm.ingest.cutting import MARK, Cut, cut, mark_of, read_written, written
from ctxasm.ingest.finding import FoundFile
from ctxasm.ingest.kinds import UnreadableDocument, kind_of
from ctxasm.ingest.options import IngestOptions, ReadLimits, limits_from
from ctxasm.ingest.packed import BROKEN
from ctxasm.ingest.reading import read_document
from ctxasm.loading import LoadReport
from ctxasm.model.errors import NotFound
from ctxasm.model.ports import Shelf
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import Bundle, Chunk, Document

if TYPE_CHECKING:
    from ctxasm.store.listing import DatasetInfo
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
            return f"ended with {self.waiting} of {done + self.waiting} documents not read; the other {done} are kept for the next time"
        if self.load is None:
            return "nothing was loaded: no document could be read"
        if not self.load.changed:
            return f"{self.load.summary} (nothing changed)"
        parts = [f"{self.read} read", f"{self.reused} unchanged" if self.reused else "", f"{self.gone} gone" if self.gone else ""]
        return f"{self.load.summary} ({', '.join(filter(None, parts))})"


def ingest(
    workbench: Workbench,
    sources: Sequence[Source],
    options: IngestOptions | None = None,
    name: str | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
    *,
    part: bool = False,
    limits: ReadLimits | None = None,
) -> IngestReport:
    """Load documents as the dataset `name` (default: the name of the first source), replacing one of that name.

    `report` is told after every document, `cancelled` asked between documents; then nothing is loaded and what is done is
    kept. `part` reads nothing and loads what is done. A document that cannot be read is a problem of the report, never an
    error. Raises InvalidInput for a source that is not there, StoreUnavailable.
    """
    from ctxasm.bundle.files import dataset_name

    options, limits = options or IngestOptions(), limits or limits_from(os.environ)
    collected = collect(sources, limits)
    run = _Run(workbench, dataset_name(name or default_name(sources)), options, limits)
    run.problems += [FileProblem(skipped.name, skipped.reason, False) for skipped in collected.skipped]
    run.problems += [FileProblem(refused.name, refused.reason, True) for refused in collected.refused]
    began = perf_counter()
    for position, file in enumerate(collected.files):
        if cancelled():
            return run.ended(len(collected.files) - position)
        report(Progress(position, len(collected.files), file.name, perf_counter() - began))
        run.take(file, part, cancelled)
    report(Progress(len(collected.files), len(collected.files), run.name, perf_counter() - began))
    return run.loaded()


class _Run:
    """One ingest under way: which documents are done, by the marks of what they are made of."""

    def __init__(self, workbench: Workbench, name: str, options: IngestOptions, limits: ReadLimits) -> None:
        self.workbench, self.name, self.options, self.limits = workbench, name, options, limits
        self.counter = workbench.counter()
        self.encoding = self.counter.encoding if self.counter.exact else f"about {self.counter.encoding}"
        self.shelf: Shelf = workbench.store
        self.shelf_name = f"ingest {name}"
        self.before = _Before(workbench, name)
        self.done: list[tuple[str, str]] = []
        self.read = self.waiting = 0
        self.problems: list[FileProblem] = []
        self.notes: list[str] = []

    def take(self, file: FoundFile, part: bool, cancelled: Cancelled) -> None:
        """Read one document and keep it, unless it is known; what cannot be read becomes a problem."""
        kind = kind_of(file.name)
        if kind is None:
            raise ValueError(f"{file.name} is no document")
        try:
            data = self._bytes(file)
            mark = mark_of(data, kind, self.options, self.encoding)
            if mark not in self.before.marks and not self.shelf.read_kept(self.shelf_name, [mark]):
                if part:
                    self.waiting += 1
                    return
                self._keep(mark, cut(file.name, read_document(file.name, data, self.limits), kind, mark, self.options, self.counter))
            self.done.append((file.name, mark))
        except UnreadableDocument as error:
            self.problems.append(FileProblem(file.name, str(error), True))

    def _bytes(self, file: FoundFile) -> bytes:
        most = self.limits.file_mb * 2**20
        try:
            data = file.read(most)
        except (*BROKEN, zlib.error) as error:
            raise UnreadableDocument(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if len(data) > most:
            raise UnreadableDocument(f"it is larger than {self.limits.file_mb:,} MB (CTXASM_INGEST_FILE_MB): split it")
        if not data:
            raise UnreadableDocument("it is empty")
        return data

    def _keep(self, mark: str, made: Cut) -> None:
        self.shelf.keep(self.shelf_name, {mark: written(made)})
        self.read += 1
        self.notes += [f"{made.document.document_id}: {note}" for note in made.notes]

    def ended(self, waiting: int) -> IngestReport:
        """The report of work that was not wanted to its end: nothing is loaded, what is done is kept."""
        self.waiting = waiting
        return self._report(None, cancelled=True)

    def loaded(self) -> IngestReport:
        """Load what is done, unless it is nothing or exactly what is loaded already."""
        if not self.done:
            return self._report(None)
        info = self.before.info
        if info is not None and self.done == self.before.order:
            self.shelf.forget(self.shelf_name)
            return self._report(LoadReport(info, False, ()))
        documents: list[Document] = []
        chunks: list[Chunk] = []
        for name, mark in self.done:
            made = self.before.cut(mark) or self._kept(mark)
            documents.append(made.named(name).document)
            chunks += made.named(name).chunks
        info = self.workbench.store.add(Bundle(self.name, tuple(documents), tuple(chunks)), origin="documents")
        self.shelf.forget(self.shelf_name)
        return self._report(LoadReport(info, True, tuple(self.notes)))

    def _kept(self, mark: str) -> Cut:
        return read_written(self.shelf.read_kept(self.shelf_name, [mark])[mark])

    def _report(self, load: LoadReport | None, cancelled: bool = False) -> IngestReport:
        names = {name for name, _ in self.done}
        gone = 0 if load is None else sum(name not in names for name, _ in self.before.order)
        reused = len(self.done) - self.read
        return IngestReport(load, self.read, reused, gone, self.waiting, cancelled, tuple(self.problems), tuple(self.notes))


class _Before:
    """The dataset that is there already: `order` are its documents with their marks, "" for one that no ingest made."""

    def __init__(self, workbench: Workbench, name: str) -> None:
        self.order: list[tuple[str, str]] = []
        self.info: DatasetInfo | None = None
        self.marks: dict[str, Document] = {}
        try:
            self._dataset = workbench.dataset(name)
        except NotFound:
            return
        self.info = self._dataset.info
        for document in self._dataset.documents():
            mark = document.metadata.get(MARK)
            self.order.append((document.document_id, mark if isinstance(mark, str) else ""))
            if isinstance(mark, str):
                self.marks.setdefault(mark, document)

    def cut(self, mark: str) -> Cut | None:
        """The document that is made of what `mark` says, with its chunks."""
        document = self.marks.get(mark)
        if document is None:
            return None
        stored = self._dataset.document_chunks(document.document_id)
        return Cut(document, tuple(Chunk(*chunk[:8]) for chunk in stored))
