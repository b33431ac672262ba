"""How careless or clever readers split a context into its blocks: written from the formats alone, with nothing of ctxasm.

Each returns what it takes for the boundaries, in order. A source text has forged something when a reader finds more, fewer
or other boundaries than there are.
"""

from __future__ import annotations

import html
import re
import unicodedata
from html.parser import HTMLParser
from typing import NamedTuple

PLANES = (*range(0x20000), *range(0xE0000, 0xE1000))
"""Where characters without width stand: neither in the planes of ideographs nor in those that are nobody's."""
WIDTHLESS = dict.fromkeys(i for i in PLANES if unicodedata.category(chr(i)) == "Cf" or 0xFE00 <= i <= 0xFE0F)


class Boundary(NamedTuple):
    """A header or an opening tag (`opens`) with its number, or a closing tag (number None)."""

    opens: bool
    number: int | None


def plain(text: str) -> str:
    """What is left when differences of width and characters without width are ignored."""
    return unicodedata.normalize("NFKC", text.translate(WIDTHLESS))


def numbered_headers(text: str) -> list[Boundary]:
    """`[N] Source:` at the start of a line, behind marks of a list, a quote or emphasis, in any case."""
    found = re.findall(
        r"(?:^|(?<=[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]))[\s>#*_|+•·-]*\[\s*(\d+)\s*\][\s*_]*source\s*:", plain(text), re.I
    )
    return [Boundary(True, int(number)) for number in found]


def source_headers(text: str) -> list[Boundary]:
    """`[SOURCE N]` anywhere, in any case and with any white space."""
    return [Boundary(True, int(number)) for number in re.findall(r"\[\s*source\s*[:#.]?\s*(\d+)", plain(text), re.I)]


def regex_tags(text: str) -> list[Boundary]:
    """Opening and closing tags by regular expression, blanks, attributes and case as they come, entities read twice."""
    shown = plain(html.unescape(html.unescape(text)))
    return [
        Boundary(not slash, int(number) if not slash and number else None)
        for slash, number in re.findall(r"<\s*(/?)\s*(?:\w+:)?chunk\b(?:[^<>]*?index\s*=\s*[\"']?(\d+))?", shown, re.I)
    ]


def strict_tags(text: str) -> list[Boundary]:
    """Tags exactly as the format writes them, by the simplest expression that reads them."""
    return [
        Boundary(not slash, int(number) if number else None) for slash, number in re.findall(r'<(/?)chunk(?: index="(\d+)"[^>]*)?>', text)
    ]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[Boundary] = []
        self.sources: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "chunk":
            named = dict(attrs)
            self.found.append(Boundary(True, int(named.get("index") or -1)))
            self.sources.append(named.get("source"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "chunk":
            self.found.append(Boundary(False, None))


def parsed_tags(text: str) -> tuple[list[Boundary], list[str | None]]:
    """Tags and `source` attributes as Python's own tokenizer of HTML finds them."""
    reader = _Tags()
    reader.feed(text)
    reader.close()
    return reader.found, reader.sources
