"""The text of a PDF page in reading order, from where its words stand: columns, turned lines, raised figures.

PDFium reads a page in the order in which it was drawn, which is nearly always right and kept then. Mended is what it cannot
know: columns that were drawn row by row, lines of text that is turned, and figures that are raised.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import pi
from statistics import median
from typing import Any, NamedTuple
from unicodedata import bidirectional

from ctxasm.data.documents.formulas import END, LOWERED, RAISED, plain_scripts

HYPHEN = "\ufffe"
"""Where a word was parted by a line's end."""
MOST_WORDS = 20_000
"""On one page: of a page with more the order in which it was drawn is kept."""
_WORD = re.compile(r"[^\s\x02\ufffe]+[\x02\ufffe]?|[\x02\ufffe]")
_MAY_BE_RAISED = re.compile(r"\d|[*†‡]$")


class Word(NamedTuple):
    """A word as it is drawn, in the coordinates of its reader: `left` and `right` along the line, `base` up the page.

    `turn` is the direction of its line in quarters (4: upright on a turned page), `before` the white space in front of it,
    `place` its place in the drawing.
    """

    text: str
    turn: int
    left: float
    right: float
    base: float
    height: float
    before: str
    place: int


class Line(NamedTuple):
    """How a line stands: `alone` with more than a line's height to those around it, `parted` by a wide gap in it."""

    alone: bool
    parted: bool


class Page(NamedTuple):
    """The text of a page. `unsure`: it may be set in columns, but was read row by row. `lines`: how those with a word stand.

    `is_picture`: what it shows is no text.
    """

    text: str
    unsure: bool = False
    lines: Sequence[Line] = ()
    is_picture: bool = False


def page_text(text_page: Any) -> Page:
    """The text of a page of PDFium in reading order."""
    text: str = text_page.get_text_bounded()
    drawn: str = text_page.get_text_range()
    if len(drawn) != text_page.count_chars() or len(drawn) > 8 * MOST_WORDS:
        return Page(text)  # characters outside of the first plane: places cannot be told
    words, mended = _Boxes(text_page).words(drawn)
    if not words or len(words) > MOST_WORDS:
        return Page(text)
    pieces = _pieces(words)
    ordered, unsure = _ordered(pieces)
    joined = list(_joined(ordered))
    lines = _lines(ordered, joined)
    if not mended and ordered == pieces:
        return Page(text, unsure, lines)
    return Page(plain_scripts("".join(text for between, word in joined for text in (between, word.text))), unsure, lines)


def _lines(pieces: Sequence[Piece], joined: Sequence[tuple[str, Word]]) -> list[Line]:
    first_words = {piece.words[0].place for piece in pieces}
    begins = [at for at, (between, _) in enumerate(joined) if at == 0 or "\n" in between or "\r" in between]
    heads = [joined[at][1] for at in begins]
    tall = [abs(one.base - other.base) > 1.7 * max(one.height, other.height) for one, other in pairwise(heads)]
    apart = list(zip([True, *tall], [*tall, True], strict=True))
    ends = [*begins[1:], len(joined)]
    parted = [any(word.place in first_words for _, word in joined[at + 1 : end]) for at, end in zip(begins, ends, strict=True)]
    return [Line(before and behind, gap) for (before, behind), gap in zip(apart, parted, strict=True)]


