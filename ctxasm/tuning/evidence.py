"""What the context holds of the evidence that a labelled query needs, and at which stage the rest was lost.

Pure: everything is read from the assembly's own segments and fates, and from where the chunks of a document stand in it.
A character counts as found when it is in the context, under its own document or as the same text of a duplicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from ctxasm.assembly.passages import Joined
from ctxasm.model.amounts import counted
from ctxasm.model.events import Likeness, stage_name
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import GOLD_BY, Chunk, GoldBy, GoldChunk, Label, Query, Span
from ctxasm.model.results import Assembly, Fate, Key
from ctxasm.text.overlap import has_offsets

RETRIEVE = "retrieve"
"""The stage of evidence that neither retrieval nor expansion ever brought."""
Ranges = tuple[tuple[int, int], ...]
"""Ascending, disjoint, not empty."""
NO_STAGES: Mapping[str, int] = {}
GOLD_ORIGINS: Mapping[GoldBy, str] = {
    "hand": "marked by hand",
    "cited": "approved as cited",
    "made": "made of their chunk, whose words they share",
}
"""Where gold comes from that no data set brought, in words."""
StoredChunks = Sequence[FetchedChunk] | Sequence[Chunk]


class Holding(NamedTuple):
    """A chunk that holds some of a place, and its characters in the document (of a gold chunk: in itself)."""

    key: Key
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece of evidence stands: characters `start` to `end` of a document (None: a gold chunk, all of it).

    `needed` are those characters that any chunk holds. `unknown`: the document's chunks do not say where they stand. `beside`: a gold
    chunk that a person added to what the spans of its query say. `gone`: no chunk holds it any more, and this is its text.
    """

    document_id: str
    start: int | None
    end: int | None
    holding: tuple[Holding, ...]
    needed: Ranges
    unknown: bool = False
    beside: bool = False
    gone: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceState:
    """One piece of evidence: a span of a document, or a gold chunk, at the `place` of its alternatives that did best.

    `share` of its characters is in the context. `stage` is where what is missing was lost: the furthest stage that any of it reached, None
    when all is found. `unknown`: the chunks of the document do not say where they stand. `others` are the chunks of the alternatives.
    """

    place: Place
    state: Literal["found", "partly", "lost", "unknown"]
    share: float
    stage: str | None
    others: tuple[Key, ...] = ()

    @property
    def kind(self) -> Literal["span", "chunk"]:
        """What it is."""
        return "chunk" if self.place.start is None else "span"

    @property
    def document_id(self) -> str:
        """Its document."""
        return self.place.document_id

    @property
    def chunk_indexes(self) -> tuple[int, ...]:
        """The chunks of its document that hold it."""
        return tuple(held.key[1] for held in self.place.holding)

    def where_lost(self) -> str:
        """Where what is missing was lost, in words: "at Budget", "never retrieved"; empty where nothing is missing."""
        if self.place.gone is not None:
            return "no longer in the dataset"
        if self.stage is None:
            return ""
        return "never retrieved" if self.stage == RETRIEVE else f"at {stage_name(self.stage)}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a labelled query needs: each span and each gold chunk as its place and the others that are enough."""

    spans: tuple[tuple[Place, ...], ...]
    gold: tuple[tuple[Place, ...], ...]

    def keys(self) -> frozenset[Key]:
        """The chunks that hold any of it."""
        return frozenset(held.key for places in (*self.spans, *self.gold) for place in places for held in place.holding)

    def pieces(self) -> tuple[tuple[Place, ...], ...]:
        """What counts, each as the places that say it: the spans, and the gold chunks where spans cannot be judged or a person added
        them. `judged` has the state of each, in this order."""
        unjudged = {places[0].document_id for places in self.spans if _is_unknown(places)}
        gold = [places for places in self.gold if not self.spans or places[0].beside or places[0].document_id in unjudged]
        covered = {places[0].document_id for places in gold}
        spans = (places for places in self.spans if not (_is_unknown(places) and places[0].document_id in covered))
        return (*spans, *gold)


def _is_unknown(places: Sequence[Place]) -> bool:
    return all(place.unknown for place in places)


def evidence_documents(query: Query) -> tuple[str, ...]:
    """The documents whose stored chunks `evidence_of` needs."""
    return tuple(dict.fromkeys(place.document_id for label in query.labels for place in label.places))


