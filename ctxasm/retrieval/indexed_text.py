"""What is indexed of a chunk. What is stored and shown never changes."""

from __future__ import annotations

import hashlib

from ctxasm.model.characters import one_line
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document
from ctxasm.text.chunk_facts import duplicate_key

BETWEEN = " › "


def titled_text(chunk: FetchedChunk, document: Document | None) -> str:
    """Title › section, and the text below; the text alone where it has neither. A section that repeats the title says nothing."""
    title = one_line(document.title or "") if document else ""
    section = one_line(chunk.section or "")
    head = BETWEEN.join(dict.fromkeys(part for part in (title, section) if part))
    return f"{head}\n{chunk.text}" if head else chunk.text


def content_key(chunk: FetchedChunk, indexed: str) -> bytes:
    """By what the vector of an indexed text is kept: that of the chunk's own text, and a digest where more is indexed.

    So the vectors of a deleted dataset are found by the keys of its chunks, whatever was indexed of them.
    """
    own = chunk.duplicate_key or duplicate_key(chunk.text)
    if indexed == chunk.text:
        return own
    return own + hashlib.blake2b(" ".join(indexed.split()).encode("utf-8", "surrogatepass"), digest_size=8).digest()
