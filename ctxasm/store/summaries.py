"""Summaries that were made after the load, given to the documents of a dataset at once.

Handles remember documents under the number of the dataset, so the dataset gets a new number in the same transaction, and
whatever is read under the old one finds nothing and is read again. Chunks stay where they are: their places are unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, update

from ctxasm.model.errors import shown
from ctxasm.model.records import Document
from ctxasm.store.codec import written_metadata
from ctxasm.store.digest import ContentDigest
from ctxasm.store.intake import storable
from ctxasm.store.later import summarised
from ctxasm.store.load import dataset_places
from ctxasm.store.rows import DOCUMENT_COLUMNS, record_document
from ctxasm.store.tables import INDEX_BITS, INDEX_MASK, answers, chunks, datasets, documents, queries

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
    new = _renumber(connection, dataset_id)
    connection.execute(update(datasets).where(datasets.c.dataset_id == new).values(content_hash=_stored_hash(connection, new)))


def _changed(connection: Connection, dataset_id: int, summaries: Mapping[str, str | None], made_by: str) -> Iterable[tuple[int, Document]]:
    t, wanted = documents, [name for name in summaries if storable(name)]
    for at in range(0, len(wanted), _BATCH_ROWS):
        some = select(*DOCUMENT_COLUMNS).where(t.c.dataset_id == dataset_id, t.c.document_id.in_(wanted[at : at + _BATCH_ROWS]))
        for row in connection.execute(some).fetchall():
            if (new := summarised(record_document(row), summaries[row.document_id], made_by)) is not None:
                yield row.document_no, new


def _renumber(connection: Connection, dataset_id: int) -> int:
    """The same dataset under a number that was never used."""
    columns = [column for column in datasets.c if column.name != "dataset_id"]
    row: dict[str, Any] = connection.execute(select(*columns).where(datasets.c.dataset_id == dataset_id)).one()._asdict()
    # Two rows of one name may not be: the new one is called by its own once the old one is gone.
    new = int(connection.execute(insert(datasets).values(row | {"name": uuid4().hex}).returning(datasets.c.dataset_id)).scalar_one())
    for table in (documents, queries, answers):
        connection.execute(update(table).where(table.c.dataset_id == dataset_id).values(dataset_id=new))
    connection.execute(delete(datasets).where(datasets.c.dataset_id == dataset_id))
    connection.execute(update(datasets).where(datasets.c.dataset_id == new).values(name=row["name"]))
    return new


def _stored_hash(connection: Connection, dataset_id: int) -> str:
    """The content hash of what is stored, as the load of these records would have made it."""
    digest, d, c = ContentDigest(), documents.c, chunks.c
    names: dict[int, str] = {}
    for number, *values in connection.execute(select(*DOCUMENT_COLUMNS).where(d.dataset_id == dataset_id).order_by(d.document_no)):
        names[number] = values[0]
        digest.add("document", *values)
    first = select(datasets.c.first_document_no, datasets.c.documents).where(datasets.c.dataset_id == dataset_id)
    low, high = dataset_places(*connection.execute(first).one())
    columns = (c.place, c.content_hash, c.start_char, c.end_char, c.page_number, c.section, c.row_number, c.metadata)
    while True:
        batch = select(*columns).where(c.place.between(low, high)).order_by(c.place).limit(_BATCH_ROWS)
        if not (rows := connection.execute(batch).fetchall()):
            break
        for place, content_hash, start, end, *rest in rows:
            digest.add("chunk", names[place >> INDEX_BITS], place & INDEX_MASK, bytes(content_hash).hex(), start, end)
            digest.add(*rest)
        low = rows[-1].place + 1
    for table, kind, columns_of in ((queries, "query", ("query_id", "query", "payload")), (answers, "answer", ("query_id", "payload"))):
        own = select(*(table.c[name] for name in columns_of)).where(table.c.dataset_id == dataset_id).order_by(table.c.position)
        for row in connection.execute(own):
            digest.add(kind, *row)
    return digest.hex()
