"""Stage 6: documents become numbered blocks of text, measured while they are written.

The context is a pure function of the chosen set: `Renderer.lay_out` takes the set, and the budget asks the same method
what a set would cost. There is no second cost formula. Format `numbered` (token-budget guide, bookend guide):
`[N] Source: title, page p`, then the text; blocks are separated by one blank line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from ctxasm.model.collisions import Body, defuse
from ctxasm.model.events import Event, Gapped, Neutralised
from ctxasm.model.passages import Joined
from ctxasm.model.plans import Block, DocumentPlan, Layout, Part
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Document
from ctxasm.model.results import Key, Segment, SegmentKind
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.visible import is_visible, one_line

BLANK_LINE = "\n\n"


class Piece:
    """A part while it is being written. `own` and `growth` are token facts that hold as long as `text` is not changed."""

    __slots__ = ("chunk_index", "growth", "high", "kind", "low", "neutralised", "own", "shared_with", "text")

    def __init__(self, kind: SegmentKind, text: str, own: int | None = None, growth: int | None = None) -> None:
        self.kind, self.text, self.own, self.growth = kind, text, own, growth
        self.chunk_index: int | None = None
        self.low: int | None = None
        self.high: int | None = None
        self.shared_with: tuple[Key, ...] = ()
        self.neutralised = False


class Renderer:
    """Writes and measures documents under fixed settings. Deterministic; keeps no state between layouts."""

    def __init__(self, settings: AssemblySettings, counter: TokenCounter) -> None:
        self.settings = settings
        self.counter = counter

    def lay_out(self, plans: Sequence[DocumentPlan]) -> Layout:
        """The documents in this order as parts with exact token growth; see `Layout`."""
        sheet = _Sheet(self.settings, self.counter)
        for plan in plans:
            sheet.add(plan)
        if self.settings.budget_scope == "chunks":
            sizes = tuple(accumulate(self._chunk_tokens(plan) for plan in plans))
        else:
            sizes = tuple(sheet.ends)
        return Layout(
            tuple(sheet.parts),
            tuple(sheet.blocks),
            tuple(sheet.ends),
            sizes,
            tuple(sheet.part_ends),
            tuple(sheet.block_ends),
            tuple(sheet.events),
        )

    def _chunk_tokens(self, plan: DocumentPlan) -> int:
        """The shown spans counted one by one: what the five-stage pipeline takes for the size of a document."""
        return sum(shown_tokens(j, self.counter) for j in plan.joined)


def shown_tokens(j: Joined, counter: TokenCounter) -> int:
    """Tokens of the shown span of one chunk, alone."""
    chunk = j.chunk
    if j.merged or j.start >= j.end:
        return 0
    if j.end == len(chunk.text) and chunk.token_count is not None:
        if j.start == 0:
            return chunk.token_count
        if j.simple and chunk.overlap_tokens is not None:
            return counter.complement(chunk.text, j.start, chunk.token_count, chunk.overlap_tokens)
    return counter.count(chunk.text[j.start : j.end])


class _Sheet:
    """A text in the making."""

    def __init__(self, settings: AssemblySettings, counter: TokenCounter) -> None:
        self.settings, self.counter, self.tally = settings, counter, counter.tally()
        self.parts: list[Part] = []
        self.blocks: list[Block] = []
        self.events: list[Event] = []
        self.ends: list[int] = []
        self.part_ends: list[int] = []
        self.block_ends: list[int] = []

    def add(self, plan: DocumentPlan) -> None:
        """Write the blocks of one document."""
        prefix = plan.prefix
        for group in _groups(plan.joined, self.settings.citation_unit):
            self._block(plan, group, prefix)
            prefix = ""
        self.ends.append(self.tally.total)
        self.part_ends.append(len(self.parts))
        self.block_ends.append(len(self.blocks))

    def _block(self, plan: DocumentPlan, group: Sequence[Joined], prefix: str) -> None:
        document_id = plan.document.document_id
        number = len(self.blocks) + 1
        if self.blocks:
            self._write(Piece("separator", BLANK_LINE), None, None)
        header = Piece("header", header_of(number, plan.title, [j.chunk.page_number for j in group]))
        body = [Piece("prefix", prefix + "\n")] if prefix else []
        body += self._body(document_id, group)
        if self.settings.marker_collisions != "off":
            self._defuse(document_id, number, header, body)
        for piece in (header, *body):
            self._write(piece, number, document_id)
        self.blocks.append(Block(number, document_id, tuple(j.chunk.chunk_index for j in group)))

    def _body(self, document_id: str, group: Sequence[Joined]) -> list[Piece]:
        pieces: list[Piece] = []
        for j in group:
            if j.start >= j.end:
                continue
            text = j.chunk.text
            written = pieces[-1].text if pieces and pieces[-1].kind != "prefix" else ""
            contiguous = False
            if not written:
                pass
            elif j.opens:
                pieces.append(Piece("gap", _gap(written, self.settings.gap_mark)))
                self.events.append(Gapped(document_id, j.chunk.chunk_index))
            elif not (j.glued or written[-1].isspace() or text[j.start].isspace()):
                pieces.append(Piece("separator", "\n"))
            else:
                contiguous = True
            pieces += _chunk_pieces(j, contiguous, self.counter)
        return pieces

    def _defuse(self, document_id: str, number: int, header: Piece, body: list[Piece]) -> None:
        swap = self.settings.marker_collisions == "neutralise"
        own = len(f"[{number}] ")
        checked = defuse([header.text[own:]], swap)
        self.events += [Neutralised(document_id, None, text, swap) for _, text in checked.found]
        header.text = header.text[:own] + checked.texts[0]
        checked = defuse([piece.text for piece in body], swap)
        self.events += [Neutralised(document_id, body[place].chunk_index, text, swap) for place, text in checked.found]
        if checked.swaps:
            self._recount(body, checked)

    def _recount(self, body: list[Piece], checked: Body) -> None:
        """Take the defused texts over, with what is still known of their tokens."""
        solid = True
        for place, (piece, text) in enumerate(zip(body, checked.texts, strict=True)):
            if not solid:
                # A growth rests on a seam inside the piece before; without one it is not known any more.
                piece.growth = None
            solid = self.counter.has_seam(text)
            if piece.text == text:
                continue
            swaps = [swap for swap in checked.swaps if swap.place == place]
            low, high = min(swap.low for swap in swaps), max(swap.high for swap in swaps)
            changed = self.counter.change(piece.text, text, low, high)
            piece.own = None if piece.own is None or changed is None else piece.own + changed
            piece.growth = None if piece.growth is None or changed is None else piece.growth + changed
            piece.text, piece.neutralised = text, True
            solid = self.counter.has_seam(text[high:])

    def _write(self, piece: Piece, block: int | None, document_id: str | None) -> None:
        if not piece.text:
            return
        growth = self.tally.add(piece.text, piece.own, piece.growth)
        owner = document_id if piece.kind in ("chunk", "header", "prefix", "gap") else None
        self.parts.append(
            Part(
                piece.kind, piece.text, growth, block, owner, piece.chunk_index, piece.low, piece.high, piece.shared_with, piece.neutralised
            )
        )


def _groups(joined: Sequence[Joined], unit: str) -> list[list[Joined]]:
    """The blocks of a document: all of it, one a passage, or one a chunk. A merged chunk joins the block before it."""
    groups: list[list[Joined]] = []
    for j in joined:
        opens = not groups or (unit == "passage" and j.opens) or (unit == "chunk" and not j.merged)
        if opens:
            groups.append([])
        groups[-1].append(j)
    return groups


def header_of(number: int, title: str, page_numbers: Sequence[int | None]) -> str:
    """`[N] Source: title, page p` and a newline; a range of pages where the block spans several."""
    pages = sorted({page for page in page_numbers if page is not None})
    where = "" if not pages else f", page {pages[0]}" if len(pages) == 1 else f", pages {pages[0]}–{pages[-1]}"
    return f"[{number}] Source: {title}{where}\n"


def title_of(document: Document) -> str:
    """What a header names: the title, else the source, else the id, on one line."""
    for name in (document.title, document.source):
        if name and is_visible(name):
            return one_line(name)
    return one_line(document.document_id) or "?"


def _gap(written: str, mark: str) -> str:
    """The gap mark on its own line; an empty one leaves a line break."""
    line_break, mark = "" if written.endswith("\n") else "\n", one_line(mark)
    return f"{line_break}{mark}\n" if mark else line_break


def _chunk_pieces(j: Joined, contiguous: bool, counter: TokenCounter) -> list[Piece]:
    """The shown span of a chunk, cut where text shared with others begins or ends, with what is known of its tokens.

    With O the stripped overlap, count(context + rest) = count(context) + count(chunk) - count(O): the context ends in O,
    and O has a seam strictly inside. In the same way every later piece grows by the difference of two counts of heads of
    the chunk, as soon as a seam lies before it.
    """
    chunk = j.chunk
    places = sorted({j.start, j.end, *(place for s in j.shares for place in (s.low, s.high) if j.start < place < j.end)})
    counted = _counted_at_start(j, contiguous)
    pieces = []
    for low, high in pairwise(places):
        piece = Piece("chunk", chunk.text[low:high])
        piece.chunk_index, piece.low, piece.high = chunk.chunk_index, low, high
        piece.shared_with = tuple(s.key for s in j.shares if s.low <= low and high <= s.high)
        until = _count_until(j, high, counter) if counted is not None else None
        if until is not None and low == 0:
            piece.own = until
            counted = until if high == len(chunk.text) or counter.has_seam(piece.text) else None
        elif until is not None and counted is not None:
            piece.growth, counted = until - counted, until
        else:
            counted = None
        pieces.append(piece)
    return pieces


def _counted_at_start(j: Joined, contiguous: bool) -> int | None:
    """Count of the head that is not shown, if growth can be told from here on."""
    if j.start == 0:
        return 0
    return j.chunk.overlap_tokens if j.simple and contiguous else None


def _count_until(j: Joined, at: int, counter: TokenCounter) -> int | None:
    """Count of the chunk's text up to character `at`, where the stored facts tell it."""
    chunk = j.chunk
    if at == len(chunk.text) or chunk.token_count is None:
        return chunk.token_count
    tail = j.shares[0] if len(j.shares) == 1 else None
    if tail is None or tail.tokens is None or tail.low != at or tail.high != len(chunk.text):
        return None
    return counter.complement(chunk.text, at, chunk.token_count, tail.tokens)


def segments_of(parts: Sequence[Part]) -> tuple[Segment, ...]:
    """The parts put end to end, with their places in the text."""
    segments, at = [], 0
    for part in parts:
        end = at + len(part.text)
        segments.append(Segment(part.kind, at, end, part.growth, part.block, *part[4:]))
        at = end
    return tuple(segments)
