"""Web pages: the text that a reader sees, without what the page hides and what leads to other pages.

What is hidden goes from the tree first, as do the links beside headings; raised text and equations are written out in it.
Hidden parts are where texts for models are hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from ctxasm.data.documents.collecting import UnreadableDocument
from ctxasm.data.documents.formulas import END, LOWERED, NOTE, RAISED, equation_text, plain_scripts
from ctxasm.data.documents.source import SourceText, TextBuilder, document_metadata, has_header, numeral, row_lines, word_set
from ctxasm.data.documents.text import decoded

if TYPE_CHECKING:
    from lxml.etree import _Element


NEVER_SHOWN = word_set(
    "script style template noscript head title iframe object embed applet canvas audio video svg map input select datalist "
    "textarea progress meter colgroup"
)
"""Elements whose text is no part of what a page says."""
_HEADS = ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary")
"""Where a button holds the heading of what it unfolds, and a link leads to the heading it stands in."""
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
_GONE = "x-gone"
"""What an element is called that was taken out: its place stays, so that nothing around it has to move."""


def _take_out(element: _Element) -> None:
    element.clear(keep_tail=True)
    element.tag = _GONE


def _drop_hidden(root: _Element) -> None:
    """Take out everything that the page hides by elements, attributes or plain rules of its style sheets."""
    styles = "\n".join(style.text or "" for style in root.iter("style") if (style.get("media") or "all") in ("all", "screen"))
    rules = set(_hiding_selectors(styles[:MOST_STYLE]))
    for element in [element for element in root.iterdescendants() if _is_hidden(element, rules)]:
        if not _is_spoken(element):
            _take_out(element)


def _is_spoken(element: _Element) -> bool:
    """Whether this is an equation for those who hear the page, beside the picture of it that the others see (as in Wikipedia)."""
    if len(element) != 1 or element[0].tag != "math" or (element.text or "").strip() or (element[0].tail or "").strip():
        return False
    picture = element.getnext()
    return picture is not None and picture.tag == "img"


def _is_hidden(element: _Element, rules: set[tuple[str, str, str]]) -> bool:
    tag = element.tag
    if not isinstance(tag, str) or tag in NEVER_SHOWN or (tag == "dialog" and element.get("open") is None):
        return True
    if tag == "button" and not _is_heading(element):
        return True
    if element.get("hidden", "until-found").lower() != "until-found" or _HIDING.search(element.get("style", "")):
        return True
    if not rules:
        return False
    names = [("class", name) for name in element.get("class", "").split()] + [("id", element.get("id", ""))]
    return ("", tag, "") in rules or any((kind, before, name) in rules for kind, name in names if name for before in ("", tag))


def _is_heading(button: _Element) -> bool:
    """Whether a button holds all the words of a heading, as that of a part that unfolds does."""
    heading = button.getparent()
    if heading is None or heading.tag not in _HEADS:
        return False
    children = list(islice(heading, 4))
    return len(children) < 4 and not any((words or "").strip() for words in (heading.text, *(child.tail for child in children)))


def _hiding_selectors(style: str) -> Iterator[tuple[str, str, str]]:
    """Kind, tag and name of each plain selector (`tag`, `.name`, `#name`, `tag.name`) whose rule hides; none inside `@media`."""
    for selector, rule in _rules(_COMMENT.sub("", style)):
        if _HIDING.search(rule):
            for one in selector.split(","):
                if (found := _SIMPLE.fullmatch(one.strip())) is not None and found[0]:
                    kind = "class" if found["class"] else "id" if found["id"] else ""
                    yield kind, (found["tag"] or "").lower(), found["class"] or found["id"] or ""


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


# Links that are no text, raised figures, equations

_SHIFTED = re.compile(r"vertical-align\s{0,9}:\s{0,9}(super|sub)\b", re.IGNORECASE)
_LINK_NAMES = re.compile(r"anchor|permalink|headerlink|heading-?link|hash-?link|self-?link|editsection", re.IGNORECASE)
_TURNING = word_set("p n u h")
"""Keys that books of web pages give to the links to the page before, the next one, the one above, and the first."""
_RELATIONS = word_set("prev previous next up home top start first last index contents toc search")
_TURNS = word_set(
    "prev previous next up home top contents index back zurück weiter vorherige nächste hoch start inhalt vorige volgende "
    "omhoog inhoud précédent suivant sommaire anterior siguiente arriba precedente successivo 前へ 次へ 上一页 下一页"
)
"""What such links say where nothing else tells them."""
_WORD = re.compile(r"[^\W\d_]+")
_ROW_OF_LINKS = ("table", "div", "p", "ul", "center", "td")
_LONGEST_ROW = 400
"""Characters of a row of links to other pages, with their titles."""


_MOST_TURNS = 100
"""Such links that are looked at, from either end of a page."""


def _short_text(element: _Element, longest: int) -> str | None:
    """The text of an element, None where it has more characters or elements than `longest`."""
    pieces: list[str] = []
    length = 0
    for number, inner in enumerate(element.iter()):
        pieces += (inner.text or "", (inner.tail or "") if inner is not element else "")
        length += len(pieces[-1]) + len(pieces[-2])
        if length > longest or number > longest:
            return None
    return "".join(pieces)


def _drop_links(root: _Element) -> None:
    """Take out the marks of links beside headings (¶, #, [edit]) and rows of links to the previous and the next page."""
    for span in root.iter("span"):
        if "editsection" in span.get("class", ""):
            _take_out(span)
    turning = []
    for link in [*root.iter("a")]:
        text = _short_text(link, 40) if link.get("href") is not None else None
        if text is not None and _is_mark(link, text.strip()):
            _take_out(link)
        elif text is not None and _turns_page(link, text):
            turning.append(link)
    rows: dict[_Element, list[_Element]] = {}
    for link in turning if len(turning) <= 2 * _MOST_TURNS else turning[:_MOST_TURNS] + turning[-_MOST_TURNS:]:
        if (row := _row_of(link)) is not None:
            rows.setdefault(row, []).append(link)
    for row, links in rows.items():
        if len(links) > 1 or any(link.get("rel") or link.get("accesskey") for link in links):
            _take_out(row)


def _is_mark(link: _Element, text: str) -> bool:
    """Whether a link is only the sign of a place on its own page, or leads from a heading to itself."""
    if "#" not in link.get("href", "") or (around := link.getparent()) is None or around.tag in ("sup", "sub"):
        return False
    if not any(character.isalnum() for character in text):
        return len(text) <= 3 and len(link) == 0
    heading = next(link.iterancestors(*_HEADS), None)
    if heading is None or not any(_LINK_NAMES.search(link.get(name, "")) for name in ("class", "aria-label", "title", "rel")):
        return False
    whole = _short_text(heading, _LONGEST_ROW)
    return whole is None or _letters(whole) > _letters(text)


def _letters(text: str) -> int:
    return sum(map(len, _WORD.findall(text)))


def _turns_page(link: _Element, text: str) -> bool:
    key, words = link.get("accesskey", "").lower(), text.strip(" \t\n<>«»←→|[]().:\u00a0").lower()
    return bool(set(link.get("rel", "").lower().split()) & _RELATIONS) or key in _TURNING or words in _TURNS


def _row_of(link: _Element) -> _Element | None:
    """The largest element around a link that is little more than a row of links; None where it stands in running text."""
    row = None
    for around in islice(link.iterancestors(), 8):
        if around.tag in ("body", "html", "main", "article") or (text := _short_text(around, _LONGEST_ROW)) is None:
            break
        if next(around.iter(*_HEADS[:6], "pre"), None) is not None:
            break
        linked = sum(_letters(_short_text(inner, _LONGEST_ROW) or "") for inner in around.iter("a"))
        other = sum(len(word) for word in _WORD.findall(text) if word.lower() not in _TURNS)
        is_named = any("nav" in around.get(name, "").lower() for name in ("class", "id", "summary"))
        if around.tag in _ROW_OF_LINKS and (2 * linked >= other or is_named):
            row = around
    return row


def _write_out(root: _Element) -> None:
    """Line breaks, equations as text on a line, and marks around what is raised or lowered."""
    for line_break in root.iter("br"):
        line_break.text = "\n"
    for math in [math for math in root.iter("math") if next(math.iterancestors("math"), None) is None]:
        text, beside = equation_text(math), math.getparent()
        _take_out(math)
        math.text = text
        for near in (beside.getprevious(), beside.getnext()) if beside is not None and text else ():
            if near is not None and near.get("aria-hidden") == "true":
                _take_out(near)  # the same, made of little boxes
    for element in root.iter("sup", "sub", "span"):
        tag = str(element.tag)
        if tag == "span":
            shift = _SHIFTED.search(element.get("style", ""))
            tag = "" if shift is None else "sup" if shift[1].lower() == "super" else "sub"
        if tag:
            around = element.getparent()
            is_link = (around is not None and around.tag == "a") or any(inner.tag == "a" for inner in islice(element.iter(), 4))
            element.text = (LOWERED if tag == "sub" else NOTE if is_link else RAISED) + (element.text or "")
            if len(element):
                element[-1].tail = (element[-1].tail or "") + END
            else:
                element.text += END


def _text(element: _Element) -> str:
    return plain_scripts("".join(str(piece) for piece in element.itertext()))


_NOT_IN_DATA = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "pre", "form", "section", "article")


