"""The text of one block before it gets its number: the frame of its format and the pieces of its body, defused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxasm.assembly.extracts import Extract, pieces_of
from ctxasm.assembly.pieces import Piece
from ctxasm.model.events import Event, Neutralised
from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Key, SegmentKind
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.formats import Frame
from ctxasm.text.markers.collisions import Body, Find, defuse_block, find_collisions, separator_of
from ctxasm.text.markers.quiet import opens_something
from ctxasm.text.markers.separators import find_separators


class Head(NamedTuple):
    """The frame of a block and the document that it names."""

    frame: Frame
    document_id: str


class BlockText(NamedTuple):
    """What a block says: its frame, the pieces of its body, and what was noted while they were put together."""

    head: Head
    body: list[Piece]
    events: list[Event]


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


def defused(
    text: BlockText, settings: AssemblySettings, counter: TokenCounter, find: Find = find_collisions, quiet: bool = False
) -> BlockText:
    """The block with everything in it that would read as a marker or a boundary found, and swapped where that is asked for.

    `quiet`: its body is known to hold nothing of the kind.
    """
    if settings.marker_collisions == "off":
        return text
    line = separator_of(settings)
    if quiet and not opens_something(text.head.frame.after) and not (line and find_separators(_joined(text), line)):
        return text
    swap = settings.marker_collisions == "neutralise"
    (frame, document_id), body, events = text
    frame, named, checked = defuse_block(frame, [piece.text for piece in body], swap, settings.format, find, line)
    events += [Neutralised(document_id, None, found, swap) for found in named]
    events += [Neutralised(document_id, body[place].chunk_index, found, swap) for place, found in checked.found]
    if checked.swaps:
        _recount(body, checked, counter)
    return BlockText(Head(frame, document_id), body, events)


def _joined(text: BlockText) -> str:
    return text.head.frame.after + "".join([piece.text for piece in text.body])


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