class _Boxes:
    """Asks PDFium where characters stand."""

    def __init__(self, text_page: Any) -> None:
        from pypdfium2 import raw

        self._raw, self._page = raw, text_page.raw
        # On a page that is turned, PDFium mistakes the lines of upright text too: they are a direction of their own.
        self._upright = 4 if text_page.page.get_rotation() else 0
        self._left, self._bottom, self._right, self._top = text_page.page.get_bbox()
        self._box, self._x, self._y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()

    def _turn(self, at: int) -> int:
        angle = self._raw.FPDFText_GetCharAngle(self._page, at)
        quarter = round(angle / (pi / 2)) % 4 if angle >= 0 else 0
        return quarter or self._upright

    def _place(self, at: int, turn: int) -> tuple[float, float, float, float]:
        """Left, right, base line and height of a character."""
        self._raw.FPDFText_GetLooseCharBox(self._page, at, self._box)
        self._raw.FPDFText_GetCharOrigin(self._page, at, self._x, self._y)
        box, x, y = self._box, self._x.value, self._y.value
        if turn in (0, 4):
            return box.left, box.right, y, box.top - box.bottom
        if turn == 2:
            return -box.right, -box.left, -y, box.top - box.bottom
        if turn == 3:
            return box.bottom, box.top, -x, box.right - box.left
        return -box.top, -box.bottom, x, box.right - box.left

    def _is_on_page(self) -> bool:
        """Whether the character that was placed last stands on the page: what does not is seen by nobody."""
        x, y = float(self._x.value), float(self._y.value)
        return bool(self._left - 1 <= x <= self._right + 1 and self._bottom - 1 <= y <= self._top + 1)

    def words(self, drawn: str) -> tuple[list[Word], bool]:
        """The words in the order of their drawing, and whether the text of PDFium must be mended: it is turned or raised."""
        words: list[Word] = []
        is_mended = False
        after = 0
        for found in _WORD.finditer(drawn):
            start, end, before = found.start(), found.end(), drawn[after : found.start()]
            after = end
            turn = self._turn(start)
            for first, last in self._runs(start, end, turn) if turn else ((start, end),):
                word = self._word(drawn, first, last, turn, before if first == start else "\n", len(words))
                if word is None:
                    continue
                if words and words[-1].text.endswith(END) and _is_beside(words[-1], word):
                    word = word._replace(before=" " if word.left - words[-1].right > 0.12 * word.height else "")
                is_mended = is_mended or bool(turn) or RAISED in word.text or LOWERED in word.text
                if words and (joined := _script_behind(words[-1], word)) is not None:
                    words[-1], is_mended = joined, True
                else:
                    words.append(word)
        return words, is_mended

    def _runs(self, start: int, end: int, turn: int) -> Iterator[tuple[int, int]]:
        """The parts of a word of turned text: where a line ends in it, PDFium may say nothing."""
        first, (_, _, base, height) = start, self._place(start, turn)
        for at in range(start + 1, end):
            _, _, own, own_height = self._place(at, turn)
            if abs(own - base) > 0.6 * max(height, own_height):
                yield first, at
                first, base, height = at, own, own_height
        yield first, end

    def _word(self, drawn: str, start: int, end: int, turn: int, before: str, place: int) -> Word | None:
        text = drawn[start:end].replace("\x02", HYPHEN)
        left, right, base, height = self._place(start, turn)
        if not self._is_on_page():
            return None
        if end - start > 1:
            right = self._place(end - 1 if text[-1] != HYPHEN else end - 2, turn)[1]
        if 1 < end - start <= 60 and _MAY_BE_RAISED.search(text):
            places = [self._place(at, turn) for at in range(start, end)]
            _, _, base, height = max(places, key=lambda each: each[3])
            text = _with_scripts(text, [_shift(own, own_height, base, height) for _, _, own, own_height in places])
        return Word(text, turn, left, right, base, height, before, place)


def _shift(own: float, own_height: float, base: float, height: float) -> str:
    """The mark of a character that is smaller than those around it and raised or lowered."""
    if own_height > 0.88 * height or own_height <= 0:
        return ""
    return RAISED if own > base + 0.12 * height else LOWERED if own < base - 0.04 * height else ""


def _with_scripts(text: str, marks: Sequence[str]) -> str:
    if not any(marks) or marks[0]:
        return text
    pieces, last = [], ""
    for character, mark in zip(text, marks, strict=True):
        pieces.append((END if last and mark != last else "") + (mark if mark != last else "") + character)
        last = mark
    return "".join(pieces) + (END if last else "")


def _script_behind(word: Word, script: Word) -> Word | None:
    """A word with what stands raised or lowered right behind it, which PDFium took for a word or a line of its own."""
    mark = _shift(script.base, script.height, word.base, word.height) if word.turn == script.turn else ""
    near = -0.1 * word.height < script.left - word.right < 0.2 * word.height
    if not mark or not near or abs(script.base - word.base) > 0.8 * word.height or word.text.endswith(HYPHEN):
        return None
    return word._replace(text=f"{word.text}{mark}{script.text}{END}", right=max(word.right, script.right))


