"""The life of a chunk: a step per stage, in words. Pure; read off the trace."""

from __future__ import annotations

from typing import NamedTuple

from ctxasm.model.events import Event, Failed, Numbered, Ordered, Overshot, Placed, Prefixed, Supplemented, Yielded
from ctxasm.model.results import Assembly, Key, StageRecord
from ctxasm.ui.event_words import event_sentence
from ctxasm.ui.hit_rows import hit_words
from ctxasm.ui.rows import fate_of
from ctxasm.ui.words import decimal, fate_sentence, stage_name


class Step(NamedTuple):
    """What one stage did. `look` is "" for a change, "quiet" for none, "gone" where the chunk left."""

    stage: str
    sentence: str
    look: str


def chunk_life(assembly: Assembly, key: Key) -> tuple[Step, ...]:
    """Every stage of one candidate, from retrieval to its fate."""
    fate = fate_of(assembly, key)
    if fate is None:
        return (Step("Retrieved", "Neither retrieved nor reached by expansion for this query.", "gone"),)
    if fate.retrieved:
        methods = hit_words(assembly.query, key)
        origin = Step("Retrieved", f"Rank {fate.rank}, score {decimal(fate.score)}{f': {methods}' if methods else ''}.", "")
    else:
        origin = Step("Retrieved", "Not retrieved itself.", "quiet")
    last = Step("Fate", fate_sentence(fate), "" if fate.fate in ("kept", "truncated", "merged") else "gone")
    return (origin, *(_step(record, key) for record in assembly.trace.stages), last)


def _step(record: StageRecord, key: Key) -> Step:
    sentences = [event_sentence(event) for event in record.events if _concerns(event, key)]
    was = any((s.document_id, s.chunk_index) == key for s in record.before)
    stays = any((s.document_id, s.chunk_index) == key for s in record.after)
    if sentences:
        return Step(stage_name(record.stage), " ".join(sentences), "gone" if was and not stays else "")
    if not was and not stays:
        return Step(stage_name(record.stage), "No longer here.", "quiet")
    return Step(stage_name(record.stage), "Unchanged.", "quiet")


def _concerns(event: Event, key: Key) -> bool:
    if isinstance(event, (Numbered, Ordered)):
        return event.document_id == key[0] and key[1] in event.chunk_indexes
    if isinstance(event, (Failed, Overshot, Supplemented)):
        return False
    if isinstance(event, (Placed, Prefixed, Yielded)):
        return event.document_id == key[0]
    return (event.document_id, event.chunk_index) == key
