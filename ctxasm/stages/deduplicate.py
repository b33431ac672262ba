"""Stage 2: the same text is shown once.

Exact duplicates are resolved in reading order: take the document with the highest remaining score, keep its chunks,
remove their copies elsewhere, go on with the next. The kept copy thus stands in an earlier document than every removed
one, so that cutting documents from the tail never loses text that only a removed copy held.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from ctxasm.model.events import Coincidence, Dropped, Duplicate, Event, Merged, NearMiss, Stripped
from ctxasm.model.passages import Joined
from ctxasm.model.plans import NO_RELATIONS, Related, Relations, Resolution
from ctxasm.model.results import Candidate, Key
from ctxasm.model.visible import duplicate_key

Documents = Mapping[str, Mapping[int, Candidate]]
"""Candidates by document and index."""


def by_document(candidates: Iterable[Candidate]) -> dict[str, dict[int, Candidate]]:
    """Candidates by document, ascending by index inside."""
    documents: dict[str, dict[int, Candidate]] = {}
    for candidate in candidates:
        documents.setdefault(candidate.chunk.document_id, {})[candidate.chunk.chunk_index] = candidate
    return {document_id: dict(sorted(own.items())) for document_id, own in documents.items()}


def resolve(documents: Documents, relations: Relations) -> Resolution:
    """The order of the documents and what each shows once copies are gone.

    `relations` may speak of more candidates than `documents` holds (it is worked out once, this runs on many subsets).
    """
    if not relations.copies:
        return _without_copies(documents)
    copies = relations.copies
    state = {document_id: dict(own) for document_id, own in documents.items()}
    likeness: dict[Key, Related] = {}
    orphans: set[Key] = set()
    order: list[str] = []
    scores: dict[str, float] = {}
    heap = [(_standing(own), document_id) for document_id, own in state.items()]
    heapq.heapify(heap)
    taken: set[str] = set()
    while heap:
        standing, document_id = heapq.heappop(heap)
        if document_id in taken or standing != _standing(state[document_id]):
            continue
        taken.add(document_id)
        order.append(document_id)
        scores[document_id] = -standing[0]
        own = _without_own_copies(state[document_id], copies, likeness)
        state[document_id] = own
        for changed in _remove_elsewhere(own, state, taken, copies, likeness, orphans):
            heapq.heappush(heap, (_standing(state[changed]), changed))
    shown = {document_id: tuple(state[document_id]) for document_id in order}
    duplicates = {copy: related.key for copy, related in likeness.items()}
    return Resolution(tuple(order), shown, duplicates, frozenset(orphans), scores, likeness)


def _standing(own: Mapping[int, Candidate]) -> tuple[float, int]:
    """What documents are ordered by: best score first, then best rank; one without chunks comes last."""
    if not own:
        return (float("inf"), 0)
    return (-max(c.score for c in own.values()), min(c.rank for c in own.values()))


def _without_copies(documents: Documents) -> Resolution:
    standings = {document_id: _standing(own) for document_id, own in documents.items()}
    order = tuple(sorted(documents, key=lambda document_id: (*standings[document_id], document_id)))
    shown = {document_id: tuple(documents[document_id]) for document_id in order}
    return Resolution(order, shown, {}, frozenset(), {document_id: -standings[document_id][0] for document_id in order}, {})


def exact_relations(documents: Documents) -> Relations:
    """Every chunk whose normalised text another candidate has too, with the whole group it belongs to (itself included)."""
    groups: dict[bytes, list[Key]] = {}
    seen: dict[bytes, Key] = {}
    for document_id, own in documents.items():
        for index, candidate in own.items():
            chunk = candidate.chunk
            text = chunk.duplicate_key or duplicate_key(chunk.text)
            if text in seen:
                groups.setdefault(text, [seen[text]]).append((document_id, index))
            else:
                seen[text] = (document_id, index)
    if not groups:
        return NO_RELATIONS
    copies: dict[Key, tuple[Related, ...]] = {}
    for keys in groups.values():
        copies |= dict.fromkeys(keys, tuple([Related(key, "exact", 1.0) for key in keys]))
    return Relations(copies, {})


def _without_own_copies(
    own: dict[int, Candidate], copies: Mapping[Key, tuple[Related, ...]], likeness: dict[Key, Related]
) -> dict[int, Candidate]:
    """A document's own repeats: the better-scored copy stays, of equals the lower index."""
    kept = dict(own)
    for candidate in sorted(own.values(), key=lambda c: (-c.score, c.chunk.chunk_index)):
        index = candidate.chunk.chunk_index
        if index not in kept:
            continue
        for other in copies.get(candidate.key, ()):
            if other.key[0] == candidate.key[0] and other.key[1] != index and other.key[1] in kept:
                del kept[other.key[1]]
                likeness[other.key] = Related(candidate.key, other.likeness, other.similarity)
    return kept


def _remove_elsewhere(
    own: Mapping[int, Candidate],
    state: dict[str, dict[int, Candidate]],
    taken: set[str],
    copies: Mapping[Key, tuple[Related, ...]],
    likeness: dict[Key, Related],
    orphans: set[Key],
) -> list[str]:
    """Remove the copies of kept chunks from documents still to come, with neighbours that only they brought."""
    changed: dict[str, set[int]] = {}
    for candidate in own.values():
        for other in copies.get(candidate.key, ()):
            document_id, index = other.key
            if document_id in state and document_id not in taken and index in state[document_id]:
                del state[document_id][index]
                likeness[other.key] = Related(candidate.key, other.likeness, other.similarity)
                changed.setdefault(document_id, set()).add(index)
    for document_id in changed:
        there = state[document_id]
        for index, candidate in list(there.items()):
            if not candidate.retrieved and all((document_id, parent) in likeness for parent in candidate.parents):
                del there[index]
                orphans.add((document_id, index))
    return list(changed)


def overlap_events(joined: Iterable[Joined]) -> list[Event]:
    """What joining neighbours did, and the near misses it left alone."""
    events: list[Event] = []
    for j in joined:
        key = (j.chunk.document_id, j.chunk.chunk_index)
        if j.merged:
            events.append(Merged(*key, len(j.chunk.text)))
        elif j.start:
            events.append(Stripped(*key, j.start))
        elif j.note == "near_miss":
            events.append(NearMiss(*key, j.shared))
        elif j.note == "coincidence":
            events.append(Coincidence(*key, j.shared))
    return events


def duplicate_events(resolution: Resolution) -> list[Event]:
    """The copies that left and what they repeat; the neighbours that left with them."""
    events: list[Event] = [Duplicate(*copy, *kept, how, similarity) for copy, (kept, how, similarity) in resolution.likeness.items()]
    return events + [Dropped(*key, "parent_duplicate") for key in sorted(resolution.orphans)]
