"""Policy `learned`: the most value per token, chunk by chunk, by what each chunk is probably worth to the question (see `values`).

What a chunk takes is estimated while the order is found: its tokens without what a chosen neighbour shows of them, and a heading where its
document is not there yet. Then the set is held to its exact count, as under every policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

from ctxasm.assembly.budget.best_chunk import squeezed
from ctxasm.assembly.budget.chunk_sets import ChunkSet, Repeats, degenerate
from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.budget.taking import nothing_ahead, taken
from ctxasm.assembly.budget.units import best_of
from ctxasm.assembly.budget.values import Valued, stems_of, words_held
from ctxasm.assembly.steps import Chosen
from ctxasm.model.events import Event, Reason
from ctxasm.model.events import Valued as ValuedEvent
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
    valued = scales.valued()
    out = {*small, *(key for key in scales.relations.superseded if scales.superseded(key))}
    own = {key: each for key, each in valued.items() if key not in out} if out else valued
    chosen = _Fill(scales, best, own).filled()
    if chosen is None:
        found = squeezed(scales, best)
        done = found.chosen({**small, **found.reasons}, nothing_ahead)
    else:
        done = taken(scales, chosen, small)
    shown = {(j.chunk.document_id, j.chunk.chunk_index) for j in done.final}
    left: dict[Key, Reason] = {key: "outbid" for key in own if key not in shown}
    return replace(done, reasons={**left, **done.reasons}, valued=lambda: _events(scales.question, list(valued.values())))


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


class _Fill:
    """A set that grows by the chunk that is worth most for its tokens, until no other fits."""

    def __init__(self, scales: Scales, best: Candidate, own: Mapping[Key, Valued]) -> None:
        self.scales, self.best, self.own = scales, best, own
        self.headers: dict[str, int] = {}
        chunks = [each.candidate.chunk for each in own.values()]
        self.counts = [(key, chunk.token_count or 0) for key, chunk in zip(own, chunks, strict=True)]
        self.shared = 2 * max([chunk.overlap_tokens or 0 for chunk in chunks], default=0)
        """What neighbours show of a chunk at most, before and behind it."""

    def filled(self) -> ChunkSet | None:
        """The set, None where not even the best chunk fits."""
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

    def _ordered(self, chosen: ChunkSet) -> list[Candidate]:
        """Take the chunks that come in by their estimated sizes; which they are, in that order, the best hit first."""
        own, shared, repeats = self.own, self.shared, Repeats(self.scales)
        left = self.scales.limit - self._tokens(self.best, chosen)
        chosen.add(self.best)
        order, there = [self.best], {self.best.key}
        heap = [(-own[key].value / tokens, key, count) for key, tokens, count in self._prices(chosen)]
        heapify(heap)
        while heap and left > 0:
            _, key, count = heappop(heap)
            # What is too large whatever stands beside it is most often told at once.
            if count - shared > left or key in there:
                continue
            candidate = own[key].candidate
            tokens = self._tokens(candidate, chosen)
            if tokens > left or repeats.takes(candidate, chosen):
                continue
            chosen.add(candidate)
            there.add(key)
            order.append(candidate)
            left -= tokens
            for beside in self._beside(key):
                if beside not in there and beside in own:
                    # It costs less now than when it was put here: it stands twice, and counts once.
                    chunk = own[beside].candidate.chunk
                    heappush(heap, (-own[beside].value / self._tokens(own[beside].candidate, chosen), beside, chunk.token_count or 0))
        return order

    def _prices(self, chosen: ChunkSet) -> list[tuple[Key, int, int]]:
        """Of every chunk that is not chosen: about what it adds, and its own tokens."""
        prices, began = [], chosen.chosen
        for key, count in self.counts:
            document_id, index = key
            there = began.get(document_id)
            if there is None:
                tokens = count + (self.headers.get(document_id) or self._header(document_id))
            elif index in there:
                continue
            else:
                tokens = self._tokens(self.own[key].candidate, chosen)
            prices.append((key, tokens, count))
        return prices

    def _offer(self, chosen: ChunkSet, size: int) -> None:
        """What still fits, the best for its tokens first."""
        room = self.scales.limit - size
        prices = self._prices(chosen)
        if not any(tokens <= room * LEEWAY for _, tokens, _ in prices):
            return
        repeats = Repeats(self.scales)
        offered, changed = 0, False
        rest = [(-self.own[key].value / tokens, key, tokens) for key, tokens, _ in prices]
        for _, key, before in sorted(rest):
            candidate = self.own[key].candidate
            tokens = self._tokens(candidate, chosen) if changed else before
            if tokens > room * LEEWAY or repeats.takes(candidate, chosen):
                continue
            if offered == OFFERED:
                return
            offered += 1
            if chosen.takes([candidate], self.scales.limit, likely=True):
                room, changed = self.scales.limit - chosen.size(), True

    def _tokens(self, candidate: Candidate, chosen: ChunkSet) -> int:
        """About what a chunk adds to the chosen ones."""
        chunk = candidate.chunk
        document_id, index = chunk.document_id, chunk.chunk_index
        there = chosen.chosen.get(document_id)
        tokens = chunk.token_count or 0
        if there is None:
            tokens += self.headers.get(document_id) or self._header(document_id)
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
        document = self.scales.document(document_id)
        chars = len(self.scales.title(document_id)) + len(document.source or "") + len(self.scales.prefix(document_id))
        self.headers[document_id] = HEADER_TOKENS + chars // CHARS_PER_TOKEN
        return self.headers[document_id]

    @staticmethod
    def _beside(key: Key) -> tuple[Key, Key]:
        return (key[0], key[1] - 1), (key[0], key[1] + 1)
