"""Documents to a dataset: each is read apart unless it is known, cut into chunks, kept, and in the end all of them are loaded."""

from __future__ import annotations

import dataclasses
import json
import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ctxasm.data.documents.chunking import Tokenizer, chunk_text
from ctxasm.data.documents.collecting import (
    FoundFile,
    Kind,
    MissingPackage,
    Source,
    UnreadableDocument,
    collect,
    default_name,
    kind_of,
    named_sources,
    read_bytes,
)
from ctxasm.data.documents.options import IngestOptions, ReadLimits, limits_from
from ctxasm.data.documents.sandbox import LOOK_S, Readers
from ctxasm.data.documents.source import SourceText
from ctxasm.data.documents.worker import READER_VERSION, reader_of
from ctxasm.data.files.loading import LoadReport, replaced_notes
from ctxasm.data.load_conflicts import NameTaken, Over, added_notes, joined_dataset, standing, stored_info
from ctxasm.model.amounts import agreeing
from ctxasm.model.datasets import Moves
from ctxasm.model.errors import InvalidInput, NotFound, is_fault, reason_of
from ctxasm.model.ports import FetchedChunk, Shelf
from ctxasm.model.progress import Cancelled, Progress, Report, never, silent
from ctxasm.model.records import Bundle, Chunk, Document
from ctxasm.store.moves import ChunksOf, follow, old_texts
from ctxasm.store.records import decoding

if TYPE_CHECKING:
    from ctxasm.data.datasets import Datasets
    from ctxasm.model.datasets import OwnedDataset


MARK = "ingest"
"""The field of a document's metadata that says which bytes and options its chunks are made of."""

ADDED = "added"
"""The field that says that a document was added to a dataset: it does not follow the files of another ingest."""


def added(document: Document) -> Document:
    """The document as one that was added to a dataset."""
    return dataclasses.replace(document, metadata={**document.metadata, ADDED: True})


def not_added(document: Document) -> Document:
    """The same document as one of an ingest of its own."""
    return dataclasses.replace(document, metadata={key: value for key, value in document.metadata.items() if key != ADDED})


