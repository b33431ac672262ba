"""Stage 6: documents become numbered blocks of text, measured while they are written.

The context is a pure function of the chosen set: `Renderer.lay_out` takes the set, and the budget asks the same renderer
what a set would cost. There is no second cost formula. Format `numbered` (token-budget guide, bookend guide):
`[N] Source: title, page p`, then the text; blocks are separated by one blank line.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate

from ctxasm.model.collisions import Body, defuse
from ctxasm.model.events import Event, Gapped, Neutralised
from ctxasm.model.marker_search import might_hold_marker
from ctxasm.model.passages import Joined
from ctxasm.model.pieces import Piece, cut_pieces, whole_piece
from ctxasm.model.plans import Block, DocumentPlan, Layout
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Document
from ctxasm.model.results import Segment
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.visible import is_visible, one_line

BLANK_LINE = "\n\n"


class Renderer:
    """Writes and measures documents under fixed settings. Deterministic; keeps no state between layouts."""

    def __init__(self, settings: AssemblySettings, counter: TokenCounter) -> None:
        self.settings = settings
        self.counter = counter

    def lay_out(self, plans: Sequence[DocumentPlan]) -> Layout:
        """The documents in this order as text and segments with exact token growth; see `Layout`."""
        return self._fill(plans, True)

    def measure(self, plans: Sequence[DocumentPlan]) -> Layout:
        """The same sizes without text and segments: chunks are counted whole, not cut where others share them."""
        return self._fill(plans, False)

    def _fill(self, plans: Sequence[DocumentPlan], written: bool) -> Layout:
        sheet = _Sheet(self.settings, self.counter, written)
        for plan in plans:
            sheet.add(plan)
        sizes = tuple(sheet.ends)
        if self.settings.budget_scope == "chunks":
            # The shown spans counted one by one: what the five-stage pipeline takes for the size of a document.
            sizes = tuple(accumulate(sum(shown_tokens(j, self.counter) for j in plan.joined) for plan in plans))
        return Layout("".join(sheet.texts), tuple(sheet.segments), tuple(sheet.blocks), tuple(sheet.ends), sizes, tuple(sheet.events))


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
    """A text in the making. Without `written` only its size is kept."""

    def __init__(self, settings: AssemblySettings, counter: TokenCounter, written: bool) -> None:
        self.settings, self.counter, self.written = settings, counter, written
        self.tally = counter.tally()
        self.texts: list[str] = []
        self.segments: list[Segment] = []
        self.blocks: list[Block] = []
        self.events: list[Event] = []
        self.ends: list[int] = []
        self.at = 0

    def add(self, plan: DocumentPlan) -> None:
        """Write the blocks of one document."""
        prefix = plan.prefix
        for group in _groups(plan.joined, self.settings.citation_unit):
            self._block(plan, group, prefix)
            prefix = ""
        self.ends.append(self.tally.total)

    def _block(self, plan: DocumentPlan, group: Sequence[Joined], prefix: str) -> None:
        document_id = plan.document.document_id
        number = len(self.blocks) + 1
        if self.blocks:
            self._write([Piece("separator", BLANK_LINE)], None, None)
        header = Piece("header", header_of(number, plan.title, {j.chunk.page_number for j in group}))
        body = self._body(document_id, group)
        if prefix:
            body.insert(0, Piece("prefix", prefix + "\n"))
        if self.settings.marker_collisions != "off":
            self._defuse(document_id, number, header, body)
        self._write([header, *body], number, document_id)
        self.blocks.append(Block(number, document_id, tuple([j.chunk.chunk_index for j in group])))

    def _body(self, document_id: str, group: Sequence[Joined]) -> list[Piece]:
        pieces: list[Piece] = []
        for j in group:
            if j.start >= j.end:
                continue
            contiguous = False
            if pieces:
                ending = pieces[-1].text
                if j.opens:
                    pieces.append(Piece("gap", _gap(ending, self.settings.gap_mark)))
                    self.events.append(Gapped(document_id, j.chunk.chunk_index))
                elif j.glued or ending[-1].isspace() or j.chunk.text[j.start].isspace():
                    contiguous = True
                else:
                    pieces.append(Piece("separator", "\n"))
            if self.written:
                pieces += cut_pieces(j, contiguous, self.counter)
            else:
                pieces.append(whole_piece(j, contiguous))
        return pieces

    def _defuse(self, document_id: str, number: int, header: Piece, body: list[Piece]) -> None:
        swap = self.settings.marker_collisions == "neutralise"
        own = len(f"[{number}] ")
        if might_hold_marker(header.text[own:]):
            checked = defuse([header.text[own:]], swap)
            self.events += [Neutralised(document_id, None, text, swap) for _, text in checked.found]
            header.text = header.text[:own] + checked.texts[0]
        if might_hold_marker("".join([piece.text for piece in body])):
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

    def _write(self, pieces: Sequence[Piece], block: int | None, document_id: str | None) -> None:
        add = self.tally.add
        if not self.written:
            for piece in pieces:
                add(piece.text, piece.own, piece.growth)
            return
        for piece in pieces:
            text = piece.text
            if not text:
                continue
            growth = add(text, piece.own, piece.growth)
            start, self.at = self.at, self.at + len(text)
            owner = None if piece.kind == "separator" else document_id
            self.texts.append(text)
            self.segments.append(
                Segment(
                    piece.kind,
                    start,
                    self.at,
                    growth,
                    block,
                    owner,
                    piece.chunk_index,
                    piece.low,
                    piece.high,
                    piece.shared_with,
                    piece.neutralised,
                )
            )


def _groups(joined: Sequence[Joined], unit: str) -> Sequence[Sequence[Joined]]:
    """The blocks of a document: all of it, one a passage, or one a chunk. A merged chunk joins the block before it."""
    if unit == "document":
        return [joined] if joined else []
    groups: list[list[Joined]] = []
    for j in joined:
        opens = not groups or (unit == "passage" and j.opens) or (unit == "chunk" and not j.merged)
        if opens:
            groups.append([])
        groups[-1].append(j)
    return groups


def header_of(number: int, title: str, page_numbers: AbstractSet[int | None]) -> str:
    """`[N] Source: title, page p` and a newline; a range of pages where the block spans several."""
    pages = [page for page in page_numbers if page is not None]
    if not pages:
        return f"[{number}] Source: {title}\n"
    if len(pages) == 1:
        return f"[{number}] Source: {title}, page {pages[0]}\n"
    return f"[{number}] Source: {title}, pages {min(pages)}–{max(pages)}\n"


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
