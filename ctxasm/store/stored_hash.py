"""The content hash of what is stored, as the load of these records in order makes it."""

from __future__ import annotations

from sqlalchemy import Connection, select

from ctxasm.store.digest import ContentDigest
from ctxasm.store.records import RowTypes, decoding
from ctxasm.store.schema import INDEX_BITS, INDEX_MASK, answers, chunks, datasets, documents, queries
from ctxasm.store.statements import DOCUMENT_COLUMNS

_BATCH_ROWS = 1000


def stored_hash(connection: Connection, dataset_id: int) -> str:
    """Read in batches; inside a transaction that has just changed the records."""
    digest, names = ContentDigest(), dict[int, str]()
    d, c = documents.c, chunks.c
    for number, *values in connection.execute(select(*DOCUMENT_COLUMNS).where(d.dataset_id == dataset_id).order_by(d.document_no)):
        names[number] = values[0]
        digest.add("document", *values)
    first = select(datasets.c.first_document_no, datasets.c.documents).where(datasets.c.dataset_id == dataset_id)
    first_document_no, count = connection.execute(first).one()
    place, end = first_document_no << INDEX_BITS, ((first_document_no + count) << INDEX_BITS) - 1
    columns = (c.place, c.content_hash, c.start_char, c.end_char, c.page_number, c.section, c.row_number, c.metadata)
    types = RowTypes(*columns)
    while rows := connection.execute(select(*columns).where(c.place.between(place, end)).order_by(c.place).limit(_BATCH_ROWS)).fetchall():
        types.check(rows)
        with decoding("the document of a chunk"):
            for own, content_hash, start_char, end_char, *rest in rows:
                digest.add("chunk", names[own >> INDEX_BITS], own & INDEX_MASK, bytes(content_hash).hex(), start_char, end_char)
                digest.add(*rest)
        place = rows[-1].place + 1
    for table, kind, fields in ((queries, "query", ("query_id", "query", "payload")), (answers, "answer", ("query_id", "payload"))):
        own_rows = select(*(table.c[field] for field in fields)).where(table.c.dataset_id == dataset_id).order_by(table.c.position)
        for row in connection.execute(own_rows):
            digest.add(kind, *row)
    return digest.hex()