class Cut(NamedTuple):
    """A document with its chunks. `notes` are sentences for the user."""

    document: Document
    chunks: tuple[Chunk, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the chunks reach from the first character to the last."""
        reaches = self.chunks[0].start == 0 and self.chunks[-1].end == self.document.metadata.get("characters") if self.chunks else False
        return reaches and [chunk.chunk_index for chunk in self.chunks] == list(range(len(self.chunks)))

    def named(self, name: str) -> Cut:
        """The same under another name: the file was moved."""
        if self.document.document_id == name:
            return self
        document = dataclasses.replace(self.document, document_id=name, source=name)
        return Cut(document, tuple(dataclasses.replace(chunk, document_id=name) for chunk in self.chunks), self.notes)


def mark_of(data: bytes, kind: Kind, options: IngestOptions, encoding: str) -> str:
    """The digest of everything that decides what a document becomes: its bytes, its reader, the options, the encoding."""
    decides = [READER_VERSION, kind, reader_of(kind), encoding, dataclasses.astuple(options)]
    return blake2b(json.dumps(decides).encode() + b"\0" + data, digest_size=16).hexdigest()


def cut(name: str, source: SourceText, kind: Kind, mark: str, options: IngestOptions, tokenizer: Tokenizer) -> Cut:
    """The document `name` and its chunks; offsets count the characters of the document's text, without the head of a table."""
    breaks = set(source.page_breaks) if options.pages else set()
    if options.headings:
        breaks |= {section.start for section in source.sections}
    pieces = chunk_text(
        source.text,
        tokenizer=tokenizer,
        max_tokens=options.max_tokens,
        overlap_tokens=options.overlap_tokens,
        hard_breaks=sorted(place for place in breaks if 0 < place < len(source.text)),
        sentences=True,
        headings=[section.start for section in source.sections],
        tables=source.tables,
    )
    chunks = tuple(
        Chunk(name, index, piece.text, piece.start, piece.end, source.page_of(piece), source.section_of(piece))
        for index, piece in enumerate(pieces)
    )
    return Cut(_document(name, source, kind, mark, options), chunks, tuple(source.notes))


def _document(name: str, source: SourceText, kind: Kind, mark: str, options: IngestOptions) -> Document:
    language = source.fields.get("language", options.language)
    metadata: dict[str, Any] = {"file_type": kind, "reader": reader_of(kind), "characters": len(source.text), MARK: mark}
    if source.pages is not None:
        metadata["pages"] = source.pages
    if language is not None:
        metadata["language"] = language
    return Document(name, source.fields.get("title"), name, date=source.fields.get("date"), metadata=metadata)


def written(made: Cut) -> str:
    """A document with its chunks as JSON."""
    document = made.document
    return json.dumps(
        {
            "document": [document.document_id, document.title, document.date, dict(document.metadata)],
            "chunks": [[chunk.text, chunk.start, chunk.end, chunk.page_number, chunk.section] for chunk in made.chunks],
            "notes": list(made.notes),
        },
        ensure_ascii=False,
    )


def read_written(text: str) -> Cut:
    """What `written` wrote."""
    with decoding("a kept document"):
        stored = json.loads(text)
        name, title, date, metadata = stored["document"]
        document = Document(name, title, name, date=date, metadata=metadata)
        chunks = tuple(Chunk(name, index, *values) for index, values in enumerate(stored["chunks"]))
        return Cut(document, chunks, tuple(stored["notes"]))


FAILED = "ingest problems"
"""The shelf of the sentences for documents that could not be read, by what they are made of and the limits they were read within."""


class Loaded(Protocol):
    """What this needs of a dataset."""

    def documents(self) -> list[Document]: ...
    def document_chunks(self, document_id: str) -> list[FetchedChunk]: ...


class Known:
    """Documents by the marks of what they are made of (see `mark_of`). `order` are those of the dataset with their marks,
    "" for one that no ingest made, or that was added to it; `dataset` is None where there is none yet.
    """

    def __init__(self, name: str, dataset: Loaded | None, shelf: Shelf, limits: ReadLimits) -> None:
        self._dataset, self._shelf, self._shelf_name = dataset, shelf, f"ingest {name}"
        self._limits = json.dumps(dataclasses.astuple(limits))
        self._loaded: dict[str, Document] = {}
        self.order: list[tuple[str, str]] = []
        for document in dataset.documents() if dataset is not None else ():
            mark = document.metadata.get(MARK)
            follows = isinstance(mark, str) and not document.metadata.get(ADDED)
            self.order.append((document.document_id, str(mark) if follows else ""))
            if isinstance(mark, str):
                self._loaded.setdefault(mark, not_added(document))

    def has(self, mark: str) -> bool:
        """Whether this need not be read again."""
        return mark in self._loaded or bool(self._shelf.read_kept(self._shelf_name, [mark]))

    def cut(self, mark: str) -> Cut:
        """The document that is made of what `mark` says, with its chunks.

        Raises InvalidInput where it went meanwhile: another process has loaded or deleted the dataset.
        """
        document = self._loaded.get(mark)
        if document is None or self._dataset is None:
            found = self._shelf.read_kept(self._shelf_name, [mark])
            made = read_written(found[mark]) if mark in found else None
        else:
            stored = self._dataset.document_chunks(document.document_id)
            made = Cut(document, tuple(Chunk(*chunk[:8]) for chunk in stored))
        if made is None or not made.is_whole:
            raise InvalidInput("another process has loaded or deleted this dataset while its documents were read: ingest them again")
        return made

    def keep(self, mark: str, made: Cut) -> None:
        """Keep a document until the dataset is loaded."""
        self._shelf.keep(self._shelf_name, {mark: written(made)})

    def forget(self) -> None:
        """Everything is loaded: nothing needs to be kept."""
        self._shelf.forget(self._shelf_name)

    def failure(self, mark: str) -> str | None:
        """Why this could not be read the last time."""
        return self._shelf.read_kept(FAILED, [key := self._failure_key(mark)]).get(key)

    def keep_failure(self, mark: str, reason: str) -> None:
        """Not to spend a minute on the same broken file every time."""
        self._shelf.keep(FAILED, {self._failure_key(mark): reason})

    def _failure_key(self, mark: str) -> str:
        return f"{mark} {self._limits}"


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
            others = f"the other {done} {agreeing(done, 'is', 'are')} kept for the next time"
            return f"ended with {self.waiting} of {done + self.waiting} documents not read; {others}"
        if self.load is None:
            return "nothing was loaded: no document could be read"
        if not self.load.changed:
            return f"{self.load.summary} (nothing changed)"
        counts = ((self.read, "read"), (self.reused, "known before"), (self.gone, "gone"), (self.waiting, "not read yet"))
        return f"{self.load.summary} ({', '.join(f'{count:,} {what}' for count, what in counts if count)})"


def ingest(
    datasets: Datasets,
    sources: Sequence[Source],
    options: IngestOptions | None = None,
    name: str | None = None,
    report: Report = silent,
    cancelled: Cancelled = never,
    *,
    part: bool = False,
    retry: bool = False,
    limits: ReadLimits | None = None,
    over: Over = "replace",
) -> IngestReport:
    """Load documents as the dataset `name` (default: the name of the first source); `over` says what becomes of one of that name.

    With "new" a dataset goes on that holds one of these files from an earlier ingest: its other documents of an ingest follow
    the files, and whatever else was added to it stays. Any other dataset of that name is refused.
    `report` is told after every document, `cancelled` asked all the time; then nothing is loaded, and what is done is kept.
    `part` reads nothing and loads what is done; `retry` reads again what could not be read before. A document that cannot
    be read is a problem of the report, never an error. Raises InvalidInput for a source that is not there, NameTaken,
    StoreUnavailable.
    """
    from ctxasm.data.files.source import dataset_name

    options, limits = options or IngestOptions(), limits or limits_from(os.environ)
    collected = collect(sources, limits)
    name = dataset_name(name or default_name(sources))
    joined_dataset(datasets, name, over)
    there = stored_info(datasets, name)
    run = _Run(datasets, name, options, limits, retry, over)
    if there is not None and over == "new" and not run.goes_on(collected.files):
        raise NameTaken(standing(datasets, there))
    run.origin = f"documents of {named_sources(sources)}"
    run.problems += [FileProblem(skipped.name, skipped.reason, False) for skipped in collected.skipped]
    run.problems += [FileProblem(refused.name, refused.reason, True) for refused in collected.refused]
    return run.read_all(collected.files, part, report, cancelled)


class _Run:
    """One ingest under way: which documents are done, by the marks of what they are made of."""

    def __init__(self, datasets: Datasets, name: str, options: IngestOptions, limits: ReadLimits, retry: bool, over: Over) -> None:
        self.datasets, self.name, self.options, self.limits, self.retry, self.over = datasets, name, options, limits, retry, over
        self.counter = datasets.counter()
        self.encoding = self.counter.encoding if self.counter.exact else f"about {self.counter.encoding}"
        self.dataset: OwnedDataset | None = None
        with suppress(NotFound):
            self.dataset = datasets.store.dataset(name)
        self.known = Known(name, self.dataset, datasets.store, limits)
        self.done: list[tuple[str, str]] = []
        self.read = self.waiting = self.finished = 0
        self.origin = "documents"
        self.problems: list[FileProblem] = []
        self.notes: list[str] = []

    def goes_on(self, files: Sequence[FoundFile]) -> bool:
        """Whether the dataset holds one of these files from an earlier ingest."""
        known = {document_id for document_id, mark in self.known.order if mark}
        return any(file.name in known for file in files)

    def read_all(self, files: Sequence[FoundFile], part: bool, report: Report, cancelled: Cancelled) -> IngestReport:
        """Read what is not known yet, several documents at once; then load everything that is done, in the order of the files."""
        began = perf_counter()
        waiting: deque[_PendingDocument] = deque()
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

    def _begin(self, position: int, file: FoundFile, part: bool, readers: Readers) -> _PendingDocument:
        """Have a document read, unless it is known."""
        kind = kind_of(file.name)
        if kind is None:
            raise ValueError(f"{file.name} is no document")
        pending = _PendingDocument(position, file.name, kind)
        try:
            data = read_bytes(file, self.limits)
            pending.mark = mark_of(data, kind, self.options, self.encoding)
            if not self.known.has(pending.mark):
                if not self.retry and (reason := self.known.failure(pending.mark)) is not None:
                    raise UnreadableDocument(reason)
                if part:
                    self.waiting += 1
                    pending.mark = ""
                else:
                    pending.result = readers.submit(file.name, data, pending.pages)
        except UnreadableDocument as error:
            pending.mark = ""
            self.problems.append(FileProblem(file.name, str(error), True))
        return pending

    def _finish(self, pending: _PendingDocument, total: int, began: float, report: Report, cancelled: Cancelled) -> bool:
        """Wait for a document and keep it; what cannot be read becomes a problem. False where the work is no longer wanted."""
        said = ""
        while True:
            if (what := ", ".join([pending.name, *pending.pages])) != said:
                report(Progress(pending.position, total, said := what, perf_counter() - began))
            if cancelled():
                return False
            try:
                source = pending.result.result(timeout=LOOK_S) if pending.result is not None else None
                break
            except TimeoutError:
                continue
            except UnreadableDocument as error:
                if not isinstance(error, MissingPackage):
                    self.known.keep_failure(pending.mark, str(error))
                return self._fail(pending, error)
        if source is not None:
            try:
                made = cut(pending.name, source, pending.kind, pending.mark, self.options, self.counter)
            except BaseException as error:  # such as a run of blanks that no tokenizer can count: the other documents go on
                if not is_fault(error):
                    raise
                return self._fail(pending, error)
            self._keep(pending.mark, made)
        self.finished += 1
        self.done += [(pending.name, pending.mark)] if pending.mark else []
        return True

    def _fail(self, pending: _PendingDocument, error: BaseException) -> bool:
        self.finished += 1
        self.problems.append(FileProblem(pending.name, reason_of(error, "it cannot be made into chunks"), True))
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
        if self.dataset is not None and self.over != "join" and self.done == self._followed():
            self.known.forget()
            return self._report(LoadReport(self.dataset.info, False, ()))
        documents: list[Document] = []
        chunks: list[Chunk] = []
        for name, mark in self.done:
            made = self.known.cut(mark).named(name)
            documents.append(added(made.document) if self.over == "join" else made.document)
            chunks += made.chunks
        before = None if self.dataset is None else self.dataset.info
        bundle = Bundle(self.name, tuple(documents), tuple(chunks))
        moves = Moves()
        if self.dataset is not None and self.over == "new":
            bundle = with_others(bundle, self.dataset.bundle(), {name for name, _ in self._followed()}, moves)
        info = self.datasets.store.add(bundle, origin=self.origin, join=self.over == "join", moves=moves)
        self.known.forget()
        self.notes += moves.notes()
        if before is not None and self.over == "join":
            self.notes += added_notes(before, info)
            return self._report(LoadReport(info, info.dataset_id != before.dataset_id, tuple(self.notes)))
        if self.read == len(self.done):  # else it is the same dataset brought up to date, which the summary says
            self.notes += replaced_notes(before)
        return self._report(LoadReport(info, True, tuple(self.notes)))

    def _followed(self) -> list[tuple[str, str]]:
        """The documents of the dataset that follow the files, with their marks: what was added in other ways goes only when replaced."""
        return [(name, mark) for name, mark in self.known.order if mark or self.over == "replace"]

    def _report(self, load: LoadReport | None, cancelled: bool = False) -> IngestReport:
        names = {name for name, _ in self.done}
        gone = 0 if load is None or self.over == "join" else sum(name not in names for name, _ in self._followed())
        problems = tuple(sorted(self.problems))
        return IngestReport(load, self.read, len(self.done) - self.read, gone, self.waiting, cancelled, problems, tuple(self.notes))


def with_others(bundle: Bundle, stored: Bundle, followed: set[str], moves: Moves) -> Bundle:
    """The documents of an ingest with all that was added to their dataset since in other ways; labels and hits follow their texts."""
    own = {document.document_id for document in bundle.documents}
    others = {document.document_id for document in stored.documents} - followed - own
    documents = tuple(document for document in stored.documents if document.document_id in others)
    chunks = tuple(chunk for chunk in stored.chunks if chunk.document_id in others)
    whole = replace(bundle, documents=bundle.documents + documents, chunks=bundle.chunks + chunks, answers=stored.answers)
    queries = follow(stored.queries, old_texts(stored.queries, _by_document(stored)), _by_document(whole), moves)
    return replace(whole, queries=tuple(queries))


def _by_document(bundle: Bundle) -> ChunksOf:
    chunks: dict[str, list[Chunk]] = {}
    for chunk in bundle.chunks:
        chunks.setdefault(chunk.document_id, []).append(chunk)
    return lambda document_id: sorted(chunks.get(document_id, ()), key=lambda chunk: chunk.chunk_index)


@dataclass(slots=True)
class _PendingDocument:
    """A document under way: `mark` is empty where it will not be loaded, `result` None where it need not be read."""

    position: int
    name: str
    kind: Kind
    mark: str = ""
    pages: list[str] = field(default_factory=list)
    result: Future[SourceText] | None = None
