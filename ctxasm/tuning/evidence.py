"""What the context holds of the evidence that a labelled query needs, and at which stage the rest was lost.

Pure: everything is read from the assembly's own segments and fates, and from where the chunks of a document stand in it.
A character counts as found when it is in the context, under its own document or as the same text of a duplicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Chunk, GoldChunk, Span
from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.text.chunk_facts import has_offsets

RETRIEVE = "retrieve"
"""The stage of evidence that neither retrieval nor expansion ever brought."""
Ranges = tuple[tuple[int, int], ...]
"""Ascending, disjoint, not empty."""
StoredChunks = Sequence[FetchedChunk] | Sequence[Chunk]


@dataclass(frozen=True, slots=True)
class EvidenceState:
    """One piece of evidence: a span of a document, or a gold chunk (`start` and `end` are None).

    `share` of its characters is in the context. `stage` is where what is missing was lost: the furthest stage that any
    of it reached, None when all is found. `chunk_indexes` hold it (of `document_id`, which for a span with alternatives
    is the place that did best). `unknown`: the document's chunks do not say where they stand.
    """

    kind: Literal["span", "chunk"]
    document_id: str
    start: int | None
    end: int | None
    chunk_indexes: tuple[int, ...]
    state: Literal["found", "partly", "lost", "unknown"]
    share: float
    stage: str | None


def evidence_states(assembly: Assembly, stored: Mapping[str, StoredChunks]) -> tuple[EvidenceState, ...]:
    """The state of all evidence of the assembly's query: its spans, and its gold chunks where spans cannot be judged.

    `stored` holds all chunks of the documents that the evidence names (a document that is not stored may be absent).
    """
    view = _View(assembly, stored)
    spans = tuple(view.span(span) for span in assembly.query.spans)
    unjudged = {state.document_id for state in spans if state.state == "unknown"}
    gold = [gold for gold in assembly.query.gold if not spans or gold.document_id in unjudged]
    covered = {chunk.document_id for chunk in gold}
    return (*(s for s in spans if s.document_id not in unjudged & covered), *(view.gold(chunk) for chunk in gold))


def evidence_documents(assembly: Assembly) -> tuple[str, ...]:
    """The documents whose stored chunks `evidence_states` needs."""
    spans = (place.document_id for span in assembly.query.spans for place in (span, *span.also))
    return tuple(dict.fromkeys((*spans, *(gold.document_id for gold in assembly.query.gold))))


class _View:
    """An assembly seen from its documents: which characters of which chunk are shown, and what became of each chunk."""

    def __init__(self, assembly: Assembly, stored: Mapping[str, StoredChunks]) -> None:
        self._stored = stored
        self._fates = {(fate.document_id, fate.chunk_index): fate for fate in assembly.trace.fates}
        self._texts = {key: candidate.chunk.text for key, candidate in assembly.trace.candidates.items()}
        self._progress = {record.stage: place for place, record in enumerate(assembly.trace.stages, 1)}
        self._shown = _shown_of_chunks(assembly)

    def span(self, span: Span) -> EvidenceState:
        """The place of `span`, itself or an alternative, that is best covered; the first of equals."""
        states = [self._place(place) for place in (span, *span.also)]
        return max(states, key=lambda state: (state.state != "unknown", state.share, self._rank(state.stage)))

    def _place(self, place: Span) -> EvidenceState:
        chunks = self._stored.get(place.document_id, ())
        if chunks and not all(has_offsets(chunk) for chunk in chunks):
            return EvidenceState("span", place.document_id, place.start, place.end, (), "unknown", 0.0, None)
        holding = [c for c in chunks if (c.start or 0) < place.end and place.start < (c.end or 0)]
        needed = _joined(_clipped(((c.start or 0, c.end or 0) for c in holding), place.start, place.end))
        found, missing = self._found(holding, needed)
        return self._state("span", place.document_id, (place.start, place.end), holding, found, missing, _size(needed))

    def gold(self, gold: GoldChunk) -> EvidenceState:
        """A gold chunk is found when every character of it is shown, by itself or by a neighbour or a copy."""
        chunks = [c for c in self._stored.get(gold.document_id, ()) if c.chunk_index == gold.chunk_index]
        total = len(chunks[0].text) if chunks else len(self._texts.get((gold.document_id, gold.chunk_index), ""))
        shown = self._of_chunk((gold.document_id, gold.chunk_index))
        found, missing = _size(shown), set() if _size(shown) == total > 0 else {(gold.document_id, gold.chunk_index)}
        held = (gold.chunk_index,)
        return self._state("chunk", gold.document_id, None, held, found, missing, total)

    def _found(self, holding: Sequence[FetchedChunk | Chunk], needed: Ranges) -> tuple[int, set[Key]]:
        """Characters of `needed` that are shown, and the chunks that hold what is not."""
        shown: list[tuple[int, int]] = []
        for chunk in holding:
            start = chunk.start or 0
            shown += [(start + low, start + high) for low, high in self._of_chunk((chunk.document_id, chunk.chunk_index))]
        ranges = _joined(shown)
        found = sum(_size(_clipped(ranges, low, high)) for low, high in needed)
        missing = {
            (c.document_id, c.chunk_index)
            for c in holding
            for low, high in _clipped(needed, c.start or 0, c.end or 0)
            if _size(_clipped(ranges, low, high)) < high - low
        }
        return found, missing

    def _of_chunk(self, key: Key) -> Ranges:
        """The characters of a chunk that are in the context, by itself, a neighbour that shares them, or its copy.

        A copy that is only nearly the same, or the same in meaning, is no evidence that the very characters are there.
        """
        shown = self._shown.get(key, ())
        fate = self._fates.get(key)
        if fate is None or fate.fate != "duplicate_of" or fate.of is None:
            return shown
        text, copy = self._texts.get(key, ""), self._texts.get(fate.of, "")
        of_copy = self._shown.get(fate.of, ())
        if text == copy:
            return _joined((*shown, *of_copy))
        if fate.likeness in ("near", "semantic"):
            # What says nearly the same may lack the very words; only what literally stands in the other is found there.
            at = copy.find(text) if text else -1
            there = _clipped(of_copy, at, at + len(text)) if at >= 0 else ()
            return _joined((*shown, *((low - at, high - at) for low, high in there)))
        return ((0, len(text)),) if text and _size(of_copy) == len(copy) else shown

    def _state(
        self,
        kind: Literal["span", "chunk"],
        document_id: str,
        place: tuple[int, int] | None,
        holding: Sequence[FetchedChunk | Chunk] | tuple[int, ...],
        found: int,
        missing: set[Key],
        needed: int,
    ) -> EvidenceState:
        start, end = place or (None, None)
        indexes = tuple(held if isinstance(held, int) else held.chunk_index for held in holding)
        if needed and found >= needed:
            return EvidenceState(kind, document_id, start, end, indexes, "found", 1.0, None)
        share = found / needed if needed else 0.0
        stages = (self._stage_of(self._fates.get(key)) for key in missing)
        stage = max(stages, key=lambda stage: (self._rank(stage), stage), default=RETRIEVE)
        return EvidenceState(kind, document_id, start, end, indexes, "partly" if found else "lost", share, stage)

    def _stage_of(self, fate: Fate | None) -> str:
        if fate is None:
            return RETRIEVE
        # A shortened chunk is sent: what it lacks went when it was shortened (where it was cut as well, that came later).
        return "compress" if fate.compressed is not None and fate.fate == "kept" else fate.stage

    def _rank(self, stage: str | None) -> int:
        return len(self._progress) + 1 if stage is None else self._progress.get(stage, 0)


def _shown_of_chunks(assembly: Assembly) -> dict[Key, Ranges]:
    """Per chunk the characters of its text that the context shows, text shared with a neighbour included."""
    chunks = {key: candidate.chunk for key, candidate in assembly.trace.candidates.items()}
    shown: dict[Key, list[tuple[int, int]]] = {}
    for segment in assembly.segments:
        if segment.kind != "chunk" or segment.document_id is None or segment.chunk_index is None:
            continue
        key, low, high = (segment.document_id, segment.chunk_index), segment.chunk_start or 0, segment.chunk_end or 0
        shown.setdefault(key, []).append((low, high))
        for other in segment.shared_with:
            if key in chunks and other in chunks:
                there = shown.setdefault(other, [])
                there += _in_other(chunks[key], low, high, chunks[other], there[-1][1] if there else 0)
    return {key: _joined(ranges) for key, ranges in shown.items()}


def _in_other(chunk: FetchedChunk, low: int, high: int, other: FetchedChunk, after: int) -> list[tuple[int, int]]:
    """Where characters `low` to `high` of `chunk` stand in `other`, which shares them: by offsets, else by the text itself."""
    text = chunk.text[low:high]
    at = low + (chunk.start or 0) - (other.start or 0) if has_offsets(chunk) and has_offsets(other) else after
    if at < 0 or other.text[at : at + len(text)] != text:
        at = other.text.find(text)
    return [(at, at + len(text))] if at >= 0 else []


def _joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        elif low < high:
            joined.append((low, high))
    return tuple(joined)


def _clipped(ranges: Iterable[tuple[int, int]], low: int, high: int) -> Ranges:
    return tuple((max(low, start), min(high, end)) for start, end in ranges if start < high and low < end)


def _size(ranges: Iterable[tuple[int, int]]) -> int:
    return sum(high - low for low, high in ranges)
