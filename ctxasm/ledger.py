"""The ledger: one fate for every candidate, and what the budget stage changed, as events.

Everything here is read off the chosen set. A copy is only a duplicate of a chunk that is itself in the context; where the
chunk it repeated left, the copy left for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxasm.model.events import Dropped, Duplicate, Event, Placed, Returned, Stripped, Truncated, Unstripped
from ctxasm.model.passages import Joined
from ctxasm.model.plans import Block
from ctxasm.model.results import Candidate, Fate, FateKind, Key, Shown


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was chosen. `final` is the shown chunks in context order; `reasons` and `missing` speak for chunks that are not.

    `lost` are chunks that never became candidates, with the reason.
    """

    candidates: Mapping[Key, Candidate]
    lost: Mapping[Key, str]
    final: Sequence[Joined]
    blocks: Sequence[Block]
    duplicates: Mapping[Key, Key]
    orphans: frozenset[Key]
    reasons: Mapping[Key, str]
    missing: Mapping[Key, int]


def state_of(joined: Iterable[Joined]) -> tuple[Shown, ...]:
    """Joined chunks as the state of a stage."""
    return tuple([Shown(j.chunk.document_id, j.chunk.chunk_index, j.start, j.end) for j in joined])


def fates(outcome: Outcome, retrieved: Mapping[Key, tuple[float, int]]) -> tuple[Fate, ...]:
    """One fate per candidate, hits that were lost at once included (their score and rank are in `retrieved`)."""
    shown = {(j.chunk.document_id, j.chunk.chunk_index): j for j in outcome.final}
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
    stage, reason, missing, of, block = "budget", None, None, None, None
    stripped = 0
    j = shown.get(key)
    if j is not None:
        stripped, of, block = j.start, j.into, blocks.get(key)
        if of is not None:
            fate, stage = "merged", "deduplicate"
        elif j.end < len(chunk.text):
            fate = "truncated"
        else:
            fate, stage = "kept", "render"
    else:
        original = outcome.duplicates.get(key)
        if original is not None and _says_all(shown.get(original)):
            fate, stage, of, block = "duplicate_of", "deduplicate", original, blocks.get(original)
        elif key in outcome.orphans:
            stage, reason = "deduplicate", "parent_duplicate"
        else:
            reason, missing = outcome.reasons.get(key, "budget"), outcome.missing.get(key)
    return Fate(key[0], key[1], retrieved, score, rank, fate, stage, reason, tokens, missing, stripped, parents, of, block)


def _says_all(j: Joined | None) -> bool:
    return j is not None and j.end == len(j.chunk.text)


def budget_events(before: Sequence[Shown], outcome: Outcome) -> list[Event]:
    """What turns the state before the budget into the chosen one."""
    after = {(j.chunk.document_id, j.chunk.chunk_index): j for j in outcome.final}
    events: list[Event] = []
    there: set[Key] = set()
    for document_id, index, start, end in before:
        key = (document_id, index)
        j = after.get(key)
        if j is None:
            events.append(_left(key, outcome))
            continue
        there.add(key)
        if j.start != start or j.end != end:
            events += _reshown(key, start, j)
    if len(there) < len(after):
        for key, j in after.items():
            if key not in there:
                events.append(Returned(*key))
                events += _reshown(key, 0, j)
    return events + _replaced(before, outcome.final)


def _left(key: Key, outcome: Outcome) -> Event:
    if key in outcome.duplicates:
        return Duplicate(*key, *outcome.duplicates[key])
    reason: Any = outcome.reasons.get(key, "budget")
    return Dropped(*key, reason, outcome.missing.get(key))


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
