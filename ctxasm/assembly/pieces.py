"""Pieces of text on their way into a block, with what is known of their token counts before anything is tokenized.

With O the stripped overlap, count(context + rest) = count(context) + count(chunk) - count(O): the context ends in O, and O
has a seam strictly inside. In the same way every later piece of a chunk grows by the difference of two counts of heads of
the chunk, as soon as a seam lies before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ctxasm.assembly.passages import Joined
from ctxasm.model.events import Event, Gapped
from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Key, SegmentKind
from ctxasm.text.visible import one_line


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
