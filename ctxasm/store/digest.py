"""The content hash of a load: the same for equal records in every kind of store.

Records are hashed in stored order as they are written, so each method returns what it had to make for the hash anyway.
Raises InvalidInput for values that JSON cannot hold.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import NamedTuple

from sqlalchemy import Connection, select

from ctxasm.model.errors import shown
from ctxasm.model.records import Answer, Chunk, Document, Query
from ctxasm.store.records import RowTypes, decoding, written_answer, written_metadata, written_query
from ctxasm.store.schema import INDEX_BITS, INDEX_MASK, answers, chunks, datasets, documents, queries
from ctxasm.store.statements import DOCUMENT_COLUMNS
from ctxasm.store.validation import Intake

HASH_BYTES = 16


class ChunkDigest(NamedTuple):
    """`content_hash` is of the text alone; `metadata` is JSON, None when empty."""

    content_hash: bytes
    metadata: str | None


class ContentDigest:
    """The running hash of one load."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=HASH_BYTES)

    def document(self, document: Document) -> str | None:
        """Hash a document; its metadata as JSON."""
        metadata = written_metadata(document.metadata, f"document {shown(document.document_id)}")
        self.add("document", document.document_id, document.title, document.source, document.summary, document.date, metadata)
        return metadata

    def chunk(self, chunk: Chunk) -> ChunkDigest:
        """Hash a chunk; the hash of its text and its metadata as JSON."""
        where = f"chunk {chunk.chunk_index} of document {shown(chunk.document_id)}"
        metadata = written_metadata(chunk.metadata, where) if chunk.metadata else None
        content_hash = blake2b(chunk.text.encode(), digest_size=HASH_BYTES).digest()
        self.add("chunk", chunk.document_id, chunk.chunk_index, content_hash.hex(), chunk.start, chunk.end)
        self.add(chunk.page_number, chunk.section, chunk.row_number, metadata)
        return ChunkDigest(content_hash, metadata)

    def query(self, query: Query) -> str:
        """Hash a query; all of it but its id and text, as JSON."""
        payload = written_query(query)
        self.add("query", query.query_id, query.query, payload)
        return payload

    def answer(self, answer: Answer) -> str:
        """Hash an answer; all of it but its query id, as JSON."""
        payload = written_answer(answer)
        self.add("answer", answer.query_id, payload)
        return payload

    def add_digested(self, content: bytes) -> None:
        """Hash what was made for it elsewhere."""
        self._hash.update(content)

    def hex(self) -> str:
        """The hash so far."""
        return self._hash.hexdigest()

    def add(self, *parts: str | int | None) -> None:
        """Hash values as they are stored."""
        self._hash.update(json.dumps(parts).encode())


def content_hash(intake: Intake) -> str:
    """The hash that a load of these records has in every kind of store."""
    digest = ContentDigest()
    for document, _ in intake.documents:
        digest.document(document)
    for _, own in intake.documents:
        for chunk in own:
            digest.chunk(chunk)
    for query in intake.queries:
        digest.query(query)
    for answer in intake.answers:
        digest.answer(answer)
    return digest.hex()


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
