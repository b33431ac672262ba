"""Chunks of one document put next to each other: what of each is shown, so that shared text is shown once.

The decision is made inside the set that is given, never remembered from a larger one: a chunk whose predecessor is not
there keeps its head. Text is never cut in place; every result is a span of its chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxasm.model.overlap import Overlap, has_offsets, overlap_of
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.results import Key

CUT = "cut"
"""The `overlap_kind` of a chunk whose seam with the one before it is broken: text was left out there."""
NOTABLE = 8
"""Shorter matches between neighbours without offsets are chance and not worth a note."""


class Share(NamedTuple):
    """Characters `low` to `high` of a shown chunk also belong to the chunk `key`.

    `lead_tokens` counts the chunk up to `low`, where load-time facts tell it.
    """

    low: int
    high: int
    key: Key
    lead_tokens: int | None = None


class Joined(NamedTuple):
    """One chunk in its place. Characters `start` to `end` are shown; `start` of them are shown by chunks before it.

    `opens` marks the first chunk of a passage. `glued`: the seam before it needs no separator. `note` is "near_miss" or
    "coincidence" with the `shared` characters that were kept all the same. `into` names the chunk that shows all of it.
    `simple`: the head stripped is exactly the stored overlap with the chunk before, which is shown to its end.
    """

    chunk: FetchedChunk
    start: int
    end: int
    opens: bool
    glued: bool = False
    note: str | None = None
    shared: int = 0
    into: Key | None = None
    simple: bool = False
    shares: tuple[Share, ...] = ()

    @property
    def merged(self) -> bool:
        """Whether nothing of it is left to show."""
        return self.into is not None


NO_ENDS: Mapping[int, int] = {}


def join(chunks: Sequence[FetchedChunk], min_overlap_chars: int, ends: Mapping[int, int] = NO_ENDS) -> tuple[Joined, ...]:
    """The chunks of one document as they stand next to each other, usually ascending by index.

    `ends` says of chunks (by index) how many characters are shown; one that is cut ends its passage.
    """
    joiner = _Joiner(min_overlap_chars)
    for chunk in chunks:
        joiner.add(chunk, ends.get(chunk.chunk_index, len(chunk.text)))
    return tuple(joiner.done)


class _Joiner:
    """One pass over a document's chunks. `passage` is where in `done` the current passage begins, `frontier` its furthest offset."""

    def __init__(self, min_overlap_chars: int) -> None:
        self.least = min_overlap_chars
        self.done: list[Joined] = []
        self.passage = 0
        self.frontier: int | None = None

    def add(self, chunk: FetchedChunk, end: int) -> None:
        before = self.done[-1] if self.done else None
        apart = chunk.overlap_kind == CUT or (before is not None and before.end < len(before.chunk.text))
        if before is None or chunk.chunk_index != before.chunk.chunk_index + 1 or apart:
            self.passage = len(self.done)
            self.frontier = chunk.end
            self.done.append(Joined(chunk, 0, end, True))
            return
        overlap = self._overlap(before, chunk)
        if chunk.end is not None and (self.frontier is None or chunk.end > self.frontier):
            self.frontier = chunk.end
        if overlap.kind == "coincidence" or overlap.chars <= self.least:
            self._keep(before, chunk, end, overlap)
            return
        start = min(overlap.chars, end)
        fits = not before.merged and len(before.chunk.text) - before.start >= start
        simple = fits and start == chunk.overlap_chars and start < len(chunk.text)
        into = self._share(chunk, start, simple, overlap.kind)
        self.done.append(Joined(chunk, start, end, False, True, None, overlap.chars, into if start >= len(chunk.text) else None, simple))

    def _keep(self, before: Joined, chunk: FetchedChunk, end: int, overlap: Overlap) -> None:
        """Put the whole chunk after `before`: nothing is stripped."""
        note = None
        if overlap.kind == "coincidence" and overlap.chars > self.least:
            note = "coincidence"
        elif overlap.chars >= (1 if overlap.kind == "offsets" else NOTABLE):
            note = "near_miss"
        shown = next((j for j in reversed(self.done[self.passage :]) if not j.merged), before)
        touching = has_offsets(chunk) and has_offsets(shown.chunk) and chunk.start == shown.chunk.end
        self.done.append(Joined(chunk, 0, end, False, touching, note, overlap.chars))

    def _overlap(self, before: Joined, chunk: FetchedChunk) -> Overlap:
        """How much of the head of `chunk` is already shown: by its predecessor, or, with nested offsets, by the passage."""
        stored = chunk.overlap_kind
        pair = overlap_of(before.chunk, chunk) if stored is None else Overlap(chunk.overlap_chars or 0, stored)
        if pair.kind != "offsets" or (before.chunk.end == self.frontier and (chunk.start or 0) >= (before.chunk.start or 0)):
            return pair
        return self._covered(chunk) or pair

    def _covered(self, chunk: FetchedChunk) -> Overlap | None:
        """The longest head of `chunk` whose every character the passage shows at the same offset; None where texts differ."""
        low = at = chunk.start or 0
        seen = -1
        while at != seen:
            seen = at
            for earlier in self.done[self.passage :]:
                start, end = earlier.chunk.start or 0, earlier.chunk.end or 0
                if has_offsets(earlier.chunk) and start <= at < end:
                    shared = min(end, chunk.end or 0)
                    if earlier.chunk.text[at - start : shared - start] != chunk.text[at - low : shared - low]:
                        return None
                    at = shared
        return Overlap(at - low, "offsets")

    def _share(self, chunk: FetchedChunk, chars: int, simple: bool, kind: str) -> Key:
        """Note on the chunks that show the head of `chunk` that they share it; the last of them is returned."""
        key = (chunk.document_id, chunk.chunk_index)
        if simple:
            before = self.done[-1]
            self._mark(len(self.done) - 1, Share(before.end - chars, before.end, key, chunk.lead_tokens))
            return key
        if kind != "offsets":
            return self._share_tail(key, chars)
        low = chunk.start or 0
        high = low + chars
        owner: Key | None = None
        for at in range(len(self.done) - 1, self.passage - 1, -1):
            earlier = self.done[at]
            start = earlier.chunk.start or 0
            first, last = max(low, start + earlier.start), min(high, start + earlier.end)
            if first < last and not earlier.merged:
                self._mark(at, Share(first - start, last - start, key))
                owner = owner or (earlier.chunk.document_id, earlier.chunk.chunk_index)
        return owner or key

    def _share_tail(self, key: Key, chars: int) -> Key:
        """The last `chars` characters shown by this passage also belong to `key`."""
        owner: Key | None = None
        for at in range(len(self.done) - 1, self.passage - 1, -1):
            earlier = self.done[at]
            taken = min(chars, earlier.end - earlier.start)
            if taken and not earlier.merged:
                self._mark(at, Share(earlier.end - taken, earlier.end, key))
                owner = owner or (earlier.chunk.document_id, earlier.chunk.chunk_index)
                chars -= taken
            if chars <= 0:
                break
        return owner or key

    def _mark(self, at: int, share: Share) -> None:
        earlier = self.done[at]
        self.done[at] = Joined._make((*earlier[:-1], (*earlier.shares, share)))
