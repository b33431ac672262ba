"""Stage 8: chosen blocks become text, measured while they are written.

The context is a pure function of the chosen set: `Renderer.write` takes its blocks in order, and the budget asks the same
renderer what a set would cost (`ends`). There is no second cost formula. A block is what its format says (see `formats`)
around its text, defused; blocks are separated by one blank line, or by a line of one's own (`block_separator`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxasm.assembly.numbering import FROM_ONE, Numbering
from ctxasm.assembly.passages import Joined, Piece, body_of, join
from ctxasm.assembly.stages import (
    NO_EXTRACTS,
    NOTHING_WRITTEN,
    OVER,
    Block,
    BlockPlan,
    DocumentPlan,
    End,
    Extract,
    Found,
    Size,
    Written,
    pieces_of,
)
from ctxasm.model.characters import one_line
from ctxasm.model.events import Event, Neutralised
from ctxasm.model.ports import TokenCounter
from ctxasm.model.records import Document, make_record
from ctxasm.model.results import Candidate, Key, Segment, SegmentKind
from ctxasm.model.settings import AssemblySettings, Format
from ctxasm.text.formats import Frame, Heading, frame_of, heading_of, title_of, with_number
from ctxasm.text.markers.collisions import (
    BLANK_LINE,
    Body,
    Find,
    chunks_that_may_collide,
    defuse_block,
    find_collisions,
    find_separators,
    gap_is_collision_free,
    is_collision_free,
    joint,
    opens_something,
    separator_of,
)

WITHIN = (Piece("separator", BLANK_LINE),)
"""Between blocks that go on with the same document."""
APART = 100
"""Characters between two swaps from which on each is counted for itself: nearer ones would cost a copy of the text each."""


class _Tail(NamedTuple):
    """A block from behind its number on: its text, the count of it alone, and what the joint behind it adds (None: unknown).

    `continues`: it goes on with the group of the block before it, a blank line apart whatever separates blocks.
    """

    before: str
    text: str
    own: int
    joint: int | None
    numbered: bool
    continues: bool


class Renderer:
    """Writes and measures blocks under fixed settings. Deterministic; what it has measured once it remembers."""

    def __init__(
        self,
        settings: AssemblySettings,
        counter: TokenCounter,
        candidates: Mapping[Key, Candidate],
        extracts: Mapping[Key, Extract] = NO_EXTRACTS,
        numbering: Numbering = FROM_ONE,
    ) -> None:
        self.numbering = numbering
        self.settings, self.counter, self.candidates, self.extracts = settings, counter, candidates, extracts
        self._line = separator_of(settings)
        self._joint = joint(self._line)
        self._between = (Piece("separator", self._joint),)
        self._tails: dict[tuple[object, ...], _Tail] = {}
        self._of_blocks: dict[tuple[int, int, bool, bool], tuple[DocumentPlan, Sequence[Joined], _Tail]] = {}
        self._growths: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._shown: dict[tuple[str, int, int, int], int] = {}
        self._least: dict[str | tuple[str, int, int, int], int] = {}
        self._found: dict[str, list[tuple[int, int]]] = {}
        self._collision_free: dict[Key, bool] = {}
        self._gap_is_free = gap_is_collision_free(one_line(settings.gap_mark), settings.format)
        self._last: tuple[Sequence[BlockPlan], Sequence[Piece], Written] = ((), (), NOTHING_WRITTEN)

    def write(self, blocks: Sequence[BlockPlan], lead: Sequence[Piece] = ()) -> Written:
        """The blocks in this order as text and segments with exact token growth. `lead` stands before the first.

        What begins a text that was written before is cut off it.
        """
        if not blocks:
            return NOTHING_WRITTEN
        last, last_lead, written = self._last
        if len(blocks) <= len(last) and lead == last_lead and all(_same(one, other) for one, other in zip(blocks, last, strict=False)):
            return written.head(len(blocks))
        written = self._written(blocks, lead)
        self._last = (tuple(blocks), lead, written)
        return written

    def _written(self, blocks: Sequence[BlockPlan], lead: Sequence[Piece]) -> Written:
        sheet = _Sheet(self.counter)
        sheet.write(lead, None, None)
        spent = sheet.tally.total
        numbered: list[Block] = []
        events: list[Event] = []
        shown: list[Joined] = []
        ends: list[End] = []
        for place, (number, block) in enumerate(zip(self.numbering.numbers(blocks), blocks, strict=True)):
            continues = self._continues(blocks, place)
            if place:
                sheet.write(WITHIN if continues else self._between, None, None)
            plan, group, _ = block
            document_id = plan.document.document_id
            text = self._compose(block, continues, True)
            header, foot = with_number(text.head.frame, number)
            sheet.write([Piece("header", header), *text.body, *([Piece("separator", foot)] if foot else ())], number, document_id)
            numbered.append(Block(number, document_id, tuple([j.chunk.chunk_index for j in group])))
            events += text.events
            shown += group
            spent += self.spent(group)
            ends.append(End(sheet.at, self._size(sheet.tally.total, sheet.at, spent), len(sheet.segments), len(events), len(shown)))
        whole = "".join(sheet.texts)
        return Written(whole, tuple(sheet.segments), tuple(numbered), tuple(events), tuple(shown), ends[-1].size, tuple(ends))

    def ends_after(self, blocks: Sequence[BlockPlan], known: Sequence[Size]) -> tuple[Size, ...]:
        """`ends`, where those of the first blocks are known: for the scope "rendered" without a limit in characters."""
        at = max(0, len(known) - 1)
        tails = [self._tail(block, self._continues(blocks, place)) for place, block in enumerate(blocks[at:], at)]
        if not at or any(tail.joint is None for tail in tails[:-1]):
            return self.ends(blocks)
        sizes, tokens = list(known), known[-1].tokens
        for numbers, pair in zip(pairwise(self.numbering.numbers(blocks)[at:]), pairwise(tails), strict=True):
            tokens += [*self._tallied(pair, numbers)][-1][0]
            sizes.append(Size(tokens, tokens))
        return tuple(sizes)

    def ends(self, blocks: Sequence[BlockPlan]) -> tuple[Size, ...]:
        """The size of the text that ends with each block: what `write` of the blocks up to it would come to."""
        sizes: list[Size] = []
        tokens = chars = spent = 0
        for block, (more, longer) in zip(blocks, self._added(blocks), strict=True):
            tokens, chars, spent = tokens + more, chars + longer, spent + self.spent(block.group)
            sizes.append(self._size(tokens, chars, spent))
        return tuple(sizes)

    def end(self, blocks: Sequence[BlockPlan]) -> Size:
        """The last of the `ends`."""
        tokens = chars = 0
        for more, longer in self._added(blocks):
            tokens += more
            chars += longer
        spent = 0 if self.settings.budget_scope == "rendered" else sum([self.spent(block.group) for block in blocks])
        return self._size(tokens, chars, spent)

    def _added(self, blocks: Sequence[BlockPlan]) -> Iterable[tuple[int, int]]:
        """The tokens and characters that each block adds to those before it."""
        tails = [self._tail(block, self._continues(blocks, place)) for place, block in enumerate(blocks)]
        # Where a seam lies inside every block but the last, counts add up from one to the next.
        numbers = self.numbering.numbers(blocks)
        return self._grown(tails, numbers) if all(tail.joint is not None for tail in tails[:-1]) else self._tallied(tails, numbers)

    def _grown(self, tails: Sequence[_Tail], numbers: Sequence[int]) -> list[tuple[int, int]]:
        """The tokens and characters that each block adds to the one before it. Remembered: sets of blocks differ in few."""
        growths, last, before = self._growths, None, 0
        grown = []
        for number, tail in zip(numbers, tails, strict=True):
            key = (id(last), number, id(tail))  # which all are kept as long
            growth = growths.get(key)
            if growth is None:
                growth = growths[key] = [
                    *(self._tallied((tail,), (number,)) if last is None else self._tallied((last, tail), (before, number)))
                ][-1]
            grown.append(growth)
            last, before = tail, number
        return grown

    def _tallied(self, tails: Sequence[_Tail], numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The tokens and characters that each of these blocks with these numbers adds to all those before it."""
        tally = self.counter.tally()
        last: _Tail | None = None
        for number, tail in zip(numbers, tails, strict=True):
            before, longer = tally.total, 0
            if last is not None:
                between = BLANK_LINE if tail.continues else self._joint
                tally.add(between, None, last.joint if between == self._joint else None)
                longer = len(between)
            head = f"{tail.before}{number}" if tail.numbered else tail.before
            tally.add(head)
            tally.add(tail.text, tail.own)
            yield tally.total - before, longer + len(head) + len(tail.text)
            last = tail

    def alone(self, block: BlockPlan) -> int:
        """Tokens of a block behind its number, by itself."""
        return self._tail(block, False).own

    def least(self, plan: DocumentPlan) -> int:
        """Tokens that a document's summary line and chunks take at least, whatever they stand between and whatever is swapped in them."""
        known, counter = self._least, self.counter
        if plan.prefix not in known:
            known[plan.prefix] = counter.inside(plan.prefix, counter.count(plan.prefix))
        total = known[plan.prefix]
        for j in plan.joined:
            key = (j.chunk.document_id, j.chunk.chunk_index, j.start, j.end)
            if key not in known:
                known[key] = counter.inside(j.chunk.text[j.start : j.end], shown_tokens(j, counter))
            total += known[key]
        return total

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
        own = (id(plan), id(group), prefixed, continues)
        known = self._of_blocks.get(own)
        if known is None:
            shown = tuple([(j.chunk.chunk_index, j.start, j.end) for j in group])
            key = (plan.document.document_id, plan.title, prefixed and plan.prefix, continues, shown)
            tail = self._tails.get(key)
            if tail is None:
                tail = self._tails[key] = self._measured(block, continues)
            known = self._of_blocks[own] = (plan, group, tail)
        return known[2]

    def _measured(self, block: BlockPlan, continues: bool) -> _Tail:
        text = self._compose(block, continues, False)
        frame = text.head.frame
        pieces = [Piece("header", frame.after), *text.body, Piece("separator", frame.foot)]
        tally = self.counter.tally()
        for piece in pieces:
            tally.add(piece.text, piece.own, piece.growth)
        whole, own = "".join([piece.text for piece in pieces]), tally.total
        # What the joint adds is settled by the text after the last seam, which must lie inside this block.
        growth = tally.add(self._joint) if self.counter.has_seam(whole) else None
        return _Tail(frame.before, whole, own, growth, frame.numbered, continues)

    def _compose(self, block: BlockPlan, continues: bool, cut: bool) -> BlockText:
        """What a block says, defused. `cut`: chunks are cut where others share them."""
        plan, group, prefixed = block
        document_id = plan.document.document_id
        chunks = [j.chunk for j in group]
        pages = [chunk.page_number for chunk in chunks]
        if self.settings.format == "source":
            heading = heading_of(plan.document, plan.title, [chunk.section for chunk in chunks], pages, self._score(block))
        else:
            # Only that format names anything but the title and the pages.
            numbers = tuple({page for page in pages if page is not None})
            heading = Heading(plan.title, None, None, numbers, self._score(block), document_id)
        head = Head(frame_of(self.settings.format, heading, continues=continues), document_id)
        body, events = body_of(document_id, group, self.settings.gap_mark, self.counter, cut)
        if cut and self.extracts:
            body = traced(document_id, body, self.extracts, self.settings.gap_mark)
        if prefixed and plan.prefix:
            body.insert(0, Piece("prefix", plan.prefix + "\n"))
        return defused(
            BlockText(head, body, events), self.settings, self.counter, self._line, self._collisions, self._may_collide(group, body)
        )

    def _may_collide(self, group: Sequence[Joined], body: Sequence[Piece]) -> bool:
        """Whether anything in a block may read as a marker or a boundary, by what its chunks and what is around them are."""
        if chunks_that_may_collide([j.chunk for j in group], self.settings.format, self._collision_free):
            return True
        if any(j.end < len(j.chunk.text) for j in group) or (not self._gap_is_free and any(piece.kind == "gap" for piece in body)):
            return True
        return bool(body) and body[0].kind == "prefix" and not is_collision_free(body[0].text, self.settings.format)

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


