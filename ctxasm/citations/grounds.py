"""What an answer is checked against: the blocks of an assembled context, or sources that a record brings along.

Evidence is the text of chunks only: a header or a gap mark states nothing, and a page summary is kept apart, because an
answer that rests on it alone rests on no source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ctxasm.citations.checked import DroppedSource, Support
from ctxasm.model.results import Assembly, Citation, Fate, Segment
from ctxasm.model.support import Found, Source
from ctxasm.text.overlap import has_offsets

Range = tuple[int, int]


class Place(NamedTuple):
    """Characters `start` to `end` of a block and the chunk whose text they are, verbatim.

    `chunk_start` is None where they are not: a model wrote them of the chunk. `document_start` is None there too, and where the chunk does
    not say where it stands, or says what cannot be so. `retrieved`: the chunk, or one that shares this text, is a hit.
    """

    start: int
    end: int
    document_id: str
    chunk_index: int
    chunk_start: int | None
    document_start: int | None
    retrieved: bool


@dataclass(frozen=True, slots=True)
class Ground:
    """One numbered source. `summary` is its page summary as a source of its own; `offset` places its text in the context; `date` is what
    its document says of when it is from."""

    source: Source
    summary: Source | None = None
    places: tuple[Place, ...] = ()
    offset: int | None = None
    date: str | None = None

    def support(self, found: Found) -> Support:
        """A stretch of this source in every coordinate that is known."""
        if self.offset is None:
            return Support(found.number, found.start, found.end, found.score)
        held = [place for place in self.places if place.start < found.end and found.start < place.end]
        where = Support(
            found.number,
            found.start,
            found.end,
            found.score,
            any(place.retrieved for place in held) if held else None,
            self.offset + found.start,
            self.offset + found.end,
        )
        return where._replace(**_in_chunks(held, found)) if held else where


def _in_chunks(held: Sequence[Place], found: Found) -> dict[str, Any]:
    """The coordinates of a stretch in what holds it. Chunks need not stand in the context as in their document, where one may lie inside
    another: what they hold of the stretch lies between the first and the last character of it there.
    """
    first, last = held[0], held[-1]
    low, high = max(found.start, first.start) - first.start, min(found.end, last.end) - last.start
    known: dict[str, Any] = {"document_id": first.document_id}
    if (first.document_id, first.chunk_index) == (last.document_id, last.chunk_index):
        known["chunk_index"] = first.chunk_index
        if first.chunk_start is not None and last.chunk_start is not None:
            known |= {"chunk_start": first.chunk_start + low, "chunk_end": last.chunk_start + high}
    shifts = [place.document_start - place.start for place in held if place.document_start is not None]
    if len(shifts) == len(held) and first.document_id == last.document_id:
        known["document_start"] = min(max(found.start, place.start) + shift for place, shift in zip(held, shifts, strict=True))
        known["document_end"] = max(min(found.end, place.end) + shift for place, shift in zip(held, shifts, strict=True))
    return known


@dataclass(frozen=True, slots=True)
class Grounds:
    """All numbered sources of one answer, and the assembly that they come from, if any."""

    items: tuple[Ground, ...]
    assembly: Assembly | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(ground.source for ground in self.items)


def grounds_of_sources(sources: Iterable[Mapping[str, Any]]) -> Grounds:
    """The sources of a recorded answer: `n`, `text` and, where given, `title` and `date`. All of the text is evidence."""
    return Grounds(
        tuple(
            Ground(
                Source(int(source["n"]), text, ((0, len(text)),) if text else (), str(source.get("title") or "")),
                date=str(source["date"]) if source.get("date") else None,
            )
            for source in sources
            for text in (str(source["text"]),)
        )
    )


def grounds_of_assembly(assembly: Assembly) -> Grounds:
    """The blocks of a context, each with the places of its chunks."""
    blocks: dict[int, list[Segment]] = {}
    for segment in assembly.segments:
        if segment.block is not None:
            blocks.setdefault(segment.block, []).append(segment)
    hits = {(fate.document_id, fate.chunk_index) for fate in assembly.trace.fates if fate.retrieved}
    cited = sorted(assembly.citations, key=lambda citation: citation.number)
    return Grounds(tuple(_ground(assembly, citation, blocks.get(citation.number, []), hits) for citation in cited), assembly)


def _ground(assembly: Assembly, citation: Citation, segments: Sequence[Segment], hits: set[tuple[str, int]]) -> Ground:
    number, title, document = citation.number, citation.title or "", assembly.trace.documents.get(citation.document_id)
    date = document.date if document is not None else None
    if not segments:
        return Ground(Source(number, "", (), title), offset=0, date=date)
    offset, end = segments[0].start, segments[-1].end
    text = assembly.text[offset:end]
    chunks = [segment for segment in segments if segment.kind == "chunk"]
    prefixes = [(s.start - offset, s.end - offset) for s in segments if s.kind == "prefix"]
    return Ground(
        Source(number, text, _joined((s.start - offset, s.end - offset) for s in chunks), title),
        Source(number, text, tuple(prefixes), title) if prefixes else None,
        tuple(_place(assembly, segment, offset, hits) for segment in chunks),
        offset,
        date,
    )


def _place(assembly: Assembly, segment: Segment, offset: int, hits: set[tuple[str, int]]) -> Place:
    assert segment.document_id is not None
    assert segment.chunk_index is not None
    key, low = (segment.document_id, segment.chunk_index), segment.chunk_start
    candidate = assembly.trace.candidates.get(key)
    start = candidate.chunk.start if candidate is not None and has_offsets(candidate.chunk) else None
    retrieved = key in hits or any(other in hits for other in segment.shared_with)
    in_document = None if start is None or low is None else start + low
    return Place(segment.start - offset, segment.end - offset, *key, low, in_document, retrieved)


def _joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    joined: list[Range] = []
    for low, high in ranges:
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        elif low < high:
            joined.append((low, high))
    return tuple(joined)


def dropped_numbers(assembly: Assembly, numbers: Iterable[int]) -> tuple[DroppedSource, ...]:
    """Those of `numbers` that a dropped document explains, in their order, each once. A number of a citation never is."""
    existing = {citation.number for citation in assembly.citations}
    cited = {citation.document_id for citation in assembly.citations}
    ordered = [size.document_id for size in assembly.trace.sizes if size.document_id not in cited]
    going_on = dict(enumerate(dict.fromkeys(ordered), start=max(existing, default=0) + 1))
    before = {entry.number: entry.document_id for entry in assembly.trace.before_assembly if entry.document_id not in cited}
    found: list[DroppedSource] = []
    for number in dict.fromkeys(numbers):
        document_id = going_on.get(number) or before.get(number)
        if number in existing or document_id is None:
            continue
        if fate := _decisive(assembly.trace.fates, document_id):
            found.append(DroppedSource(number, document_id, fate.stage, fate.reason))
    return tuple(found)


def _decisive(fates: Iterable[Fate], document_id: str) -> Fate | None:
    """The fate that speaks for a document: that of its best retrieved chunk, of any chunk where none was retrieved."""
    own = [fate for fate in fates if fate.document_id == document_id and fate.fate in ("dropped", "duplicate_of")]
    return min(own, key=lambda fate: (not fate.retrieved, fate.fate != "dropped", fate.rank, fate.chunk_index), default=None)
