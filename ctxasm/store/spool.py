"""Chunks that cannot be written where they come: kept in a temporary SQLite file, and handed out by document and index."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from ctxasm.store.chunk_rows import RawChunk
from ctxasm.store.intake import given_twice

_BATCH = 1000
_COLUMNS = 'position, chunk_index, text, "start", "end", page_number, section, row_number, metadata'


class Spool:
    """`position` is that of the chunk's document among all documents of the load. The file is made when it is first needed."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._file: sqlite3.Connection | None = None
        self._waiting: list[tuple[object, ...]] = []
        self.names: dict[int, str] = {}

    def add(self, document_id: str, position: int, raw: RawChunk) -> None:
        """Keep a chunk. Raises InvalidInput, now or later, where it came with another text before."""
        self.names[position] = document_id
        self._waiting.append((position, *raw))
        if len(self._waiting) == _BATCH:
            self._write()

    def add_stored(self, document_id: str, position: int, chunks: Iterable[RawChunk]) -> None:
        """Keep chunks that were written before those added here: they stand where the same chunk came again."""
        self._write()
        for raw in chunks:
            self._check(document_id, position, raw)
            self._sqlite().execute(f"INSERT OR REPLACE INTO spooled ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (position, *raw))  # noqa: S608

    def forget(self, position: int) -> None:
        """A document of which nothing needs to be written."""
        del self.names[position]

    def positions(self) -> list[int]:
        """The documents of which there are chunks, in order."""
        return sorted(self.names)

    def chunks(self, position: int) -> Iterator[RawChunk]:
        """The chunks of one document by index."""
        self._write()
        own = f"SELECT {_COLUMNS} FROM spooled WHERE position = ? ORDER BY chunk_index"  # noqa: S608
        return (row[1:] for row in self._sqlite().execute(own, (position,)))

    def _write(self) -> None:
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        file = self._sqlite()
        added = file.executemany(f"INSERT OR IGNORE INTO spooled ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows).rowcount  # noqa: S608
        if added < len(rows):
            for position, *raw in rows:
                self._check(self.names[position], position, tuple(raw))  # type: ignore[index, arg-type]

    def _check(self, document_id: str, position: int, raw: RawChunk) -> None:
        same = "SELECT text FROM spooled WHERE position = ? AND chunk_index = ?"
        row = self._sqlite().execute(same, (position, raw[0])).fetchone()
        if row is not None and row[0] != raw[1]:
            raise given_twice(document_id, raw[0])

    def _sqlite(self) -> sqlite3.Connection:
        if self._file is None:
            self._folder = tempfile.TemporaryDirectory(prefix="ctxasm-load-")
            self._file = sqlite3.connect(Path(self._folder.name) / "chunks.db", isolation_level=None)
            for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-65536"):
                self._file.execute(f"PRAGMA {pragma}")
            self._file.execute(f"CREATE TABLE spooled ({_COLUMNS}, PRIMARY KEY (position, chunk_index)) WITHOUT ROWID")
            self._file.execute("BEGIN")
        return self._file

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
        if self._folder is not None:
            self._folder.cleanup()
