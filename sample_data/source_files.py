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

from ctxasm.data.documents.source import Section, SourceText

__all__ = ["Section", "SourceText", "read_source"]

PAGE_BREAK = "<!-- pagina -->"
_FRONT_MATTER = re.compile(r"\A---\n(?P<fields>.*?\n)---\n(?P<body>.*)\Z", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(?P<heading>.+?) *$")


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
