"""A document put together again from its chunks: its text without what neighbours repeat, and where each chunk stands in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.data.enrich.outline import enclosing, headings_in, headings_of, path_at, section_of
from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Document
from ctxasm.text.chunk_facts import overlap_at
from ctxasm.text.language import Language, language_of
from ctxasm.text.overlap import NOTHING_SHARED, left_behind, touching

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
    length = 0
    standing: FetchedChunk | None = None
    for last, chunk in zip([None, *chunks], chunks, strict=False):
        overlap, behind = NOTHING_SHARED, 0
        if last is not None and chunk.chunk_index != last.chunk_index + 1:
            pieces.append("\n\n")
            length += 2
        elif standing is not None:
            overlap = overlap_at(standing, chunk)
            behind = left_behind(standing, chunk, overlap)
        shared = 0 if overlap.kind == "coincidence" else overlap.chars
        # As where a passage is shown: the last word of a chunk and the first of the next are one only where the offsets say so.
        if standing and not shared and not touching(standing, chunk) and not (pieces[-1][-1:].isspace() or chunk.text[:1].isspace()):
            pieces.append("\n")
            length += 1
        starts.append(max(0, length - shared - behind))
        pieces.append(chunk.text[shared:])
        length += len(pieces[-1])
        standing = standing if behind else chunk
    return "".join(pieces), starts
