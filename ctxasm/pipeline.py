"""The order of the stages, and what each was given, did and took. `assemble` is the whole way from hits to context.

Only expansion reads the store, through a plan and in one statement for any number of hits; everything after is pure, but
for what the settings ask of an embedder or a model, which the caller brings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ctxasm.budgeting import chunkwise, units, whole_documents
from ctxasm.budgeting.desk import Decision, Desk, write_baseline
from ctxasm.gathering import Gathering
from ctxasm.ledger import Outcome, budget_events, fates, order_events, state_of
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.events import Numbered, Overshot, Supplemented
from ctxasm.model.extracts import Compressor
from ctxasm.model.pieces import Piece
from ctxasm.model.plans import Written
from ctxasm.model.ports import ChunkSource, ChunkVectors, Clock, TokenCounter
from ctxasm.model.records import Query, check_query
from ctxasm.model.results import Assembly, DocumentSize, FetchRecord, Key, Regret, Trace
from ctxasm.model.settings import AssemblySettings
from ctxasm.stages import cite, order, summarise, supplement


def assemble(
    query: Query,
    source: ChunkSource,
    settings: AssemblySettings,
    counter: TokenCounter,
    clock: Clock = time.perf_counter,
    limit: int | None = None,
    vectors: ChunkVectors | None = None,
    compressor: Compressor | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Assembly:
    """Assemble the context for one query, counted by `counter` in its encoding.

    `limit` replaces `settings.max_tokens` where the caller has worked out another token limit (>= 1). `vectors` are needed
    for `dedup_semantic`, `compressor` for `compression=model`, which `cancelled` stops between chunks.
    Raises InvalidInput for a query that cannot be assembled; a query without hits is a valid, empty assembly.
    """
    check_query(query)
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise InvalidInput(f"limit must be a whole number of at least 1, got {shown(limit)}")
    if limit is None and settings.budget_mode == "window" and settings.enabled:
        raise InvalidInput("budget_mode=window needs the limit that the zones leave, got none: pass limit=plan_zones(…).limit")
    run = _Run(query, settings, counter, clock, limit or settings.max_tokens)
    run.expand(source, settings.expand_window if settings.enabled else 0)
    if not settings.enabled:
        return run.baseline()
    run.deduplicate(vectors)
    if settings.compression != "off":
        run.compress(compressor, cancelled)
    return run.decided()


class _Run(Gathering):
    """One assembly on its way, from the budget to the text."""

    def decided(self) -> Assembly:
        """Cut to the budget, and written."""
        before = self._grouped()
        desk = Desk(self.settings, self.counter, self.limit, self.documents, self.own, self._join, self.relations, self.extracts)
        decision = self._decide(desk)
        outcome = self._outcome(decision)
        changes = [*decision.yielded, *budget_events(before, outcome)]
        chosen = state_of(decision.final)
        self.recorder.note("budget", chosen, _chunk_tokens(decision.written), changes)
        places = order.ordered(decision.written.blocks, self.standing)
        self.recorder.note(
            "order",
            state_of(decision.written.shown),
            _chunk_tokens(decision.written),
            [*places, *order_events(chosen, decision.written.shown)],
        )
        return self._finish(outcome, self._supplemented(desk, decision), decision.sizes, decision.regret)

    def _decide(self, desk: Desk) -> Decision:
        policy = self.settings.budget_policy
        if policy == "drop_documents":
            return whole_documents.decide(desk, self.resolution, self.joined)
        decide = chunkwise.decide if policy in ("greedy", "greedy_skip") else units.decide
        return decide(desk, self.resolution)

    def _outcome(self, decision: Decision) -> Outcome:
        return Outcome(
            self.candidates,
            self.lost,
            decision.final,
            decision.written.shown,
            decision.written.blocks,
            decision.resolution.likeness,
            decision.resolution.orphans,
            {**decision.reasons, **dict.fromkeys(self.irrelevant, "irrelevant")},
            decision.missing,
            {key: self.own[key[0]][key[1]].chunk.token_count or 0 for key in self.extracts},
        )

    def _supplemented(self, desk: Desk, decision: Decision) -> Written:
        """The written blocks, with the supplement before them where the gate lets it in and there is room."""
        written = decision.written
        prefixes = summarise.prefixed(written.segments)
        state = self.recorder.state
        tokens = _chunk_tokens(written) + sum([event.tokens for event in prefixes])
        self.recorder.note("summarise", state, tokens, prefixes)
        if not supplement.has_supplement(self.query):
            return written
        wanted, rule = supplement.decide(self.query, self.settings)
        event = Supplemented(False, rule if not wanted or written.blocks else "no_block", 0)
        if wanted and written.blocks:
            text = supplement.supplement_text(self.query, self.settings)
            longer = desk.renderer.write(decision.blocks, [Piece("supplement", text)])
            fits = longer.size.budgeted <= self.limit
            event = Supplemented(fits, rule if fits else "no_room", longer.segments[0].tokens if fits else 0)
            written = longer if fits else written
        found = supplement.supplement_events(self.query, self.settings) if event.injected else ()
        self.recorder.note("supplement", state, tokens + event.tokens, (event, *found))
        return written

    def _finish(self, outcome: Outcome, written: Written, sizes: Sequence[DocumentSize], regret: Regret) -> Assembly:
        """The text with its citations, fates and trace."""
        state, token_count = self.recorder.state, written.size.tokens
        over = (Overshot(token_count - self.limit),) if token_count > self.limit else ()
        self.recorder.note("render", state, token_count, (*written.events, *over))
        citations = cite.cite(written.blocks, self.candidates, self.documents, _also_in(outcome))
        numbered = [Numbered(block.number, block.document_id, block.chunk_indexes) for block in written.blocks]
        self.recorder.note("cite", state, token_count, numbered)
        retrieved = {(h.document_id, h.chunk_index): (float(h.score), h.rank or 0) for h in self.ranked.all()}
        trace = Trace(
            stages=tuple(self.recorder.stages),
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
            text=written.text,
            token_count=token_count,
            exact=self.counter.exact,
            encoding=self.settings.encoding,
            limit=self.limit,
            segments=written.segments,
            citations=citations,
            trace=trace,
        )

    def _fetch_record(self) -> FetchRecord:
        fetched = self.fetched
        return FetchRecord(fetched.statements, fetched.document_statements, len(fetched.chunks), fetched.elapsed_ms)

    def baseline(self) -> Assembly:
        """`enabled=False`: the retrieved chunks in retrieval order, one block each, no other stage and no limit."""
        keys = [key for hit in self.ranked.hits if (key := (hit.document_id, hit.chunk_index)) in self.candidates]
        written = write_baseline(keys, self.candidates, self.documents, self.settings, self.counter)
        outcome = Outcome(self.candidates, self.lost, written.shown, written.shown, written.blocks, {}, frozenset(), {}, {}, {})
        return self._finish(outcome, written, (), Regret(0.0, 0.0, True, ()))


def _chunk_tokens(written: Written) -> int:
    return sum([segment.tokens for segment in written.segments if segment.kind == "chunk"])


def _also_in(outcome: Outcome) -> dict[Key, tuple[Key, ...]]:
    """Every kept chunk with the places that said the same."""
    places: dict[Key, tuple[Key, ...]] = {}
    whole = {(j.chunk.document_id, j.chunk.chunk_index) for j in outcome.shown if j.end == len(j.chunk.text)}
    for copy, related in outcome.likeness.items():
        if related.key in whole:
            places[related.key] = (*places.get(related.key, ()), copy)
    return places
