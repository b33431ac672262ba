"""Stage 2: the same text is shown once."""

from __future__ import annotations

from collections.abc import Iterable

from ctxasm.assembly.deduplicate.relations import promote, relations_of
from ctxasm.assembly.deduplicate.resolution import by_document, resolve
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.plans import Resolution
from ctxasm.assembly.steps import Found, Unique
from ctxasm.model.events import Coincidence, Dropped, Duplicate, Event, Merged, NearMiss, Stripped
from ctxasm.model.ports import ChunkVectors
from ctxasm.model.settings import AssemblySettings


def deduplicate(found: Found, settings: AssemblySettings, vectors: ChunkVectors | None) -> Unique:
    """Find what says the same, and show it once."""
    relations = relations_of(found.candidates, settings, vectors, found.documents)
    standing, promoted = promote(found.candidates, relations)
    own = by_document(standing.values())
    resolution = resolve(own, relations)
    return Unique(found, relations, standing, promoted, own, resolution)


def overlap_events(joined: Iterable[Joined]) -> list[Event]:
    """What joining neighbours did, and the near misses it left alone."""
    events: list[Event] = []
    before = 0
    for j in joined:
        key = (j.chunk.document_id, j.chunk.chunk_index)
        if j.merged:
            events.append(Merged(*key, len(j.chunk.text)))
        elif j.start:
            events.append(Stripped(*key, j.start))
        elif j.note == "near_miss":
            events.append(NearMiss(*key, j.shared))
        elif j.note == "coincidence":
            events.append(Coincidence(*key, j.shared, before))
        before = len(j.chunk.text)
    return events


def duplicate_events(resolution: Resolution) -> list[Event]:
    """The copies that left and what they repeat; the neighbours that left with them."""
    events: list[Event] = [Duplicate(*copy, *kept, how, similarity) for copy, (kept, how, similarity) in resolution.likeness.items()]
    return events + [Dropped(*key, "parent_duplicate") for key in sorted(resolution.orphans)]