def _table_lines(table: _Element) -> tuple[list[str], int] | None:
    """The lines of a table of data and how many of them head it; None for one that lays out a page, which is read as its parts."""
    if next(table.iterdescendants(*_NOT_IN_DATA), None) is not None:
        return None
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
    if max(map(len, rows), default=0) < 2:
        return None
    caption = " ".join(_text(part) for part in islice(table.iterchildren("caption"), 1)).split()
    lines = [(row_lines([[_text(cell) for cell in row]]), row) for row in rows]
    written = [(line[0], row) for line, row in lines if line]
    heads = sum(1 for _ in takewhile(lambda each: _is_head(each[1]), written))
    texts = [line for line, _ in written]
    if heads == len(texts) or not heads:
        heads = int(not heads and has_header(texts))
    return ([" ".join(caption)] if caption else []) + texts, heads + bool(caption)


def _is_head(row: list[_Element]) -> bool:
    around = row[0].getparent().getparent()
    return all(cell.tag == "th" for cell in row) or (around is not None and around.tag == "thead")


BLOCKS = word_set(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form "
    "header hgroup hr html legend li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul"
)
FURNITURE = frozenset(("nav", "header", "footer", "aside", "search", "menu"))
FURNITURE_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog", "alertdialog"))
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACE = re.compile("[ \\t\\n\\r\\f\\v\\u00a0]+")
_SPACES = re.compile("  +")
_AROUND_BREAK = re.compile(" *\n *")
SECTIONING = frozenset(("article", "main", "section"))


