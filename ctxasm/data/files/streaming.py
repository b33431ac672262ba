"""A bundle read record by record, for one that is too large to be held in memory: the same checks, the same problems.

What a later file says can prove an earlier record wrong, so records are handed on as they come and the verdict comes last: the
iterators must be used in their order, and the last raises what all of them found. Whoever writes them must be able to undo.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ctxasm.bundle.files import BundleFiles, ZipLimits, file_opener, open_files
from ctxasm.bundle.indexed import IndexedTable, Opener, read_batches, record_at
from ctxasm.bundle.kinds import ANSWERS, CHUNKS, DOCUMENTS, KNOWN_FILES, QUERIES, RETRIEVALS, Kind
from ctxasm.bundle.lines import LineReader
from ctxasm.bundle.problems import MAX_PROBLEMS, Problem, Problems, TooManyProblems
from ctxasm.bundle.reading import ignored_notes, no_records
from ctxasm.bundle.references import (
    Tables,
    check_answers,
    check_chunks,
    check_evidence,
    check_retrievals,
    extend_lengths,
    is_odd,
    joined,
    notes_with,
)
from ctxasm.bundle.tables import UNREADABLE
from ctxasm.model.errors import InvalidBundle
from ctxasm.model.records import Answer, Chunk, Document, Query

LARGE_BYTES = 64 * 2**20
"""From this size on a bundle is better read record by record."""


@contextmanager
def stream_bundle(path: str | os.PathLike[str], name: str | None = None, limits: ZipLimits | None = None) -> Iterator[BundleStream]:
    """The bundle in a folder or .zip. Raises as `load_bundle`, but for what its files hold only when they are read."""
    with open_files(path, name, limits or ZipLimits()) as files, tempfile.TemporaryDirectory(prefix="ctxasm-load-") as folder:
        yield BundleStream(files, Path(folder))


class BundleStream:
    """The records of a bundle: `documents`, `chunks`, `queries` and `answers`, each to be read once, whole, and in this order.

    From the first problem on nothing more is handed on; `answers` raises InvalidBundle with all problems in the end, or
    InvalidInput where there is no record at all. `notes` and `replaced` are known after that.
    """

    def __init__(self, files: BundleFiles, folder: Path) -> None:
        self._files, self._folder = files, folder
        self._openers = dict(files.known)
        self.name = files.name
        self._problems = Problems(KNOWN_FILES)
        self._reader = LineReader(self._problems)
        kinds: tuple[Kind[Any, Any], ...] = (DOCUMENTS, CHUNKS, QUERIES, RETRIEVALS, ANSWERS)
        self._tables = Tables(*(IndexedTable(kind.file, present=kind.file in files.known) for kind in kinds))
        self._lengths: dict[str, int | None] = {}
        self._odd = 0
        self._first_odd: Chunk | None = None
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
        return (*notes_with(self._tables, self._odd, self._first_odd, has_retrievals), *ignored_notes(self._files))

    def documents(self) -> Iterator[Document]:
        """All documents in file order; without documents.jsonl those that the chunks imply."""
        self._unpack()
        for _ in self._batches(DOCUMENTS, self._tables.documents):
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
        for _ in self._batches(RETRIEVALS, self._tables.retrievals):
            with self._ending():
                check_retrievals(self._tables, self._problems)
        table, retrievals = _indexed(self._tables.queries), _indexed(self._tables.retrievals)
        openers = self._openers
        for key, line in [] if self._problems.any() else table.first_lines.items():
            query = record_at(QUERIES, openers[QUERIES.file], table, line)
            found = retrievals.first_lines.get(key)
            retrieval = record_at(RETRIEVALS, openers[RETRIEVALS.file], retrievals, found) if found is not None else None
            if query is not None:
                yield from self._sound((joined(query, retrieval),))

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

    def _unpack(self) -> None:
        """Members of an archive to files: lines are found again by where they begin, and an archive has no way back."""
        for file, opener in self._files.known.items():
            if _entry(opener) is not None:
                with suppress(*UNREADABLE), opener() as packed, (self._folder / file).open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked, 2**20)
                    self._openers[file] = file_opener(self._folder / file)

    def _batches(self, kind: Kind[Any, Any], table: Any) -> Iterator[None]:
        with self._ending():
            yield from read_batches(kind, self._openers.get(kind.file), table, self._reader, self._problems)

    def _sound(self, records: Any) -> Iterator[Any]:
        for record in () if self._problems.any() else records:
            self._records += 1
            yield record

    def _implied(self) -> Iterator[Document]:
        """The documents that chunks name, each at its first chunk: the file is read once more for that."""
        unheard = Problems((CHUNKS.file,))
        table: IndexedTable[Chunk] = IndexedTable(CHUNKS.file)
        seen: set[str] = set()
        try:
            for _ in read_batches(CHUNKS, self._openers.get(CHUNKS.file), table, LineReader(unheard), unheard):
                for chunk in table.records.values():
                    if chunk.document_id not in seen:
                        seen.add(chunk.document_id)
                        yield from self._sound((Document(chunk.document_id),))
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
