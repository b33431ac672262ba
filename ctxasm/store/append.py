"""Records that join a stored dataset, as if both had been loaded at once; memory stays flat.

What changes is written under numbers that were never used, so whatever still points at the dataset as it was (a handle, an
iteration, an index that is being made) finds nothing of it. The chunks of a document that gets new ones are all written anew,
which puts their overlaps right; those of others only move, and are judged again where what is usual in the dataset counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, func, select, update

from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Answer, Chunk, Document, Query
from ctxasm.store.append_rules import Differing, answer_key, differences, joined, joined_origin, record_name, refused, unknown_answers
from ctxasm.store.chunk_facts import RawChunk, placed_in_order
from ctxasm.store.load import (
    DocumentRow,
    Grouping,
    ListedDocuments,
    Records,
    Spool,
    batched_runs,
    chunk_of,
    dataset_places,
    insert_all,
    into,
    judge_long_overlaps,
    reserve_document_numbers,
    stored_chunks,
)
from ctxasm.store.records import read_answer, read_query, written_answer, written_metadata, written_query
from ctxasm.store.saved import renumber, saved_named
from ctxasm.store.schema import INDEX_BITS, answers, chunks, datasets, documents, queries
from ctxasm.store.search_sets import forget_search
from ctxasm.store.statements import DOCUMENT_COLUMNS, record_document
from ctxasm.store.stored_hash import stored_hash
from ctxasm.store.validation import checked_answers, checked_queries

_BATCH = 500
_Item = TypeVar("_Item")


class Join:
    """One addition on a connection inside a transaction. `reserved` documents have numbers from `first` on, for all of both."""

    def __init__(self, connection: Connection, counter: TokenCounter, listed: ListedDocuments, first: int, reserved: int) -> None:
        self._connection, self._counter, self._listed = connection, counter, listed
        self._free, self._reserved = first, reserved
        self._differing: list[Differing] = []
        self._changed = self._moved = False

    def write(self, dataset_id: int, origin: str | None, records: Records) -> None:
        """Add all records to a dataset; where none is new, nothing changes. Raises InvalidInput with all that differ."""
        row = self._connection.execute(select(datasets).where(datasets.c.dataset_id == dataset_id)).one()
        self._dataset_id, self._first, self._count = dataset_id, row.first_document_no, row.documents
        named = select(documents.c.document_id).where(documents.c.dataset_id == dataset_id).order_by(documents.c.document_no)
        self._numbers = {name: position for position, name in enumerate(self._connection.execute(named).scalars())}
        self._stored = len(self._numbers)
        self._encoding = self._counter.encoding if self._counter.exact else None
        self._write_documents()
        counts: dict[str, Any] = {"chunks": row.chunks + self._write_chunks(records.chunks, row.encoding != self._encoding)}
        counts["queries"] = row.queries + self._write_queries(row.name, records.queries)
        counts["answers"] = row.answers + self._write_answers(records.answers)
        if self._differing:
            raise refused(row.name, self._differing)
        if not self._changed:
            return
        counts |= {"documents": len(self._numbers), "first_document_no": self._first, "replaced": row.replaced + records.replaced()}
        counts |= {"loaded_at": datetime.now(UTC).isoformat(timespec="microseconds"), "origin": joined_origin(row.origin, origin)}
        counts |= {"encoding": self._encoding} if self._moved else {}
        new = renumber(self._connection, dataset_id)
        own = update(datasets).where(datasets.c.dataset_id == new)
        self._connection.execute(own.values(**counts))
        self._connection.execute(own.values(content_hash=stored_hash(self._connection, new)))
        judge_long_overlaps(self._connection, self._counter, new, anew=True)

    def _write_documents(self) -> None:
        """New documents after the stored ones; what a stored one lacks is filled in."""
        t = documents
        if fresh := [name for name in self._listed.numbers if name not in self._numbers]:
            self._numbers |= {name: position for position, name in enumerate(fresh, self._stored)}
            self._move()
            rows = (row for row in self._listed.rows() if self._numbers[row[0]] >= self._stored)
            insert_all(self._connection, documents, self._document_rows(rows, self._first + self._stored), _BATCH)
        for batch in _batches(self._listed.rows(), _BATCH):
            names = [row[0] for row in batch if self._numbers[row[0]] < self._stored]
            found = select(*DOCUMENT_COLUMNS).where(t.c.dataset_id == self._dataset_id, t.c.document_id.in_(names))
            stored = {row.document_id: row for row in self._connection.execute(found)} if names else {}
            for row in batch:
                if (was := stored.get(row[0])) is not None:
                    self._join_document(record_document(was), record_document((0, *row)))

    def _join_document(self, was: Document, came: Document) -> None:
        if found := differences(was, came):
            self._differing.append(Differing(record_name(was), found))
        elif (now := joined(was, came)) is not was:
            self._move()
            values = {"title": now.title, "source": now.source, "summary": now.summary, "date": now.date}
            values["metadata"] = written_metadata(now.metadata, record_name(now))
            own = update(documents).where(documents.c.document_no == self._first + self._numbers[now.document_id])
            self._connection.execute(own.values(values))

    def _move(self) -> None:
        """The stored documents and their chunks under new numbers, with room for all that are known; once is enough."""
        if self._moved:
            return
        self._changed = self._moved = True
        low, high = dataset_places(self._first, self._count)
        forget_search(self._connection, low, high)
        if self._reserved < len(self._numbers):
            self._free, self._reserved = reserve_document_numbers(self._connection, len(self._numbers)), len(self._numbers)
        by, c = self._free - self._first, chunks.c
        self._connection.execute(update(chunks).where(c.place.between(low, high)).values(place=c.place + (by << INDEX_BITS)))
        own = update(documents).where(documents.c.dataset_id == self._dataset_id)
        self._connection.execute(own.values(document_no=documents.c.document_no + by))
        self._first, self._count, self._reserved = self._free, len(self._numbers), 0

    def _write_chunks(self, given: Iterable[Chunk], counted_otherwise: bool) -> int:
        """Write the new chunks, and anew those of the documents that they belong to; returns how many there are more."""
        with Spool() as spool:
            grouping = Grouping(self._numbers, self._first, spool, self._stored)
            self._put(grouping.runs(given))
            if grouping.implied:
                self._moved = False
                self._move()
                bare = ((name, None, None, None, None, None) for name in grouping.implied)
                insert_all(self._connection, documents, self._document_rows(bare, self._first + self._numbers[grouping.implied[0]]), _BATCH)
            for position in spool.positions():
                if position < self._stored:
                    self._join_chunks(position, spool, grouping)
                elif grouping.is_done(position):
                    self._take_back(position, stored_chunks(self._connection, self._first + position), spool, grouping)
            if self._moved and counted_otherwise:
                self._take_back_others(spool, grouping)
            grouping.renumber(self._first)
            self._put(grouping.spooled_runs())
            return grouping.taken

    def _join_chunks(self, position: int, spool: Spool, grouping: Grouping) -> None:
        """The chunks that came for a stored document: nothing to do where all of them are there."""
        name = spool.names[position]
        stored = stored_chunks(self._connection, self._first + position)
        came = {raw[0]: raw for raw in spool.chunks(position)}
        for raw in stored:
            if (other := came.pop(raw[0], None)) is not None and other != raw:
                was = chunk_of(name, raw)
                if found := differences(was, chunk_of(name, other)):
                    self._differing.append(Differing(record_name(was), found))
        if not came or self._differing:
            spool.forget(position)
            return
        self._move()
        self._take_back(position, stored, spool, grouping)

    def _take_back(self, position: int, stored: list[RawChunk], spool: Spool, grouping: Grouping) -> None:
        """Chunks of a document that is written anew, from the table to the spool."""
        spool.add_stored(spool.names[position], position, stored)
        grouping.taken -= len(stored)
        self._connection.execute(delete(chunks).where(chunks.c.place.between(*dataset_places(self._first + position, 1))))

    def _take_back_others(self, spool: Spool, grouping: Grouping) -> None:
        """The chunks of all other stored documents: they were counted in another encoding, or not at all."""
        for name, position in list(self._numbers.items())[: self._stored]:
            if position not in spool.names:
                spool.names[position] = name
                self._take_back(position, stored_chunks(self._connection, self._first + position), spool, grouping)

    def _put(self, runs: Iterable[Any]) -> None:
        with into(self._connection, chunks) as sink:
            for placed in placed_in_order(batched_runs(runs), self._counter):
                sink.put(placed.rows)

    def _write_queries(self, name: str, given: Iterable[Query]) -> int:
        """New queries after the stored ones; what a stored one lacks is filled in. Returns how many there are more."""
        t, more = queries, 0
        position = self._connection.execute(select(func.coalesce(func.max(t.c.position), -1)).where(t.c.dataset_id == self._dataset_id))
        after = int(position.scalar_one()) + 1
        for batch in _batches(checked_queries(given), _BATCH):
            rows = []
            ids = [query.query_id for query in batch]
            found = select(t.c.query_id, t.c.query, t.c.payload).where(t.c.dataset_id == self._dataset_id, t.c.query_id.in_(ids))
            stored = {row.query_id: read_query(*row) for row in self._connection.execute(found)}
            saved = {query.query_id: query for query in saved_named(self._connection, name, ids)}
            for query in batch:
                was = stored.get(query.query_id)
                others = [other for other in (was, saved.get(query.query_id)) if other is not None]
                if differing := [difference for other in others for difference in differences(other, query)]:
                    self._differing.append(Differing(record_name(query), differing))
                elif was is None:
                    rows.append((self._dataset_id, after + more, query.query_id, query.query, len(query.retrieved), written_query(query)))
                    more += 1
                elif (now := joined(was, query)) is not was:
                    self._changed = True
                    own = update(t).where(t.c.dataset_id == self._dataset_id, t.c.query_id == now.query_id)
                    self._connection.execute(own.values(hits=len(now.retrieved), payload=written_query(now)))
            insert_all(self._connection, t, rows, _BATCH)
        self._changed = self._changed or more > 0
        return more

    def _write_answers(self, given: Iterable[Answer]) -> int:
        """The answers that are not there yet, after those that are; returns how many."""
        t, own = answers, answers.c.dataset_id == self._dataset_id
        known = {answer_key(read_answer(*row)) for row in self._connection.execute(select(t.c.query_id, t.c.payload).where(own))}
        after = int(self._connection.execute(select(func.coalesce(func.max(t.c.position), -1)).where(own)).scalar_one()) + 1
        fresh = enumerate(unknown_answers(known, checked_answers(given)), after)
        more = insert_all(
            self._connection, t, ((self._dataset_id, position, a.query_id, written_answer(a)) for position, a in fresh), _BATCH
        )
        self._changed = self._changed or more > 0
        return more

    def _document_rows(self, rows: Iterable[DocumentRow], first: int) -> Iterator[tuple[object, ...]]:
        return ((number, self._dataset_id, *row) for number, row in enumerate(rows, first))


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