class Reader:
    """Adds the text of elements to a builder. `furniture`: navigation, header, footer and asides are read too."""

    def __init__(self, builder: TextBuilder, furniture: bool = False) -> None:
        self.builder, self.furniture = builder, furniture
        self._line: list[str] = []
        self._lists: list[_List | None] = []
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
            elif not self.furniture and _is_furniture(child, self._sectioning > 0):
                self._say(child.tail)
            elif self._whole(child):
                self._after_item = False
                self._say(child.tail)
            else:
                self._open(child)
                open_elements.append((child, iter(child)))
        self._flush()

    def _whole(self, element: _Element) -> bool:
        """Read code or a table of data as one. False for everything else."""
        if element.tag == "pre":
            code = _text(element).strip("\n")
            self._flush()
            self.builder.block(f"```\n{code}\n```" if code.strip() else "")
            return True
        if element.tag != "table" or (table := _table_lines(element)) is None:
            return False
        self._flush()
        self.builder.table(*table)
        return True

    def _open(self, element: _Element) -> None:
        tag = str(element.tag)
        if tag == "br":
            self._line.append("\n")
            return
        if tag in HEADINGS or tag in BLOCKS:
            self._flush()
        if tag in ("ul", "ol"):
            self._lists.append(_List(element) if tag == "ol" else None)
        elif tag == "li":
            numbers = self._lists[-1] if self._lists else None
            self._mark = numbers.next_mark(element) if numbers is not None else "- "
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

    def _say(self, text: str | None) -> None:
        if text:
            self._line.append(_SPACE.sub(" ", text.replace("\u00ad", "")))

    def _taken(self) -> str:
        """The line so far, which begins anew."""
        line = _AROUND_BREAK.sub("\n", _SPACES.sub(" ", plain_scripts("".join(self._line)))).strip()
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


def _is_furniture(element: _Element, inside_section: bool) -> bool:
    """Whether an element is around the text: navigation, header and footer of the page, what stands aside."""
    if element.tag == "nav" or element.get("role") in FURNITURE_ROLES:
        return True
    if element.tag not in FURNITURE or inside_section:
        return False
    return element.tag != "header" or next(element.iter("h1"), None) is None


