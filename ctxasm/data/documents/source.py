"""What a file says of itself: its title, its date and its language, as far as they can be used."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ctxasm.data.documents.chunking import TextChunk
from ctxasm.model.characters import mended
from ctxasm.text.dates import period_of

LONGEST_TITLE = 300


def word_set(words: str) -> frozenset[str]:
    """The words of a text with blanks between them."""
    return frozenset(words.split())


_NO_TITLES = re.compile(
    r"untitled|naamloos|document\d*|microsoft word\b.*|powerpoint presentation|.*\.(?:docx?|pdf|indd|qxd|pptx?|xlsx?)", re.I
)
_NAMES = {"title": "title", "date": "date", "language": "language", "lang": "language"}
_ISO_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]\d.*")
_PDF_DATE = re.compile(r"D:(\d{4})(?:(\d\d)(\d\d)?)?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")


def document_metadata(fields: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """Title, date and language of what a file says; the first of a name counts, what says nothing is left out."""
    found: dict[str, str] = {}
    for name, value in fields:
        kept = _NAMES.get(name)
        if kept is None or kept in found or value is None:
            continue
        readers = {"title": title_of, "date": date_of, "language": language_code}
        if (usable := readers[kept](value)) is not None:
            found[kept] = usable
    return found


def title_of(value: str) -> str | None:
    """A title on one line; None for one that a program made up ("untitled", a file name)."""
    title = " ".join(mended(value[: 4 * LONGEST_TITLE]).split())
    if not title or _NO_TITLES.fullmatch(title):
        return None
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + "…"


def date_of(value: str) -> str | None:
    """A date as it is kept: the day of a moment, else as it was written where that can be read; else None."""
    text = " ".join(value[:60].split())
    if found := _PDF_DATE.match(text):
        text = "-".join(part for part in found.groups() if part)
    elif found := _ISO_MOMENT.fullmatch(text):
        text = found[1]
    return text if period_of(text) is not None else None


def language_code(value: str) -> str | None:
    """A language code, as "nl" or "de-AT"."""
    code = value.strip().replace("_", "-")
    return code if _LANGUAGE.fullmatch(code) else None


PATH_MARK = " › "
"""Between the headings of a nested section: "Care › Visiting hours"."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, where headings are nested their path, and the character at which it begins."""

    start: int
    heading: str


class Table(NamedTuple):
    """A table of data in a text: where it begins, where its first row of values does (behind the lines that head it), where it ends."""

    start: int
    body: int
    end: int


def row_lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """`| a | b |` for each row that holds a visible character."""
    lines = ([" ".join(cell.split()) for cell in row] for row in rows)
    return [f"| {' | '.join(cells)} |" for cells in lines if any(cells)]


def has_header(lines: Sequence[str], set_apart: bool = False) -> bool:
    """Whether the first line of a table seems to name its columns: words in every cell, no figure, and figures below it.

    `set_apart`: the document sets that line apart, so there need be no figures.
    """
    if len(lines) < (2 if set_apart else 3):
        return False
    cells = [cell.strip() for cell in lines[0].strip("| ").split("|")]
    return (
        all(cells) and len(set(cells)) == len(cells) and not _DIGIT.search(lines[0]) and (set_apart or any(map(_DIGIT.search, lines[1:20])))
    )


_DIGIT = re.compile(r"\d")