def _is_beside(last: Word, word: Word) -> bool:
    """Whether a word goes on in the line of the one before, where PDFium ends the line at a raised figure."""
    return (
        word.turn == last.turn
        and abs(word.base - last.base) < 0.2 * last.height
        and -0.2 * last.height < word.left - last.right < last.height
    )


class Piece(NamedTuple):
    """The words of a line as far as no wide gap parts them."""

    words: tuple[Word, ...]

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return self.words[-1].right

    @property
    def base(self) -> float:
        return self.words[0].base

    @property
    def height(self) -> float:
        return self.words[0].height

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


def _begins_line(last: Word, word: Word) -> bool:
    if word.turn != last.turn or last.text.endswith(HYPHEN):
        return True
    if word.turn == 0 and ("\n" in word.before or "\r" in word.before):
        return True
    if word.turn == 0:  # PDFium takes lines of two columns for one where they are not level
        return word.right < last.left and abs(word.base - last.base) > 0.3 * max(last.height, word.height)
    return abs(word.base - last.base) > 0.5 * max(last.height, word.height) or word.right < last.left


def _pieces(words: Sequence[Word]) -> list[Piece]:
    pieces: list[Piece] = []
    line = [words[0]]
    for last, word in pairwise(words):
        if _begins_line(last, word) or word.left - last.right > 0.9 * max(last.height, word.height, 1):
            pieces.append(Piece(tuple(line)))
            line = []
        line.append(word)
    return [*pieces, Piece(tuple(line))]


def _joined(pieces: Sequence[Piece]) -> Iterator[tuple[str, Word]]:
    """The words of pieces in their order, with what stands between: as they were drawn, else line breaks."""
    last: Word | None = None
    for piece in pieces:
        for word in piece.words:
            if last is None or last.text.endswith(HYPHEN):
                between = ""
            elif word.place == last.place + 1 and (word.turn, last.turn) == (0, 0):
                between = word.before if word.before.strip(" ") or not _begins_line(last, word) else "\n"
            elif word is not piece.words[0] or (word.place == last.place + 1 and not _begins_line(last, word)):
                between = word.before if word.before.strip("\r\n") else " "
            else:
                between = "\n"
            yield between, word
            last = word


# Columns

_FEWEST = 3
"""Lines that a column has at least."""
_MOST_EDGES = 12
_DEEPEST = 8
_ENDS_SENTENCE = (".", "!", "?", ":", ";", "。", "！", "？")


class _Columns(NamedTuple):
    """Two columns side by side among pieces sorted by height: those from `first` to `last`, parted at `gutter`."""

    first: int
    last: int
    gutter: float
    left: list[Piece]
    right: list[Piece]


def _ordered(pieces: list[Piece]) -> tuple[list[Piece], bool]:
    """The pieces in reading order, and whether there may be columns that were not taken for such."""
    by_turn: dict[int, list[Piece]] = {}
    for piece in pieces:
        by_turn.setdefault(piece.words[0].turn, []).append(piece)
    found: list[Piece] = []
    unsure = False
    for turn, group in by_turn.items():
        if turn and sum(after.base > before.base for before, after in pairwise(group)) > len(group) // 2:
            group.reverse()  # PDFium reads such lines from the last one to the first
        ordered, doubt = _in_columns(group, 0)
        found += ordered
        unsure = unsure or doubt
    return found, unsure


def _in_columns(pieces: list[Piece], depth: int) -> tuple[list[Piece], bool]:
    if len(pieces) < 2 * _FEWEST or depth > _DEEPEST:
        return pieces, False
    falling = sorted(pieces, key=lambda piece: -piece.base)
    candidates = [found for gutter in _gutters(pieces) for found in _bands(falling, gutter)]
    unsure = False
    for found in sorted(candidates, key=lambda found: -min(len(found.left), len(found.right)))[:_MOST_EDGES]:
        if not _alternate(found):
            continue
        if (is_prose := _is_prose(found)) is None:
            unsure = True
        elif is_prose:
            parts = (falling[: found.first], found.left, found.right, falling[found.last :])
            ordered, doubts = zip(*(_in_columns(sorted(part, key=_drawn), depth + 1) for part in parts), strict=True)
            return [piece for part in ordered for piece in part], any(doubts)
    return pieces, unsure