def evidence_of(query: Query, stored: Mapping[str, StoredChunks]) -> Evidence:
    """The evidence of a query. `stored` holds all chunks of the documents that it names (one that is not stored may be absent)."""
    spans = tuple(tuple(_place_of(place, stored) for place in span.places) for span in query.spans)
    held = {holding.key for span in spans for place in span for holding in place.holding}
    marked = {gold for gold in query.marked if held.isdisjoint(gold.chunks)} if spans else set[GoldChunk]()
    return Evidence(spans, tuple(tuple(_gold_of(place, stored, gold in marked) for place in gold.places) for gold in query.gold))


def _place_of(span: Span, stored: Mapping[str, StoredChunks]) -> Place:
    if span.lost:
        return Place(span.document_id, span.start, span.end, (), (), gone=span.text or "")
    chunks = stored.get(span.document_id, ())
    if chunks and not all(has_offsets(chunk) for chunk in chunks):
        return Place(span.document_id, span.start, span.end, (), (), True)
    holding = [c for c in chunks if (c.start or 0) < span.end and span.start < (c.end or 0)]
    needed = joined(clipped(((c.start or 0, c.end or 0) for c in holding), span.start, span.end))
    held = tuple(Holding((c.document_id, c.chunk_index), c.start or 0, c.end or 0) for c in holding)
    return Place(span.document_id, span.start, span.end, held, needed)


def _gold_of(gold: GoldChunk, stored: Mapping[str, StoredChunks], beside: bool) -> Place:
    if gold.lost:
        return Place(gold.document_id, None, None, (), (), beside=beside, gone=gold.text or "")
    text = next((c.text for c in stored.get(gold.document_id, ()) if c.chunk_index == gold.chunk_index), "")
    low = text.find(gold.text) if gold.text else -1
    low, high = (low, low + len(gold.text)) if gold.text and low >= 0 else (0, len(text))
    return Place(gold.document_id, None, None, (Holding(gold.key, low, high),), ((low, high),) if text else (), beside=beside)


def labels_of(queries: Sequence[Query]) -> str:
    """What the questions are labelled with, who said so, and how that was pooled."""
    spans = sum(bool(query.spans) for query in queries)
    gold = [query for query in queries if query.counted_gold]
    named = [f"{counted(spans, 'question')} by spans"] if spans else []
    if gold:
        kinds = Counter(
            kind for query in gold for kind in {(label.by, label.votes) for label in query.counted_gold if label.by is not None}
        )
        known = sorted(kinds, key=lambda kind: (GOLD_BY.index(kind[0]), kind[1] or (0, 0)))
        said = ", ".join(f"{kinds[kind]} {_who_said(*kind)}" for kind in known)
        named.append(f"{counted(len(gold), 'question')} by gold chunks{f' ({said})' if said else ''}{_pooled(gold)}")
    if choices := sum(any(label.also for label in query.counted_gold) for query in queries):
        named.append(f"{counted(choices, 'question')} with passages of which any one is enough")
    if lost := sum(any(all(place.lost for place in label.places) for label in _counted(query)) for query in queries):
        named.append(f"{counted(lost, 'question')} with a label whose text is lost, which counts as not found")
    return ", ".join(named) or "no labels"


def _who_said(by: GoldBy, votes: tuple[int, int] | None) -> str:
    if votes is None:
        return GOLD_ORIGINS[by]
    return f"{'cited and approved' if by == 'cited' else 'named'} by {votes[0]} of {counted(votes[1], 'reviewer')}"


def _counted(query: Query) -> tuple[Label, ...]:
    return (*query.spans, *query.counted_gold)


def _pooled(queries: Sequence[Query]) -> str:
    """Whether the gold was only looked for among what was retrieved. That of a question which was made of its chunk was not."""
    looked = [query for query in queries if not all(gold.by == "made" for gold in query.counted_gold)]
    retrieved = [(query, {(hit.document_id, hit.chunk_index) for hit in query.retrieved}) for query in looked]
    inside = sum(all(not keys.isdisjoint(gold.chunks) for gold in query.counted_gold) for query, keys in retrieved)
    return f", {inside} only among what was retrieved, which favours what retrieved it" if inside else ""


def evidence_states(assembly: Assembly, stored: Mapping[str, StoredChunks]) -> tuple[EvidenceState, ...]:
    """The state of all evidence of the assembly's query: its spans, and its gold chunks where spans cannot be judged or a person added
    them.

    `stored` holds all chunks of the documents that the evidence names (a document that is not stored may be absent).
    """
    return states_in(assembly, evidence_of(assembly.query, stored))


def evidence_text(state: EvidenceState, stored: StoredChunks) -> str:
    """The text of a piece of evidence. `stored` are the chunks of its document; what none holds any more is as it was."""
    if state.place.gone is not None:
        return state.place.gone
    if state.kind == "chunk":
        return "".join(chunk.text for chunk in stored if chunk.chunk_index in state.chunk_indexes)
    return place_text(state.place, stored)