_WHOLE = re.compile(r"\s*([+-]?\d{1,9})")
_STYLE_TYPE = re.compile(r"list-style(?:-type)?\s{0,9}:\s{0,9}(?:[\w-]{1,20}\s+){0,2}?((?:lower|upper)-(?:alpha|latin|roman))")
_STYLES = {"lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A", "lower-roman": "i", "upper-roman": "I"}


class _List:
    """The numbers of an ordered list: where it begins, which way it counts, and how it writes them."""

    def __init__(self, element: _Element) -> None:
        self._step = -1 if element.get("reversed") is not None else 1
        start = _WHOLE.match(element.get("start", ""))
        self._next = int(start[1]) if start is not None else 1 if self._step > 0 else sum(1 for _ in element.iterchildren("li"))
        style = _STYLE_TYPE.search(element.get("style", ""))
        self._type = _STYLES[style[1]] if style is not None else element.get("type", "1")

    def next_mark(self, item: _Element) -> str:
        """The mark of an item, as `3. `."""
        value = _WHOLE.match(item.get("value", ""))
        number = int(value[1]) if value is not None else self._next
        self._next = number + self._step
        return f"{numeral(number, item.get('type') or self._type)}. "


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
    root = parsed(_OF_WINDOWS.sub(_of_windows, text))
    fields = document_metadata(_fields(root))
    builder = TextBuilder()
    _prepare(root)
    Reader(builder).read(_main(root))
    if not builder.length:
        Reader(builder, furniture=True).read(root)
    if "title" not in fields and (top := builder.top_heading()) is not None:
        fields["title"] = top
    return SourceText(fields, builder.text(), (), builder.sections(), notes=notes, tables=builder.tables)


_OF_WINDOWS = re.compile("&#(?:0{0,4}(1[2-5][0-9])|[xX]0{0,4}([89][0-9a-fA-F]));?|([\x80-\x9f])")


def _of_windows(found: re.Match[str]) -> str:
    """A control character that a page writes, or refers to, as the character of windows-1252 that it means."""
    number = int(found[1]) if found[1] else int(found[2], 16) if found[2] else ord(found[3])
    return bytes([number]).decode("cp1252", "replace") if 0x80 <= number <= 0x9F else found[0]


def _prepare(root: _Element) -> None:
    _drop_hidden(root)
    _drop_links(root)
    _write_out(root)


_CLOSING = re.compile(r"</[A-Za-z][^<>]{0,40}>")


def read_fragment(html: str) -> str:
    """The visible text of a piece of HTML inside a Markdown file; as it was written where it cannot be read as HTML."""
    builder = TextBuilder()
    try:
        root = parsed(html)
    except UnreadableDocument:
        return _CLOSING.sub("", without_comments(html))
    _prepare(root)
    Reader(builder, furniture=True).read(root)
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


def _main(root: _Element) -> _Element:
    """The element that holds the main part: the page itself where no single one says so, or holds most of what is no link."""
    whole = 0
    for path, least in (("//main", 0.25), ('//*[@role="main"]', 0.25), ("//article", 0.5)):
        found = [element for element in root.xpath(path) if next(element.iterancestors(_GONE), None) is None]
        if len(found) == 1 and (own := _prose(found[0])):
            whole = whole or _prose(root)
            if own >= least * whole:
                element: _Element = found[0]
                return element
    return root


def _prose(element: _Element) -> int:
    """How many visible characters of an element are neither in links nor around the text."""
    count = 0
    open_elements = [iter([element])]
    while open_elements:
        child = next(open_elements[-1], None)
        if child is None:
            open_elements.pop()
            continue
        count += len((child.tail or "").strip()) if child is not element else 0
        if child is element or not (child.tag == "a" or _is_furniture(child, False)):
            count += len((child.text or "").strip())
            open_elements.append(iter(child))
    return count


def _fields(root: _Element) -> Iterator[tuple[str, str | None]]:
    metas: dict[str, str | None] = {}
    for meta in root.iter("meta"):
        name = (meta.get("property") or meta.get("name") or meta.get("http-equiv") or "").lower()
        metas.setdefault(name, meta.get("content"))
    yield from ((field, metas.get(name)) for name, field in _META.items() if field != "title")
    yield from (("title", "".join(title.itertext())) for title in root.iter("title"))
    yield from (("title", metas.get(name)) for name, field in _META.items() if field == "title")
    yield "language", root.get("lang") or metas.get("content-language")
