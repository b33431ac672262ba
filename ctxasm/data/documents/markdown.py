"""Markdown: its headings become sections, comments and markup of tables go, everything else stays as it was written.

Lists, quotes, code and emphasis are kept with their marks: that is how people read them, and models know them. Headings
lose their `#`, a table its line of dashes. HTML blocks are read as HTML. Front matter (`---`) gives title, date, language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ctxasm.data.documents.html import read_fragment, without_comments
from ctxasm.data.documents.source import SourceText, TextBuilder, stated
from ctxasm.data.documents.text import decoded

if TYPE_CHECKING:
    from markdown_it.token import Token


_FRONT_MATTER = re.compile(r"---[ \t]*\n((?:[^\n]*\n){0,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_FIELD = re.compile(r"([A-Za-z_][\w-]{0,40})[ \t]*:[ \t]+(\S.*)")
_LINK = re.compile(r"!?\[([^][]{0,500})\](?:\([^()\s]{0,2000}(?: \"[^\"]{0,500}\")?\))")
_EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|~~|`+)(?=\S)([^*_~`]+)(?<=\S)\1")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def read_markdown(data: bytes) -> SourceText:
    """A Markdown file. Raises UnreadableDocument where the bytes are no text."""
    text, notes = decoded(data)
    fields: dict[str, str] = {}
    if found := _FRONT_MATTER.match(text):
        fields = stated(_fields(found[1]))
        text = text[found.end() :]
    builder = TextBuilder()
    lines = text.split("\n")
    at = 0
    for block in _blocks(text):
        _add_lines(builder, lines[at : block.first])
        _add_block(builder, block, lines[block.first : block.after])
        at = block.after
    _add_lines(builder, lines[at:])
    if "title" not in fields and (top := builder.top_heading()) is not None:
        fields["title"] = top
    return SourceText(fields, builder.text(), (), builder.sections(), notes=notes)


class _Block(NamedTuple):
    """The lines `first … after - 1` that are not kept as they are; `level` of a heading, `text` of a heading or HTML."""

    kind: str
    first: int
    after: int
    level: int = 0
    text: str = ""


def _blocks(text: str) -> Iterator[_Block]:
    """Headings, tables, HTML blocks and code, in order; inside a list or a quote only code and HTML."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable("table")
    reader.core.ruler.disable(["inline", "text_join"])
    after = 0
    tokens = reader.parse(text)
    for position, token in enumerate(tokens):
        if token.map is None or token.map[0] < after:
            continue
        if (block := _block(token, tokens[position + 1] if position + 1 < len(tokens) else None)) is not None:
            after = block.after
            yield block


def _block(token: Token, following: Token | None) -> _Block | None:
    first, after = token.map or (0, 0)
    if token.type == "heading_open" and token.level == 0:
        return _Block("heading", first, after, int(token.tag[1:]), _bare(following.content) if following is not None else "")
    if token.type == "table_open" and token.level == 0:
        return _Block("table", first, after)
    if token.type == "html_block":
        return _Block("html", first, after, text=token.content)
    if token.type in ("fence", "code_block"):
        return _Block("code", first, after)
    return None


def _add_block(builder: TextBuilder, block: _Block, lines: list[str]) -> None:
    if block.kind == "heading":
        builder.heading(block.level, block.text)
    elif block.kind == "table":
        builder.block("\n".join(line for position, line in enumerate(lines) if position != 1))
    elif block.kind == "html":
        builder.block(read_fragment(block.text))
    else:
        builder.block("\n".join(lines))


def _add_lines(builder: TextBuilder, lines: list[str]) -> None:
    """Lines as they stand, without the comments in them."""
    for part in re.split(r"\n(?:[ \t]*\n)+", without_comments("\n".join(lines))):
        builder.block(part.rstrip())


def _bare(heading: str) -> str:
    """A heading without links, emphasis and escapes."""
    bare = _LINK.sub(r"\1", without_comments(heading[:2000]))
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\2", bare)).strip()


def _fields(front_matter: str) -> Iterator[tuple[str, str]]:
    """Its plain `name: value` lines; nested values are left alone."""
    for line in front_matter.splitlines():
        if found := _FIELD.match(line):
            yield found[1].lower(), found[2].strip().strip("\"'")
