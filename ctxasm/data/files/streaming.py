"""A file of a bundle read record by record: what is remembered of a record is its name's hash and its line, not its text."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import BaseModel

from ctxasm.data.archives import BROKEN, ZipLimits
from ctxasm.data.files.bundle import ANSWERS, CHUNKS, DOCUMENTS, KNOWN_FILES, QUERIES, RETRIEVALS, Key, Kind
from ctxasm.data.files.checking import (
    Asked,
    Failed,
    Table,
    Tables,
    add_twice,
    check_answers,
    check_asked,
    check_chunks,
    check_documents,
    check_evidence,
    check_retrievals,
    extend_lengths,
    holds_hits,
    implied_document,
    is_odd,
    joined,
    notes_with,
    only_retrieved,
    record_of,
    take_line,
    why,
)
from ctxasm.data.files.json_lines import LineReader
from ctxasm.data.files.problems import MAX_PROBLEMS, Problem, Problems, TooManyProblems
from ctxasm.data.files.reading import ignored_notes, no_records
from ctxasm.data.files.source import BundleFiles, file_opener, open_files
from ctxasm.model.datasets import OwnedDataset
from ctxasm.model.errors import InvalidBundle
from ctxasm.model.records import Answer, Chunk, Document, Query

S = TypeVar("S", bound=BaseModel)
R = TypeVar("R")
Opener = Callable[[], IO[bytes]]


@dataclass(slots=True)
class IndexedTable(Table[R]):
    """A table whose `records` and `lines` are those of the batch at hand; `first_lines` finds all, by the hash of their names.

    The hash is Python's own: 64 bits, salted anew in each process, so that no file can be made to collide.
    """

    first_lines: dict[int, int] = field(default_factory=dict)
    offsets: array[int] = field(default_factory=lambda: array("Q"))

    def may_hold(self, *key: Any) -> bool:
        """As `Table.may_hold`, over all records that were read."""
        return hash(key) in self.first_lines or Table.may_hold(self, *key)

    def forget_batch(self) -> None:
        """Let go of the records at hand; they stay known."""
        self.records, self.lines = {}, {}


def read_batches(
    kind: Kind[S, R], opener: Opener | None, table: IndexedTable[R], reader: LineReader, problems: Problems, size: int = 500
) -> Iterator[None]:
    """Read a file (None: there is none) into `table`, pausing whenever `size` records are at hand, and at the end.

    Every mistake goes to `problems`, a record that stands twice too.
    """
    if opener is None:
        return
    try:
        with opener() as stream:
            for number, value in reader.read(kind.file, _noting(stream, table.offsets)):
                take_line(kind, table, number, value, problems, partial(_put, opener))
                if len(table.records) >= size:
                    yield
                    table.forget_batch()
    except BROKEN as error:
        problems.add(kind.file, None, "", f"cannot be read ({why(error)})")
        table.note_failure(None)
    yield
    table.forget_batch()


def record_at(kind: Kind[S, R], opener: Opener, table: IndexedTable[R], line: int) -> R | None:
    """The record of a line that was read before; None where it is no record any more."""
    ignored = Problems((kind.file,))
    with opener() as stream:
        stream.seek(table.offsets[line - 1])
        content = stream.readline()
    for _, value in LineReader(ignored).read(kind.file, (content,)):
        if value is not None:
            record = record_of(kind, line, value, ignored)
            return None if isinstance(record, Failed) else record
    return None


def _put(opener: Opener, kind: Kind[S, R], table: IndexedTable[R], number: int, record: R, problems: Problems) -> None:
    key: Key = tuple(getattr(record, name) for name in kind.names) or (number,)
    first = table.first_lines.setdefault(hash(key), number) if kind.names else number
    if first == number:
        table.records[key], table.lines[key] = record, number
    elif record_at(kind, opener, table, first) == record:
        table.repeated += 1
    else:
        add_twice(kind, key, number, first, problems)


def _noting(stream: IO[bytes], offsets: array[int]) -> Iterator[bytes]:
    at = 0
    for line in stream:
        offsets.append(at)
        at += len(line)
        yield line


BATCH = 500
LARGE_BYTES = 64 * 2**20
"""From this size on a bundle is better read record by record."""


@contextmanager
def stream_bundle(
    path: str | os.PathLike[str], name: str | None = None, limits: ZipLimits | None = None, into: OwnedDataset | None = None
) -> Iterator[BundleStream]:
    """The bundle in a folder or .zip. Raises as `load_bundle`, but for what its files hold only when they are read."""
    with open_files(path, name, limits or ZipLimits()) as files, tempfile.TemporaryDirectory(prefix="ctxasm-load-") as folder:
        yield BundleStream(files, Path(folder), into)


class BundleStream:
    """The records of a bundle: `documents`, `chunks`, `queries` and `answers`, each to be read once, whole, and in this order.

    From the first problem on nothing more is handed on; `answers` raises InvalidBundle with all problems in the end, or
    InvalidInput where there is no record at all. `notes` and `replaced` are known after that.
    """

    def __init__(self, files: BundleFiles, folder: Path, into: OwnedDataset | None = None) -> None:
        self._files, self._folder = files, folder
        self._openers = dict(files.known)
        self.name = files.name
        self._problems = Problems(KNOWN_FILES)
        self._reader = LineReader(self._problems)
        tables: dict[str, IndexedTable[Any]] = {
            kind: IndexedTable(f"{kind}.jsonl", present=f"{kind}.jsonl" in files.known)
            for kind in ("documents", "chunks", "queries", "retrievals", "answers")
        }
        self._tables = Tables(**tables, stored=into)
        self._lengths: dict[str, int | None] = {}
        self._odd = 0
        self._first_odd: Chunk | None = None
        self._beside = 0
        self._untitled = 0
        self._records = 0

    @property
    def size(self) -> int:
        """Bytes of all files, unpacked."""
        return sum(map(_size, self._files.known.values()))

    def replaced(self) -> int:
        """Characters that became U+FFFD."""
        return self._reader.replaced

    def notes(self) -> tuple[str, ...]:
        """What its owner should know although nothing is wrong (sentences)."""
        has_retrievals = bool(_indexed(self._tables.retrievals).first_lines)
        return (
            *notes_with(self._tables, self._odd, self._first_odd, has_retrievals, self._beside, self._untitled),
            *ignored_notes(self._files),
        )

    def parts(self) -> tuple[Iterator[Document], Iterator[Chunk], Iterator[Query], Iterator[Answer]]:
        """All records, to be read in this order."""
        return self.documents(), self.chunks(), self.queries(), self.answers()

    def documents(self) -> Iterator[Document]:
        """All documents in file order; without documents.jsonl those that the chunks imply."""
        self._unpack()
        for _ in self._batches(DOCUMENTS, self._tables.documents):
            with self._ending():
                check_documents(self._tables, self._problems)
            yield from self._sound(self._tables.documents.records.values())
        if not self._tables.documents.present:
            yield from self._implied()

    def chunks(self) -> Iterator[Chunk]:
        """All chunks in file order."""
        unknown: set[str] = set()
        for _ in self._batches(CHUNKS, self._tables.chunks):
            with self._ending():
                check_chunks(self._tables, self._problems, unknown)
            records = self._tables.chunks.records.values()
            extend_lengths(self._lengths, records)
            for chunk in filter(is_odd, records):
                self._odd, self._first_odd = self._odd + 1, self._first_odd or chunk
            yield from self._sound(records)

    def queries(self) -> Iterator[Query]:
        """All queries, each with what retrieval returned for it."""
        for _ in self._batches(QUERIES, self._tables.queries):
            with self._ending():
                check_evidence(self._tables, self._problems, self._lengths)
        known = _indexed(self._tables.queries).first_lines
        for _ in self._batches(RETRIEVALS, self._tables.retrievals):
            with self._ending():
                check_retrievals(self._tables, self._problems)
                held = only_retrieved(self._tables, [key for key in self._tables.retrievals.records if hash(key) not in known])
                check_asked(self._tables, self._problems, held)
            yield from self._sound([one.query for one in held])
        asked = self._asked()
        while batch := list(islice(asked, BATCH)):
            self._beside += sum(one.retrieval is None and holds_hits(one.query) for one in batch)
            with self._ending():
                check_asked(self._tables, self._problems, batch)
            yield from self._sound([one.query for one in batch])

    def answers(self) -> Iterator[Answer]:
        """All recorded answers in file order. Raises InvalidBundle, InvalidInput."""
        for _ in self._batches(ANSWERS, self._tables.answers):
            with self._ending():
                check_answers(self._tables, self._problems)
            yield from self._sound(self._tables.answers.records.values())
        if found := self._problems.sorted():
            raise InvalidBundle(self._files.where, found)
        if not self._records:
            raise no_records(self._files)

    def _asked(self) -> Iterator[Asked]:
        """All queries of the file, each with what retrieval returned for it; after a problem only those that may be stored otherwise."""
        table, retrievals, openers = _indexed(self._tables.queries), _indexed(self._tables.retrievals), self._openers
        for key, line in [] if self._problems.any() and self._tables.stored is None else table.first_lines.items():
            query = record_at(QUERIES, openers[QUERIES.file], table, line)
            found = retrievals.first_lines.get(key)
            retrieval = record_at(RETRIEVALS, openers[RETRIEVALS.file], retrievals, found) if found is not None else None
            if query is not None:
                yield Asked(joined(query, retrieval), line, retrieval, found)

    def _unpack(self) -> None:
        """Members of an archive to files: lines are found again by where they begin, and an archive has no way back."""
        for file, opener in self._files.known.items():
            if _entry(opener) is not None:
                with suppress(*BROKEN), opener() as packed, (self._folder / file).open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked, 2**20)
                    self._openers[file] = file_opener(self._folder / file)

    def _batches(self, kind: Kind[Any, Any], table: Any) -> Iterator[None]:
        with self._ending():
            for _ in read_batches(kind, self._openers.get(kind.file), table, self._reader, self._problems, BATCH):
                yield
                for other in (self._tables.documents, self._tables.chunks, self._tables.queries):
                    other.held.clear()

    def _sound(self, records: Any) -> Iterator[Any]:
        for record in () if self._problems.any() else records:
            self._records += 1
            yield record

    def _implied(self) -> Iterator[Document]:
        """The documents that chunks name, each at its first chunk: the file is read once more for that."""
        ignored = Problems((CHUNKS.file,))
        table: IndexedTable[Chunk] = IndexedTable(CHUNKS.file)
        seen: set[str] = set()
        try:
            for _ in read_batches(CHUNKS, self._openers.get(CHUNKS.file), table, LineReader(ignored), ignored):
                for chunk in table.records.values():
                    if chunk.document_id not in seen:
                        seen.add(chunk.document_id)
                        document = implied_document(chunk)
                        self._untitled += document.title is None
                        yield from self._sound((document,))
        except TooManyProblems:
            return  # they are reported when the chunks are read

    @contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            yield
        except TooManyProblems:
            end = Problem("reading", None, "", f"stopped after {MAX_PROBLEMS:,} problems; there may be more")
            raise InvalidBundle(self._files.where, (*self._problems.sorted(), end)) from None


def _entry(opener: Opener) -> zipfile.ZipInfo | None:
    found = next(iter(getattr(opener, "args", ())), None)
    return found if isinstance(found, zipfile.ZipInfo) else None


def _size(opener: Opener) -> int:
    if (entry := _entry(opener)) is not None:
        return entry.file_size
    try:
        with opener() as stream:
            return stream.seek(0, os.SEEK_END)
    except OSError:  # told when it is read
        return 0


def _indexed(table: Any) -> IndexedTable[Any]:
    assert isinstance(table, IndexedTable)
    return table
