"""Stage 8: chosen blocks become text, measured while they are written.

The context is a pure function of the chosen set: `Renderer.write` takes its blocks in order, and the budget asks the same
renderer what a set would cost (`ends`). There is no second cost formula. A block is what its format says (see `formats`)
around its text; blocks are separated by one blank line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ctxasm.model.block_text import BlockText, Head, body_of, defused, traced
from ctxasm.model.collisions import find_collisions
from ctxasm.model.events import Event
from ctxasm.model.extracts import NO_EXTRACTS, Extract
from ctxasm.model.formats import frame_of, heading_of, with_number
from ctxasm.model.passages import Joined
from ctxasm.model.pieces import Piece
from ctxasm.model.plans import NOTHING_WRITTEN, OVER, Block, BlockPlan, Size, Written
from ctxasm.model.ports import TokenCounter
from ctxasm.model.results import Candidate, Key, Segment
from ctxasm.model.settings import AssemblySettings, Format

BLANK_LINE = "\n\n"


class _Tail(NamedTuple):
    """A block from behind its number on: its text, the count of it alone, and what a blank line adds to it (None: unknown)."""

    before: str
    text: str
    own: int
    blank: int | None
    numbered: bool


class Renderer:
    """Writes and measures blocks under fixed settings. Deterministic; what it has measured once it remembers."""

    def __init__(
        self,
        settings: AssemblySettings,
        counter: TokenCounter,
        candidates: Mapping[Key, Candidate],
        extracts: Mapping[Key, Extract] = NO_EXTRACTS,
    ) -> None:
        self.settings, self.counter, self.candidates, self.extracts = settings, counter, candidates, extracts
        self._tails: dict[tuple[object, ...], _Tail] = {}
        self._growths: dict[tuple[_Tail | None, int, _Tail], tuple[int, int]] = {}
        self._shown: dict[tuple[str, int, int, int], int] = {}
        self._found: dict[str, list[tuple[int, int]]] = {}

    def write(self, blocks: Sequence[BlockPlan], lead: Sequence[Piece] = ()) -> Written:
        """The blocks in this order as text and segments with exact token growth. `lead` stands before the first."""
        if not blocks:
            return NOTHING_WRITTEN
        sheet = _Sheet(self.counter)
        sheet.write(lead, None, None)
        before = sheet.tally.total
        numbered: list[Block] = []
        events: list[Event] = []
        for number, block in enumerate(blocks, 1):
            if number > 1:
                sheet.write([Piece("separator", BLANK_LINE)], None, None)
            document_id = block.plan.document.document_id
            text = self._compose(block, self._continues(blocks, number - 1), True)
            header, foot = with_number(text.head.frame, number)
            sheet.write([Piece("header", header), *text.body, Piece("separator", foot)], number, document_id)
            numbered.append(Block(number, document_id, tuple([j.chunk.chunk_index for j in block.group])))
            events += text.events
        whole = "".join(sheet.texts)
        shown = tuple([j for block in blocks for j in block.group])
        size = self._size(sheet.tally.total, len(whole), self.spent(shown) + before)
        return Written(whole, tuple(sheet.segments), tuple(numbered), tuple(events), shown, size)

    def ends(self, blocks: Sequence[BlockPlan]) -> tuple[Size, ...]:
        """The size of the text that ends with each block: what `write` of the blocks up to it would come to."""
        tails = [self._tail(block, self._continues(blocks, place)) for place, block in enumerate(blocks)]
        # Where a seam lies inside every block but the last, counts add up from one to the next.
        grown = self._grown if all(tail.blank is not None for tail in tails[:-1]) else self._tallied
        sizes: list[Size] = []
        tokens = chars = spent = 0
        for block, (more, longer) in zip(blocks, grown(tails), strict=True):
            tokens, chars, spent = tokens + more, chars + longer, spent + self.spent(block.group)
            sizes.append(self._size(tokens, chars, spent))
        return tuple(sizes)

    def _grown(self, tails: Sequence[_Tail]) -> Iterator[tuple[int, int]]:
        """The tokens and characters that each block adds to the one before it. Remembered: sets of blocks differ in few."""
        last = None
        for number, tail in enumerate(tails, 1):
            key = (last, number, tail)
            if key not in self._growths:
                pair = (tail,) if last is None else (last, tail)
                self._growths[key] = [*self._tallied(pair, number + 1 - len(pair))][-1]
            yield self._growths[key]
            last = tail

    def _tallied(self, tails: Sequence[_Tail], first: int = 1) -> Iterator[tuple[int, int]]:
        """The tokens and characters that each of these blocks, numbered from `first`, adds to all those before it."""
        tally = self.counter.tally()
        last: _Tail | None = None
        for number, tail in enumerate(tails, first):
            before, longer = tally.total, 0
            if last is not None:
                tally.add(BLANK_LINE, None, last.blank)
                longer = len(BLANK_LINE)
            head = f"{tail.before}{number}" if tail.numbered else tail.before
            tally.add(head)
            tally.add(tail.text, tail.own)
            yield tally.total - before, longer + len(head) + len(tail.text)
            last = tail

    def spent(self, shown: Sequence[Joined]) -> int:
        """Tokens of the shown spans one by one (scope `chunks`): what the five-stage pipeline takes for a document's size."""
        if self.settings.budget_scope == "rendered":
            return 0
        total = 0
        for j in shown:
            key = (j.chunk.document_id, j.chunk.chunk_index, j.start, j.end)
            if key not in self._shown:
                self._shown[key] = shown_tokens(j, self.counter)
            total += self._shown[key]
        return total

    def _size(self, tokens: int, chars: int, spent: int) -> Size:
        longest = self.settings.max_chars
        if longest is not None and chars > longest:
            return Size(tokens, OVER)
        return Size(tokens, spent if self.settings.budget_scope == "chunks" else tokens)

    def _continues(self, blocks: Sequence[BlockPlan], place: int) -> bool:
        """Whether the block goes on with the document of the block before it, where that makes a difference."""
        if self.settings.format != "grouped" or not place:
            return False
        return blocks[place].plan.document.document_id == blocks[place - 1].plan.document.document_id

    def _tail(self, block: BlockPlan, continues: bool) -> _Tail:
        plan, group, prefixed = block
        shown = tuple([(j.chunk.chunk_index, j.start, j.end) for j in group])
        key = (plan.document.document_id, plan.title, prefixed and plan.prefix, continues, shown)
        tail = self._tails.get(key)
        if tail is None:
            tail = self._tails[key] = self._measured(block, continues)
        return tail

    def _measured(self, block: BlockPlan, continues: bool) -> _Tail:
        text = self._compose(block, continues, False)
        frame = text.head.frame
        pieces = [Piece("header", frame.after), *text.body, Piece("separator", frame.foot)]
        tally = self.counter.tally()
        for piece in pieces:
            tally.add(piece.text, piece.own, piece.growth)
        whole, own = "".join([piece.text for piece in pieces]), tally.total
        # What a blank line adds is settled by the text after the last seam, which must lie inside this block.
        blank = tally.add(BLANK_LINE) if self.counter.has_seam(whole) else None
        return _Tail(frame.before, whole, own, blank, frame.numbered)

    def _compose(self, block: BlockPlan, continues: bool, cut: bool) -> BlockText:
        """What a block says, defused. `cut`: chunks are cut where others share them."""
        plan, group, prefixed = block
        document_id = plan.document.document_id
        chunks = [j.chunk for j in group]
        heading = heading_of(plan.document, plan.title, (c.section for c in chunks), (c.page_number for c in chunks), self._score(block))
        head = Head(frame_of(self.settings.format, heading, continues=continues), document_id)
        body, events = body_of(document_id, group, self.settings.gap_mark, self.counter, cut)
        if cut and self.extracts:
            body = traced(document_id, body, self.extracts, self.settings.gap_mark)
        if prefixed and plan.prefix:
            body.insert(0, Piece("prefix", plan.prefix + "\n"))
        return defused(BlockText(head, body, events), self.settings, self.counter, self._collisions)

    def _collisions(self, text: str, format: Format) -> list[tuple[int, int]]:
        """A block is looked through when it is measured; the same text is written later."""
        if text not in self._found:
            self._found[text] = find_collisions(text, format)
        return self._found[text]

    def _score(self, block: BlockPlan) -> float:
        if self.settings.format != "xml":
            return 0.0
        document_id = block.plan.document.document_id
        return max([self.candidates[document_id, j.chunk.chunk_index].score for j in block.group])


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
    """A text in the making, segment by segment."""

    def __init__(self, counter: TokenCounter) -> None:
        self.tally = counter.tally()
        self.texts: list[str] = []
        self.segments: list[Segment] = []
        self.at = 0

    def write(self, pieces: Sequence[Piece], block: int | None, document_id: str | None) -> None:
        """Append pieces of a block, or of what stands between blocks."""
        add = self.tally.add
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
                    piece.rewritten,
                )
            )
