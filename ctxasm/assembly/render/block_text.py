"""The text of one block before it gets its number: the frame of its format and the pieces of its body, defused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxasm.model.collisions import Body, Find, defuse, defuse_frame, find_collisions, might_collide
from ctxasm.model.events import Event, Gapped, Neutralised
from ctxasm.model.extracts import Extract, pieces_of
from ctxasm.model.formats import Frame
from ctxasm.model.passages import Joined
from ctxasm.model.pieces import Piece, cut_pieces, whole_piece
from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Key, SegmentKind
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.visible import one_line


class Head(NamedTuple):
    """The frame of a block and the document that it names."""

    frame: Frame
    document_id: str


class BlockText(NamedTuple):
    """What a block says: its frame, the pieces of its body, and what was noted while they were put together."""

    head: Head
    body: list[Piece]
    events: list[Event]


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


def traced(document_id: str, body: Sequence[Piece], extracts: Mapping[Key, Extract], gap_mark: str) -> list[Piece]:
    """The pieces with those of compressed chunks led back to the original: its own spans, and gap marks between them."""
    pieces: list[Piece] = []
    for piece in body:
        extract = extracts.get((document_id, piece.chunk_index)) if piece.chunk_index is not None else None
        if extract is None or piece.low is None or piece.high is None:
            pieces.append(piece)
            continue
        for part in pieces_of(extract, gap_mark, piece.low, piece.high):
            text = piece.text[part.low - piece.low : part.high - piece.low]
            kind: SegmentKind = "gap" if part.start is None and extract.how != "rewritten" else "chunk"
            own = Piece(kind, text, None, None, piece.chunk_index, part.start, part.end, piece.shared_with if kind == "chunk" else ())
            own.rewritten = extract.how == "rewritten"
            pieces.append(own)
    return pieces


def _gap(written: str, mark: str) -> str:
    """The gap mark on its own line; an empty one leaves a line break."""
    line_break, mark = "" if written.endswith("\n") else "\n", one_line(mark)
    return f"{line_break}{mark}\n" if mark else line_break


def defused(text: BlockText, settings: AssemblySettings, counter: TokenCounter, find: Find = find_collisions) -> BlockText:
    """The block with everything in it that would read as a marker or a boundary found, and swapped where that is asked for."""
    if settings.marker_collisions == "off":
        return text
    swap, format = settings.marker_collisions == "neutralise", settings.format
    (frame, document_id), body, events = text
    frame, named = defuse_frame(frame, swap, format)
    events += [Neutralised(document_id, None, found, swap) for found in named]
    if might_collide("".join([piece.text for piece in body]), format):
        checked = defuse([piece.text for piece in body], swap, format, find)
        events += [Neutralised(document_id, body[place].chunk_index, found, swap) for place, found in checked.found]
        if checked.swaps:
            _recount(body, checked, counter)
    return BlockText(Head(frame, document_id), body, events)


def _recount(body: list[Piece], checked: Body, counter: TokenCounter) -> None:
    """Take the defused texts over, with what is still known of their tokens."""
    solid = True
    for place, (piece, text) in enumerate(zip(body, checked.texts, strict=True)):
        if not solid:
            # A growth rests on a seam inside the piece before; without one it is not known any more.
            piece.growth = None
        solid = counter.has_seam(text)
        if piece.text == text:
            continue
        swaps = [swap for swap in checked.swaps if swap.place == place]
        low, high = min(swap.low for swap in swaps), max(swap.high for swap in swaps)
        changed = counter.change(piece.text, text, low, high)
        piece.own = None if piece.own is None or changed is None else piece.own + changed
        piece.growth = None if piece.growth is None or changed is None else piece.growth + changed
        piece.text, piece.neutralised = text, True
        solid = counter.has_seam(text[high:])
