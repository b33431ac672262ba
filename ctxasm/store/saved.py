"""What users add to a stored dataset: questions, page summaries, gold evidence. It stands by the name of the dataset and outlives loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, true, update

from ctxasm.model.characters import storable
from ctxasm.model.datasets import QueryEntry
from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.model.records import Document, GoldChange, GoldChunk, Query, changed_gold, check_query
from ctxasm.store.digest import stored_hash
from ctxasm.store.records import read_query, written_metadata, written_query
from ctxasm.store.schema import answers, datasets, documents, queries, saved_queries
from ctxasm.store.statements import DOCUMENT_COLUMNS, record_document
from ctxasm.store.validation import MADE_BY, check_text

MAX_SAVED_BYTES = 2500
"""Of a key in all: PostgreSQL indexes at most 2,704 bytes."""


def check_saved(dataset: str, query: Query) -> str:
    """All of a query but its id and text, as JSON. Raises InvalidInput for one that cannot be saved."""
    check_text(dataset, "dataset name", name=True)
    check_query(query)
    check_text(query.query, f"query {shown(query.query_id)}: query")
    check_text(query.query_id, "query_id", name=True)
    if (size := len(dataset.encode()) + len(query.query_id.encode())) > MAX_SAVED_BYTES:
        raise InvalidInput(f"query_id and dataset name must be at most {MAX_SAVED_BYTES} bytes together, got {size}: shorten the id")
    return written_query(query)


def no_saved_query(query_id: str, dataset: str, saved: Sequence[str]) -> NotFound:
    """The error for deleting a question that nobody saved; those that came with the dataset stay."""
    known = f"saved are {', '.join(shown(name) for name in saved[:10])}" if saved else "none was saved"
    return NotFound(f"dataset {shown(dataset)} holds no saved query {shown(query_id)}: {known}")


def write_saved(connection: Connection, dataset: str, dataset_id: int | None, query: Query) -> None:
    """Save a query, in place of a saved one of its id. `dataset_id` is None for a dataset that is not loaded here."""
    payload, t = check_saved(dataset, query), saved_queries
    loaded = select(queries.c.position).where(queries.c.dataset_id == dataset_id, queries.c.query_id == query.query_id)
    if dataset_id is not None and connection.execute(loaded).one_or_none() is not None:
        taken = f"got {shown(query.query_id)} of dataset {shown(dataset)}"
        raise InvalidInput(f"query_id must not be that of a loaded query, {taken}: take another id")
    same = (t.c.dataset == dataset) & (t.c.query_id == query.query_id)
    position = connection.execute(select(t.c.position).where(same)).scalar_one_or_none()
    if position is None:
        last = select(func.coalesce(func.max(t.c.position), -1)).where(t.c.dataset == dataset)
        position = int(connection.execute(last).scalar_one()) + 1
    connection.execute(delete(t).where(same))
    saved_at = datetime.now(UTC).isoformat(timespec="microseconds")
    row = {"dataset": dataset, "query_id": query.query_id, "position": position, "query": query.query, "hits": len(query.retrieved)}
    connection.execute(insert(t).values(row | {"payload": payload, "saved_at": saved_at}))


def rewrite_saved(connection: Connection, dataset: str, query: Query) -> None:
    """A saved query with other labels and hits, in its place."""
    same = (saved_queries.c.dataset == dataset) & (saved_queries.c.query_id == query.query_id)
    connection.execute(update(saved_queries).where(same).values(hits=len(query.retrieved), payload=written_query(query)))


def remove_saved(connection: Connection, dataset: str, query_id: str) -> None:
    """Remove a saved query. Raises NotFound naming those that were saved."""
    t = saved_queries
    gone = delete(t).where(t.c.dataset == dataset, t.c.query_id == query_id)
    if not storable(query_id) or not connection.execute(gone).rowcount:
        known = select(t.c.query_id).where(t.c.dataset == dataset).order_by(t.c.position)
        raise no_saved_query(query_id, dataset, list(connection.execute(known).scalars()) if storable(dataset) else [])


def forget_saved(connection: Connection, dataset: str) -> None:
    """Remove all saved queries of a dataset."""
    connection.execute(delete(saved_queries).where(saved_queries.c.dataset == dataset))


def saved_entries(connection: Connection, dataset: str, dataset_id: int | None) -> list[QueryEntry]:
    """The saved queries in the order they were saved, without what was retrieved for them."""
    t = saved_queries
    own = select(t.c.query_id, t.c.query, t.c.hits).where(_own(dataset, dataset_id)).order_by(t.c.position)
    return [QueryEntry(*row) for row in connection.execute(own)]


def read_saved(connection: Connection, dataset: str, dataset_id: int | None, query_id: str | None = None) -> list[Query]:
    """The saved queries in the order they were saved, only that of `query_id` where it is given."""
    t = saved_queries
    wanted: ColumnElement[bool] = true() if query_id is None else t.c.query_id == query_id
    own = select(t.c.query_id, t.c.query, t.c.payload).where(_own(dataset, dataset_id), wanted).order_by(t.c.position)
    return [read_query(*row) for row in connection.execute(own)]


def saved_named(connection: Connection, dataset: str, query_ids: Sequence[str]) -> list[Query]:
    """The saved queries of these ids."""
    t = saved_queries
    own = select(t.c.query_id, t.c.query, t.c.payload).where(t.c.dataset == dataset, t.c.query_id.in_(query_ids))
    return [read_query(*row) for row in connection.execute(own)]


def _own(dataset: str, dataset_id: int | None) -> ColumnElement[bool]:
    own = saved_queries.c.dataset == dataset
    if dataset_id is None:
        return own
    return own & saved_queries.c.query_id.not_in(select(queries.c.query_id).where(queries.c.dataset_id == dataset_id))


_BATCH_ROWS = 1000


def write_summaries(connection: Connection, dataset_id: int, summaries: Mapping[str, str | None], made_by: str) -> None:
    """Write the new summaries and give the dataset a new number. Nothing happens where no document changes."""
    changed = list(_changed(connection, dataset_id, summaries, made_by))
    if not changed:
        return
    t = documents
    for document_no, document in changed:
        metadata = written_metadata(document.metadata, f"document {shown(document.document_id)}")
        connection.execute(update(t).where(t.c.document_no == document_no).values(summary=document.summary, metadata=metadata))
    new = renumber(connection, dataset_id)
    connection.execute(update(datasets).where(datasets.c.dataset_id == new).values(content_hash=stored_hash(connection, new)))


def _changed(connection: Connection, dataset_id: int, summaries: Mapping[str, str | None], made_by: str) -> Iterable[tuple[int, Document]]:
    t, wanted = documents, [name for name in summaries if storable(name)]
    for at in range(0, len(wanted), _BATCH_ROWS):
        some = select(*DOCUMENT_COLUMNS).where(t.c.dataset_id == dataset_id, t.c.document_id.in_(wanted[at : at + _BATCH_ROWS]))
        for row in connection.execute(some).fetchall():
            if (new := summarised(record_document(row), summaries[row.document_id], made_by)) is not None:
                yield row.document_no, new


def summarised(document: Document, summary: str | None, made_by: str) -> Document | None:
    """The document with its new summary (None: without); None where it stays as it is, having its own or exactly this one."""
    writer = document.metadata.get(MADE_BY)
    if (document.summary and writer != made_by) or document.summary == summary:
        return None
    metadata = {key: value for key, value in document.metadata.items() if key != MADE_BY}
    if summary is not None:
        metadata[MADE_BY] = made_by
    return Document(document.document_id, document.title, document.source, summary, document.date, metadata)


def renumber(connection: Connection, dataset_id: int) -> int:
    """The same dataset under a number that was never used: what handles remember of it is read again."""
    columns = [column for column in datasets.c if column.name != "dataset_id"]
    row: dict[str, Any] = connection.execute(select(*columns).where(datasets.c.dataset_id == dataset_id)).one()._asdict()
    # Two rows of one name may not be: the new one is called by its own once the old one is gone.
    new = int(connection.execute(insert(datasets).values(row | {"name": uuid4().hex}).returning(datasets.c.dataset_id)).scalar_one())
    for table in (documents, queries, answers):
        connection.execute(update(table).where(table.c.dataset_id == dataset_id).values(dataset_id=new))
    connection.execute(delete(datasets).where(datasets.c.dataset_id == dataset_id))
    connection.execute(update(datasets).where(datasets.c.dataset_id == new).values(name=row["name"]))
    return new


def write_gold(
    connection: Connection, dataset: str, dataset_id: int | None, query_id: str, gold: Sequence[GoldChunk], how: GoldChange
) -> Query | None:
    """The question with its evidence changed, None where there is no question of this id. Nothing is written where it has it already.

    `dataset_id` is None for a dataset that is not loaded here: all its questions are saved ones.
    """
    if not storable(query_id):
        return None
    loaded = queries.c.dataset_id == dataset_id, queries.c.query_id == query_id
    row = connection.execute(select(queries.c.query, queries.c.payload).where(*loaded)).one_or_none()
    if row is None or dataset_id is None:
        saved = next(iter(read_saved(connection, dataset, dataset_id, query_id)), None)
        if saved is not None and saved.gold != (changed := changed_gold(saved.gold, gold, how)):
            saved = replace(saved, gold=changed)
            write_saved(connection, dataset, dataset_id, saved)
        return saved
    query = read_query(query_id, row.query, row.payload)
    changed = changed_gold(query.gold, gold, how)
    if query.gold == changed:
        return query
    query = replace(query, gold=changed)
    connection.execute(update(queries).where(*loaded).values(payload=written_query(query)))
    new = renumber(connection, dataset_id)
    connection.execute(update(datasets).where(datasets.c.dataset_id == new).values(content_hash=stored_hash(connection, new)))
    return query
