"""From the elements of a page to blocks of text: one walk over the tree, in the order of the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxasm.data.documents.hidden import Hidden, visible_text
from ctxasm.data.documents.source import TextBuilder
from ctxasm.data.documents.table import table_text

if TYPE_CHECKING:
    from lxml.etree import _Element

BLOCKS = frozenset(
    (
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "caption",
            "center",
            "dd",
            "details",
            "div",
            "dl",
            "dt",
            "fieldset",
            "figcaption",
        ),
        *("figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "search"),
        *("section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    )
)
FURNITURE = frozenset(("nav", "header", "footer", "aside", "search", "menu"))
FURNITURE_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog", "alertdialog"))
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACE = re.compile("[ \\t\\n\\r\\f\\v\\u00a0]+")
_SPACES = re.compile("  +")


_AROUND_BREAK = re.compile(" *\n *")
SECTIONING = frozenset(("article", "main", "section"))


class Reader:
    """Adds the visible text of elements to a builder. `furniture`: navigation, header, footer and asides are read too."""

    def __init__(self, builder: TextBuilder, hidden: Hidden, furniture: bool = False) -> None:
        self.builder, self.hidden, self.furniture = builder, hidden, furniture
        self._line: list[str] = []
        self._lists: list[int | None] = []
        self._sectioning = 0
        self._mark = ""
        self._after_item = False

    def read(self, root: _Element) -> None:
        """Everything in `root`, without recursion: pages nest as deep as they like."""
        self._open(root)
        open_elements = [(root, iter(root))]
        while open_elements:
            element, children = open_elements[-1]
            child = next(children, None)
            if child is None:
                open_elements.pop()
                self._close(element)
                if open_elements:
                    self._say(element.tail)
            elif self._is_left_out(child):
                self._say(child.tail)
            elif (whole := self._whole(child)) is not None:
                self._flush()
                self._after_item = False
                self.builder.block(whole)
                self._say(child.tail)
            else:
                self._open(child)
                open_elements.append((child, iter(child)))
        self._flush()

    def _is_left_out(self, element: _Element) -> bool:
        if self.hidden.hides(element):
            return True
        if self.furniture:
            return False
        if element.tag == "nav" or element.get("role") in FURNITURE_ROLES:
            return True
        if element.tag not in FURNITURE or self._sectioning:
            return False
        return element.tag != "header" or next(element.iter("h1"), None) is None

    def _whole(self, element: _Element) -> str | None:
        """The text of what is read as one: code, and tables of data. None for everything else."""
        if element.tag == "pre":
            code = visible_text(element, self.hidden).strip("\n")
            return f"```\n{code}\n```" if code.strip() else ""
        return table_text(element, self.hidden) if element.tag == "table" else None

    def _open(self, element: _Element) -> None:
        tag = str(element.tag)
        if tag == "br":
            self._line.append("\n")
        elif tag in HEADINGS or tag in BLOCKS:
            self._flush()
        if tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._mark = self._next_mark()
        elif tag in SECTIONING:
            self._sectioning += 1
        self._say(element.text)

    def _close(self, element: _Element) -> None:
        tag = str(element.tag)
        if tag in HEADINGS:
            self.builder.heading(HEADINGS[tag], self._taken())
            self._mark, self._after_item = "", False
        elif tag in BLOCKS:
            self._flush()
        if tag in ("ul", "ol"):
            self._lists.pop()
            self._after_item = self._after_item and bool(self._lists)
        elif tag == "li":
            self._mark = ""
        elif tag in SECTIONING:
            self._sectioning -= 1

    def _next_mark(self) -> str:
        if not self._lists or (number := self._lists[-1]) is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number}. "

    def _say(self, text: str | None) -> None:
        if text:
            self._line.append(_SPACE.sub(" ", text.replace("\u00ad", "")))

    def _taken(self) -> str:
        """The line so far, which begins anew."""
        line = _AROUND_BREAK.sub("\n", _SPACES.sub(" ", "".join(self._line))).strip()
        self._line = []
        return line

    def _flush(self) -> None:
        """The line so far as a block, in a list as its item."""
        line = self._taken()
        if not line:
            return
        if not self._lists:
            self.builder.block(line)
            self._after_item = False
            return
        indent = "  " * min(len(self._lists) - 1, 8)
        lead = self._mark or "  "
        self.builder.block(indent + lead + line.replace("\n", "\n  " + indent), tight=self._after_item)
        self._mark, self._after_item = "", True
