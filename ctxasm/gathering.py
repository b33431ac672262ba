"""The way up to the budget: hits become candidates, what says the same is shown once, documents stand together, and what is
too large is shortened where not everything fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from ctxasm.budgeting.desk import Desk
from ctxasm.ledger import compress_events, state_of
from ctxasm.model.errors import InvalidInput
from ctxasm.model.events import Event
from ctxasm.model.extracts import Compressor, Extract
from ctxasm.model.facts import complete
from ctxasm.model.passages import Joined, join
from ctxasm.model.ports import ChunkSource, ChunkVectors, Clock, Fetched, FetchedChunk, TokenCounter
from ctxasm.model.records import Document, Query
from ctxasm.model.results import Candidate, Key, Shown
from ctxasm.model.settings import AssemblySettings
from ctxasm.recorder import Recorder
from ctxasm.stages import compress, deduplicate, expand, group, relations, render
from ctxasm.stages.extracting import ExtractiveCompressor


class Gathering:
    """One assembly up to the budget: what is there to choose from. Each step leaves its record with the recorder."""

    def __init__(self, query: Query, settings: AssemblySettings, counter: TokenCounter, clock: Clock, limit: int) -> None:
        self.query, self.settings, self.counter, self.limit = query, settings, counter, limit
        self.recorder = Recorder(clock)
        self.documents: Mapping[str, Document] = {}
        self.candidates: Mapping[Key, Candidate] = {}
        self.lost: Mapping[Key, str] = {}
        self.fetched = Fetched((), {}, 0, 0, 0.0)
        self.ranked = expand.RankedHits((), (), (), ())

    def expand(self, source: ChunkSource, window: int) -> None:
        """Read the hits and their neighbours."""
        self.ranked = expand.rank_hits(self.query, self.settings.top_k, self.settings.relevance_floor)
        if windows := expand.plan_expansion(self.ranked.hits, window):
            self.fetched = source.fetch(windows, self.settings.encoding)
        chunks = complete(self.fetched.chunks, self.counter)
        expansion = expand.expand(self.ranked, chunks, window, self.settings)
        self.documents, self.candidates, self.lost = self.fetched.documents, expansion.candidates, expansion.dropped
        after = [Shown(*key, 0, len(candidate.chunk.text)) for key, candidate in self.candidates.items()]
        tokens_in = sum([c.chunk.token_count or 0 for c in self.candidates.values() if c.retrieved])
        tokens_out = sum([c.chunk.token_count or 0 for c in self.candidates.values()])
        self.recorder.note("expand", after, tokens_out, expansion.events, self._hits(chunks), tokens_in)

    def _hits(self, chunks: Sequence[FetchedChunk]) -> list[Shown]:
        """The retrieved chunks in retrieval order; one that is not stored shows nothing."""
        length = {(chunk.document_id, chunk.chunk_index): len(chunk.text) for chunk in chunks}
        return [Shown(h.document_id, h.chunk_index, 0, length.get((h.document_id, h.chunk_index), 0)) for h in self.ranked.all()]

    def deduplicate(self, vectors: ChunkVectors | None) -> None:
        """What says the same is shown once; then all chunks of a document stand together, documents by their best score."""
        self.relations = relations.relations_of(self.candidates, self.settings, vectors, self.documents)
        self.standing, promoted = relations.promote(self.candidates, self.relations)
        self.irrelevant: frozenset[Key] = frozenset()
        self.extracts: Mapping[Key, Extract] = {}
        self._resolve(self.standing)
        events: list[Event] = [*promoted, *deduplicate.duplicate_events(self.resolution)]
        for each in self.joined.values():
            events += deduplicate.overlap_events(each)
        tokens = self._tokens()
        self.recorder.note("deduplicate", state_of(chain.from_iterable(self.joined.values())), tokens, events)
        self.recorder.note("group", self._grouped(), tokens, group.place(self.resolution))

    def _resolve(self, candidates: Mapping[Key, Candidate]) -> None:
        self.own = deduplicate.by_document(candidates.values())
        self.resolution = deduplicate.resolve(self.own, self.relations)
        self.joined = {document_id: self._join(document_id, self.resolution.shown[document_id]) for document_id in self.own}

    def _join(self, document_id: str, indexes: Sequence[int]) -> tuple[Joined, ...]:
        own = self.own[document_id]
        return join([own[index].chunk for index in indexes], self.settings.min_overlap_chars)

    def _grouped(self) -> tuple[Shown, ...]:
        return state_of(chain.from_iterable([self.joined[document_id] for document_id in self.resolution.order]))

    def _tokens(self) -> int:
        return sum([self._shown_tokens(j) for each in self.joined.values() for j in each])

    def _shown_tokens(self, j: Joined) -> int:
        """What a chunk adds once its stripped head is gone: with the stored count of the head where there is one."""
        chunk = j.chunk
        if j.start == 0 and j.end == len(chunk.text):
            return chunk.token_count or 0
        if j.simple and chunk.overlap_tokens is not None:
            return (chunk.token_count or 0) - chunk.overlap_tokens
        return render.shown_tokens(j, self.counter)

    def compress(self, compressor: Compressor | None, cancelled: Callable[[], bool]) -> None:
        """Shorten what is too large, where not everything fits."""
        if self.settings.compression == "extractive":
            compressor = ExtractiveCompressor(self.settings.gap_mark)
        if compressor is None:
            raise InvalidInput("compression=model needs a compressor, got none: pass one to assemble(), or set compression=extractive")
        before = self._grouped()
        there = {(each.document_id, each.chunk_index) for each in before}
        candidates = {key: candidate for key, candidate in self.standing.items() if key in there}
        desk = Desk(self.settings, self.counter, self.limit, self.documents, self.own, self._join, self.relations)
        tokens = desk.size(desk.plans(self.resolution)).tokens
        done = compress.compress(self.query.query, candidates, self.limit, self.settings, compressor, self.counter, cancelled, tokens)
        self.extracts = done.extracts
        copies = {copy for copy, original in self.resolution.duplicates.items() if original in done.irrelevant}
        self.irrelevant = frozenset(done.irrelevant) | copies
        self._resolve({key: done.candidates.get(key, candidate) for key, candidate in self.standing.items() if key not in self.irrelevant})
        final = list(chain.from_iterable([self.joined[document_id] for document_id in self.resolution.order]))
        events = compress_events(before, final, done.events, self.resolution)
        self.recorder.note("compress", state_of(final), self._tokens(), events)