def _drawn(piece: Piece) -> int:
    return piece.words[0].place


def _gutters(pieces: Sequence[Piece]) -> list[float]:
    """Where columns may be parted: before the places at which several lines begin, behind those at which several end."""
    edges = Counter((round(piece.left / 2) * 2, -1) for piece in pieces) + Counter((round(piece.right / 2) * 2, 1) for piece in pieces)
    height = median(piece.height for piece in pieces)
    return [edge + side * 0.3 * height for (edge, side), times in edges.most_common(2 * _MOST_EDGES) if times >= _FEWEST]


def _bands(falling: Sequence[Piece], gutter: float) -> Iterator[_Columns]:
    """The runs of pieces of which none crosses the gutter, with enough of them on both sides."""
    first = 0
    for at in range(len(falling) + 1):
        if at == len(falling) or falling[at].left < gutter < falling[at].right:
            if at - first >= 2 * _FEWEST and (found := _band(falling, first, at, gutter)) is not None:
                yield found
            first = at + 1


def _band(falling: Sequence[Piece], first: int, last: int, gutter: float) -> _Columns | None:
    """Without the lines above and below that stand away from the rest, as a page's number does."""
    height = median(piece.height for piece in falling[first:last])
    while first < last - 1 and falling[first].base - falling[first + 1].base > 2.5 * height:
        first += 1
    while first < last - 1 and falling[last - 2].base - falling[last - 1].base > 2.5 * height:
        last -= 1
    left = [piece for piece in falling[first:last] if piece.right <= gutter]
    right = [piece for piece in falling[first:last] if piece.right > gutter]
    if min(len(left), len(right)) < _FEWEST:
        return None
    shared = min(left[0].base, right[0].base) - max(left[-1].base, right[-1].base)
    return _Columns(first, last, gutter, left, right) if shared > 1.5 * height else None


def _alternate(found: _Columns) -> bool:
    """Whether the columns were drawn row by row, or the right one before the left one; another order is right already."""
    sides = [side for _, side in sorted([(_drawn(piece), 0) for piece in found.left] + [(_drawn(piece), 1) for piece in found.right])]
    changes = sum(before != after for before, after in pairwise(sides))
    if changes == 1 and sides[0] == 1:
        widths = (_width(found.left), _width(found.right))
        is_leftward = any(bidirectional(letter) in ("R", "AL") for piece in (*found.left, *found.right) for letter in piece.text)
        return not is_leftward and min(widths) > 0.6 * max(widths)  # a narrow one is a note in the margin
    return changes > 1 + min(len(found.left), len(found.right)) // 3


def _is_prose(found: _Columns) -> bool | None:
    """Whether both sides are running text, and no cells of a table. None where it may be either."""
    sides = (_first_column(found.left), _first_column(found.right))
    if any(len(side) < _FEWEST or not _fills(side) for side in sides):
        return False
    shares = [_goes_on(side) for side in sides]
    if all(share >= 0.25 for share in shares) or (max(shares) >= 0.6 and min(shares) > 0):
        return True
    return None if max(shares) > 0 else False


def _first_column(side: Sequence[Piece]) -> list[Piece]:
    """The left one of the columns that a side may hold."""
    left, right = min(piece.left for piece in side), max(piece.right for piece in side)
    return [piece for piece in side if piece.left < left + 0.3 * (right - left)]


def _width(side: Sequence[Piece]) -> float:
    return max(piece.right for piece in side) - min(piece.left for piece in side)


def _fills(side: Sequence[Piece]) -> bool:
    """Whether most lines reach from edge to edge and hold several words; one that ends a sentence may be short."""
    width = _width(side)
    own = median(piece.right - piece.left for piece in [piece for piece in side if not piece.text.endswith(_ENDS_SENTENCE)] or side)
    return own >= 0.6 * width and own >= 8 * median(piece.height for piece in side)


def _goes_on(side: Sequence[Piece]) -> float:
    """The share of lines whose sentence goes on in the next one."""
    lines = [piece.text for piece in side]
    going = sum(
        not before.endswith(_ENDS_SENTENCE) and (before.endswith((",", "-", HYPHEN)) or not (after[0].isupper() or after[0].isdigit()))
        for before, after in pairwise(lines)
    )
    return going / max(1, len(lines) - 1)
