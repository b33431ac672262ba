"""What a page hides from its readers, which is where texts for models are hidden."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ctxasm.data.documents.collecting import UnreadableDocument
from ctxasm.data.documents.source import SourceText, TextBuilder, stated
from ctxasm.data.documents.text import decoded

if TYPE_CHECKING:
    from lxml.etree import _Element


NEVER_SHOWN = frozenset(
    (
        *("script", "style", "template", "noscript", "head", "title", "iframe", "object", "embed", "applet", "canvas", "audio", "video"),
        *("svg", "map", "input", "select", "datalist", "textarea", "progress", "meter", "colgroup"),
    )
)
"""Elements whose text is no part of what a page says."""
_HEADS = ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary")
"""Where a button holds the heading of what it unfolds."""
_HIDING = re.compile(
    r"(?:^|[;\s])(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}(?:hidden|collapse)"
    r"|font-size\s{0,9}:\s{0,9}0(?:\.0{0,9})?(?:px|pt|em|rem|%)?\s{0,9}(?:;|!|$))",
    re.IGNORECASE,
)
"""Not `opacity: 0`: pages that fade their text in as they are scrolled are full of it."""
_SIMPLE = re.compile(r"(?P<tag>[a-z][a-z0-9-]*)?(?:\.(?P<class>[\w-]+)|#(?P<id>[\w-]+))?", re.IGNORECASE)
_COMMENT = re.compile(r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/")
MOST_STYLE = 1_000_000
"""Characters of style sheets that are looked at."""


class Hidden:
    """Tells which elements of a page are hidden."""

    def __init__(self, root: _Element) -> None:
        styles = "\n".join(style.text or "" for style in root.iter("style") if (style.get("media") or "all") in ("all", "screen"))
        self._rules = set(_hiding_selectors(styles[:MOST_STYLE]))

    def hides(self, element: _Element) -> bool:
        """Whether this element by itself is hidden, with everything in it."""
        tag = element.tag
        if not isinstance(tag, str) or tag in NEVER_SHOWN or (tag == "dialog" and element.get("open") is None):
            return True
        if tag == "button" and getattr(element.getparent(), "tag", None) not in _HEADS:
            return True
        if not element.attrib:
            return bool(self._rules) and self._is_ruled_out(element, tag)
        if element.get("hidden", "until-found").lower() != "until-found":
            return True
        style = element.get("style")
        if style and _HIDING.search(style):
            return True
        return bool(self._rules) and self._is_ruled_out(element, tag)

    def _is_ruled_out(self, element: _Element, tag: str) -> bool:
        names = [("class", name) for name in (element.get("class") or "").split()] + [("id", element.get("id") or "")]
        return ("", tag, "", "") in self._rules or any(
            (kind, before, name, "") in self._rules for kind, name in names if name for before in ("", tag)
        )


def visible_text(element: _Element, hidden: Hidden) -> str:
    """All visible text in an element, line breaks of its markup included."""
    pieces = [element.text or ""]
    open_elements = [iter(element)]
    tails: list[str] = []
    while open_elements:
        child = next(open_elements[-1], None)
        if child is None:
            open_elements.pop()
            pieces.append(tails.pop() if tails else "")
        elif hidden.hides(child):
            pieces.append(child.tail or "")
        else:
            pieces.append("\n" if child.tag == "br" else child.text or "")
            tails.append(child.tail or "")
            open_elements.append(iter(child))
    return "".join(pieces)


def _hiding_selectors(style: str) -> Iterator[tuple[str, str, str, str]]:
    """`(kind, tag, name, "")` of each plain selector (`tag`, `.name`, `#name`, `tag.name`) whose rule hides; none inside `@media`."""
    for selector, rule in _rules(_COMMENT.sub("", style)):
        if _HIDING.search(rule):
            for one in selector.split(","):
                if (found := _SIMPLE.fullmatch(one.strip())) is not None and found[0]:
                    kind = "class" if found["class"] else "id" if found["id"] else ""
                    yield kind, (found["tag"] or "").lower(), found["class"] or found["id"] or "", ""


def _rules(style: str) -> Iterator[tuple[str, str]]:
    """Selector and declarations of each rule that stands by itself."""
    depth, selector, began = 0, "", 0
    for place in re.finditer(r"[{};]", style):
        mark, at = place[0], place.start()
        if mark == "{":
            if depth == 0:
                selector, began = style[began:at].strip(), at + 1
            depth += 1
        elif mark == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                if not selector.startswith("@"):
                    yield selector, style[began:at]
                began = at + 1
        elif depth == 0:
            began = at + 1


_NOT_IN_DATA = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "pre", "form", "section", "article")


def rows_text(rows: Iterable[Sequence[str]]) -> str:
    """`| a | b |` for each row that holds a visible character."""
    lines = ([" ".join(cell.split()) for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines if any(cells))


def table_text(table: _Element, hidden: Hidden) -> str | None:
    """The text of a table of data; None for one that lays out a page, which is read like any other element."""
    if next(table.iterdescendants(*_NOT_IN_DATA), None) is not None:
        return None
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr") if not _is_hidden(row, table, hidden)]
    if max(map(len, rows), default=0) < 2:
        return None
    caption = next((visible_text(part, hidden) for part in table.iterchildren("caption") if not hidden.hides(part)), "")
    head = f"{' '.join(caption.split())}\n" if caption.strip() else ""
    return head + rows_text([visible_text(cell, hidden) if not hidden.hides(cell) else "" for cell in row] for row in rows)


def _is_hidden(row: _Element, table: _Element, hidden: Hidden) -> bool:
    if hidden.hides(row):
        return True
    around = row.getparent()
    return around is not None and around is not table and hidden.hides(around)


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


_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{1,40})"
    rb"|<\?xml[^>]{0,80}encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9_.:-]{1,40})",
    re.IGNORECASE,
)
HEAD_BYTES = 4096
_META = {
    "og:title": "title",
    "dc.title": "title",
    "article:published_time": "date",
    "date": "date",
    "dc.date": "date",
    "dcterms.date": "date",
    "dcterms.created": "date",
    "article:modified_time": "date",
    "last-modified": "date",
}


def read_html(data: bytes) -> SourceText:
    """An HTML page. Raises UnreadableDocument where it holds no elements or nests them without end."""
    found = _CHARSET.search(data, 0, HEAD_BYTES)
    declared = (found[1] or found[2]).decode() if found else None
    text, notes = decoded(data, declared)
    root = parsed(text)
    fields = stated(_fields(root))
    hidden = Hidden(root)
    builder = TextBuilder()
    Reader(builder, hidden).read(_main(root, hidden))
    if not builder.length:
        Reader(builder, hidden, furniture=True).read(root)
    if "title" not in fields and (top := builder.top_heading()) is not None:
        fields["title"] = top
    return SourceText(fields, builder.text(), (), builder.sections(), notes=notes)


def read_fragment(html: str) -> str:
    """The visible text of a piece of HTML inside a Markdown file; as it was written where it cannot be read as HTML."""
    builder = TextBuilder()
    try:
        root = parsed(html)
    except UnreadableDocument:
        return without_comments(html)
    Reader(builder, Hidden(root), furniture=True).read(root)
    return builder.text()


def without_comments(text: str) -> str:
    """`text` without HTML comments; one that never ends is no comment."""
    pieces = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        pieces.append(text[at:start])
        at = end + 3
    pieces.append(text[at:])
    return "".join(pieces)


def parsed(html: str) -> _Element:
    """The elements of a page, without its comments."""
    from lxml import etree

    # The bytes are UTF-8 here whatever the page says of itself; it was decoded already.
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True, recover=True)
    try:
        root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        root = None
    failures = {error.type_name for error in parser.error_log}
    if "ERR_NO_MEMORY" in failures:
        raise MemoryError
    if "ERR_RESOURCE_LIMIT" in failures:
        raise UnreadableDocument("its elements are nested too deep to be a page for people")
    if root is None:
        raise UnreadableDocument("it holds no HTML")
    return root


def _main(root: _Element, hidden: Hidden) -> _Element:
    """The element that holds the main part: the page itself where no single one says so."""
    for path in ("//main", '//*[@role="main"]', "//article"):
        found = [element for element in root.xpath(path) if not hidden.hides(element)]
        if len(found) == 1 and "".join(found[0].itertext()).strip():
            element: _Element = found[0]
            return element
    return root


def _fields(root: _Element) -> Iterator[tuple[str, str | None]]:
    metas: dict[str, str | None] = {}
    for meta in root.iter("meta"):
        name = (meta.get("property") or meta.get("name") or meta.get("http-equiv") or "").lower()
        metas.setdefault(name, meta.get("content"))
    yield from ((field, metas.get(name)) for name, field in _META.items() if field != "title")
    yield from (("title", "".join(title.itertext())) for title in root.iter("title"))
    yield from (("title", metas.get(name)) for name, field in _META.items() if field == "title")
    yield "language", root.get("lang") or metas.get("content-language")
