"""Policy `learned`: the most value per token, chunk by chunk, by what each chunk is probably worth to the question (see `values`).

Where all of them fit with room to spare and none repeats another, none is valued before somebody reads the trace. What a chunk takes is
estimated while the order is found: its tokens without what a chosen neighbour shows of them, and a heading where its document is not there
yet. Then the set is held to its exact count, as under every policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import heapify, heappop, heappush

from ctxasm.assembly.chunk_sets import ChunkSet, Repeats, degenerate, nothing_ahead, taken
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.packing import best_of
from ctxasm.assembly.stages import Chosen
from ctxasm.assembly.trim import squeezed
from ctxasm.assembly.values import Valued, stems_of, words_held
from ctxasm.model.events import Event, Reason
from ctxasm.model.events import Valued as ValuedEvent
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.results import Candidate, Key

GAP_TOKENS = 4
"""About what a gap mark takes, or another piece of a document."""
HEADER_TOKENS = 10
"""About what a header takes besides title and source, and so many of its characters make a token:"""
CHARS_PER_TOKEN = 4
OFFERED = 12
"""Chunks offered at most to the room that is left, each by an exact count."""
LEEWAY = 1.1
"""What is estimated to take so many times the room that is left may still fit."""


def learned(scales: Scales) -> Chosen:
    """The best hit, and what is worth most for its tokens beside it."""
    best = best_of(scales)
    if best is None:
        return taken(scales, ChunkSet(scales), {})
    small = degenerate(scales, best)
    out = {*small, *(key for key in scales.relations.superseded if scales.superseded(key))}
    own = {key: each for key, each in scales.candidates.items() if key not in out} if out else scales.candidates
    chosen = _Fill(scales, best, own).filled()
    if chosen is None:
        found = squeezed(scales, best)
        done = found.chosen({**small, **found.reasons}, nothing_ahead)
    else:
        done = taken(scales, chosen, small)
    shown = {(j.chunk.document_id, j.chunk.chunk_index) for j in done.final}
    left: dict[Key, Reason] = {key: "outbid" for key in own if key not in shown}
    return replace(done, reasons={**left, **done.reasons}, valued=lambda: _events(scales.question, list(scales.valued().values())))


def _events(question: str, valued: Sequence[Valued]) -> tuple[Event, ...]:
    """What each value is made of, the best first."""
    most = max([each.value for each in valued], default=1.0) or 1.0
    ordered = sorted(valued, key=lambda each: (-each.value, each.candidate.key))
    words = tuple(stems_of(question).values())
    return tuple(
        [
            ValuedEvent(*c.key, round(value / most, 4), c.rank, distance, hits, words_held(words, held), round(features.title_words, 4))
            for c, value, features, distance, hits, held in ordered
        ]
    )


_Price = tuple[float, Key, int, int]
"""What a chunk is worth for a token, less than 0 that the best comes first; which it is; about what it adds; its own tokens."""


class _Fill:
    """A set that grows by the chunk that is worth most for its tokens, until no other fits."""

    def __init__(self, scales: Scales, best: Candidate, own: Mapping[Key, Candidate]) -> None:
        self.scales, self.best, self.own = scales, best, own
        self.headers: dict[str, int] = {}
        self.shared = 2 * max([each.chunk.overlap_tokens or 0 for each in own.values()], default=0)
        """What neighbours show of a chunk at most, before and behind it."""

    def filled(self) -> ChunkSet | None:
        """The set, None where not even the best chunk fits."""
        chosen = self._whole()
        if chosen is not None:
            return chosen
        chosen = ChunkSet(self.scales)
        order = self._ordered(chosen)
        size = chosen.size()
        while size > self.scales.limit:
            if len(order) == 1:
                return None
            # One too many is usual, since sizes are estimates; where they are far off (a limit in characters) the set is halved.
            keep = len(order) - 1 if size <= self.scales.limit * 1.2 else (len(order) + 1) // 2
            for candidate in order[keep:]:
                chosen.drop(candidate)
            order = order[:keep]
            size = chosen.size()
        self._offer(chosen, size)
        return chosen

    def _whole(self) -> ChunkSet | None:
        """All chunks, where they fit by any estimate and by count, and none repeats another: then no value matters."""
        every = {self.best.key: self.best, **self.own}.values()
        left = self.scales.limit - sum([(each.chunk.token_count or 0) + GAP_TOKENS for each in every])
        if left < 0 or self.scales.originals or sum(map(self._header, self.scales.own)) > left:
            return None
        chosen = ChunkSet(self.scales)
        for candidate in every:
            chosen.add(candidate)
        return chosen if chosen.size() <= self.scales.limit else None

    def _ordered(self, chosen: ChunkSet) -> list[Candidate]:
        """Take the chunks that come in by their estimated sizes; which they are, in that order, the best hit first."""
        own, shared, repeats = self.own, self.shared, Repeats(self.scales)
        left = self.scales.limit - self._tokens(self.best.key, self.best.chunk, chosen)
        chosen.add(self.best)
        order, there = [self.best], {self.best.key}
        heap = self._prices(chosen)
        heapify(heap)
        while heap and left > 0:
            _, key, _, count = heappop(heap)
            # What is too large whatever stands beside it is most often told at once.
            if count - shared > left or key in there:
                continue
            candidate = own[key]
            tokens = self._tokens(key, candidate.chunk, chosen)
            if tokens > left or repeats.takes(candidate, chosen):
                continue
            chosen.add(candidate)
            there.add(key)
            order.append(candidate)
            left -= tokens
            for beside in self._beside(key):
                each = own.get(beside)
                if each is not None and beside not in there:
                    # It costs less now than when it was put here: it stands twice, and counts once.
                    heappush(heap, self._price(beside, each.chunk, chosen))
        return order

    @cached_property
    def valued(self) -> Mapping[Key, Valued]:
        """What each chunk is probably worth, found when it is first asked for."""
        return self.scales.valued()

    def _prices(self, chosen: ChunkSet) -> list[_Price]:
        """The price of every chunk that is not chosen."""
        there = chosen.chosen
        return [self._price(key, each.chunk, chosen) for key, each in self.own.items() if key[1] not in there.get(key[0], ())]

    def _price(self, key: Key, chunk: FetchedChunk, chosen: ChunkSet) -> _Price:
        tokens = self._tokens(key, chunk, chosen)
        return -self.valued[key].value / tokens, key, tokens, chunk.token_count or 0

    def _offer(self, chosen: ChunkSet, size: int) -> None:
        """What still fits, the best for its tokens first."""
        room = self.scales.limit - size
        prices = self._prices(chosen)
        if not any(tokens <= room * LEEWAY for _, _, tokens, _ in prices):
            return
        repeats = Repeats(self.scales)
        offered, changed = 0, False
        for _, key, before, _ in sorted(prices):
            candidate = self.own[key]
            tokens = self._tokens(key, candidate.chunk, chosen) if changed else before
            if tokens > room * LEEWAY or repeats.takes(candidate, chosen):
                continue
            if offered == OFFERED:
                return
            offered += 1
            if chosen.takes([candidate], self.scales.limit, likely=True):
                room, changed = self.scales.limit - chosen.size(), True

    def _tokens(self, key: Key, chunk: FetchedChunk, chosen: ChunkSet) -> int:
        """About what a chunk adds to the chosen ones."""
        document_id, index = key
        there = chosen.chosen.get(document_id)
        tokens = chunk.token_count or 0
        if there is None:
            tokens += self._header(document_id)
        else:
            before, after = index - 1 in there, index + 1 in there
            if before:
                tokens -= chunk.overlap_tokens or 0
            if after:
                tokens -= there[index + 1].chunk.overlap_tokens or 0
            elif not before:
                tokens += GAP_TOKENS
        return tokens if tokens > 1 else 1

    def _header(self, document_id: str) -> int:
        known = self.headers.get(document_id)
        if known is None:
            document = self.scales.document(document_id)
            chars = len(self.scales.title(document_id)) + len(document.source or "") + len(self.scales.prefix(document_id))
            known = self.headers[document_id] = HEADER_TOKENS + chars // CHARS_PER_TOKEN
        return known

    @staticmethod
    def _beside(key: Key) -> tuple[Key, Key]:
        return (key[0], key[1] - 1), (key[0], key[1] + 1)
