"""The headings of a plain text: which stand over a place, and which begin inside a stretch.

A heading is told by its own form (Markdown, wiki, a number before it) or by being a short line alone that ends in no full stop.
In program text the lines that open what a place lies in take their part: `impl Executor for DiffExecutor {`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

LONGEST = 120
"""Characters of a heading."""
READ = 20_000
"""Characters at the head of a text that tell whether it is program text; and those before a place in which its opening lines are."""
LOOKED_BACK = 500
"""Headings before a place that are looked at for those in force."""
ALONE = 9
"""The level of a heading that nothing but its shortness tells. Numbered, Markdown and wiki headings have levels 1 to 6."""
_MOST_WORDS = 14
_LINE = re.compile(r"[^\n]+")
_MARKDOWN = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_WIKI = re.compile(r"((?:=[ ]?){1,6})[ \t]*([^=\n]+?)[ \t]*(?:=[ ]?){1,6}$")
_CHAPTER = re.compile(
    r"(?:hoofdstuk|bijlage|deel|chapter|appendix|part|section|paragraaf)[ \t]+[\dA-Z]{1,4}\b[.:]?[ \t]*.*$", re.IGNORECASE
)
_MARKS = "{};,()"
"""What a line of program text ends in."""
_BEGINS = re.compile(r"\s*(?:[*#@}\])]|//|/\*|import\b|use\b|from\b|include\b|package\b|return\b)")
_NUMBERED = re.compile(r"((?:\d{1,3}|[A-Z])(?:\.\d{1,3}){1,5}\.?|\d{1,2}\.)[ \t]+(\S.*)$")
_CODE = re.compile(r"[<>={}|\\]|::|//|\b\w+_\w|\w\(\)")
_OPENS = re.compile(
    r"(?:[\w\])>'\"]|\)[^.;]*)[ \t]*[{:(]$|^\s*(?:impl|class|def|fn|pub|func|function|struct|enum|trait|interface|module|namespace)\b"
)


class Heading(NamedTuple):
    """`start` is its first character in the text; `level` 1 is the highest."""

    start: int
    level: int
    text: str


def is_program(text: str) -> bool:
    """Whether most lines of `text` look like program text."""
    lines = [line.rstrip() for line in text[:READ].split("\n") if line.strip()]
    return sum(line[-1] in _MARKS or _BEGINS.match(line) is not None for line in lines) > 0.5 * len(lines)


def headings_of(text: str) -> list[Heading]:
    """The headings of `text`, ascending; program text has none. Takes time linear in its length."""
    found: list[Heading] = []
    if is_program(text):
        return found
    lines = [(m.start(), m[0].rstrip()) for m in _LINE.finditer(text) if not m[0].isspace()]
    for place, (start, line) in enumerate(lines):
        if len(line) > LONGEST + 10:
            continue
        before = lines[place - 1] if place else None
        after = lines[place + 1][0] if place + 1 < len(lines) else len(text)
        stands_alone = before is None or text.count("\n", before[0] + len(before[1]), start) > 1
        gap_after = text.count("\n", start + len(line), after)
        if (heading := _told(start, line.strip())) or (stands_alone and gap_after and (heading := _short(start, line))):
            found.append(heading)
    return found


def _told(start: int, line: str) -> Heading | None:
    """A heading by its own form."""
    if match := _MARKDOWN.match(line) or _WIKI.match(line):
        return Heading(start, min(6, len(match[1].replace(" ", ""))), match[2])
    if _CHAPTER.match(line) and len(line.split()) <= _MOST_WORDS and line[-1] not in ".,;":
        return Heading(start, 1, line)
    if (match := _NUMBERED.match(line)) and len(line.split()) <= 2 * _MOST_WORDS and line[-1] not in ".,;:|":
        depth = len(match[1].rstrip(".").split("."))
        if depth > 1 or line[-1] == "?" or len(line.split()) <= _MOST_WORDS:
            return Heading(start, min(6, depth), line)
    return None


def _short(start: int, line: str) -> Heading | None:
    """A short line alone."""
    words = line.split()
    if not (line[0].isupper() or line[0].isdigit()) or len(words) > _MOST_WORDS or len(line) > LONGEST or line[-1] in ".,;:!…{}()[]=|>":
        return None
    letters = sum(char.isalpha() or char.isspace() for char in line)
    return Heading(start, ALONE, line) if letters > 0.7 * len(line) and not _CODE.search(line) else None


def path_at(headings: Sequence[Heading], at: int) -> tuple[str, ...]:
    """The headings in force at character `at`, the highest first: each is ended by the next one of its level or above."""
    path: list[str] = []
    level, last = ALONE + 1, bisect_left(headings, (at,))
    for heading in reversed(headings[max(0, last - LOOKED_BACK) : last]):
        if heading.level < level:
            path.append(heading.text)
            level = heading.level
    return tuple(reversed(path))


def section_of(headings: Sequence[Heading], at: int, end: int) -> tuple[int, int]:
    """From the last heading before character `at` to the next one after it; `end` is that of the text."""
    place = bisect_left(headings, (at,))
    return headings[place - 1].start if place else 0, headings[place].start if place < len(headings) else end


def headings_in(headings: Sequence[Heading], start: int, end: int) -> Sequence[Heading]:
    """The headings that begin at a character from `start` up to `end`."""
    return headings[bisect_left(headings, (start,)) : bisect_left(headings, (end,))]


def enclosing(text: str, at: int, most: int = 2) -> tuple[str, ...]:
    """The lines of program text that open what character `at` lies in, outermost first; nothing where it is not indented."""
    line = next((m[0] for m in _LINE.finditer(text, at, at + 2000) if not m[0].isspace()), "")
    indent = _indent(line)
    opening: list[str] = []
    if indent < 2:
        return ()
    for before in reversed(text[max(0, at - READ) : at].split("\n")):
        if before.strip() and _indent(before) < indent:
            indent = _indent(before)
            if not before.lstrip()[0].isalpha():  # the end of an opening that takes several lines: its first one stands above
                indent += 1
            elif _OPENS.search(before.rstrip()[:200]):
                opening.append(before.strip().rstrip("{:(").strip()[:LONGEST])
            if not indent:
                break
    return tuple(reversed(opening))[:most]


def _indent(line: str) -> int:
    plain = line.expandtabs(4)
    return len(plain) - len(plain.lstrip())
