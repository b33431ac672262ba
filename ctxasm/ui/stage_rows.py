"""Rows of the stage pictures: chunk map, overlap pairs, slope, citation shift, prefixes, latency. Pure; all from the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxasm.model.events import Absent, Coincidence, Merged, NearMiss, Placed, Prefixed, Stripped
from ctxasm.model.results import Assembly, Key
from ctxasm.ui.words import title_of

PUBLISHED_MS = {"expand": 40.0, "deduplicate": 5.0, "group": 2.0, "budget": 15.0}
"""Latency that the five-stage pipeline publishes for its own stages, in milliseconds."""


def document_order(assembly: Assembly) -> tuple[str, ...]:
    """Documents in the order of the group stage; those without a place follow in order of appearance."""
    record = assembly.trace.stage("group")
    placed = sorted((e.position, e.document_id) for e in record.events if isinstance(e, Placed)) if record else []
    order = dict.fromkeys(document_id for _, document_id in placed)
    order.update(dict.fromkeys(fate.document_id for fate in assembly.trace.fates))
    return tuple(order)


class MapPoint(NamedTuple):
    """A candidate on the chunk map. `row` is the place of its document, 0 = top."""

    document_id: str
    title: str
    row: int
    chunk_index: int
    retrieved: bool
    score: float
    rank: int
    parents: tuple[int, ...]
    fate: str


class Edge(NamedTuple):
    """A known edge of a document (`first`, `last`) or a missing index in it (`gap`)."""

    row: int
    chunk_index: int
    kind: Literal["first", "last", "gap"]


@dataclass(frozen=True, slots=True)
class ChunkMap:
    """Points and edges of the chunk map; `titles` by row."""

    points: tuple[MapPoint, ...]
    edges: tuple[Edge, ...]
    titles: tuple[str, ...]


def chunk_map(assembly: Assembly) -> ChunkMap:
    """x = chunk_index, y = document in group order; every candidate, and the document edges that expansion met."""
    order = {document_id: row for row, document_id in enumerate(document_order(assembly))}
    titles = tuple(title_of(assembly.trace.documents, document_id, 48) for document_id in order)
    points = tuple(
        MapPoint(
            f.document_id,
            titles[order[f.document_id]],
            order[f.document_id],
            f.chunk_index,
            f.retrieved,
            f.score,
            f.rank,
            f.parents,
            f.fate,
        )
        for f in assembly.trace.fates
    )
    return ChunkMap(points, tuple(_edges(assembly, order)), titles)


def _edges(assembly: Assembly, order: dict[str, int]) -> list[Edge]:
    record = assembly.trace.stage("expand")
    if record is None:
        return []
    gaps = {(e.document_id, e.chunk_index) for e in record.events if isinstance(e, Absent)}
    keys = {(f.document_id, f.chunk_index) for f in assembly.trace.fates}
    edges = [Edge(order[document_id], index, "gap") for document_id, index in sorted(gaps) if document_id in order]
    for document_id, index in sorted(keys):
        if index == 0:
            edges.append(Edge(order[document_id], 0, "first"))
        after = (document_id, index + 1)
        hit = next(f for f in assembly.trace.fates if (f.document_id, f.chunk_index) == (document_id, index))
        if assembly.settings.expand_window and hit.retrieved and hit.reason != "missing" and after not in keys | gaps:
            edges.append(Edge(order[document_id], index, "last"))
    return edges


class OverlapPair(NamedTuple):
    """Two neighbouring chunks and what they share. `first_end` characters of the first and `chars` of the second meet."""

    document_id: str
    title: str
    first: int
    second: int
    chars: int
    verdict: Literal["stripped", "merged", "below", "coincidence", "none"]
    tail: str
    head: str
    rest: str


_VERDICTS: dict[type, Literal["stripped", "merged", "below", "coincidence"]] = {
    Stripped: "stripped",
    Merged: "merged",
    NearMiss: "below",
    Coincidence: "coincidence",
}
CONTEXT_CHARS = 160
"""How much text around a seam the overlap view shows, in characters."""


def overlap_pairs(assembly: Assembly) -> tuple[OverlapPair, ...]:
    """Every pair of neighbours among the candidates, in document order, with the characters they share."""
    record = assembly.trace.stage("deduplicate")
    found: dict[Key, tuple[int, Literal["stripped", "merged", "below", "coincidence"]]] = {}
    for event in record.events if record else ():
        if isinstance(event, (Stripped, Merged, NearMiss, Coincidence)):
            found[event.document_id, event.chunk_index] = (event.chars, _VERDICTS[type(event)])
    keys = sorted((key for key in assembly.trace.candidates), key=lambda key: key)
    order = {document_id: row for row, document_id in enumerate(document_order(assembly))}
    pairs = [
        _pair(assembly, key, *found.get(key, (0, "none")))
        for key in sorted(keys, key=lambda key: (order.get(key[0], len(order)), key[1]))
        if (key[0], key[1] - 1) in assembly.trace.candidates
    ]
    return tuple(pairs)


def _pair(assembly: Assembly, key: Key, chars: int, verdict: Literal["stripped", "merged", "below", "coincidence", "none"]) -> OverlapPair:
    document_id, index = key
    first = assembly.trace.candidates[document_id, index - 1].chunk.text
    second = assembly.trace.candidates[key].chunk.text
    return OverlapPair(
        document_id,
        title_of(assembly.trace.documents, document_id, 40),
        index - 1,
        index,
        chars,
        verdict,
        first[max(0, len(first) - chars - CONTEXT_CHARS) : len(first) - chars] if chars else first[-CONTEXT_CHARS:],
        second[:chars],
        second[chars : chars + CONTEXT_CHARS],
    )


class PrefixRow(NamedTuple):
    """A page summary in the context and the tokens it costs."""

    document_id: str
    title: str
    summary: str
    tokens: int


def prefixes(assembly: Assembly) -> tuple[PrefixRow, ...]:
    """The page summaries that were written, in context order."""
    documents = assembly.trace.documents
    written = [event for stage in assembly.trace.stages for event in stage.events if isinstance(event, Prefixed)]
    return tuple(
        PrefixRow(e.document_id, title_of(documents, e.document_id), documents[e.document_id].summary or "", e.tokens)
        for e in written
        if e.document_id in documents
    )


class Latency(NamedTuple):
    """A stage's measured time beside the published one (None where none is published), in milliseconds."""

    stage: str
    elapsed_ms: float
    published_ms: float | None
    chunks_in: int
    chunks_out: int
    tokens_in: int
    tokens_out: int


def latencies(assembly: Assembly) -> tuple[Latency, ...]:
    """Every stage that ran, in order."""
    return tuple(
        Latency(s.stage, s.elapsed_ms, PUBLISHED_MS.get(s.stage), len(s.before), len(s.after), s.tokens_in, s.tokens_out)
        for s in assembly.trace.stages
    )
