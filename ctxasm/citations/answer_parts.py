"""The parts of an answer in Markdown that sentences stand in: paragraphs, list items, table rows, headings.

Code, thinking, rules and lists of sources are no parts. What a line is follows from the same `Lines` as the marker parser's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ctxasm.text.markers.lines import Lines

PartKind = Literal["paragraph", "item", "row", "heading"]
HEADING_WORDS = 8
"""A line of at most so many words, with no mark at its end, right before a list or a table is its heading."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_TICKS = re.compile(r"`+|~+|\\.|[^`~\\]+|\\")
_CODE = re.compile(
    r"(?<!`)(`++)[^`\n]++\1|<(pre|code)\b[^<>\n]*>[^\n]*?</\2>|(?<![\w$}])\$(?=[^\s$^])[^$\n#]{1,200}(?<=[^\s$])\$(?![\w$^])",
    re.IGNORECASE,
)
"""Code inside a line, and mathematics."""
_ALL = re.compile(r"[^\r\n]+")
_THINKING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_END_OF_THINKING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_STRUCTURE = re.compile(r"<think(?:ing)?>|`+|~+|\\[^\n]|\n", re.IGNORECASE)
_QUOTED = re.compile(r"[ \t]*(?:>[ \t>]*)?")
_BULLET = re.compile(
    r"(?:(?:[-*+•–‣◦▪]|\(?(?:\d{1,9}[.)]|[a-zA-Z]\)|[a-z]\.(?!\s?[a-zA-Z]\.))|[①-⒇⓪-⓿❶-➓]|\d\ufe0f?\u20e3)[ \t]+)+(?:\[[ xX]\][ \t])?"
)
_LATER_NUMBER = re.compile(r"\(?(?!0*1[.)])\d")
"""Only a first number begins a list inside a paragraph: a line may begin with the end of a sentence, `1998. Then …`."""
_HASHES = re.compile(r"#{1,6}(?=[ \t])[ \t]*")
_RULE = re.compile(r"(?:[-*_=][ \t]*){3,}\Z")
_UNDERLINE = re.compile(r"(?:=+|--+)[ \t]*\Z")
_SEPARATOR = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*\Z")
_BOLD = re.compile(r"(\*\*|__)(?=\S)[^*_\n]{1,80}\1:?[ \t]*\Z")
SOURCES_LABEL = re.compile(
    r"[*_\s(\[]*(?:(?:the|de|gebruikte|used)\s+)?(?:sources?|bron(?:nen|vermelding|nenlijst)?|quellen?|quellenverzeichnis|references?|referenties|citations?|"
    r"citaties|literatu(?:u?r|re)|bibliography|footnotes|voetnoten|contexts?|passages?)[:.,*_\s)\]]*\Z",
    re.IGNORECASE,
)
_STOPPED = re.compile(r"[.!?…][*_]*\Z")
_ENDED = re.compile(r"[.!?…。！？:;,]\W*\Z")


class Part(NamedTuple):
    """Characters `start` to `end` of the answer, without the marks of a list, a heading or a quote before it."""

    start: int
    end: int
    kind: PartKind


def find_parts(answer: str, listed: Sequence[int] = ()) -> list[Part]:
    """The parts of `answer`, ascending and disjoint; `listed` are the places of the entries of a list of sources, ascending."""
    return _Reader(hide_thinking(answer), listed).read()


def hide_thinking(answer: str) -> str:
    """`answer` with `<think>…</think>` blanked out, a line break at its end; the length stays the same."""
    if not _THINKING.search(answer):
        return answer
    lines, pieces, at = Lines(), [], 0
    while token := _STRUCTURE.search(answer, at):
        lines.see(answer[at : token.start()])
        in_code = bool(lines.ticks or lines.fence) or lines.is_indented_code
        end = token.end()
        if token[0][0] == "<" and not in_code:
            closer = _END_OF_THINKING.search(answer, end)
            end = closer.end() if closer else len(answer)
            hidden = re.sub(r"[^\r\n]", " ", answer[token.start() : end - 1]) + "\n"
            pieces += [answer[at : token.start()], hidden]
            lines = Lines()
        else:
            end = token.start() + 1 if token[0][0] in "\\<" and in_code else end
            _show(lines, answer[token.start() : end])
            pieces.append(answer[at:end])
        at = end
    return "".join([*pieces, answer[at:]])


def hide_code(answer: str) -> str:
    """`answer` with thinking, code and lists of sources blanked out; the length stays the same."""
    lines, pieces = Lines(), list[str]()
    for found in _LINE.finditer(hide_thinking(answer)):
        line = found[0]
        if line:
            hidden = _is_code(lines, line.rstrip("\r\n")) or lines.lists_sources
            lines.end()
            pieces.append((_ALL if hidden else _CODE).sub(lambda code: " " * len(code[0]), line))
    return "".join(pieces)


