"""From the text of a document to its chunks, and both to a form that can be kept."""

from __future__ import annotations

import dataclasses
import json
from hashlib import blake2b
from typing import Any, NamedTuple

from ctxasm.data.documents.chunking import Tokenizer, chunk_text
from ctxasm.data.documents.collecting import Kind
from ctxasm.data.documents.options import IngestOptions
from ctxasm.data.documents.reading import READER_VERSION, reader_of
from ctxasm.data.documents.source import SourceText
from ctxasm.model.records import Chunk, Document
from ctxasm.store.records import decoding

MARK = "ingest"
"""The field of a document's metadata that says which bytes and options its chunks are made of."""

ADDED = "added"
"""The field that says that a document was added to a dataset: it does not follow the files of another ingest."""


def added(document: Document) -> Document:
    """The document as one that was added to a dataset."""
    return dataclasses.replace(document, metadata={**document.metadata, ADDED: True})


def not_added(document: Document) -> Document:
    """The same document as one of an ingest of its own."""
    return dataclasses.replace(document, metadata={key: value for key, value in document.metadata.items() if key != ADDED})


class Cut(NamedTuple):
    """A document with its chunks. `notes` are sentences for the user."""

    document: Document
    chunks: tuple[Chunk, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the chunks reach from the first character to the last."""
        reaches = self.chunks[0].start == 0 and self.chunks[-1].end == self.document.metadata.get("characters") if self.chunks else False
        return reaches and [chunk.chunk_index for chunk in self.chunks] == list(range(len(self.chunks)))

    def named(self, name: str) -> Cut:
        """The same under another name: the file was moved."""
        if self.document.document_id == name:
            return self
        document = dataclasses.replace(self.document, document_id=name, source=name)
        return Cut(document, tuple(dataclasses.replace(chunk, document_id=name) for chunk in self.chunks), self.notes)


def mark_of(data: bytes, kind: Kind, options: IngestOptions, encoding: str) -> str:
    """The digest of everything that decides what a document becomes: its bytes, its reader, the options, the encoding."""
    decides = [READER_VERSION, kind, reader_of(kind), encoding, dataclasses.astuple(options)]
    return blake2b(json.dumps(decides).encode() + b"\0" + data, digest_size=16).hexdigest()


def cut(name: str, source: SourceText, kind: Kind, mark: str, options: IngestOptions, tokenizer: Tokenizer) -> Cut:
    """The document `name` and its chunks; offsets count the characters of the document's text."""
    breaks = set(source.page_breaks) if options.pages else set()
    if options.headings:
        breaks |= {section.start for section in source.sections}
    pieces = chunk_text(
        source.text,
        tokenizer=tokenizer,
        max_tokens=options.max_tokens,
        overlap_tokens=options.overlap_tokens,
        hard_breaks=sorted(place for place in breaks if 0 < place < len(source.text)),
        sentences=True,
        headings=[section.start for section in source.sections],
    )
    chunks = tuple(
        Chunk(name, index, piece.text, piece.start, piece.end, source.page_of(piece), source.section_of(piece))
        for index, piece in enumerate(pieces)
    )
    return Cut(_document(name, source, kind, mark, options), chunks, tuple(source.notes))


def _document(name: str, source: SourceText, kind: Kind, mark: str, options: IngestOptions) -> Document:
    language = source.fields.get("language", options.language)
    metadata: dict[str, Any] = {"file_type": kind, "reader": reader_of(kind), "characters": len(source.text), MARK: mark}
    if source.pages is not None:
        metadata["pages"] = source.pages
    if language is not None:
        metadata["language"] = language
    return Document(name, source.fields.get("title"), name, date=source.fields.get("date"), metadata=metadata)


def written(made: Cut) -> str:
    """A document with its chunks as JSON."""
    document = made.document
    return json.dumps(
        {
            "document": [document.document_id, document.title, document.date, dict(document.metadata)],
            "chunks": [[chunk.text, chunk.start, chunk.end, chunk.page_number, chunk.section] for chunk in made.chunks],
            "notes": list(made.notes),
        },
        ensure_ascii=False,
    )


def read_written(text: str) -> Cut:
    """What `written` wrote."""
    with decoding("a kept document"):
        stored = json.loads(text)
        name, title, date, metadata = stored["document"]
        document = Document(name, title, name, date=date, metadata=metadata)
        chunks = tuple(Chunk(name, index, *values) for index, values in enumerate(stored["chunks"]))
        return Cut(document, chunks, tuple(stored["notes"]))
