"""Writing a load: every record of a bundle, with the facts found once, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update

from ctxasm.model.facts import chunk_facts, with_counts
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Chunk, Document
from ctxasm.store.digest import ContentDigest
from ctxasm.store.intake import Intake
from ctxasm.store.saved import forget_saved
from ctxasm.store.shelf import forget_kept
from ctxasm.store.tables import INDEX_BITS, answers, chunks, datasets, documents, queries, schema
from ctxasm.store.vectors import forget_vectors

BATCH_ROWS = 500

Row = dict[str, Any]


def reserve_document_numbers(connection: Connection, count: int) -> int:
    """The first of `count` document numbers that no load before had or later will have."""
    taken = update(schema).values(next_document_no=schema.c.next_document_no + count).returning(schema.c.next_document_no)
    return int(connection.execute(taken).scalar_one()) - count


def write_load(connection: Connection, intake: Intake, counter: TokenCounter, first_document_no: int, named: Row) -> int:
    """Write all records; `named` holds name, replaced and origin. Returns the new dataset_id."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    created = remove_dataset(connection, named["name"]) or now
    row = named | {
        "created_at": created,
        "loaded_at": now,
        "encoding": counter.encoding if counter.exact else None,
        "documents": len(intake.documents),
        "chunks": intake.chunk_count(),
        "queries": len(intake.queries),
        "answers": len(intake.answers),
        "content_hash": "",
        "first_document_no": first_document_no,
    }
    dataset_id = int(connection.execute(insert(datasets).values(row).returning(datasets.c.dataset_id)).scalar_one())
    digest = ContentDigest()
    _insert(connection, documents, _document_rows(intake, dataset_id, first_document_no, digest))
    _insert(connection, chunks, _chunk_rows(intake, counter, first_document_no, digest))
    _insert(connection, queries, _query_rows(intake, dataset_id, digest))
    _insert(connection, answers, _answer_rows(intake, dataset_id, digest))
    connection.execute(update(datasets).where(datasets.c.dataset_id == dataset_id).values(content_hash=digest.hex()))
    return dataset_id


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
    connection.execute(delete(chunks).where(chunks.c.place.between(low, high)))
    connection.execute(delete(datasets).where(datasets.c.dataset_id == found.dataset_id))
    return str(found.created_at)


def dataset_places(first_document_no: int, document_count: int) -> tuple[int, int]:
    """The range of places of a dataset's chunks, both ends included."""
    return first_document_no << INDEX_BITS, ((first_document_no + document_count) << INDEX_BITS) - 1


def _insert(connection: Connection, table: Table, rows: Iterator[Row]) -> None:
    statement = insert(table).values({column.name: bindparam(column.name) for column in table.c})
    while batch := list(islice(rows, BATCH_ROWS)):
        connection.execute(statement, batch)


def _document_rows(intake: Intake, dataset_id: int, first_document_no: int, digest: ContentDigest) -> Iterator[Row]:
    for number, (document, _) in enumerate(intake.documents, first_document_no):
        yield _document_row(document, number, dataset_id, digest)


def _document_row(document: Document, number: int, dataset_id: int, digest: ContentDigest) -> Row:
    return {
        "document_no": number,
        "dataset_id": dataset_id,
        "document_id": document.document_id,
        "title": document.title,
        "source": document.source,
        "summary": document.summary,
        "date": document.date,
        "metadata": digest.document(document),
    }


def _chunk_rows(intake: Intake, counter: TokenCounter, first_document_no: int, digest: ContentDigest) -> Iterator[Row]:
    own_of = enumerate((own for _, own in intake.documents), first_document_no)
    placed = (((number << INDEX_BITS) + chunk.chunk_index, chunk, fact) for number, own in own_of for chunk, fact in _with_facts(own))
    # Counted in batches across documents: a counter has a fixed cost a call, and most documents are short.
    while batch := list(islice(placed, BATCH_ROWS)):
        facts = [fact for _, _, fact in batch]
        counted = with_counts(facts, counter) if counter.exact else facts
        for (place, chunk, _), fact in zip(batch, counted, strict=True):
            yield _chunk_row(chunk, fact, place, digest)


def _with_facts(own: Sequence[Chunk]) -> Iterator[tuple[Chunk, FetchedChunk]]:
    return zip(own, chunk_facts(own, None), strict=True)


def _chunk_row(chunk: Chunk, fact: FetchedChunk, place: int, digest: ContentDigest) -> Row:
    digested = digest.chunk(chunk)
    return {
        "place": place,
        "text": chunk.text,
        "start_char": chunk.start,
        "end_char": chunk.end,
        "page_number": chunk.page_number,
        "section": chunk.section,
        "row_number": chunk.row_number,
        "token_count": fact.token_count,
        "overlap_chars": fact.overlap_chars,
        "overlap_kind": fact.overlap_kind,
        "overlap_tokens": fact.overlap_tokens,
        "lead_tokens": fact.lead_tokens,
        "duplicate_key": fact.duplicate_key,
        "content_hash": digested.content_hash,
        "metadata": digested.metadata,
    }


def _query_rows(intake: Intake, dataset_id: int, digest: ContentDigest) -> Iterator[Row]:
    for position, query in enumerate(intake.queries):
        yield {
            "dataset_id": dataset_id,
            "position": position,
            "query_id": query.query_id,
            "query": query.query,
            "hits": len(query.retrieved),
            "payload": digest.query(query),
        }


def _answer_rows(intake: Intake, dataset_id: int, digest: ContentDigest) -> Iterator[Row]:
    for position, answer in enumerate(intake.answers):
        yield {"dataset_id": dataset_id, "position": position, "query_id": answer.query_id, "payload": digest.answer(answer)}
