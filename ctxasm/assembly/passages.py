"""Chunks of one document put next to each other: what of each is shown, so that shared text is shown once.

The decision is made inside the set that is given, never remembered from a larger one: a chunk whose predecessor is not
there keeps its head. Text is never cut in place; every result is a span of its chunk.

What is shown becomes the pieces of a block, with what is known of their token counts before anything is tokenized. With O the
stripped overlap, count(context + rest) = count(context) + count(chunk) - count(O): the context ends in O, and O has a seam strictly
inside. In the same way every later piece of a chunk grows by the difference of two counts of heads of the chunk, as soon as a seam
lies before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxasm.model.characters import one_line
from ctxasm.model.events import Event, Gapped
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import make_record
from ctxasm.model.results import Key, SegmentKind
from ctxasm.text.chunk_facts import overlap_at
from ctxasm.text.overlap import NOTHING_SHARED, Overlap, left_behind, touching

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
    """One pass over a document's chunks.

    `passage` is where in `done` the current passage begins, `headed` where the last chunk stands that is shown from its beginning.
    `standing` is the chunk whose end is the end of what the passage shows: the one put last, unless that lies inside another by its
    offsets. What follows can only repeat that one's text.
    """

    def __init__(self, min_overlap_chars: int) -> None:
        self.least = min_overlap_chars
        self.done: list[Joined] = []
        self.passage = self.headed = 0
        self.standing: FetchedChunk | None = None

    def add(self, chunk: FetchedChunk, end: int) -> None:
        before = self.done[-1] if self.done else None
        apart = chunk.overlap_kind == CUT or (before is not None and before.end < len(before.chunk.text))
        if before is None or self.standing is None or chunk.chunk_index != before.chunk.chunk_index + 1 or apart:
            self.passage = self.headed = len(self.done)
            self.standing = chunk
            self.done.append(Joined(chunk, 0, end, True))
            return
        found = overlap_at(self.standing, chunk)
        overlap = self._shown(chunk, found)
        if not overlap.chars:
            self._keep(self.standing, chunk, end, found)
            self.standing = chunk
            return
        start, behind = min(overlap.chars, end), left_behind(self.standing, chunk, overlap)
        fits = before.into is None and len(before.chunk.text) - before.start >= start
        simple = fits and start == chunk.overlap_chars and start < len(chunk.text) and not overlap.header
        shared = max(0, start - overlap.header)
        into: Key | None = self._share(chunk, shared, simple, behind + overlap.chars - overlap.header - shared)
        if overlap.header:
            self._mark(self.headed, Share(0, min(overlap.header, start), (chunk.document_id, chunk.chunk_index)))
        into = into if start >= len(chunk.text) else None
        self.done.append(make_record(Joined, (chunk, start, end, False, True, None, overlap.chars, into, simple, ())))
        if not behind:
            self.standing = chunk

    def _shown(self, chunk: FetchedChunk, found: Overlap) -> Overlap:
        """What of the head of `chunk` the passage shows, so that it can be left out. What offsets tell is certain at any length."""
        if found.kind == "offsets":
            return found
        if found.kind == "coincidence" or found.chars - found.header <= self.least:
            return NOTHING_SHARED
        headed = not found.header or self.done[self.headed].chunk.text.startswith(chunk.text[: found.header])
        return found if headed else NOTHING_SHARED

    def _keep(self, standing: FetchedChunk, chunk: FetchedChunk, end: int, overlap: Overlap) -> None:
        """Put the whole chunk after `standing`: nothing is stripped."""
        note = None
        if overlap.kind == "coincidence" and overlap.chars > self.least:
            note = "coincidence"
        elif overlap.chars >= NOTABLE:
            note = "near_miss"
        glued = touching(standing, chunk)
        self.headed = len(self.done)
        self.done.append(make_record(Joined, (chunk, 0, end, False, glued, note, overlap.chars, None, False, ())))

    def _share(self, chunk: FetchedChunk, chars: int, simple: bool, behind: int) -> Key:
        """Note on the chunks that show the head of `chunk` that they share it; the last of them is returned.

        The passage shows that head, `chars` long, straight before its last `behind` characters.
        """
        key = (chunk.document_id, chunk.chunk_index)
        if simple:
            before = self.done[-1]
            self._mark(len(self.done) - 1, make_record(Share, (before.end - chars, before.end, key, chunk.lead_tokens)))
            return key
        owner: Key | None = None
        for at in reversed(range(self.passage, len(self.done))):
            earlier = self.done[at]
            shown = earlier.end - earlier.start
            taken = min(chars, shown - behind)
            if taken > 0:
                high = earlier.end - behind
                self._mark(at, Share(high - taken, high, key))
                owner = owner or (earlier.chunk.document_id, earlier.chunk.chunk_index)
                chars -= taken
            behind = max(0, behind - shown)
            if chars <= 0:
                break
        return owner or key

    def _mark(self, at: int, share: Share) -> None:
        earlier = self.done[at]
        self.done[at] = make_record(Joined, (*earlier[:-1], (*earlier.shares, share)))


class Piece:
    """A stretch of text to be written. `own` counts it alone, `growth` where it will stand; None where that is not known.

    `low`, `high` are its characters in the chunk `chunk_index`, for kind "chunk" only.
    """

    __slots__ = ("chunk_index", "growth", "high", "kind", "low", "neutralised", "own", "rewritten", "shared_with", "text")

    def __init__(
        self,
        kind: SegmentKind,
        text: str,
        own: int | None = None,
        growth: int | None = None,
        chunk_index: int | None = None,
        low: int | None = None,
        high: int | None = None,
        shared_with: tuple[Key, ...] = (),
    ) -> None:
        self.kind, self.text, self.own, self.growth = kind, text, own, growth
        self.chunk_index, self.low, self.high, self.shared_with = chunk_index, low, high, shared_with
        self.neutralised = self.rewritten = False


def body_of(document_id: str, group: Sequence[Joined], gap_mark: str, counter: TokenCounter, cut: bool) -> tuple[list[Piece], list[Event]]:
    """The chunks of a block as pieces with what stands between them. `cut`: they are cut where others share them."""
    pieces: list[Piece] = []
    events: list[Event] = []
    for j in group:
        if j.start >= j.end:
            continue
        contiguous = False
        if pieces:
            ending = pieces[-1].text
            if j.opens:
                pieces.append(Piece("gap", _gap(ending, gap_mark)))
                events.append(Gapped(document_id, j.chunk.chunk_index))
            elif j.glued or ending[-1].isspace() or j.chunk.text[j.start].isspace():
                contiguous = True
            else:
                pieces.append(Piece("separator", "\n"))
        if cut:
            pieces += cut_pieces(j, contiguous, counter)
        else:
            pieces.append(whole_piece(j, contiguous))
    return pieces, events


def _gap(written: str, mark: str) -> str:
    """The gap mark on its own line; an empty one leaves a line break."""
    line_break, mark = "" if written.endswith("\n") else "\n", one_line(mark)
    return f"{line_break}{mark}\n" if mark else line_break


def whole_piece(j: Joined, contiguous: bool) -> Piece:
    """The shown span of a chunk as one piece. `contiguous`: it is written straight after the chunk before it."""
    chunk, start, end = j.chunk, j.start, j.end
    text = chunk.text
    own = growth = None
    if end == len(text) and chunk.token_count is not None:
        if start == 0:
            own = chunk.token_count
        elif contiguous and j.simple and chunk.overlap_tokens is not None:
            growth = chunk.token_count - chunk.overlap_tokens
    return Piece("chunk", text[start:end], own, growth, chunk.chunk_index, start, end)


def cut_pieces(j: Joined, contiguous: bool, counter: TokenCounter) -> list[Piece]:
    """The shown span of a chunk, cut where text shared with others begins or ends."""
    whole = whole_piece(j, contiguous)
    if not j.shares:
        return [whole]
    if len(j.shares) == 1 and j.shares[0].high == j.end and j.start < j.shares[0].low:
        return _two(j, whole, counter)
    return _many(j)


def _two(j: Joined, whole: Piece, counter: TokenCounter) -> list[Piece]:
    """The usual case: the end of a chunk is also the head of the next one."""
    chunk, share = j.chunk, j.shares[0]
    at = share.low
    first = Piece("chunk", chunk.text[j.start : at], None, None, chunk.chunk_index, j.start, at)
    second = Piece("chunk", chunk.text[at : j.end], None, None, chunk.chunk_index, at, j.end, (share.key,))
    head = share.lead_tokens
    if head is None or chunk.token_count is None or (whole.own is None and whole.growth is None):
        return [first, second]
    if whole.growth is not None:
        first.growth = head - (chunk.token_count - whole.growth)
        second.growth = chunk.token_count - head
    else:
        first.own = head
        if counter.has_seam(first.text):
            second.growth = chunk.token_count - head
    return [first, second]


def _many(j: Joined) -> list[Piece]:
    """Nested or chained sharing, which is rare: counted where it is written."""
    chunk = j.chunk
    places = sorted({j.start, j.end, *(place for s in j.shares for place in (s.low, s.high) if j.start < place < j.end)})
    return [
        Piece(
            "chunk",
            chunk.text[low:high],
            None,
            None,
            chunk.chunk_index,
            low,
            high,
            tuple(s.key for s in j.shares if s.low <= low and high <= s.high),
        )
        for low, high in pairwise(places)
    ]
