"""Writing a load: records as they come, with the facts found once, inside one transaction; memory stays flat."""

from __future__ import annotations

import marshal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import IO, Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from ctxasm.model.characters import storable
from ctxasm.model.errors import shown
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Answer, Chunk, Document, Query
from ctxasm.store.bulk import insert_all, into
from ctxasm.store.chunk_rows import Placed, RawChunk
from ctxasm.store.codec import read_metadata, written_metadata
from ctxasm.store.digest import ContentDigest
from ctxasm.store.intake import check_document, checked_answers, checked_queries, document_twice
from ctxasm.store.overlaps import judge_long_overlaps
from ctxasm.store.runs import Grouping, batched_runs
from ctxasm.store.saved import forget_saved
from ctxasm.store.search_sets import forget_search
from ctxasm.store.shelf import forget_kept
from ctxasm.store.spool import Spool
from ctxasm.store.stored_hash import stored_hash
from ctxasm.store.tables import INDEX_BITS, INDEX_MASK, answers, chunks, datasets, documents, queries, schema
from ctxasm.store.vectors import forget_vectors
from ctxasm.store.workers import placed_in_order

DOCUMENTS_IN_MEMORY = 16 * 2**20
"""Bytes of documents kept in memory until their number is known; more go to a temporary file."""
_BATCH = 500

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
        counts: dict[str, Any] = {"documents": insert_all(self._connection, documents, self._document_rows(self._listed.rows()), _BATCH)}
        with Spool() as spool:
            grouping = Grouping(self._listed.numbers, self._first, spool)
            self._write_chunks(grouping, grouping.runs(records.chunks))
            whole = grouping.in_order and not spool.names
            self._write_spooled(grouping, spool)
        counts |= {"documents": len(self._listed.numbers), "chunks": grouping.taken, "first_document_no": self._first}
        counts["queries"] = insert_all(self._connection, queries, self._query_rows(records.queries), _BATCH)
        counts["answers"] = insert_all(self._connection, answers, self._answer_rows(records.answers), _BATCH)
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
            insert_all(self._connection, documents, self._document_rows(bare, at), _BATCH)
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
