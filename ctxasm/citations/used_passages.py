"""Which of the passages that a labelled query expects an answer stands on, and where the others stand. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ctxasm.citations.checked import CheckedClaim, Share
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import GoldChunk, Span
from ctxasm.model.results import Assembly, Key
from ctxasm.text.overlap import has_offsets

Expected = Span | GoldChunk
Stretch = tuple[Key, int, int]
"""Characters of a chunk."""


def used_passages(assembly: Assembly, checked: CheckedAnswer) -> Share:
    """How many of the expected passages the answer stands on, and how many there are."""
    expected = _expected(assembly, checked)
    return Share(sum(is_used for _, is_used in expected), len(expected))


def unused_passages(assembly: Assembly, checked: CheckedAnswer) -> tuple[tuple[int, int] | None, ...]:
    """Where in the context each expected passage stands that the answer does not stand on; None: the context does not hold it."""
    return tuple(_place(assembly, passage) for passage, is_used in _expected(assembly, checked) if not is_used)


def _expected(assembly: Assembly, checked: CheckedAnswer) -> list[tuple[Expected, bool]]:
    """A passage is used where a claim that no source contradicts stands on characters of it, or of an exact copy of its chunk.

    Expected are the spans of the query, and gold chunks that a person added beside them; all gold chunks where the spans cannot be
    judged, because chunks do not say where they stand in their document, or say what cannot be. What is lost is never used.
    """
    chunks = {key: candidate.chunk for key, candidate in assembly.trace.candidates.items()}
    unplaced = {key[0] for key, chunk in chunks.items() if not has_offsets(chunk)}
    spans = [span for span in assembly.query.spans if not unplaced & {place.document_id for place in span.places}]
    beside = [gold for gold in assembly.query.marked if not any(_holds(chunks.get(key), span) for span in spans for key in gold.chunks)]
    expected: tuple[Expected, ...] = (*spans, *beside) if spans else assembly.query.gold
    placed = _with_copies(assembly, [stretch for low, high in _carried(checked) for stretch in _in_chunks(assembly, low, high)])
    return [(passage, any(_common(assembly, passage, stretch) for stretch in placed)) for passage in expected]


def _place(assembly: Assembly, passage: Expected) -> tuple[int, int] | None:
    """From the first to the last character of the passage in the first block that holds any of it."""
    found: dict[int | None, list[tuple[int, int]]] = {}
    for segment in assembly.segments:
        for stretch in _with_copies(assembly, list(_in_chunks(assembly, segment.start, segment.end)) if segment.kind == "chunk" else []):
            if common := _common(assembly, passage, stretch):
                shift = segment.start - stretch[1]
                found.setdefault(segment.block, []).append((common[0] + shift, common[1] + shift))
    first = next(iter(found.values()), None)
    return (min(low for low, _ in first), max(high for _, high in first)) if first else None


def _common(assembly: Assembly, passage: Expected, stretch: Stretch) -> tuple[int, int] | None:
    """The characters of its chunk that a stretch and a passage share."""
    key, low, high = stretch
    if isinstance(passage, GoldChunk):
        return (low, high) if key in passage.chunks else None
    begin = assembly.trace.candidates[key].chunk.start or 0
    shared = [
        (max(low, place.start - begin), min(high, place.end - begin))
        for place in passage.places
        if place.document_id == key[0] and not place.lost
    ]
    return next((one for one in shared if one[0] < one[1]), None)


def _holds(chunk: FetchedChunk | None, span: Span) -> bool:
    places = [place for place in span.places if not place.lost]
    return chunk is not None and any(
        chunk.document_id == place.document_id and (chunk.start or 0) < place.end and place.start < (chunk.end or 0) for place in places
    )


def cited_passages(assembly: Assembly, claim: CheckedClaim) -> tuple[Key, ...]:
    """The chunks that a claim stands on by what it cites, in their order: those that are right if its citation is.

    A claim that no source carries in full, one that only another source than it cites carries, and a disputed one name none.
    """
    if claim.verdict != "supported" or claim.disputed is not None:
        return ()
    places = [(s.context_start, s.context_end) for s in claim.support if s.context_start is not None and s.context_end is not None]
    return tuple(dict.fromkeys(key for low, high in places for key, *_ in _in_chunks(assembly, low, high)))


def _carried(checked: CheckedAnswer) -> Iterator[tuple[int, int]]:
    """Characters of the context that claims stand on, whether or not they cite the right number for it."""
    for claim in checked.claims:
        found = (*claim.support, *((claim.better_support,) if claim.better_support else ()))
        for support in found if claim.verdict != "contradicted" else ():
            if support.context_start is not None and support.context_end is not None:
                yield support.context_start, support.context_end


def _in_chunks(assembly: Assembly, low: int, high: int) -> Iterator[Stretch]:
    """The chunks that hold characters `low` to `high` of the context, and which characters of each."""
    for segment in assembly.segments:
        if segment.end <= low or high <= segment.start or segment.kind != "chunk":
            continue
        if segment.document_id is not None and segment.chunk_index is not None:
            first, last = max(low, segment.start), min(high, segment.end)
            if first < last and segment.chunk_start is not None:
                shift = segment.chunk_start - segment.start
                yield (segment.document_id, segment.chunk_index), first + shift, last + shift


def _with_copies(assembly: Assembly, stretches: list[Stretch]) -> list[Stretch]:
    """The same, and where a chunk has an exact copy that was left out, that one's as well."""
    texts = {key: candidate.chunk.text for key, candidate in assembly.trace.candidates.items()}
    copies = [
        ((fate.document_id, fate.chunk_index), fate.of)
        for fate in assembly.trace.fates
        if fate.of is not None and texts.get((fate.document_id, fate.chunk_index)) == texts.get(fate.of)
    ]
    known = [stretch for stretch in stretches if stretch[0] in texts]
    return known + [(copy, low, high) for key, low, high in known for copy, of in copies if of == key]
