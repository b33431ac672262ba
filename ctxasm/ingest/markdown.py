"""Read a source document: front matter, headings and page breaks of a Markdown file, as plain text with offsets.

The form is small on purpose:

    ---
    document_id: cardiologie
    title: Cardiologie
    date: 2026-02-03
    ---
    First paragraph.
    ## A heading
    <!-- pagina -->
    Text of the second page.

Headings lose their `#`, a page break line disappears (a blank line takes its place), everything else is kept. The text
that remains is "the document": the offsets of chunks and of gold spans count its characters.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxasm.ingest.chunking import TextChunk

PAGE_BREAK = "<!-- pagina -->"
_FRONT_MATTER = re.compile(r"\A---\n(?P<fields>.*?\n)---\n(?P<body>.*)\Z", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(?P<heading>.+?) *$")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the character at which it begins."""

    start: int
    heading: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source document as plain text. `page_breaks` are the offsets at which pages 2, 3, … begin."""

    fields: Mapping[str, str]
    text: str
    page_breaks: Sequence[int]
    sections: Sequence[Section]

    def page_of(self, chunk: TextChunk) -> int | None:
        """The 1-based page on which the chunk starts; None when the document has no pages."""
        if not self.page_breaks:
            return None
        return 1 + sum(start <= chunk.start for start in self.page_breaks)

    def section_of(self, chunk: TextChunk) -> str | None:
        """The heading under which most of the chunk's characters stand (ties: the first)."""
        shares: dict[str, int] = {}
        ends = [*(section.start for section in self.sections[1:]), len(self.text)]
        for section, end in zip(self.sections, ends, strict=False):
            share = min(end, chunk.end) - max(section.start, chunk.start)
            if share > 0:
                shares[section.heading] = shares.get(section.heading, 0) + share
        return max(shares, key=lambda heading: shares[heading]) if shares else None


def read_source(markdown: str) -> SourceText:
    """Parse one source file; raises `ValueError` when the front matter is missing or a line of it has no colon."""
    match = _FRONT_MATTER.match(markdown)
    if match is None:
        raise ValueError("a source must begin with front matter between two lines of ---")
    fields = dict(_field(line) for line in match["fields"].splitlines() if line.strip())
    text = ""
    breaks: list[int] = []
    sections: list[Section] = []
    for page in match["body"].split(PAGE_BREAK):
        if text:
            text = text.rstrip("\n") + "\n\n"
            breaks.append(len(text))
        for line in page.strip("\n").split("\n"):
            heading = _HEADING.match(line)
            if heading is not None:
                sections.append(Section(len(text), heading["heading"]))
            text += (heading["heading"] if heading is not None else line) + "\n"
    return SourceText(fields, text, tuple(breaks), tuple(sections))


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise ValueError(f"front matter must be lines of 'name: value', got {line!r}")
    return name.strip(), value.strip()