def place_text(place: Place, stored: StoredChunks) -> str:
    """The text of a place, from the chunks that hold it, what neighbours share once. `stored` are the chunks of its document."""
    texts = {chunk.chunk_index: chunk.text for chunk in stored}
    if place.start is None or place.end is None:
        return "\n".join(texts.get(held.key[1], "")[held.start : held.end] for held in place.holding)
    text, at = "", place.start
    for held in sorted(place.holding, key=lambda held: (held.start, held.end)):
        text += texts.get(held.key[1], "")[max(0, at - held.start) : max(0, place.end - held.start)] if held.end > at else ""
        at = max(at, held.end)
    return text


def states_in(assembly: Assembly, evidence: Evidence) -> tuple[EvidenceState, ...]:
    """The state of evidence that was looked up before."""
    fates = {(fate.document_id, fate.chunk_index): fate for fate in assembly.trace.fates}
    texts = {key: candidate.chunk.text for key, candidate in assembly.trace.candidates.items()}
    progress = {record.stage: place for place, record in enumerate(assembly.trace.stages, 1)}
    copies = {key: (fate.of, fate.likeness) for key, fate in fates.items() if fate.fate == "duplicate_of" and fate.of is not None}
    held = ShownChunks(_shown_of_chunks(assembly), texts, copies)
    return judge_evidence(evidence, held, lambda key: _stage_of(fates.get(key)), progress)


Copies = Mapping[Key, tuple[Key, Likeness | None]]
"""What is not shown because another chunk says the same: that one, and how."""


class ShownChunks:
    """Which characters of which chunk a context holds: `shown` as they stand, the rest by copies. `texts` are those of all candidates."""

    def __init__(self, shown: Mapping[Key, Ranges], texts: Mapping[Key, str], copies: Copies) -> None:
        self.shown, self.texts, self.copies = shown, texts, copies

    def of(self, key: Key) -> Ranges:
        """The characters of a chunk that are in the context, by itself, a neighbour that shares them, or its copy.

        A copy that is only nearly the same, or the same in meaning, is no evidence that the very characters are there.
        """
        shown = self.shown.get(key, ())
        if key not in self.copies:
            return shown
        other, likeness = self.copies[key]
        text, copy = self.texts.get(key, ""), self.texts.get(other, "")
        of_copy = self.shown.get(other, ())
        if text == copy:
            return joined((*shown, *of_copy))
        if likeness in ("near", "semantic"):
            # What says nearly the same may lack the very words; only what literally stands in the other is found there.
            at = copy.find(text) if text else -1
            there = clipped(of_copy, at, at + len(text)) if at >= 0 else ()
            return joined((*shown, *((low - at, high - at) for low, high in there)))
        return ((0, len(text)),) if text and size(of_copy) == len(copy) else shown


def _lost_somewhere(key: Key) -> str:
    return RETRIEVE


def judge_evidence(
    evidence: Evidence, held: ShownChunks, stage_of: Callable[[Key], str] = _lost_somewhere, progress: Mapping[str, int] = NO_STAGES
) -> tuple[EvidenceState, ...]:
    """The state of all evidence in what a context holds. `stage_of` says where a chunk was lost, `progress` the place of each stage."""
    judge = _Judge(held, stage_of, progress)
    return tuple(judge.best(places) for places in evidence.pieces())


