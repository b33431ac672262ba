"""The explanation of one assembly, worked out when somebody reads it: fates, sizes, regret, and the events of every stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, cast

from ctxasm.assembly.cite import cite_before_assembly
from ctxasm.assembly.context_head import prefixed, supplemented
from ctxasm.assembly.deduplicate import Repeated, duplicate_events, overlap_events
from ctxasm.assembly.expand import expansion_events
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.order import ordered_events
from ctxasm.assembly.packing import regret_of
from ctxasm.assembly.passages import Joined
from ctxasm.assembly.render import shown_tokens
from ctxasm.assembly.stages import OVER, Chosen, Found, Grouped, Led, Related, Resolution, Unique, Written, places
from ctxasm.model.events import (
    Compressed,
    Dropped,
    Duplicate,
    Event,
    Failed,
    Numbered,
    Overshot,
    Placed,
    Returned,
    Stripped,
    Supplemented,
    Truncated,
    Unstripped,
)
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Query, make_record
from ctxasm.model.results import Candidate, DocumentSize, Fate, FateKind, FetchRecord, Key, Once, Regret, Shown, StageRecord, Trace
from ctxasm.model.settings import AssemblySettings

NO_REGRET = Regret(0.0, 0.0, True, ())


@dataclass(frozen=True, slots=True)
class Decided:
    """What the stages between expansion and text handed on. `grouped` is as it was before compression, `scales` hold it after."""

    one: Unique
    grouped: Grouped
    scales: Scales
    chosen: Chosen
    led: Led


@dataclass(frozen=True, slots=True)
class Passed:
    """Everything that the stages of one assembly handed on. `decided` is None where assembly is switched off."""

    query: Query
    settings: AssemblySettings
    counter: TokenCounter
    limit: int
    elapsed_ms: Mapping[str, float]
    found: Found
    written: Written
    likeness: Mapping[Key, Related]
    decided: Decided | None = None


def trace_of(passed: Passed) -> Trace:
    """The trace: what was found at once, what explains it when it is read."""
    lock, ledger = Lock(), _Ledger(passed)
    fetched = passed.found.fetched
    return Trace(
        stages=cast(Any, Once(ledger.stages, lock)),
        fates=cast(Any, Once(ledger.fates, lock)),
        candidates=passed.found.candidates,
        documents=fetched.documents,
        sizes=cast(Any, Once(ledger.sizes, lock)),
        before_assembly=cite_before_assembly(passed.found.ranked.hits),
        regret=cast(Any, Once(ledger.regret, lock)),
        fetch=FetchRecord(fetched.statements, fetched.document_statements, len(fetched.chunks), fetched.elapsed_ms),
    )


def state_of(joined: Iterable[Joined]) -> tuple[Shown, ...]:
    """Joined chunks as the state of a stage."""
    return tuple([make_record(Shown, (j.chunk.document_id, j.chunk.chunk_index, j.start, j.end)) for j in joined])


class _Ledger:
    """The books of one assembly. Not for several threads at once: whoever reads holds a lock."""

    def __init__(self, passed: Passed) -> None:
        self.passed = passed
        self.found, self.likeness, self.decided = passed.found, passed.likeness, passed.decided

    @cached_property
    def shown(self) -> Mapping[Key, Joined]:
        """What stands in the text."""
        return {(j.chunk.document_id, j.chunk.chunk_index): j for j in self.passed.written.shown}

    # What became of every chunk

    def fates(self) -> tuple[Fate, ...]:
        """One fate for every candidate, then the hits that never became one."""
        blocks = {(block.document_id, index): block.number for block in self.passed.written.blocks for index in block.chunk_indexes}
        ledger = [self._fate(candidate, key, blocks) for key, candidate in self.found.candidates.items()]
        hits = {(hit.document_id, hit.chunk_index): (float(hit.score), hit.rank or 0) for hit in self.found.ranked.all()}
        for key, reason in self.found.lost.items():
            score, rank = hits.get(key, (0.0, 0))
            chunk = self.found.stored.get(key)
            tokens = (chunk.token_count or 0) if chunk is not None else 0
            ledger.append(Fate(*key, key in hits, score, rank, "dropped", "expand", reason, tokens))
        return tuple(ledger)

    def _fate(self, candidate: Candidate, key: Key, blocks: Mapping[Key, int]) -> Fate:
        chunk, retrieved, score, rank, parents = candidate
        tokens, stripped = chunk.token_count or 0, 0
        fate: FateKind = "dropped"
        stage, reason, missing, of, block, likeness, similarity, share = "budget", None, None, None, None, None, None, None
        j = self.shown.get(key)
        related = self.likeness.get(key)
        if j is not None:
            stripped, of, block = j.start, j.into, blocks.get(key)
            share = self._share(key, tokens)
            if of is not None:
                fate, stage = "merged", "deduplicate"
            elif j.end < len(j.chunk.text):
                fate = "truncated"
            else:
                fate, stage = "kept", "render"
        elif related is not None:
            fate, stage, block = "duplicate_of", "deduplicate", blocks.get(related.key)
            of, likeness, similarity = related
        else:
            reason, missing = self.out[key]
            stage = {"parent_duplicate": "deduplicate", "irrelevant": "compress"}.get(reason, stage)
        place = (key[0], key[1], retrieved, score, rank, fate, stage, reason, tokens, missing, stripped, parents, of, block)
        return make_record(Fate, (*place, likeness, similarity, share))

    def _share(self, key: Key, tokens: int) -> float | None:
        """The share of its own tokens that compression left."""
        if self.decided is None or key not in self.decided.scales.grouped.extracts or not tokens:
            return None
        return round((self.decided.scales.candidates[key].chunk.token_count or 0) / tokens, 4)

    @cached_property
    def out(self) -> Mapping[Key, tuple[str, int | None]]:
        """Why each candidate is out that nothing shown speaks for, and how much more limit keeps it: None where no limit does."""
        missing, reasons = self._lacking[0], self.reasons
        return {
            key: (self._reason(key, reasons), missing.get(key))
            for key in self.found.candidates
            if key not in self.shown and key not in self.likeness
        }

    def _reason(self, key: Key, reasons: Mapping[Key, str]) -> str:
        if self.decided is None:
            return "budget"
        if key in self.decided.scales.grouped.irrelevant:
            return "irrelevant"
        reason = reasons.get(key, "budget")
        return "parent_duplicate" if reason != "degenerate" and self._is_orphan(key) else reason

    def _is_orphan(self, key: Key) -> bool:
        """Whether only hits brought it that repeat what is shown of other documents."""
        if not self.likeness:
            return False
        parents = [(key[0], parent) for parent in self.found.candidates[key].parents]
        if not parents or not all(parent in self.likeness and self.likeness[parent].key[0] != key[0] for parent in parents):
            return False
        return key not in self._successors

    @cached_property
    def _successors(self) -> frozenset[Key]:
        """Chunks that stand for an older one: these are brought by more than their hits."""
        decided = self.decided
        return frozenset([related.key for related in decided.scales.relations.superseded.values()] if decided else ())

    @cached_property
    def reasons(self) -> dict[Key, str]:
        """What the policy says, and of a copy what it says of the chunk that the copy waits for."""
        if self.decided is None:
            return {}
        reasons = dict(self.decided.chosen.reasons)
        waits = self._lacking[1]
        return reasons | {copy: reasons[original] for copy, original in waits.items() if original in reasons}

    @property
    def missing(self) -> Mapping[Key, int]:
        """How much more limit keeps each chunk; absent where no limit does, or none was found."""
        return self._lacking[0]

    @cached_property
    def _lacking(self) -> tuple[dict[Key, int], dict[Key, Key]]:
        """What each chunk lacks, and for which chunk each copy waits: read off what higher limits show."""
        decided = self.decided
        missing: dict[Key, int] = {}
        waits: dict[Key, Key] = {}
        if decided is None or decided.scales.grouped.was_compressed:
            # What is compressed depends on the limit: what another one would show is not known.
            return missing, waits
        reasons = decided.chosen.reasons
        pending = {
            key
            for key in decided.scales.candidates
            if key not in self.shown and key not in self.likeness and reasons.get(key) != "degenerate" and not self._is_orphan(key)
        }
        repeated = Repeated(decided.scales.relations)
        copies = {key: options for key in pending if (options := repeated.by(key))}
        for limit, whole, cut in decided.chosen.ahead() if pending else ():
            if limit >= OVER:
                break
            there = pending & whole
            if cut in pending:
                there.add(cut)
            for copy, options in copies.items():
                if copy in pending and copy not in there and (original := next((r.key for r in options if r.key in whole), None)):
                    there.add(copy)
                    waits[copy] = original
            missing |= dict.fromkeys(there, limit - self.passed.limit)
            pending -= there
            if not pending:
                break
        return missing, waits

    # How large everything is

    def sizes(self) -> tuple[DocumentSize, ...]:
        """The documents on the token axis."""
        return self._sizes

    @cached_property
    def _sizes(self) -> tuple[DocumentSize, ...]:
        return self.decided.chosen.sizes(self.missing) if self.decided is not None else ()

    def regret(self) -> Regret:
        """What the best packing of whole documents would have held."""
        decided = self.decided
        if decided is None:
            return NO_REGRET
        final, settings = decided.chosen.final, self.passed.settings
        return regret_of(decided.scales.own, final, self._unled, self.sizes(), self.passed.limit, settings.pack_k)

    @cached_property
    def _unled(self) -> Written:
        """The text without what stands before the first block."""
        decided = self.decided
        if decided is None or not decided.led.lead:
            return self.passed.written
        return decided.scales.write(decided.led.blocks)

    # What every stage did

    def stages(self) -> tuple[StageRecord, ...]:
        """The record of each stage, given what the one before returned."""
        written_of: Mapping[str, Callable[[tuple[Shown, ...]], _Done]] = {
            "expand": self._expanded,
            "deduplicate": self._deduplicated,
            "group": self._grouped,
            "compress": self._compressed,
            "budget": self._budgeted,
            "order": self._ordered,
            "summarise": self._summarised,
            "supplement": self._supplemented,
            "render": self._rendered,
            "cite": self._cited,
        }
        hits, tokens = self._retrieved()
        records: list[StageRecord] = []
        for stage, elapsed in self.passed.elapsed_ms.items():
            after, tokens_out, events = written_of[stage](hits)
            records.append(StageRecord(stage, hits, after, tokens, tokens_out, elapsed, tuple(events)))
            hits, tokens = after, tokens_out
        return tuple(records)

    def _retrieved(self) -> tuple[tuple[Shown, ...], int]:
        """The retrieved chunks in retrieval order; one that is not stored shows nothing."""
        stored, hits = self.found.stored, []
        for hit in self.found.ranked.all():
            chunk = stored.get((hit.document_id, hit.chunk_index))
            hits.append(Shown(hit.document_id, hit.chunk_index, 0, len(chunk.text) if chunk is not None else 0))
        return tuple(hits), sum([c.chunk.token_count or 0 for c in self.found.candidates.values() if c.retrieved])

    def _expanded(self, before: tuple[Shown, ...]) -> _Done:
        found = self.found.candidates
        after = tuple([make_record(Shown, (*key, 0, len(candidate.chunk.text))) for key, candidate in found.items()])
        return after, sum([c.chunk.token_count or 0 for c in found.values()]), expansion_events(self.found)

    def _deduplicated(self, before: tuple[Shown, ...]) -> _Done:
        one = self._decided.one
        joined = [j for document_id in one.own for j in self._joined[document_id]]
        events = [*one.promoted, *duplicate_events(one.resolution), *overlap_events(joined)]
        return state_of(joined), self._tokens(joined), events

    def _grouped(self, before: tuple[Shown, ...]) -> _Done:
        grouped = self._decided.grouped
        shown = [j for document_id in grouped.order for j in self._joined[document_id]]
        return state_of(shown), self._tokens(shown), places(grouped)

    @cached_property
    def _joined(self) -> Mapping[str, tuple[Joined, ...]]:
        """What each document shows of its chunks before the budget, and before compression."""
        one, scales = self._decided.one, self._decided.scales
        if scales.grouped.was_compressed:
            scales = Scales(self._decided.grouped, self._decided.scales.settings, self.passed.counter, self.passed.limit)
        return {document_id: scales.planned(document_id, one.resolution.shown[document_id]).joined for document_id in one.own}

    def _compressed(self, before: tuple[Shown, ...]) -> _Done:
        after = self._decided.scales.grouped
        shown = [j for plan in self._decided.scales.all_plans() for j in plan.joined]
        return state_of(shown), self._tokens(shown), compress_events(before, shown, after.notes, after.resolution)

    def _budgeted(self, before: tuple[Shown, ...]) -> _Done:
        chosen = self._decided.chosen

        def left(key: Key) -> Event:
            related = self.likeness.get(key)
            if related is not None:
                return Duplicate(*key, *related.key, related.likeness, related.similarity)
            reason: Any
            reason, missing = self.out[key]
            return Dropped(*key, reason, missing)

        events = [*chosen.yielded, *chosen.valued(), *_changes(before, chosen.final, left), *_replaced(before, chosen.final)]
        return state_of(chosen.final), _chunk_tokens(self._unled), events

    def _ordered(self, before: tuple[Shown, ...]) -> _Done:
        shown = self._unled.shown
        moved = _changes(before, shown, lambda key: Dropped(*key, "budget"))
        return state_of(shown), _chunk_tokens(self._unled), [*ordered_events(self._unled.blocks, self._decided.one.standing), *moved]

    def _summarised(self, before: tuple[Shown, ...]) -> _Done:
        events = prefixed(self._unled.segments)
        return before, _chunk_tokens(self._unled) + sum([event.tokens for event in events]), events

    def _supplemented(self, before: tuple[Shown, ...]) -> _Done:
        _, tokens, _ = self._summarised(before)
        events = supplemented(self.passed.query, self._decided.led, self.passed.written, self.passed.settings)
        return before, tokens + sum([event.tokens for event in events if isinstance(event, Supplemented)]), events

    def _rendered(self, before: tuple[Shown, ...]) -> _Done:
        written = self.passed.written
        over = written.size.tokens - self.passed.limit
        after = before if self.decided is not None else state_of(written.shown)
        return after, written.size.tokens, [*written.events, *([Overshot(over)] if over > 0 else [])]

    def _cited(self, before: tuple[Shown, ...]) -> _Done:
        written = self.passed.written
        return before, written.size.tokens, [Numbered(block.number, block.document_id, block.chunk_indexes) for block in written.blocks]

    @property
    def _decided(self) -> Decided:
        """What a stage after expansion handed on: such a stage ran."""
        return cast(Decided, self.decided)

    def _tokens(self, shown: Iterable[Joined]) -> int:
        """What chunks add up to once their stripped heads are gone: with the stored count of the head where there is one."""
        total = 0
        for j in shown:
            chunk = j.chunk
            if j.start == 0 and j.end == len(chunk.text):
                total += chunk.token_count or 0
            elif j.simple and chunk.overlap_tokens is not None:
                total += (chunk.token_count or 0) - chunk.overlap_tokens
            else:
                total += shown_tokens(j, self.passed.counter)
        return total


_Done = tuple[tuple[Shown, ...], int, Sequence[Event]]
"""What a stage returned, in tokens too, and what it did."""


def _chunk_tokens(written: Written) -> int:
    return sum([segment.tokens for segment in written.segments if segment.kind == "chunk"])


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
