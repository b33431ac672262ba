"""The ledger: one fate for every candidate, and what compression, budget and order changed, as events.

Everything here is read off the chosen set. A copy is only a duplicate of a chunk that is itself in the context; where the
chunk it repeated left, the copy left for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxasm.model.events import Compressed, Dropped, Duplicate, Event, Failed, Placed, Returned, Stripped, Truncated, Unstripped
from ctxasm.model.passages import Joined
from ctxasm.model.plans import Block, Related, Resolution
from ctxasm.model.results import Candidate, Fate, FateKind, Key, Shown


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was chosen: `final` in reading order, `shown` as it stands in the text (in another order neighbours may part).

    `likeness` says what each copy repeats; `reasons` and `missing` speak for chunks that are shown nowhere. `lost` are
    chunks that never became candidates, with the reason; `compressed` counts what compression left of a chunk.
    """

    candidates: Mapping[Key, Candidate]
    lost: Mapping[Key, str]
    final: Sequence[Joined]
    shown: Sequence[Joined]
    blocks: Sequence[Block]
    likeness: Mapping[Key, Related]
    orphans: frozenset[Key]
    reasons: Mapping[Key, str]
    missing: Mapping[Key, int]
    compressed: Mapping[Key, int]


def state_of(joined: Iterable[Joined]) -> tuple[Shown, ...]:
    """Joined chunks as the state of a stage."""
    return tuple([Shown(j.chunk.document_id, j.chunk.chunk_index, j.start, j.end) for j in joined])


def fates(outcome: Outcome, retrieved: Mapping[Key, tuple[float, int]]) -> tuple[Fate, ...]:
    """One fate per candidate, hits that were lost at once included (their score and rank are in `retrieved`)."""
    shown = {(j.chunk.document_id, j.chunk.chunk_index): j for j in outcome.shown}
    blocks = {(block.document_id, index): block.number for block in outcome.blocks for index in block.chunk_indexes}
    ledger = [_fate(candidate, key, shown, blocks, outcome) for key, candidate in outcome.candidates.items()]
    for key, reason in outcome.lost.items():
        score, rank = retrieved.get(key, (0.0, 0))
        ledger.append(Fate(*key, key in retrieved, score, rank, "dropped", "expand", reason))
    return tuple(ledger)


def _fate(candidate: Candidate, key: Key, shown: Mapping[Key, Joined], blocks: Mapping[Key, int], outcome: Outcome) -> Fate:
    chunk, retrieved, score, rank, parents = candidate
    tokens = chunk.token_count or 0
    fate: FateKind = "dropped"
    stage, reason, missing, of, block, likeness, similarity = "budget", None, None, None, None, None, None
    stripped = 0
    left = outcome.compressed.get(key)
    j = shown.get(key)
    if j is not None:
        stripped, of, block = j.start, j.into, blocks.get(key)
        if of is not None:
            fate, stage = "merged", "deduplicate"
        elif j.end < len(j.chunk.text):
            fate = "truncated"
        else:
            fate, stage = "kept", "render"
    else:
        related = outcome.likeness.get(key)
        if related is not None and _says_all(shown.get(related.key)):
            fate, stage, block = "duplicate_of", "deduplicate", blocks.get(related.key)
            of, likeness, similarity = related
        elif key in outcome.orphans:
            stage, reason = "deduplicate", "parent_duplicate"
        else:
            reason, missing = outcome.reasons.get(key, "budget"), outcome.missing.get(key)
            stage = "compress" if reason == "irrelevant" else stage
    share = round(left / tokens, 4) if left is not None and tokens and j is not None else None
    place = (key[0], key[1], retrieved, score, rank, fate, stage, reason, tokens, missing, stripped, parents, of, block)
    return Fate(*place, likeness, similarity, share)


def _says_all(j: Joined | None) -> bool:
    return j is not None and j.end == len(j.chunk.text)


def budget_events(before: Sequence[Shown], outcome: Outcome) -> list[Event]:
    """What turns the state before the budget into the chosen one."""

    def left(key: Key) -> Event:
        related = outcome.likeness.get(key)
        if related is not None:
            return Duplicate(*key, *related.key, related.likeness, related.similarity)
        reason: Any = "parent_duplicate" if key in outcome.orphans else outcome.reasons.get(key, "budget")
        return Dropped(*key, reason, outcome.missing.get(key))

    return _changes(before, outcome.final, left) + _replaced(before, outcome.final)


def compress_events(before: Sequence[Shown], final: Sequence[Joined], done: Sequence[Event], resolution: Resolution) -> list[Event]:
    """What turns the state before compression into the one after. `done` says what was compressed and found irrelevant."""
    shortened = {(event.document_id, event.chunk_index): event for event in done if isinstance(event, Compressed)}
    dropped = {(event.document_id, event.chunk_index) for event in done if isinstance(event, Dropped)}

    def left(key: Key) -> Event:
        related = resolution.likeness.get(key)
        if related is not None:
            return Duplicate(*key, *related.key, related.likeness, related.similarity)
        return Dropped(*key, "irrelevant" if key in dropped else "parent_duplicate")

    state = [
        Shown(each.document_id, each.chunk_index, 0, event.kept_chars)
        if (event := shortened.get((each.document_id, each.chunk_index)))
        else each
        for each in before
    ]
    notes = [event for event in done if isinstance(event, Failed)]
    return [*notes, *shortened.values(), *_changes(state, final, left), *_replaced(before, final)]


def order_events(before: Sequence[Shown], shown: Sequence[Joined]) -> list[Event]:
    """What other neighbours changed: heads given back, or shared with a new one."""
    return _changes(before, shown, lambda key: Dropped(*key, "budget"))


def _changes(before: Sequence[Shown], final: Sequence[Joined], left: Callable[[Key], Event]) -> list[Event]:
    after = {(j.chunk.document_id, j.chunk.chunk_index): j for j in final}
    events: list[Event] = []
    there: set[Key] = set()
    for document_id, index, start, end in before:
        key = (document_id, index)
        j = after.get(key)
        if j is None:
            events.append(left(key))
            continue
        there.add(key)
        if j.start != start or j.end != end:
            events += _reshown(key, start, j)
    if len(there) < len(after):
        for key, j in after.items():
            if key not in there:
                events.append(Returned(*key))
                events += _reshown(key, 0, j)
    return events


def _reshown(key: Key, start: int, j: Joined) -> list[Event]:
    events: list[Event] = []
    if j.start < start:
        events.append(Unstripped(*key, start - j.start))
    elif j.start > start:
        events.append(Stripped(*key, j.start))
    if j.end < len(j.chunk.text):
        events.append(Truncated(*key, j.end))
    return events


def _replaced(before: Sequence[Shown], final: Sequence[Joined]) -> list[Event]:
    """New places, where leaving documents out changed the order of the others."""
    there = list(dict.fromkeys(j.chunk.document_id for j in final))
    was = [document_id for document_id in dict.fromkeys(shown.document_id for shown in before) if document_id in set(there)]
    return [] if was == there else [Placed(document_id, place, 0.0) for place, document_id in enumerate(there, 1)]
