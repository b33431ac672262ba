"""Many rows into one table: tuples in batches on SQLite, one COPY on PostgreSQL."""

from __future__ import annotations

import marshal
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Protocol

from sqlalchemy import BigInteger, Connection, LargeBinary, Table, bindparam, delete, func, insert, or_, select, update

from ctxasm.model.characters import storable
from ctxasm.model.errors import shown
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Answer, Chunk, Document, Query
from ctxasm.store.chunk_facts import Placed, RawChunk, Run, placed_in_order, raw_chunk
from ctxasm.store.digest import ContentDigest
from ctxasm.store.kv import forget_kept, forget_vectors
from ctxasm.store.records import read_metadata, written_metadata
from ctxasm.store.saved import forget_saved
from ctxasm.store.schema import INDEX_BITS, INDEX_MASK, answers, chunks, datasets, documents, queries, schema
from ctxasm.store.search_sets import forget_search
from ctxasm.store.statements import FETCHED_COLUMNS, fetched
from ctxasm.store.stored_hash import stored_hash
from ctxasm.store.validation import (
    check_chunk,
    check_chunk_values,
    check_document,
    checked_answers,
    checked_queries,
    document_twice,
    given_twice,
)
from ctxasm.text.chunk_facts import usual_in_dataset, with_counts, with_overlaps
from ctxasm.text.language import sample_of


class RowSink(Protocol):
    """Takes rows of one table, values in the order of its columns."""

    def put(self, rows: Sequence[Sequence[object]]) -> None:
        """Insert these rows, inside the caller's transaction."""
        ...