class _Judge:
    """What a context holds of one place after the other."""

    def __init__(self, held: ShownChunks, stage_of: Callable[[Key], str], progress: Mapping[str, int]) -> None:
        self._held, self._stage_of, self._progress = held, stage_of, progress

    def best(self, places: Sequence[Place]) -> EvidenceState:
        """The place of a piece, itself or an alternative, that is best covered; the first of equals."""
        states = [self._state(place) for place in places]
        best = max(states, key=lambda each: (each.state != "unknown", each.share, each.place.gone is None, self._rank(each.stage)))
        others = (held.key for state in states if state is not best for held in state.place.holding)
        return replace(best, others=tuple(others)) if len(places) > 1 else best

    def _state(self, place: Place) -> EvidenceState:
        """A place is found when all of its needed characters are shown, by the chunks that hold it, their neighbours or copies."""
        if place.unknown:
            return EvidenceState(place, "unknown", 0.0, None)
        if place.gone is not None:
            return EvidenceState(place, "lost", 0.0, RETRIEVE)
        needed, keys, is_gold = place.needed, {held.key for held in place.holding}, place.start is None
        if is_gold and not needed:
            needed = tuple((0, len(self._held.texts.get(key, ""))) for key in keys)
        offsets = ((held.key, 0 if is_gold else held.start) for held in place.holding)
        ranges = joined((at + low, at + high) for key, at in offsets for low, high in self._held.of(key))
        total, found = size(needed), sum(size(clipped(ranges, low, high)) for low, high in needed)
        if found >= total > 0:
            return EvidenceState(place, "found", 1.0, None)
        missing = keys if is_gold else {held.key for held in place.holding if self._lacks(held, needed, ranges)}
        stage = max(map(self._stage_of, missing), key=lambda stage: (self._rank(stage), stage), default=RETRIEVE)
        return EvidenceState(place, "partly" if found else "lost", found / total if total else 0.0, stage)

    def _lacks(self, held: Holding, needed: Ranges, ranges: Ranges) -> bool:
        return any(size(clipped(ranges, low, high)) < high - low for low, high in clipped(needed, held.start, held.end))

    def _rank(self, stage: str | None) -> int:
        return len(self._progress) + 1 if stage is None else self._progress.get(stage, 0)


def _stage_of(fate: Fate | None) -> str:
    if fate is None:
        return RETRIEVE
    # A shortened chunk is sent: what it lacks went when it was shortened (where it was cut as well, that came later).
    return "compress" if fate.compressed is not None and fate.fate == "kept" else fate.stage


def shown_of_blocks(groups: Iterable[Sequence[Joined]], chunks: Mapping[Key, FetchedChunk]) -> dict[Key, Ranges]:
    """What `_shown_of_chunks` says, of blocks that are not written: `groups` are what each shows of verbatim chunks."""
    shown: dict[Key, list[tuple[int, int]]] = {}
    for j in (j for group in groups for j in group if j.start < j.end):
        key = (j.chunk.document_id, j.chunk.chunk_index)
        edges = {j.start, j.end, *(edge for share in j.shares for edge in (share.low, share.high) if j.start < edge < j.end)}
        for low, high in pairwise(sorted(edges)):
            _add(shown, key, low, high, [share.key for share in j.shares if share.low <= low and high <= share.high], chunks)
    return {key: joined(ranges) for key, ranges in shown.items()}


def _shown_of_chunks(assembly: Assembly) -> dict[Key, Ranges]:
    """Per chunk the characters of its text that the context shows, text shared with a neighbour included."""
    chunks = {key: candidate.chunk for key, candidate in assembly.trace.candidates.items()}
    shown: dict[Key, list[tuple[int, int]]] = {}
    for segment in assembly.segments:
        if segment.kind != "chunk" or segment.document_id is None or segment.chunk_index is None:
            continue
        key, low, high = (segment.document_id, segment.chunk_index), segment.chunk_start or 0, segment.chunk_end or 0
        _add(shown, key, low, high, segment.shared_with, chunks)
    return {key: joined(ranges) for key, ranges in shown.items()}


def _add(
    shown: dict[Key, list[tuple[int, int]]], key: Key, low: int, high: int, others: Iterable[Key], chunks: Mapping[Key, FetchedChunk]
) -> None:
    """Note characters of a chunk that are shown, and where they stand in the `others` that share them."""
    shown.setdefault(key, []).append((low, high))
    for other in others:
        if key in chunks and other in chunks:
            there = shown.setdefault(other, [])
            there += _in_other(chunks[key], low, high, chunks[other], there[-1][1] if there else 0)


def _in_other(chunk: FetchedChunk, low: int, high: int, other: FetchedChunk, after: int) -> list[tuple[int, int]]:
    """Where characters `low` to `high` of `chunk` stand in `other`, which shares them: by offsets, else by the text itself."""
    text = chunk.text[low:high]
    at = low + (chunk.start or 0) - (other.start or 0) if has_offsets(chunk) and has_offsets(other) else after
    if at < 0 or other.text[at : at + len(text)] != text:
        at = other.text.find(text)
    return [(at, at + len(text))] if at >= 0 else []


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges that overlap or touch as one, the empty ones left out."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        elif low < high:
            found.append((low, high))
    return tuple(found)


def clipped(ranges: Iterable[tuple[int, int]], low: int, high: int) -> Ranges:
    """The parts of ranges between two places."""
    return tuple((max(low, start), min(high, end)) for start, end in ranges if start < high and low < end)


def size(ranges: Iterable[tuple[int, int]]) -> int:
    """How many characters ranges hold."""
    return sum(high - low for low, high in ranges)
