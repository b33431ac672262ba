"""Which paragraphs of a Word document are headings and which are items of a list: what its styles and numbering say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
NUMBERING = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering"
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
LONGEST_CHAIN = 20
"""Styles on styles that are followed."""


def value_of(element: _Element, name: str = "val") -> str | None:
    """An attribute of Word's own."""
    value: str | None = element.get(f"{W}{name}")
    return value


class Style(NamedTuple):
    """What the style of a paragraph makes of it: a heading of a level from 0, an item of the list `number`."""

    level: int | None = None
    is_title: bool = False
    number: str | None = None


class Styles:
    """The styles of a document by their ids, which are translated where their names are not."""

    def __init__(self, root: _Element) -> None:
        self._found = {value_of(style, "styleId"): style for style in root.iter(f"{W}style")}
        self._known: dict[str | None, Style] = {}
        self._default = next((name for name, style in self._found.items() if value_of(style, "default") == "1"), None)
        language = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr/{W}lang")
        self.language = value_of(language) if language is not None else None

    def of(self, paragraph: _Element) -> Style:
        """The style of a paragraph, with the outline level that it sets itself."""
        named = paragraph.find(f"{W}pPr/{W}pStyle")
        style = self._style(value_of(named) if named is not None else self._default)
        own = paragraph.find(f"{W}pPr/{W}outlineLvl")
        return style._replace(level=_level(own)) if own is not None else style

    def _style(self, name: str | None) -> Style:
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str | None) -> Style:
        level = number = None
        is_title = False
        for _ in range(LONGEST_CHAIN):
            style = self._found.get(name)
            if style is None:
                break
            called = style.find(f"{W}name")
            words = (value_of(called) or "") if called is not None else ""
            is_title = is_title or words.lower() == "title"
            if level is None and (heading := _HEADING.fullmatch(words)):
                level = int(heading[1]) - 1
            outline, listed = style.find(f"{W}pPr/{W}outlineLvl"), style.find(f"{W}pPr/{W}numPr/{W}numId")
            level = _level(outline) if level is None and outline is not None else level
            number = value_of(listed) if number is None and listed is not None else number
            based = style.find(f"{W}basedOn")
            name = value_of(based) if based is not None else None
        return Style(level, is_title, number)


def _level(outline: _Element) -> int | None:
    value = value_of(outline)
    return int(value) if value in tuple("012345678") else None  # 9 is body text


class Numbers:
    """The marks of list items, counted as Word does: `- ` for a bullet, `3. ` for the third."""

    def __init__(self, root: _Element | None) -> None:
        self._bullets: dict[tuple[str | None, str | None], bool] = {}
        self._abstract: dict[str | None, str | None] = {}
        self._counts: dict[tuple[str | None, int], int] = {}
        if root is None:
            return
        for abstract in root.iter(f"{W}abstractNum"):
            for level in abstract.iter(f"{W}lvl"):
                form = level.find(f"{W}numFmt")
                is_bullet = form is None or value_of(form) in ("bullet", "none")
                self._bullets[value_of(abstract, "abstractNumId"), value_of(level, "ilvl")] = is_bullet
        for number in root.iter(f"{W}num"):
            made_of = number.find(f"{W}abstractNumId")
            self._abstract[value_of(number, "numId")] = value_of(made_of) if made_of is not None else None

    def mark_of(self, paragraph: _Element, style: Style) -> str:
        """The mark of a paragraph, indented by its level; nothing for one that is no item."""
        listed = paragraph.find(f"{W}pPr/{W}numPr/{W}numId")
        number = value_of(listed) if listed is not None else style.number
        if number is None or number == "0":
            return ""
        depth = paragraph.find(f"{W}pPr/{W}numPr/{W}ilvl")
        written = (value_of(depth) or "0") if depth is not None else "0"
        level = int(written) if written in tuple("012345678") else 0
        if self._bullets.get((self._abstract.get(number), str(level)), True):
            return "  " * level + "- "
        self._counts[number, level] = self._counts.get((number, level), 0) + 1
        for deeper in range(level + 1, 9):
            self._counts.pop((number, deeper), None)
        return f"{'  ' * level}{self._counts[number, level]}. "
