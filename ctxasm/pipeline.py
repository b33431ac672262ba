"""The order of the stages, and what each was given, did and took. `assemble` is the whole way from hits to context.

Only expansion reads the store, through a plan and in one statement for any number of hits; everything after is pure.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import chain

from ctxasm import budgeting
from ctxasm.ledger import Outcome, budget_events, fates, state_of
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.events import Event, Numbered, Overshot
from ctxasm.model.facts import complete
from ctxasm.model.passages import Joined, join
from ctxasm.model.plans import NO_RELATIONS, Layout
from ctxasm.model.ports import ChunkSource, Clock, Fetched, FetchedChunk, TokenCounter
from ctxasm.model.records import Document, Query, check_query
from ctxasm.model.results import Assembly, Candidate, DocumentSize, FetchRecord, Key, Regret, Shown, StageRecord, Trace
from ctxasm.model.settings import AssemblySettings
from ctxasm.stages import cite, deduplicate, expand, group, render, summarise


def assemble(
    query: Query,
    source: ChunkSource,
    settings: AssemblySettings,
    counter: TokenCounter,
    clock: Clock = time.perf_counter,
    limit: int | None = None,
) -> Assembly:
    """Assemble the context for one query, counted by `counter` in its encoding.

    `limit` replaces `settings.max_tokens` where the caller has worked out another token limit (>= 1).
    Raises InvalidInput for a query that cannot be assembled; a query without hits is a valid, empty assembly.
    """
    check_query(query)
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise InvalidInput(f"limit must be a whole number of at least 1, got {shown(limit)}")
    run = _Run(query, settings, counter, clock, limit or settings.max_tokens)
    run.expand(source, settings.expand_window if settings.enabled else 0)
    return run.full() if settings.enabled else run.baseline()


class _Run:
    """One assembly on its way. Each step leaves its record in `stages`."""

    def __init__(self, query: Query, settings: AssemblySettings, counter: TokenCounter, clock: Clock, limit: int) -> None:
        self.query, self.settings, self.counter, self.clock, self.limit = query, settings, counter, clock, limit
        self.stages: list[StageRecord] = []
        self.documents: Mapping[str, Document] = {}
        self.candidates: Mapping[Key, Candidate] = {}
        self.lost: Mapping[Key, str] = {}
        self.fetched = Fetched((), {}, 0, 0, 0.0)
        self.ranked = expand.RankedHits((), (), ())
        self.began = clock()

    def expand(self, source: ChunkSource, window: int) -> None:
        """Read the hits and their neighbours."""
        self.ranked = expand.rank_hits(self.query, self.settings.top_k)
        if windows := expand.plan_expansion(self.ranked.hits, window):
            self.fetched = source.fetch(windows, self.settings.encoding)
        chunks = complete(self.fetched.chunks, self.counter)
        expansion = expand.expand(self.ranked, chunks, window, self.settings)
        self.documents, self.candidates, self.lost = self.fetched.documents, expansion.candidates, expansion.dropped
        after = [Shown(*key, 0, len(candidate.chunk.text)) for key, candidate in self.candidates.items()]
        tokens_in = sum([c.chunk.token_count or 0 for c in self.candidates.values() if c.retrieved])
        tokens_out = sum([c.chunk.token_count or 0 for c in self.candidates.values()])
        self._record("expand", self._hits(chunks), after, tokens_in, tokens_out, expansion.events)

    def _hits(self, chunks: Sequence[FetchedChunk]) -> list[Shown]:
        """The retrieved chunks in retrieval order; one that is not stored shows nothing."""
        length = {(chunk.document_id, chunk.chunk_index): len(chunk.text) for chunk in chunks}
        hits = chain(self.ranked.hits, self.ranked.beyond)
        return [Shown(hit.document_id, hit.chunk_index, 0, length.get((hit.document_id, hit.chunk_index), 0)) for hit in hits]

    def full(self) -> Assembly:
        """The other stages, in order."""
        own = deduplicate.by_document(self.candidates.values())
        relations = deduplicate.exact_relations(own) if self.settings.dedup_exact else NO_RELATIONS
        resolution = deduplicate.resolve(own, relations)
        joined = {document_id: self._join(document_id, resolution.shown[document_id]) for document_id in own}
        events = deduplicate.duplicate_events(resolution)
        for each in joined.values():
            events += deduplicate.overlap_events(each)
        tokens = sum([self._shown_tokens(j) for each in joined.values() for j in each])
        self._record("deduplicate", None, state_of(chain.from_iterable(joined.values())), None, tokens, events)

        state = state_of(chain.from_iterable([joined[document_id] for document_id in resolution.order]))
        self._record("group", None, state, None, tokens, group.place(resolution))

        desk = budgeting.Desk(self.settings, self.counter, self.limit, self.documents, own, self._join, relations)
        decision = desk.decide(resolution, joined)
        outcome = Outcome(
            self.candidates,
            self.lost,
            decision.final,
            decision.layout.blocks,
            decision.resolution.duplicates,
            decision.resolution.orphans,
            decision.reasons,
            decision.missing,
        )
        kept_tokens = _chunk_tokens(decision.layout)
        changes = [*decision.yielded, *budget_events(state, outcome)]
        self._record("budget", None, state_of(decision.final), None, kept_tokens, changes)
        return self._write(outcome, decision.layout, decision.sizes, decision.regret)

    def _join(self, document_id: str, indexes: Sequence[int]) -> tuple[Joined, ...]:
        return join([self.candidates[document_id, index].chunk for index in indexes], self.settings.min_overlap_chars)

    def _shown_tokens(self, j: Joined) -> int:
        """What a chunk adds once its stripped head is gone: with the stored count of the head where there is one."""
        chunk = j.chunk
        if j.start == 0 and j.end == len(chunk.text):
            return chunk.token_count or 0
        if j.simple and chunk.overlap_tokens is not None:
            return (chunk.token_count or 0) - chunk.overlap_tokens
        return render.shown_tokens(j, self.counter)

    def _write(self, outcome: Outcome, layout: Layout, sizes: Sequence[DocumentSize], regret: Regret) -> Assembly:
        """The chosen set as text, with its citations, fates and trace."""
        final = self.stages[-1].after
        prefixes = summarise.prefixed(layout.segments)
        tokens = _chunk_tokens(layout) + sum([event.tokens for event in prefixes])
        self._record("summarise", None, final, None, tokens, prefixes)

        token_count = layout.ends[-1] if layout.ends else 0
        over = (Overshot(token_count - self.limit),) if token_count > self.limit else ()
        self._record("render", None, final, None, token_count, (*layout.events, *over))

        citations = cite.cite(layout.blocks, self.candidates, self.documents, _also_in(outcome))
        numbered = [Numbered(block.number, block.document_id, block.chunk_indexes) for block in layout.blocks]
        self._record("cite", None, final, None, token_count, numbered)
        retrieved = {(h.document_id, h.chunk_index): (float(h.score), h.rank or 0) for h in (*self.ranked.hits, *self.ranked.beyond)}
        trace = Trace(
            stages=tuple(self.stages),
            fates=fates(outcome, retrieved),
            candidates=self.candidates,
            documents=self.documents,
            sizes=tuple(sizes),
            before_assembly=cite.cite_before_assembly(self.ranked.hits),
            regret=regret,
            fetch=self._fetch_record(),
        )
        return Assembly(
            query=self.query,
            settings=self.settings,
            text=layout.text,
            token_count=token_count,
            exact=self.counter.exact,
            encoding=self.settings.encoding,
            limit=self.limit,
            segments=layout.segments,
            citations=citations,
            trace=trace,
        )

    def _fetch_record(self) -> FetchRecord:
        fetched = self.fetched
        return FetchRecord(fetched.statements, fetched.document_statements, len(fetched.chunks), fetched.elapsed_ms)

    def baseline(self) -> Assembly:
        """`enabled=False`: the retrieved chunks in retrieval order, one block each, no other stage and no limit."""
        order = [key for hit in self.ranked.hits if (key := (hit.document_id, hit.chunk_index)) in self.candidates]
        layout, final = budgeting.lay_out_baseline(order, self.candidates, self.documents, self.settings, self.counter)
        outcome = Outcome(self.candidates, self.lost, final, layout.blocks, {}, frozenset(), {}, {})
        return self._write(outcome, layout, (), Regret(0.0, 0.0, True, ()))

    def _record(
        self,
        stage: str,
        before: Sequence[Shown] | None,
        after: Sequence[Shown],
        tokens_in: int | None,
        tokens_out: int,
        events: Sequence[Event],
    ) -> None:
        """Note a stage; what it was given is what the stage before returned. Its time runs since the last record."""
        last = self.stages[-1] if self.stages else None
        now = self.clock()
        self.stages.append(
            StageRecord(
                stage,
                tuple(before) if before is not None else last.after if last else (),
                tuple(after),
                tokens_in if tokens_in is not None else last.tokens_out if last else 0,
                tokens_out,
                (now - self.began) * 1000,
                tuple(events),
            )
        )
        self.began = self.clock()


def _chunk_tokens(layout: Layout) -> int:
    return sum([segment.tokens for segment in layout.segments if segment.kind == "chunk"])


def _also_in(outcome: Outcome) -> dict[Key, tuple[Key, ...]]:
    """Every kept chunk with the places that said the same."""
    places: dict[Key, tuple[Key, ...]] = {}
    whole = {(j.chunk.document_id, j.chunk.chunk_index) for j in outcome.final if j.end == len(j.chunk.text)}
    for copy, original in outcome.duplicates.items():
        if original not in whole:
            continue
        places[original] = (*places.get(original, ()), copy)
    return places
