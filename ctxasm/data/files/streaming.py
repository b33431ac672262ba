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
from itertools import islice
from pathlib import Path
from typing import Any

from ctxasm.data.archives import BROKEN, ZipLimits
from ctxasm.data.files.files import BundleFiles, file_opener, open_files
from ctxasm.data.files.indexed import IndexedTable, Opener, read_batches, record_at
from ctxasm.data.files.kinds import ANSWERS, CHUNKS, DOCUMENTS, KNOWN_FILES, QUERIES, RETRIEVALS, Kind
from ctxasm.data.files.lines import LineReader
from ctxasm.data.files.problems import MAX_PROBLEMS, Problem, Problems, TooManyProblems
from ctxasm.data.files.reading import ignored_notes, no_records
from ctxasm.data.files.references import (
    Asked,
    Tables,
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
)
from ctxasm.model.datasets import OwnedDataset
from ctxasm.model.errors import InvalidBundle
from ctxasm.model.records import Answer, Chunk, Document, Query

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
        unheard = Problems((CHUNKS.file,))
        table: IndexedTable[Chunk] = IndexedTable(CHUNKS.file)
        seen: set[str] = set()
        try:
            for _ in read_batches(CHUNKS, self._openers.get(CHUNKS.file), table, LineReader(unheard), unheard):
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