def _same(one: BlockPlan, other: BlockPlan) -> bool:
    """Whether two blocks are made of the very same records."""
    same = one is other or (one.plan is other.plan and one.prefixed == other.prefixed and len(one.group) == len(other.group))
    return same and (one.group is other.group or all(j is k for j, k in zip(one.group, other.group, strict=True)))


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


def render_baseline(found: Found, settings: AssemblySettings, counter: TokenCounter, numbering: Numbering = FROM_ONE) -> Written:
    """Retrieved chunks in retrieval order, one block each, no summaries."""
    blocks = []
    for hit in found.ranked.hits:
        candidate = found.candidates.get((hit.document_id, hit.chunk_index))
        if candidate is not None:
            document = found.documents.get(hit.document_id) or Document(hit.document_id)
            joined = join([candidate.chunk], 0)
            blocks.append(BlockPlan(DocumentPlan(document, joined, "", title_of(document)), joined, True))
    return Renderer(settings, counter, found.candidates, numbering=numbering).write(blocks)


class _Sheet:
    """A text in the making, segment by segment."""

    def __init__(self, counter: TokenCounter) -> None:
        self.tally = counter.tally()
        self.texts: list[str] = []
        self.segments: list[Segment] = []
        self.at = 0

    def write(self, pieces: Sequence[Piece], block: int | None, document_id: str | None) -> None:
        """Append pieces of a block, or of what stands between blocks."""
        add, texts, segments, at = self.tally.add, self.texts, self.segments, self.at
        for piece in pieces:
            text = piece.text
            if not text:
                continue
            growth = add(text, piece.own, piece.growth)
            start, at = at, at + len(text)
            kind = piece.kind
            owner = None if kind == "separator" else document_id
            of_chunk = (piece.chunk_index, piece.low, piece.high, piece.shared_with, piece.neutralised, piece.rewritten)
            texts.append(text)
            segments.append(make_record(Segment, (kind, start, at, growth, block, owner, *of_chunk)))
        self.at = at


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


def defused(text: BlockText, settings: AssemblySettings, counter: TokenCounter, line: str, find: Find, may_collide: bool) -> BlockText:
    """The block with everything in it that would read as a marker or a boundary found, and swapped where that is asked for.

    `line` is what separates blocks. Not `may_collide`: it is known that its chunks hold nothing of the kind.
    """
    if settings.marker_collisions == "off":
        return text
    if not may_collide and not opens_something(text.head.frame.after) and not (line and find_separators(_joined(text), line)):
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
        swaps = _together((swap.low, swap.high) for swap in checked.swaps if swap.place == place)
        before = piece.text
        for low, high in swaps:
            # What lies between those far apart is not counted again.
            after = before[:low] + text[low:high] + before[high:]
            changed = counter.change(before, after, low, high)
            piece.own = None if piece.own is None or changed is None else piece.own + changed
            piece.growth = None if piece.growth is None or changed is None else piece.growth + changed
            before = after
        piece.text, piece.neutralised = text, True
        solid = counter.has_seam(text[swaps[-1][1] :])


def _together(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, those less than `APART` characters apart as one."""
    near: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if near and low - near[-1][1] < APART:
            near[-1] = near[-1][0], max(high, near[-1][1])
        else:
            near.append((low, high))
    return near
