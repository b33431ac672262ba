"""What kind of line a marker stands on: ordinary text, code, or a list of sources. Known from what was read so far."""

from __future__ import annotations

import re

HEAD_CHARS = 64
"""How much of the start of a line is remembered, in characters."""
NEUTRAL = "-\n"
"""A line that makes nothing of what follows it."""

_START = re.compile(r"[\s>]*+(?:(?:[-*+•]|\d{1,9}[.)])[ \t]++)?[\s>]*+")
_BULLET_PATTERN = r"[ \t>]*+(?:[-*+•]|\d{1,9}[.)])[ \t]"
_BULLET = re.compile(_BULLET_PATTERN).match
_LISTS = re.compile(r"[\s>]*+(?:[-*+•\[【［¹²³⁴⁵⁶⁷⁸⁹①-⒇❶-➓]|\d{1,9}[.)]|\(\d{1,9}\)|\d\ufe0f?\u20e3)")
_HEADING = re.compile(
    r"[\s>#*_]*+(?:sources?|bron(?:nen)?|bronvermelding|bronnenlijst|quellen?|quellenverzeichnis|references|referenties|citations|citaties|literatu(?:u?r|re)|bibliography|fuentes|r[ée]f[ée]rences|"
    r"footnotes|voetnoten)[:*_\s]*+",
    re.IGNORECASE,
).fullmatch
CODE_COLUMNS = 4


class Lines:
    """The state of the current line. `see` every character once, in order, and call `end` at each newline.

    `ticks` is the length of the backtick run that opened inline code, 0 outside; `fence` the run that opened a fence.
    Without `code` nothing is code.
    """

    __slots__ = ("_after_blank", "_after_code", "_code", "_in_list", "_listing", "_opened_here", "fence", "head", "ticks")

    def __init__(self, code: bool = True) -> None:
        self.head, self.fence, self.ticks, self._code = "", "", 0, code
        self._after_blank, self._after_code, self._in_list, self._listing = True, False, False, False
        self._opened_here = False

    def see(self, text: str) -> None:
        """Take in the next characters of the line."""
        if len(self.head) < HEAD_CHARS:
            self.head += text[: HEAD_CHARS - len(self.head)]

    @property
    def at_start(self) -> bool:
        """Whether only white space, a quote mark or a list mark stands before this place."""
        return len(self.head) < HEAD_CHARS and _START.fullmatch(self.head) is not None

    @property
    def is_indented_code(self) -> bool:
        """Whether the line is indented code; asked at or after its first visible character."""
        return self._code and (self._after_blank or self._after_code) and not self._in_list and self._columns() >= CODE_COLUMNS

    @property
    def lists_sources(self) -> bool:
        """Whether the line belongs to a list of sources under its heading; asked at or after its first visible character."""
        return self._listing and (self.at_start or _LISTS.match(self.head) is not None)

    @property
    def in_fence_opening(self) -> bool:
        """Whether this line opened the fence."""
        return bool(self.fence) and self._opened_here

    def run(self, ticks: str) -> None:
        """Take in a run of backticks or tildes: it opens or closes code."""
        if not self._code:
            return
        if self.in_fence_opening and ticks[0] == "`" and self.fence[0] == "`":
            self.ticks, self.fence = len(self.fence), ""  # "```x```" on one line is inline code after all
        if self.ticks:
            self.ticks = 0 if ticks[0] == "`" and len(ticks) == self.ticks else self.ticks
        elif not self.fence and len(ticks) >= 3 and self.at_start:
            self.fence, self._opened_here = ticks, True
        elif not self.fence and ticks[0] == "`":
            self.ticks = len(ticks)

    def end(self) -> None:
        """Close the line."""
        head = self.head
        if self.fence:
            self._close_fence(head.strip().lstrip("> \t"))
        elif not head or head.isspace():
            self._after_blank = True
        else:
            columns = self._columns()
            self._after_code = columns >= CODE_COLUMNS and self.is_indented_code
            if self._listing or _HEADING(head):
                self._listing = head[0] in " \t" or self.lists_sources or _HEADING(head) is not None
            if _BULLET(head):
                self._in_list = True
            elif columns < 2 and self._after_blank:
                self._in_list = False
            self._after_blank = False
        self.head, self.ticks, self._opened_here = "", 0, False

    def _close_fence(self, visible: str) -> None:
        mark = self.fence[0]
        if not self._opened_here and len(visible) >= len(self.fence) and not visible.strip(mark):
            self.fence, self._after_blank, self._after_code = "", False, False

    def _columns(self) -> int:
        head = self.head
        if head[:1] not in (" ", "\t"):
            return 0
        lead = head[: len(head) - len(head.lstrip(" \t"))]
        return len(lead.expandtabs(CODE_COLUMNS))
