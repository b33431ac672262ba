"""Markdown: its headings become sections, comments and markup of tables go, everything else stays as it was written.

Lists, quotes, code and emphasis are kept with their marks: that is how people read them, and models know them. Headings
lose their `#`, a table its line of dashes. HTML blocks are read as HTML, other tags go. Front matter (YAML between `---`, TOML
between `+++`, JSON) gives title, date, language.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.data.documents.formulas import END, LOWERED, RAISED, plain_scripts
from ctxasm.data.documents.html import read_fragment, without_comments
from ctxasm.data.documents.source import SourceText, TextBuilder, document_metadata, word_set
from ctxasm.data.documents.text import decoded

if TYPE_CHECKING:
    from markdown_it.token import Token


_YAML = re.compile(r"---[ \t]*\n((?!---|[ \t]*\n)(?:[^\n]*\n){0,500}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_TOML = re.compile(r"\+\+\+[ \t]*\n((?:[^\n]*\n){0,500}?)\+\+\+[ \t]*(?:\n|\Z)")
_KEY = re.compile(r"[\"']?([^\W\d][\w.-]{0,40})[\"']?[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_IN_KEY = re.compile(r"[ \t]+\S.*|-[ \t].*|[#}\]].*|[ \t]*")
"""A line that belongs to the key above it: set in, an item, a comment, the end of a list."""
_USUAL_KEYS = word_set("title date author authors tags description language lang id layout status type version category keywords summary")
MOST_FRONT_MATTER = 100_000
"""Characters of front matter in JSON."""
_LINK = re.compile(r"!?\[([^][]{0,500})\](?:\([^()\s]{0,2000}(?: \"[^\"]{0,500}\")?\))")
_EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|~~|`+)(?=\S)([^*_~`]+)(?<=\S)\1")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def read_markdown(data: bytes) -> SourceText:
    """A Markdown file. Raises UnreadableDocument where the bytes are no text."""
    text, notes = decoded(data)
    says, text = _front_matter(text)
    fields = document_metadata(says)
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
    return SourceText(fields, builder.text(), (), builder.sections(), notes=notes, tables=builder.tables)


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
        builder.table([_without_tags(line) for position, line in enumerate(lines) if position != 1], 1)
    elif block.kind == "html":
        builder.block(read_fragment(block.text))
    else:
        builder.block("\n".join(lines))


def _add_lines(builder: TextBuilder, lines: list[str]) -> None:
    """Lines as they stand, without the comments in them."""
    for part in re.split(r"\n(?:[ \t]*\n)+", without_comments("\n".join(lines))):
        builder.block(_without_tags(part).rstrip())


_TAGS = word_set(
    "a abbr acronym b bdi bdo big br center cite code data del dfn em font i img ins kbd label mark nobr p q s samp small span strike"
    " strong sub sup time tt u var wbr div details summary picture source"
)
_TAG = re.compile(r"</?([A-Za-z]{1,10})(?:\s[^<>]{0,2000})?/?>")


def _without_tags(text: str) -> str:
    """Markdown without the tags of HTML in it; those in code and those that HTML does not know stay, as `<name>`."""
    if "<" not in text:
        return text
    parts = re.split("(`+)", text)
    closing: dict[str, int] = {}
    ends = [0] * len(parts)
    for position in range(len(parts) - 2, 0, -2):
        ends[position] = closing.get(parts[position], 0)
        closing[parts[position]] = position
    position = 0
    while position < len(parts):
        if position % 2 and ends[position]:
            position = ends[position] + 1  # a span of code
            continue
        if position % 2 == 0:
            parts[position] = _TAG.sub(_tag, parts[position])
        position += 1
    return plain_scripts("".join(parts))


def _tag(found: re.Match[str]) -> str:
    name, opens = found[1].lower(), not found[0].startswith("</")
    if name in ("sup", "sub"):
        return END if not opens else RAISED if name == "sup" else LOWERED
    return found[0] if name not in _TAGS else " " if name == "br" else ""


def _bare(heading: str) -> str:
    """A heading without links, emphasis and escapes."""
    bare = _LINK.sub(r"\1", _without_tags(without_comments(heading[:2000])))
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\2", bare)).strip()


def _front_matter(text: str) -> tuple[list[tuple[str, str]], str]:
    """What the head of a file says, and the text behind it. A text between two rules, or a head that is broken, is text."""
    if found := _YAML.match(text):
        lines = found[1].splitlines()
        keys = [key for line in lines if (key := _KEY.fullmatch(line))]
        if _KEY.fullmatch(lines[0]) or lines[0].startswith("#"):
            is_head = all(_KEY.fullmatch(line) or _IN_KEY.fullmatch(line) for line in lines)
            if is_head and any(key[1].lower() in _USUAL_KEYS or not key[1][0].isupper() for key in keys):
                return [(key[1].lower(), (key[2] or "").strip().strip("\"'")) for key in keys], text[found.end() :]
    elif found := _TOML.match(text):
        try:
            return _values(tomllib.loads(found[1])), text[found.end() :]
        except (ValueError, RecursionError):
            return [], text
    elif text.startswith("{"):
        try:
            values, end = json.JSONDecoder().raw_decode(text[:MOST_FRONT_MATTER])
        except (ValueError, RecursionError):
            return [], text
        if values and text[end : end + 1] in ("\n", ""):
            return _values(values), text[end:]
    return [], text


def _values(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name.lower(), str(value)) for name, value in fields.items() if not isinstance(value, (dict, list))]