def _is_code(lines: Lines, line: str) -> bool:
    """Show a line to the state of lines; whether it is code."""
    if lines.fence:
        lines.see(line)
        return True
    for piece in _TICKS.findall(line) if "`" in line or "~" in line else [line]:
        _show(lines, piece)
    return lines.in_fence_opening or lines.is_indented_code


def _show(lines: Lines, piece: str) -> None:
    """Let the state of lines take in a line break, a run of ticks or other text."""
    if piece == "\n":
        lines.end()
        return
    if piece[:1] in ("`", "~") and not lines.is_indented_code and (not lines.fence or lines.in_fence_opening):
        lines.run(piece)
    lines.see(piece)


class _Reader:
    """Walks over the lines once, collecting parts."""

    def __init__(self, answer: str, listed: Sequence[int]) -> None:
        self._answer, self._listed, self._next_listed = answer, listed, 0
        self._lines = Lines()
        self._parts: list[Part] = []
        self._open = False
        self._in_table = False
        self._was_listing = False
        self._bold = False

    def read(self) -> list[Part]:
        for start, end in self._each_line():
            code = _is_code(self._lines, self._answer[start:end])
            listing = self._lines.lists_sources or self._holds_listed(start, end)
            self._lines.end()
            if not self._answer[start:end].strip():
                self._open = self._in_table = False
            elif code or listing:
                if listing and not self._was_listing:
                    self._drop_heading()
                self._open = self._in_table = False
                self._was_listing = listing
            elif self._was_listing and self._answer[start] in " \t":
                continue  # an entry of the list of sources goes on
            else:
                self._was_listing = False
                self._take(start, end)
        return self._parts

    def _each_line(self) -> Iterator[tuple[int, int]]:
        for found in _LINE.finditer(self._answer):
            if found.end() > found.start():
                yield found.start(), found.start() + len(found[0].rstrip("\r\n"))

    def _holds_listed(self, start: int, end: int) -> bool:
        listed = self._listed
        while self._next_listed < len(listed) and listed[self._next_listed] < start:
            self._next_listed += 1
        return self._next_listed < len(listed) and listed[self._next_listed] < end

    def _drop_heading(self) -> None:
        """Forget the line "Sources:" before a list of sources."""
        if self._parts and "\n" not in (text := self._last_text()) and SOURCES_LABEL.match(text):
            self._parts.pop()
            self._bold = False

    def _take(self, start: int, end: int) -> None:
        answer = self._answer
        quoted = _QUOTED.match(answer, start, end)
        low = quoted.end() if quoted else start
        high = low + len(answer[low:end].rstrip())
        if low == high:
            self._open = False
            return
        line = answer[low:high]
        if "|" in line and self._take_row(low, high, line):
            return
        self._in_table = False
        if self._open and self._parts[-1].kind == "paragraph" and _UNDERLINE.match(line) and "\n" not in self._last_text():
            self._parts[-1] = self._parts[-1]._replace(kind="heading")
            self._open = False
        elif _RULE.match(line):
            self._open = False
        elif hashes := _HASHES.match(line):
            self._add(low + hashes.end(), high, "heading")
        elif (bullet := _BULLET.match(line)) and not (self._open and self._parts[-1].kind == "paragraph" and _LATER_NUMBER.match(line)):
            self._heads_list()
            self._add(low + bullet.end(), high, "item")
        elif _BOLD.match(line) and not self._open and len(line.split()) <= HEADING_WORDS and not _STOPPED.search(line):
            self._add(low, high, "paragraph")
            self._open, self._bold = False, True
        elif self._open and "|" not in line:
            self._parts[-1] = self._parts[-1]._replace(end=high)
        else:
            in_list = low - start >= 2 and bool(self._parts) and self._parts[-1].kind == "item"
            self._add(low, high, "item" if in_list else "paragraph")

    def _take_row(self, low: int, high: int, line: str) -> bool:
        """Whether the line belongs to a table: it begins with a bar, or a separator told that it does."""
        if _SEPARATOR.match(line):
            if self._parts and (self._in_table or self._open):
                self._parts[-1] = self._parts[-1]._replace(kind="heading")
            self._open, self._in_table = False, True
            return True
        if line[0] != "|" and not self._in_table:
            return False
        if not self._in_table:
            self._heads_list()
        self._add(low, high, "row")
        self._open, self._in_table = False, True
        return True

    def _add(self, low: int, high: int, kind: PartKind) -> None:
        if low < high:
            if self._bold:  # a bold line is a heading once something follows
                self._parts[-1] = self._parts[-1]._replace(kind="heading")
                self._bold = False
            self._parts.append(Part(low, high, kind))
            self._open = kind in ("paragraph", "item")

    def _last_text(self) -> str:
        return self._answer[self._parts[-1].start : self._parts[-1].end]

    def _heads_list(self) -> None:
        """Make a heading of a short line right before a list or a table."""
        if self._parts and self._parts[-1].kind == "paragraph":
            text = self._last_text()
            if "\n" not in text and len(text) <= 80 and len(text.split()) <= HEADING_WORDS and not _ENDED.search(text):
                self._parts[-1] = self._parts[-1]._replace(kind="heading")
