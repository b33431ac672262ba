"""Many rows into one table: tuples in batches on SQLite, one COPY on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, groupby
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, LargeBinary, Table, bindparam, delete, func, insert, or_, select, update

from ctxasm.model.characters import storable
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Answer, Chunk, Document, Query
from ctxasm.store.append import More, joined_origin, record_name
from ctxasm.store.chunk_facts import RawChunk, Run, placed_in_order, raw_chunk
from ctxasm.store.digest import ContentDigest, stored_hash
from ctxasm.store.kv import forget_kept, forget_search, forget_vectors
from ctxasm.store.records import written_answer, written_metadata, written_query
from ctxasm.store.saved import forget_saved, renumber
from ctxasm.store.schema import INDEX_BITS, INDEX_MASK, answers, chunks, datasets, documents, queries, schema
from ctxasm.store.statements import CHUNK_COLUMNS, FETCHED_COLUMNS, fetched, record_chunk
from ctxasm.store.validation import (
    ascending,
    check_chunk_values,
    check_document,
    check_records,
    check_text,
    checked_answers,
    checked_queries,
    document_twice,
)
from ctxasm.text.chunk_facts import usual_in_dataset, with_counts, with_overlaps
from ctxasm.text.language import sample_of


@contextmanager
def into(connection: Connection, table: Table) -> Iterator[Callable[[Sequence[Sequence[object]]], None]]:
    """Takes rows of `table`, values in the order of its columns. On PostgreSQL the connection can do nothing else meanwhile."""
    driver: Any = connection.connection.driver_connection
    names = ", ".join(f'"{column.name}"' for column in table.c)
    if connection.dialect.name == "sqlite":
        statement = f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(table.c))})"  # noqa: S608
        cursor = driver.cursor()
        yield lambda rows: cursor.executemany(statement, rows)
        return
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types([_type(column.type) for column in table.c])

        def put(rows: Sequence[Sequence[object]]) -> None:
            for row in rows:
                copy.write_row(row)

        yield put


def insert_all(connection: Connection, table: Table, rows: Iterable[Sequence[object]], batch_rows: int = 500) -> int:
    """Insert rows from an iterator; returns how many."""
    count, batch = 0, list[Sequence[object]]()
    with into(connection, table) as put:
        for row in rows:
            batch.append(row)
            if len(batch) == batch_rows:
                put(batch)
                count, batch = count + batch_rows, []
        if batch:
            put(batch)
    return count + len(batch)


def _type(kind: object) -> str:
    if isinstance(kind, BigInteger):
        return "int8"
    return "bytea" if isinstance(kind, LargeBinary) else "text"


RUN_CHUNKS = 2000
RUN_CHARS = 4_000_000
"""A document with more than that is written in several runs."""
BATCH_CHUNKS = 250
BATCH_CHARS = 350_000
"""One batch goes to a worker at a time."""


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


def judge_long_overlaps(connection: Connection, counter: TokenCounter, dataset_id: int, anew: bool = False) -> None:
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
    own = c.place.between(*dataset_places(first, count))
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


_BATCH_ROWS = 500


class Records(NamedTuple):
    """What a load brings: the documents checked, the other parts read once and in this order. `replaced` is asked at the end."""

    documents: Sequence[Document]
    chunks: Iterable[Chunk]
    queries: Iterable[Query] = ()
    answers: Iterable[Answer] = ()
    replaced: Callable[[], int] = int


def listed_documents(documents: Iterable[Document]) -> list[Document]:
    """All of them, checked. Raises InvalidInput."""
    found: dict[str, Document] = {}
    for document in documents:
        check_document(document)
        if found.setdefault(document.document_id, document) is not document:
            raise document_twice(document.document_id)
    return list(found.values())


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


def chunks_of_documents(connection: Connection, names: Mapping[int, str]) -> Iterator[Chunk]:
    """The chunks of these documents (by number, numbers in one run) in their order, read in batches."""
    if not names:
        return
    (place, end), c = dataset_places(min(names), len(names)), chunks.c.place
    while rows := connection.execute(select(*CHUNK_COLUMNS).where(c.between(place, end)).order_by(c).limit(_BATCH_ROWS)).fetchall():
        yield from (record_chunk(row, names) for row in rows)
        place = rows[-1].place + 1


def document_ids(connection: Connection, dataset_id: int) -> dict[int, str]:
    """The identifiers of the documents of a dataset by number."""
    own = select(documents.c.document_no, documents.c.document_id).where(documents.c.dataset_id == dataset_id)
    return {row[0]: row[1] for row in connection.execute(own)}


def named_chunks(connection: Connection, name: str) -> Callable[[str], list[Chunk]]:
    """Gives the chunks of a document of a dataset, as it is in this transaction; none of what is not there."""
    dataset_id = connection.execute(select(datasets.c.dataset_id).where(datasets.c.name == name)).scalar_one_or_none()

    def chunks_of(document_id: str) -> list[Chunk]:
        own = (documents.c.dataset_id == dataset_id) & (documents.c.document_id == document_id)
        number = connection.execute(select(documents.c.document_no).where(own)).scalar_one_or_none() if storable(document_id) else None
        return [] if number is None else list(chunks_of_documents(connection, {number: document_id}))

    return chunks_of


class Load:
    """One load on a connection inside a transaction.

    Chunks that come document by document are written as they come; a document is held in memory. From the first chunk on that does not
    (its document came before, or nobody lists it) all that follow are held, and everything is written once more, in order.
    """

    def __init__(self, connection: Connection, counter: TokenCounter) -> None:
        self._connection, self._counter = connection, counter
        self._encoding = counter.encoding if counter.exact else None
        self._dataset_id = self._taken = 0
        self._digest = ContentDigest()

    def write(self, name: str, origin: str | None, records: Records, first: int) -> None:
        """Write all records as the dataset `name`, in place of one of that name. Raises InvalidInput.

        `first` is the first of the numbers reserved for the documents.
        """
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        row = {"name": name, "created_at": remove_dataset(self._connection, name) or now, "loaded_at": now, "origin": origin}
        row |= {"encoding": self._encoding, "content_hash": ""}
        row |= dict.fromkeys(("documents", "chunks", "queries", "answers", "replaced", "first_document_no"), 0)  # type: ignore[arg-type]
        self._dataset_id = int(self._connection.execute(insert(datasets).values(row).returning(datasets.c.dataset_id)).scalar_one())
        listed, late = records.documents, list[Chunk]()
        is_ordered = self._write_corpus(listed, records.chunks, first, late)
        if late:
            names = {number: document.document_id for number, document in enumerate(listed, first)}
            whole = (*chunks_of_documents(self._connection, names), *late)
            ordered = check_records(listed, whole, (), ()).documents
            self._connection.execute(delete(chunks).where(chunks.c.place.between(*dataset_places(first, len(listed)))))
            self._connection.execute(delete(documents).where(documents.c.dataset_id == self._dataset_id))
            first, listed = reserve_document_numbers(self._connection, len(ordered)), [document for document, _ in ordered]
            is_ordered = self._write_corpus(listed, (chunk for _, own in ordered for chunk in own), first, [])
        counts: dict[str, Any] = {"documents": len(listed), "chunks": self._taken, "first_document_no": first}
        counts["queries"] = insert_all(self._connection, queries, self._query_rows(records.queries), _BATCH_ROWS)
        counts["answers"] = insert_all(self._connection, answers, self._answer_rows(records.answers), _BATCH_ROWS)
        own = update(datasets).where(datasets.c.dataset_id == self._dataset_id)
        self._connection.execute(own.values(**counts, replaced=records.replaced()))
        content_hash = self._digest.hex() if is_ordered else stored_hash(self._connection, self._dataset_id)
        self._connection.execute(own.values(content_hash=content_hash))
        judge_long_overlaps(self._connection, self._counter, self._dataset_id)

    def _write_corpus(self, listed: Sequence[Document], given: Iterable[Chunk], first: int, late: list[Chunk]) -> bool:
        """Write documents and chunks; whether they came in the order of the documents. `late` takes those that are not written."""
        self._digest, self._taken = ContentDigest(), 0
        insert_all(self._connection, documents, self._document_rows(listed, first), _BATCH_ROWS)
        return self._write_chunks({document.document_id: at for at, document in enumerate(listed)}, given, first, late)

    def _write_chunks(self, numbers: Mapping[str, int], given: Iterable[Chunk], first: int, late: list[Chunk]) -> bool:
        positions = list[int]()
        with into(self._connection, chunks) as put:
            for placed in placed_in_order(batched_runs(self._runs(numbers, given, first, late, positions)), self._counter):
                put(placed.rows)
                self._digest.add_digested(placed.digested)
        return positions == sorted(positions)

    def _runs(
        self, numbers: Mapping[str, int], given: Iterable[Chunk], first: int, late: list[Chunk], positions: list[int]
    ) -> Iterator[Run]:
        """Runs in the order the documents come, whose `positions` are noted. Raises InvalidInput for a chunk that no store can keep."""
        done = bytearray(len(numbers))
        for document_id, same in groupby(given, lambda chunk: chunk.document_id):
            check_text(document_id, "chunk document_id", name=True)
            own = []
            for chunk in same:
                check_chunk_values(chunk)
                own.append(chunk)
            position = numbers.get(document_id)
            if late or position is None or done[position]:
                late += own
                continue
            done[position] = 1
            positions.append(position)
            raws = [raw_chunk(chunk) for chunk in ascending(own)]
            self._taken += len(raws)
            yield from _parts(document_id, (first + position) << INDEX_BITS, raws)

    def add(self, dataset_id: int, more: More, origin: str | None, replaced: int, first: int) -> None:
        """Add records to a dataset; where its corpus changes, all its documents get numbers from `first` on, which were never used.

        So what points at the dataset as it was finds nothing of it. Documents with new chunks are written anew, the others only move.
        """
        connection, now = self._connection, datetime.now(UTC).isoformat(timespec="microseconds")
        row = connection.execute(select(datasets).where(datasets.c.dataset_id == dataset_id)).one()
        self._dataset_id = new = renumber(connection, dataset_id)
        counts: dict[str, Any] = {"replaced": row.replaced + replaced, "origin": joined_origin(row.origin, origin), "loaded_at": now}
        if more.documents or more.chunks:
            fresh = self._add_corpus(row.first_document_no, row.documents, more, first, anew=row.encoding != self._encoding)
            counts |= {"first_document_no": first, "documents": row.documents + fresh, "encoding": self._encoding}
            counts["chunks"] = row.chunks + sum(map(len, more.chunks.values()))
        counts["queries"] = row.queries + self._add_queries(more.queries.values(), row.queries)
        answered = ((new, position, answer.query_id, written_answer(answer)) for position, answer in enumerate(more.answers, row.answers))
        counts["answers"] = row.answers + insert_all(connection, answers, answered, _BATCH_ROWS)
        own = update(datasets).where(datasets.c.dataset_id == new)
        connection.execute(own.values(**counts))
        connection.execute(own.values(content_hash=stored_hash(connection, new)))
        if more.documents or more.chunks:
            judge_long_overlaps(connection, self._counter, new, anew=True)

    def _add_corpus(self, was: int, count: int, more: More, first: int, anew: bool) -> int:
        """Move the documents and chunks, and add what is new; `anew`: every chunk is counted again. Returns how many documents are new."""
        connection, c, d = self._connection, chunks.c, documents.c
        low, high = dataset_places(was, count)
        forget_search(connection, low, high)
        connection.execute(update(chunks).where(c.place.between(low, high)).values(place=c.place + ((first - was) << INDEX_BITS)))
        connection.execute(update(documents).where(d.dataset_id == self._dataset_id).values(document_no=d.document_no + first - was))
        names = document_ids(connection, self._dataset_id)
        numbers = {name: number - first for number, name in names.items()}
        for document in more.documents.values():
            if document.document_id in numbers:
                own = update(documents).where(d.document_no == first + numbers[document.document_id])
                values = {name: getattr(document, name) for name in ("title", "source", "summary", "date")}
                connection.execute(own.values(**values, metadata=written_metadata(document.metadata, record_name(document))))
        fresh = [document for document in more.documents.values() if document.document_id not in numbers]
        insert_all(connection, documents, self._document_rows(fresh, first + count), _BATCH_ROWS)
        numbers |= {document.document_id: position for position, document in enumerate(fresh, count)}
        written = dict(more.chunks)
        for number, name in names.items():
            if anew or name in written:
                written[name] = [*chunks_of_documents(connection, {number: name}), *written.get(name, ())]
                connection.execute(delete(chunks).where(c.place.between(*dataset_places(number, 1))))
        self._write_chunks(numbers, chain.from_iterable(written.values()), first, [])
        return len(fresh)

    def _add_queries(self, given: Iterable[Query], count: int) -> int:
        """New queries after the stored ones, and those that say more in their place. Returns how many are new."""
        q, rows = queries.c, list[Sequence[object]]()
        stored = set(self._connection.execute(select(q.query_id).where(q.dataset_id == self._dataset_id)).scalars())
        for query in given:
            payload = written_query(query)
            if query.query_id in stored:
                own = update(queries).where(q.dataset_id == self._dataset_id, q.query_id == query.query_id)
                self._connection.execute(own.values(hits=len(query.retrieved), payload=payload))
            else:
                rows.append((self._dataset_id, count + len(rows), query.query_id, query.query, len(query.retrieved), payload))
        return insert_all(self._connection, queries, rows, _BATCH_ROWS)

    def _document_rows(self, listed: Iterable[Document], first: int) -> Iterator[tuple[object, ...]]:
        for number, document in enumerate(listed, first):
            metadata = self._digest.document(document)
            named = (document.document_id, document.title, document.source, document.summary, document.date)
            yield (number, self._dataset_id, *named, metadata)

    def _query_rows(self, given: Iterable[Query]) -> Iterator[tuple[object, ...]]:
        for position, query in enumerate(checked_queries(given)):
            payload = self._digest.query(query)
            yield self._dataset_id, position, query.query_id, query.query, len(query.retrieved), payload

    def _answer_rows(self, given: Iterable[Answer]) -> Iterator[tuple[object, ...]]:
        for position, answer in enumerate(checked_answers(given)):
            yield self._dataset_id, position, answer.query_id, self._digest.answer(answer)


def _parts(document_id: str, base: int, raws: Sequence[RawChunk]) -> Iterator[Run]:
    """The chunks of a document in runs, each with the chunk just before it."""
    own, size, before = list[RawChunk](), 0, None
    for raw in raws:
        own.append(raw)
        size += len(raw[1])
        if len(own) == RUN_CHUNKS or size >= RUN_CHARS:
            yield Run(document_id, base, before if before is not None and before[0] + 1 == own[0][0] else None, own)
            before, own, size = own[-1], [], 0
    if own:
        yield Run(document_id, base, before if before is not None and before[0] + 1 == own[0][0] else None, own)