def numeral(number: int, kind: str) -> str:
    """A number as a list writes it: in figures (1), letters (a, A) or Roman figures (i, I)."""
    written = ""
    if kind in ("a", "A") and 0 < number < 10**6:
        while number:
            number, letter = divmod(number - 1, 26)
            written = chr(97 + letter) + written
    elif kind in ("i", "I") and 0 < number < 4000:
        for value, sign in _ROMAN:
            written += sign * (number // value)
            number %= value
    return (written.upper() if kind in ("A", "I") else written) or str(number)


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source document as plain text.

    `fields` hold what the file says of itself (`title`, `date` as YYYY-MM-DD, `language`, …). `page_breaks` are the offsets
    at which pages 2, 3, … begin, ascending; two are equal where a page is empty. `paged` says that the file has pages,
    which a file of one page has too. `sections` ascend by their start, as `tables` do. `notes` are sentences for the user.
    """

    fields: Mapping[str, str]
    text: str
    page_breaks: Sequence[int] = ()
    sections: Sequence[Section] = ()
    paged: bool = False
    notes: Sequence[str] = ()
    tables: Sequence[Table] = ()

    @property
    def pages(self) -> int | None:
        """How many pages the file has; None where it has no pages."""
        return len(self.page_breaks) + 1 if self.page_breaks or self.paged else None

    def page_of(self, chunk: TextChunk) -> int | None:
        """The 1-based page on which the chunk starts; None when the document has no pages."""
        return None if self.pages is None else 1 + bisect_right(self.page_breaks, chunk.start)

    def section_of(self, chunk: TextChunk) -> str | None:
        """The heading under which most of the chunk's characters stand (ties: the first)."""
        shares: dict[str, int] = {}
        first = max(0, bisect_right(self.sections, chunk.start, key=_start) - 1)
        after = bisect_left(self.sections, chunk.end, key=_start)
        for position in range(first, after):
            section = self.sections[position]
            end = self.sections[position + 1].start if position + 1 < len(self.sections) else len(self.text)
            share = min(end, chunk.end) - max(section.start, chunk.start)
            if share > 0:
                shares[section.heading] = shares.get(section.heading, 0) + share
        return max(shares, key=lambda heading: shares[heading]) if shares else None


def _start(section: Section) -> int:
    return section.start


class TextBuilder:
    """The text of a document as it is read, block by block: blocks are parted by a blank line, lines by a line break."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._fresh = True
        self._path: list[tuple[int, str]] = []
        self._sections: list[tuple[int, tuple[str, ...]]] = []
        self.page_breaks: list[int] = []
        self.tables: list[Table] = []

    @property
    def length(self) -> int:
        """How many characters there are so far."""
        return self._length

    def block(self, text: str, *, tight: bool = False) -> None:
        """Add a paragraph, a table or a list; `tight` puts it right below the line before. Blank text adds nothing."""
        text = text.strip("\n")
        if not text.strip():
            return
        if not self._fresh:
            self._add("\n" if tight else "\n\n")
        self._add(text)
        self._fresh = False

    def table(self, lines: Sequence[str], header: int) -> None:
        """Add a table, a row on a line; `header`: how many lines head it, which each piece of it repeats."""
        text = "\n".join(lines)
        self.block(text)
        start = self._length - len(text)
        if lines:
            self.tables.append(Table(start, start + sum(len(line) + 1 for line in lines[:header]), self._length))

    def heading(self, level: int, text: str) -> None:
        """Add a heading, which opens a section below the headings of smaller levels before it."""
        line = " ".join(text.split())
        if not line:
            return
        self.block(line)
        self.section(level, line, self._length - len(line))

    def section(self, level: int, heading: str, start: int) -> None:
        """Open a section at a place that is in the text already."""
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, shortened(heading)))
        self._sections.append((start, tuple(part for _, part in self._path)))

    def page_break(self, separator: str = "\n\n") -> None:
        """The next page begins: what is added from here on stands on it, after `separator`."""
        if not self._fresh:
            self._add(separator)
            self._fresh = True
        self.page_breaks.append(self._length)

    def top_heading(self) -> str | None:
        """The heading that all others stand below: the title as the text itself gives it."""
        tops = {path[0] for _, path in self._sections}
        return self._sections[0][1][0] if len(tops) == 1 and sum(len(path) == 1 for _, path in self._sections) == 1 else None

    def sections(self) -> list[Section]:
        """The sections so far. The heading that all others stand below is not said with each of them."""
        top = self.top_heading() is not None
        paths = ((start, path[1:] if top and len(path) > 1 else path) for start, path in self._sections)
        return sorted((Section(start, PATH_MARK.join(path)) for start, path in paths if start < self._length), key=_start)

    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


LONGEST_HEADING = 120


def shortened(heading: str) -> str:
    """A heading as it is kept beside a chunk: a whole paragraph set as a heading is cut."""
    return heading if len(heading) <= LONGEST_HEADING else heading[: LONGEST_HEADING - 1].rstrip() + "…"
