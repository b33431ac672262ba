"""Which of the passages that a labelled query expects an answer stands on. Pure: read from the assembly and the check alone."""

from __future__ import annotations

from collections.abc import Iterator

from ctxasm.citations.checked import CheckedClaim, Share
from ctxasm.citations.checked_answer import CheckedAnswer
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import GoldChunk, Span
from ctxasm.model.results import Assembly, Key
from ctxasm.text.overlap import has_offsets


def used_passages(assembly: Assembly, checked: CheckedAnswer) -> Share:
    """A passage is used where a claim that no source contradicts stands on characters of it, or of an exact copy of its chunk.

    Expected are the spans of the query, and gold chunks that a person added beside them; all gold chunks where the spans cannot be
    judged, because chunks do not say where they stand in their document, or say what cannot be. What is lost is never used.
    """
    stretches = [stretch for low, high in _carried(checked) for stretch in _in_chunks(assembly, low, high)]
    placed = _with_copies(assembly, stretches)
    chunks = {key: candidate.chunk for key, candidate in assembly.trace.candidates.items()}
    unplaced = {key[0] for key, chunk in chunks.items() if not has_offsets(chunk)}
    spans = [span for span in assembly.query.spans if not unplaced & {place.document_id for place in span.places}]
    beside = [gold for gold in assembly.query.marked if not any(_holds(chunks.get(key), span) for span in spans for key in gold.chunks)]
    expected: tuple[Span | GoldChunk, ...] = (*spans, *beside) if spans else assembly.query.gold
    in_documents = [(key[0], (chunks[key].start or 0) + low, (chunks[key].start or 0) + high) for key, low, high in placed]
    keys = {key for key, *_ in placed}

    def is_used(passage: Span | GoldChunk) -> bool:
        if isinstance(passage, GoldChunk):
            return not keys.isdisjoint(passage.chunks)
        return any(
            name == place.document_id and low < place.end and place.start < high
            for place in passage.places
            if not place.lost
            for name, low, high in in_documents
        )

    return Share(sum(is_used(passage) for passage in expected), len(expected))


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


def _in_chunks(assembly: Assembly, low: int, high: int) -> Iterator[tuple[Key, int, int]]:
    """The chunks that hold characters `low` to `high` of the context, and which characters of each."""
    for segment in assembly.segments:
        if segment.end <= low or high <= segment.start or segment.kind != "chunk":
            continue
        if segment.document_id is not None and segment.chunk_index is not None:
            first, last = max(low, segment.start), min(high, segment.end)
            if first < last and segment.chunk_start is not None:
                shift = segment.chunk_start - segment.start
                yield (segment.document_id, segment.chunk_index), first + shift, last + shift


def _with_copies(assembly: Assembly, stretches: list[tuple[Key, int, int]]) -> list[tuple[Key, int, int]]:
    texts = {key: candidate.chunk.text for key, candidate in assembly.trace.candidates.items()}
    copies = [
        ((fate.document_id, fate.chunk_index), fate.of)
        for fate in assembly.trace.fates
        if fate.of is not None and texts.get((fate.document_id, fate.chunk_index)) == texts.get(fate.of)
    ]
    known = [stretch for stretch in stretches if stretch[0] in texts]
    return known + [(copy, low, high) for key, low, high in known for copy, of in copies if of == key]
