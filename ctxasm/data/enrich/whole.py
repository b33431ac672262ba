"""A document put together again from its chunks: its text without what neighbours repeat, and where each chunk stands in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.enrichment.outline import enclosing, headings_in, headings_of, path_at, section_of
from ctxasm.model.language import Language, language_of
from ctxasm.model.overlap import overlap_of
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document
from ctxasm.model.visible import is_visible, one_line

LONGEST_NAME = 120
_READ = 6000
"""Characters that tell the language of a document."""


class Part(NamedTuple):
    """A chunk in its document. `place` counts from 1. `path` are the headings over it, the highest first, `inside` those that begin in it.

    `opens` are the lines of program text that open what it lies in. Its text begins at character `start` of the document's, the
    section that it begins in reaches from `section_start` to `section_end`, at least as far as the chunk.
    """

    chunk: FetchedChunk
    place: int
    start: int
    section_start: int
    section_end: int
    path: tuple[str, ...]
    inside: tuple[str, ...]
    opens: tuple[str, ...]


class Whole(NamedTuple):
    """A document with all of its chunks, ascending by index. `name` is its title, else the end of its source, else its id."""

    document: Document
    name: str
    language: Language
    text: str
    parts: tuple[Part, ...]


def whole_document(document: Document, chunks: Sequence[FetchedChunk]) -> Whole:
    """Put `chunks`, all of one document and ascending by index, together. Takes time linear in their text."""
    text, starts = _joined(chunks)
    headings = headings_of(text)
    parts = []
    for place, (chunk, start) in enumerate(zip(chunks, starts, strict=True), start=1):
        told = one_line(chunk.section or "")[:LONGEST_NAME]
        path = (told,) if told else path_at(headings, start)
        # A heading at the very end of a chunk is the next one's.
        end = start + len(chunk.text.rstrip())
        inside = tuple(heading.text for heading in headings_in(headings, start, end) if heading.start + len(heading.text) < end)
        section = section_of(headings, start, len(text))
        parts.append(Part(chunk, place, start, section[0], max(section[1], end), path, inside, enclosing(text, start)))
    name = name_of(document)
    return Whole(document, name, language_of(f"{name} {text[:_READ]}"), text, tuple(parts))


def name_of(document: Document) -> str:
    """What a reader would call a document, on one line."""
    source = (document.source or "").rstrip("/").replace("\\", "/").rpartition("/")[2]
    told = next((name for name in (document.title or "", source) if is_visible(name)), document.document_id)
    return one_line(told)[:LONGEST_NAME].strip()


def _joined(chunks: Sequence[FetchedChunk]) -> tuple[str, list[int]]:
    """The text, and the character at which each chunk begins in it."""
    pieces: list[str] = []
    starts: list[int] = []
    length, before = 0, None
    for chunk in chunks:
        follows = before is not None and chunk.chunk_index == before.chunk_index + 1
        shared = _shared(before, chunk) if before is not None and follows else 0
        if before is not None and not follows:
            pieces.append("\n\n")
            length += 2
        starts.append(max(0, length - shared))
        pieces.append(chunk.text[shared:])
        length += len(pieces[-1])
        before = chunk
    return "".join(pieces), starts


def _shared(first: FetchedChunk, second: FetchedChunk) -> int:
    if second.overlap_chars is not None:
        return 0 if second.overlap_kind == "coincidence" else second.overlap_chars
    found = overlap_of(first, second)
    return 0 if found.kind == "coincidence" else found.chars
