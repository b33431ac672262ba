"""Summaries that were made after the load, given to the documents of a dataset at once.

Handles remember documents under the number of the dataset, so the dataset gets a new number in the same transaction, and
whatever is read under the old one finds nothing and is read again. Chunks stay where they are: their places are unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, update

from ctxasm.model.characters import storable
from ctxasm.model.errors import shown
from ctxasm.model.records import Document
from ctxasm.store.additions import summarised
from ctxasm.store.codec import written_metadata
from ctxasm.store.statements import DOCUMENT_COLUMNS, record_document
from ctxasm.store.stored_hash import stored_hash
from ctxasm.store.tables import answers, datasets, documents, queries

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