@contextmanager
def into(connection: Connection, table: Table) -> Iterator[RowSink]:
    """A sink for `table`. On PostgreSQL the connection can do nothing else meanwhile."""
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "sqlite":
        yield _Statement(driver.cursor(), table)
        return
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({_names(table)}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types([_type(column.type) for column in table.c])
        yield _Copy(copy)


def insert_all(connection: Connection, table: Table, rows: Iterable[Sequence[object]], batch_rows: int = 500) -> int:
    """Insert rows from an iterator; returns how many."""
    count, batch = 0, list[Sequence[object]]()
    with into(connection, table) as sink:
        for row in rows:
            batch.append(row)
            if len(batch) == batch_rows:
                sink.put(batch)
                count, batch = count + batch_rows, []
        if batch:
            sink.put(batch)
    return count + len(batch)


class _Statement:
    def __init__(self, cursor: Any, table: Table) -> None:
        self._cursor = cursor
        self._sql = f"INSERT INTO {table.name} ({_names(table)}) VALUES ({', '.join('?' * len(table.c))})"  # noqa: S608

    def put(self, rows: Sequence[Sequence[object]]) -> None:
        self._cursor.executemany(self._sql, rows)


class _Copy:
    def __init__(self, copy: Any) -> None:
        self._write = copy.write_row

    def put(self, rows: Sequence[Sequence[object]]) -> None:
        for row in rows:
            self._write(row)


def _names(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.c)


def _type(kind: object) -> str:
    if isinstance(kind, BigInteger):
        return "int8"
    return "bytea" if isinstance(kind, LargeBinary) else "text"


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


RUN_CHUNKS = 2000
RUN_CHARS = 4_000_000
"""A document with more than that is written in several runs, as long as its chunks come in order."""
BATCH_CHUNKS = 250
BATCH_CHARS = 350_000
"""One batch goes to a worker at a time."""


class Grouping:
    """Chunks of the documents `numbers` (position of each among all), numbered from `first`; the first `done` are stored already.

    A chunk goes to the `spool` when its document is unknown or done, or when it belongs before one that is written already.
    `in_order` stays True while documents come in their own order. `taken` counts the chunks in runs.
    """

    def __init__(self, numbers: dict[str, int], first: int, spool: Spool, done: int = 0) -> None:
        self._numbers, self._first, self._spool = numbers, first, spool
        self._done = bytearray(len(numbers))
        self._done[:done] = b"\1" * done
        self._last = -1
        self.in_order = True
        self.implied: list[str] = []
        self.taken = 0

    def is_done(self, position: int) -> bool:
        """Whether chunks of this document were in a run."""
        return position < len(self._done) and bool(self._done[position])

    def runs(self, chunks: Iterable[Chunk]) -> Iterator[Run]:
        """Runs in the order the documents come. Raises InvalidInput for a chunk that no store can keep."""
        own: list[RawChunk] = []
        current, position, size, takes, before = "", -1, 0, False, None
        for chunk in chunks:
            if chunk.document_id == current:
                check_chunk_values(chunk)
            else:
                check_chunk(chunk)
            raw = raw_chunk(chunk)
            if chunk.document_id != current:
                yield from self._run(current, position, before, own)
                current, size, before, own = chunk.document_id, 0, None, []
                position, takes = self._begin(current)
            if not takes or (before is not None and raw[0] <= before[0]):
                self._spool.add(current, position, raw)
                continue
            own.append(raw)
            size += len(raw[1])
            if len(own) == RUN_CHUNKS or size >= RUN_CHARS:
                yield from self._run(current, position, before, own)
                before, own, size = own[-1], [], 0
        yield from self._run(current, position, before, own)

    def spooled_runs(self) -> Iterator[Run]:
        """The runs of all documents in the spool, in their order."""
        for position in self._spool.positions():
            own: list[RawChunk] = []
            document_id, size, before = self._spool.names[position], 0, None
            for raw in self._spool.chunks(position):
                own.append(raw)
                size += len(raw[1])
                if len(own) == RUN_CHUNKS or size >= RUN_CHARS:
                    yield from self._run(document_id, position, before, own)
                    before, own, size = own[-1], [], 0
            yield from self._run(document_id, position, before, own)

    def renumber(self, first: int) -> None:
        """Number the documents from `first` on."""
        self._first = first

    def _begin(self, document_id: str) -> tuple[int, bool]:
        """The position of a document, and whether its chunks can be written as they come."""
        position = self._numbers.get(document_id)
        if position is None:
            position = self._numbers[document_id] = len(self._numbers)
            self.implied.append(document_id)
        takes = position < len(self._done) and not self._done[position]
        if takes:
            self._done[position] = 1
            self.in_order, self._last = self.in_order and position > self._last, position
        return position, takes

    def _run(self, document_id: str, position: int, before: RawChunk | None, own: list[RawChunk]) -> Iterator[Run]:
        if not own:
            return
        own.sort(key=_index)
        at = 1
        while at < len(own):
            if own[at][0] != own[at - 1][0]:
                at += 1
            elif own[at][1] == own[at - 1][1]:
                del own[at]
            else:
                raise given_twice(document_id, own[at][0])
        self.taken += len(own)
        follows = before is not None and before[0] + 1 == own[0][0]
        yield Run(document_id, (self._first + position) << INDEX_BITS, before if follows else None, own)


def _index(raw: RawChunk) -> int:
    return raw[0]


def batched_runs(runs: Iterable[Run]) -> Iterator[list[Run]]:
    """Runs together until there is enough to do."""
    batch: list[Run] = []
    chunks = chars = 0
    for run in runs:
        batch.append(run)
        chunks += len(run.chunks)
        chars += sum(len(raw[1]) for raw in run.chunks)
        if chunks >= BATCH_CHUNKS or chars >= BATCH_CHARS:
            yield batch
            batch, chunks, chars = [], 0, 0
    if batch:
        yield batch


def judge_long_overlaps(connection: Connection, counter: TokenCounter, dataset_id: int, anew: bool) -> None:
    """Find the overlaps again, inside the load's transaction, of documents whose own pairs did not tell whether a long match is one.

    `anew`: after records joined, also those that were taken for overlaps because the dataset as it was said so. Only rows that change
    are written. A document of several runs has told by itself.
    """
    columns = (datasets.c.first_document_no, datasets.c.documents)
    first, count = connection.execute(select(*columns).where(datasets.c.dataset_id == dataset_id)).one()
    sample = sample_of(count)
    usual = usual_in_dataset(_read(connection, [first + at for at in sample.documents], sample.chunks))
    if not (usual or anew):
        return
    c, before = chunks.c, chunks.alias("before").c
    long = c.overlap_kind == "coincidence"
    if anew:
        long = or_(long, c.overlap_kind.in_(("text", "header")) & (c.overlap_chars * 2 > func.length(before.text)))
    own = c.place.between(first << INDEX_BITS, ((first + count) << INDEX_BITS) - 1)
    places = select(c.place).where(own, long, before.place == c.place - 1).order_by(c.place)
    for number in dict.fromkeys(place >> INDEX_BITS for place in connection.execute(places).scalars()):
        stored = _read(connection, [number], INDEX_MASK + 1, RUN_CHUNKS + 1)
        found = with_overlaps(stored, usual)
        if len(stored) <= RUN_CHUNKS and found != stored:
            _write(connection, number, with_counts(found, counter) if counter.exact else found)


def _read(connection: Connection, numbers: Sequence[int], first: int, most: int | None = None) -> list[FetchedChunk]:
    """The `first` chunks of these documents, which are called by their numbers."""
    if not numbers:
        return []
    own = or_(*[chunks.c.place.between(number << INDEX_BITS, (number << INDEX_BITS) + first - 1) for number in numbers])
    rows = connection.execute(select(*FETCHED_COLUMNS).where(own).order_by(chunks.c.place).limit(most)).fetchall()
    return fetched(rows, {number: str(number) for number in numbers})


def _write(connection: Connection, number: int, found: Sequence[FetchedChunk]) -> None:
    facts = ("overlap_chars", "overlap_kind", "overlap_tokens", "lead_tokens")
    changed = update(chunks).where(chunks.c.place == bindparam("own")).values({name: bindparam(f"new_{name}") for name in facts})
    rows = [{f"new_{name}": getattr(c, name) for name in facts} | {"own": (number << INDEX_BITS) + c.chunk_index} for c in found]
    connection.execute(changed, rows)


DOCUMENTS_IN_MEMORY = 16 * 2**20
"""Bytes of documents kept in memory until their number is known; more go to a temporary file."""
_BATCH_ROWS = 500

DocumentRow = tuple[str, str | None, str | None, str | None, str | None, str | None]
"""Identifier, title, source, summary, date, metadata as JSON."""


class Records(NamedTuple):
    """What a load brings, each part read once and in this order. `replaced` is asked at the end."""

    documents: Iterable[Document]
    chunks: Iterable[Chunk]
    queries: Iterable[Query] = ()
    answers: Iterable[Answer] = ()
    replaced: Callable[[], int] = int


class ListedDocuments:
    """The documents of a load, checked, counted and laid aside until they can be written. `numbers` are their positions."""

    def __init__(self, listed: Iterable[Document]) -> None:
        self.numbers: dict[str, int] = {}
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(DOCUMENTS_IN_MEMORY)  # noqa: SIM115 (closed by close())
        try:
            for document in listed:
                check_document(document)
                if document.document_id in self.numbers:
                    raise document_twice(document.document_id)
                self.numbers[document.document_id] = len(self.numbers)
                metadata = written_metadata(document.metadata, f"document {shown(document.document_id)}")
                row = (document.document_id, document.title, document.source, document.summary, document.date, metadata)
                self._file.write(marshal.dumps(row))
        except BaseException:
            self.close()
            raise

    def rows(self) -> Iterator[DocumentRow]:
        """All of them, in order."""
        self._file.seek(0)
        for _ in range(len(self.numbers)):
            yield marshal.load(self._file)  # noqa: S302 (written above)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def reserve_document_numbers(connection: Connection, count: int) -> int:
    """The first of `count` document numbers that no load before had or later will have."""
    taken = update(schema).values(next_document_no=schema.c.next_document_no + count).returning(schema.c.next_document_no)
    return int(connection.execute(taken).scalar_one()) - count


def dataset_places(first_document_no: int, document_count: int) -> tuple[int, int]:
    """The range of places of a dataset's chunks, both ends included."""
    return first_document_no << INDEX_BITS, ((first_document_no + document_count) << INDEX_BITS) - 1


def remove_dataset(connection: Connection, name: str, for_good: bool = False) -> str | None:
    """Delete a dataset with all its rows, `for_good` with the vectors of its texts and its saved queries too.

    Returns when its name was first loaded, None when there is none.
    """
    columns = (datasets.c.dataset_id, datasets.c.created_at, datasets.c.first_document_no, datasets.c.documents)
    found = connection.execute(select(*columns).where(datasets.c.name == name)).one_or_none()
    if found is None:
        return None
    low, high = dataset_places(found.first_document_no, found.documents)
    if for_good:
        forget_vectors(connection, low, high)
        forget_saved(connection, name)
        forget_kept(connection, f"ingest {name}", None)
    forget_search(connection, low, high)
    connection.execute(delete(chunks).where(chunks.c.place.between(low, high)))
    connection.execute(delete(datasets).where(datasets.c.dataset_id == found.dataset_id))
    return str(found.created_at)


def stored_chunks(connection: Connection, document_no: int) -> list[RawChunk]:
    """The chunks of a document by index."""
    c, (low, high) = chunks.c, dataset_places(document_no, 1)
    columns = (c.place, c.text, c.start_char, c.end_char, c.page_number, c.section, c.row_number, c.metadata)
    rows = connection.execute(select(*columns).where(c.place.between(low, high)).order_by(c.place)).fetchall()
    return [(row[0] & INDEX_MASK, *row[1:]) for row in rows]


def chunk_of(document_id: str, raw: RawChunk) -> Chunk:
    """A stored chunk as it was loaded."""
    return Chunk(document_id, *raw[:7], read_metadata(raw[7]))


def named_chunks(connection: Connection, name: str) -> Callable[[str], list[Chunk]]:
    """Gives the chunks of a document of a dataset, as it is in this transaction; none of what is not there."""
    dataset_id = connection.execute(select(datasets.c.dataset_id).where(datasets.c.name == name)).scalar_one_or_none()

    def chunks_of(document_id: str) -> list[Chunk]:
        own = (documents.c.dataset_id == dataset_id) & (documents.c.document_id == document_id)
        number = connection.execute(select(documents.c.document_no).where(own)).scalar_one_or_none() if storable(document_id) else None
        return [] if number is None else [chunk_of(document_id, raw) for raw in stored_chunks(connection, number)]

    return chunks_of


class Load:
    """One load on a connection inside a transaction. `first` is the first of the numbers reserved for the listed documents."""

    def __init__(self, connection: Connection, counter: TokenCounter, listed: ListedDocuments, first: int) -> None:
        self._connection, self._counter, self._listed, self._first = connection, counter, listed, first
        self._digest = ContentDigest()
        self._dataset_id = 0

    def write(self, name: str, origin: str | None, records: Records) -> None:
        """Write all records as the dataset `name`, in place of one of that name. Raises InvalidInput."""
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        row = {"name": name, "created_at": remove_dataset(self._connection, name) or now, "loaded_at": now, "origin": origin}
        row |= {"encoding": self._counter.encoding if self._counter.exact else None, "content_hash": ""}
        row |= dict.fromkeys(("documents", "chunks", "queries", "answers", "replaced", "first_document_no"), 0)  # type: ignore[arg-type]
        self._dataset_id = int(self._connection.execute(insert(datasets).values(row).returning(datasets.c.dataset_id)).scalar_one())
        loaded = insert_all(self._connection, documents, self._document_rows(self._listed.rows()), _BATCH_ROWS)
        counts: dict[str, Any] = {"documents": loaded}
        with Spool() as spool:
            grouping = Grouping(self._listed.numbers, self._first, spool)
            self._write_chunks(grouping, grouping.runs(records.chunks))
            whole = grouping.in_order and not spool.names
            self._write_spooled(grouping, spool)
        counts |= {"documents": len(self._listed.numbers), "chunks": grouping.taken, "first_document_no": self._first}
        counts["queries"] = insert_all(self._connection, queries, self._query_rows(records.queries), _BATCH_ROWS)
        counts["answers"] = insert_all(self._connection, answers, self._answer_rows(records.answers), _BATCH_ROWS)
        own = update(datasets).where(datasets.c.dataset_id == self._dataset_id)
        self._connection.execute(own.values(**counts, replaced=records.replaced()))
        content_hash = self._digest.hex() if whole else stored_hash(self._connection, self._dataset_id)
        self._connection.execute(own.values(content_hash=content_hash))
        judge_long_overlaps(self._connection, self._counter, self._dataset_id, anew=False)

    def _write_chunks(self, grouping: Grouping, runs: Iterable[Any]) -> None:
        with into(self._connection, chunks) as sink:
            placed: Placed
            for placed in placed_in_order(batched_runs(runs), self._counter):
                sink.put(placed.rows)
                self._digest.add_digested(placed.digested)

    def _write_spooled(self, grouping: Grouping, spool: Spool) -> None:
        """What could not be written as it came, once the numbers of all documents are known."""
        if not spool.positions():
            return
        if grouping.implied:
            self._number_implied(len(self._listed.numbers) - len(grouping.implied), len(grouping.implied))
            grouping.renumber(self._first)
            bare = ((name, None, None, None, None, None) for name in grouping.implied)
            at = self._first + len(self._listed.numbers) - len(grouping.implied)
            insert_all(self._connection, documents, self._document_rows(bare, at), _BATCH_ROWS)
        for position in filter(grouping.is_done, spool.positions()):
            self._take_back(position, grouping, spool)
        self._write_chunks(grouping, grouping.spooled_runs())

    def _number_implied(self, listed: int, implied: int) -> None:
        """Numbers for documents that only chunks name, after those of the listed ones; all are moved where others are between."""
        start = reserve_document_numbers(self._connection, implied)
        if start == self._first + listed:
            return
        start = reserve_document_numbers(self._connection, listed + implied)
        by = start - self._first
        low, high = dataset_places(self._first, listed)
        moved = update(chunks).where(chunks.c.place.between(low, high)).values(place=chunks.c.place + (by << INDEX_BITS))
        self._connection.execute(moved)
        own = update(documents).where(documents.c.dataset_id == self._dataset_id)
        self._connection.execute(own.values(document_no=documents.c.document_no + by))
        self._first = start

    def _take_back(self, position: int, grouping: Grouping, spool: Spool) -> None:
        """Chunks of a document of which more came later, from the table to the spool."""
        stored = stored_chunks(self._connection, self._first + position)
        spool.add_stored(spool.names[position], position, stored)
        grouping.taken -= len(stored)
        self._connection.execute(delete(chunks).where(chunks.c.place.between(*dataset_places(self._first + position, 1))))

    def _document_rows(self, rows: Iterable[DocumentRow], first: int | None = None) -> Iterator[tuple[object, ...]]:
        for number, row in enumerate(rows, self._first if first is None else first):
            self._digest.add("document", *row)
            yield (number, self._dataset_id, *row)

    def _query_rows(self, given: Iterable[Query]) -> Iterator[tuple[object, ...]]:
        for position, query in enumerate(checked_queries(given)):
            payload = self._digest.query(query)
            yield self._dataset_id, position, query.query_id, query.query, len(query.retrieved), payload

    def _answer_rows(self, given: Iterable[Answer]) -> Iterator[tuple[object, ...]]:
        for position, answer in enumerate(checked_answers(given)):
            yield self._dataset_id, position, answer.query_id, self._digest.answer(answer)
