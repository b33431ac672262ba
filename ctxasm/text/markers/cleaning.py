"""Cutting markers out of an answer as they are found, so that what is left reads as if they had never been there.

Every cut is decided from the text before it and the text up to the next marker, so a streamed answer is cut like a whole
one. A marker's place in the cleaned text is that of the last solid character before it: only what follows tells whether
the blank or the opening bracket in between stays, and a chip must not wait for that.

Cutting may never make a new marker out of its two sides (`[7[1]]`): there a word joiner, which no marker form allows,
keeps them apart.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ctxasm.text.markers.grammar import GUARD
from ctxasm.text.markers.joins import changes_line, reads_on, separated

CUT = "\0"
"""Stands for a cut marker inside a stretch that is not settled yet; a NUL of the answer itself is never in such a stretch."""
STRETCH_CHARS = 96
"""How far brackets, blanks and markers in a row are settled together, in characters without the markers."""
_EDGE_CHARS = 16
_TAIL_CHARS = 64

_OPENING = " \t([*_~\"“'‘«,;"
_GLUE = r"[ \t()\[\]*_~\"“”'‘’«»,;&]"
_BETWEEN = re.compile(rf"{_GLUE}*|[ \t]*(?:[,;&][ \t]*)?(?:and|en|und|et)[ \t]+")
_AFTER = re.compile(rf"[ \t]*{_GLUE}{{0,{_EDGE_CHARS}}}[ \t]*")
_SEPARATOR = r"[ \t]*(?:[,;&][ \t]*)?(?:(?:and|en|und|et)[ \t]+)?"
_ROW_BETWEEN = re.compile(_SEPARATOR)
_ROW = re.compile(rf"{CUT}(?:{_SEPARATOR}{CUT})+")
_CLOSERS = re.compile(r"[)\]*_~\"”'’»]")
_BRACKETS = re.compile(rf"\([ \t]*{CUT}[ \t]*[,;]?[ \t]*\)|\[[ \t]*{CUT}[ \t]*\]|“{CUT}”|‘{CUT}’|«[ \t]*{CUT}[ \t]*»")
_COMMA_FIRST = re.compile(rf"(?<=[(\[]){CUT}[ \t]*[,;][ \t]*")
_COMMA_LAST = re.compile(rf"[,;][ \t]*{CUT}[ \t]*(?=[)\]])")
_EMPHASIS = re.compile(rf"(?<![*_~\"'])(\*{{1,3}}|_{{1,3}}|~~|[\"']){CUT}\1(?![*_~\"'])")
_CITE_END = re.compile(r"</cite\s*>", re.IGNORECASE)
_CLOSING = frozenset(".,;:!?)]}…%»”’。，、；：！？）】」』")
_ENDS_MARKUP = re.compile(r"</|[*_~\"'”’»]{1,3}(?:[\s.,;:!?)\]]|\Z)")
_THINKING_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE).finditer
_NEWLINE = re.compile(r"\r?\n")


class Edit(NamedTuple):
    """Characters `start` to `end` of the raw text became `text`."""

    start: int
    end: int
    text: str


class Cleaner:
    """Takes the markers of a text in order, each with the text since the one before; `edits` holds what changed, ascending."""

    def __init__(self) -> None:
        self.edits: list[Edit] = []
        self._at, self._length, self._tail = 0, 0, ""
        self._stretch: str | None = None
        self._stretch_at = 0
        self._cites: list[bool] = []

    def cut(self, between: str, length: int, opens_cite: bool = False) -> int:
        """A marker of `length` characters after `between` goes; its place in the cleaned text.

        `opens_cite`: it is the opening tag of a `<cite>`, whose closing tag goes as well.
        """
        self._cut(self._until_cite_end(between), length)
        if opens_cite:
            self._cites.append(True)
        return self._length

    def replace(self, between: str, marker: str, text: str, opens_cite: bool = False) -> int:
        """The marker after `between` becomes `text`, which may be itself; the place of its start in the cleaned text."""
        following = self._until_cite_end(between)
        self._emit(self._settle(following + text, len(following)))
        place = self._length
        if text != marker:
            self.edits.append(Edit(self._at, self._at + len(marker), text))
        self._at += len(marker)
        self._say(text)
        if opens_cite:
            self._cites.append(False)
        return place

    def finish(self, rest: str) -> None:
        """The text ends after `rest`."""
        following = self._until_cite_end(rest)
        self._emit(self._settle(following, len(following)))

    def _until_cite_end(self, between: str) -> str:
        """Cut the closing tags in `between` whose opening tag was cut; what follows the last of them."""
        low = place = 0
        while self._cites and (end := _CITE_END.search(between, place)):
            place = end.end()
            if self._cites.pop():
                self._cut(between[low : end.start()], end.end() - end.start())
                low = place
        return between[low:]

    def _cut(self, between: str, length: int) -> None:
        joined = self._stretch is not None and len(self._stretch) + len(between) < STRETCH_CHARS and _BETWEEN.fullmatch(between)
        if self._stretch is not None and joined:
            if not (self._stretch.endswith(CUT) and _ROW_BETWEEN.fullmatch(between)):
                self._stretch += between + CUT
                if _CLOSERS.search(between):
                    self._stretch = self._fold(self._stretch, "")
            self._at += len(between) + length
            return
        rest = self._settle(between, len(between))
        near = rest[-_EDGE_CHARS * 4 :]
        lead = near[len(near.rstrip(_OPENING)) :]
        self._emit(rest[: len(rest) - len(lead)])
        self._stretch, self._stretch_at = lead + CUT, self._at
        self._at += len(lead) + length

    def _emit(self, text: str) -> None:
        """Pass on text that stays as it is."""
        self._at += len(text)
        self._say(text)

    def _say(self, text: str) -> None:
        self._length += len(text)
        self._tail = (self._tail + text[-_TAIL_CHARS:])[-_TAIL_CHARS:]

    def _fold(self, stretch: str, after: str) -> str:
        """Drop what only held markers together or apart: `, ` in a row, `()`, `****`."""
        if stretch.strip(" \t") == CUT:
            return stretch
        glued_left, glued_right = self._tail[-1:].isalnum(), after[:1].isalnum()
        before = ""
        while before != stretch:
            before = stretch
            stretch = _BRACKETS.sub(CUT, _ROW.sub(CUT, stretch))
            stretch = _COMMA_LAST.sub(CUT, _COMMA_FIRST.sub(CUT, stretch))
            if found := _EMPHASIS.search(stretch):
                glued = glued_left and found.start() == 0 and glued_right and found.end() == len(stretch)
                if glued or (stretch[found.end() :] + after)[:1] in tuple("[【［〔<("):  # `_[1]` is no marker, `[1]` is one
                    break
                stretch = stretch[: found.start()] + CUT + stretch[found.end() :]
        return stretch

    def _settle(self, following: str, limit: int) -> str:
        """Settle the open stretch, `following` being known; what of its first `limit` characters is left to pass on."""
        if self._stretch is None:
            return following[:limit]
        match = _AFTER.match(following, 0, limit)
        used = match.end() if match else 0
        stretch, self._stretch = self._fold(self._stretch + following[:used], following[used:]), None
        first, *parts = stretch.split(CUT)
        settled = first
        for number, part in enumerate(parts):
            right = part + (following[used:] if number == len(parts) - 1 else "")
            settled, right = self._join(settled, right)
            settled += right[: len(right) - len(following) + used] if number == len(parts) - 1 else right
        used += self._vanished(settled, following[used:limit])
        self.edits.append(Edit(self._stretch_at, self._at + used, settled))
        self._at += used
        self._say(settled)
        return following[used:limit]

    def _vanished(self, settled: str, following: str) -> int:
        """Length of the newline to drop with a line that held nothing but markers, else 0."""
        text = self._tail + settled
        newline = _NEWLINE.match(following)
        if not newline or settled or not (text.endswith("\n") or not text):
            return 0
        return newline.end()

    def _join(self, left: str, right: str) -> tuple[str, str]:
        """Both sides of one cut with what stands between them at the end of the first."""
        whole = self._tail + left
        solid = whole.rstrip(" \t")
        before = left[len(left.rstrip(" \t")) :]
        rest = right.lstrip(" \t")
        after = right[: len(right) - len(rest)]
        begins = whole.rfind("\n") + 1
        if "</" in whole:  # a line begins anew after hidden thinking
            begins = max([begins, *(end.end() for end in _THINKING_ENDS(whole))])
        line = whole[begins:]
        is_whole_line = len(line) < len(whole) or len(whole) < _TAIL_CHARS
        if is_whole_line and not line.strip(" \t>"):
            gap = "" if not rest.strip("\r\n") or rest[0] in "\r\n" else before
            gap = before if ">" in line else gap
        elif not rest or rest[0] in "\r\n":
            gap = after if rest and len(after) > 1 else ""
        elif rest[0] in _CLOSING or (not after and _ENDS_MARKUP.match(rest)):
            gap = ""
        elif solid[-1:] in "([{“‘«":
            gap = before
        else:
            gap = min((blank for blank in (before, after) if blank), key=len, default=separated(solid, rest))
        if reads_on(solid + gap, rest) or (is_whole_line and changes_line(line, rest)):
            gap += GUARD
        return left[: len(left) - len(before)] + gap, rest
