"""HTML: what a reader of the page sees of its main part, with headings, lists, code and tables.

Read by lxml (which python-docx brings along). trafilatura 2.3 was tried: on 40 pages of a book it left out 11 % of the words
inside `<main>`, which a tool that shows what was lost cannot do. Here the choice is made by the page's own marks: the
part in `<main>` (or the one `<article>`), else everything but navigation, header, footer and asides.

Never part of the text: scripts, styles, comments, templates, forms' controls, and what is hidden by the attribute `hidden`, by its own
style, or by a plain rule (`.note {display: none}`) of the page's style sheets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ctxasm.data.documents.hidden import Hidden
from ctxasm.data.documents.kinds import UnreadableDocument
from ctxasm.data.documents.markup import Reader
from ctxasm.data.documents.plain import decoded
from ctxasm.data.documents.source import SourceText, TextBuilder
from ctxasm.data.documents.stated import stated

if TYPE_CHECKING:
    from lxml.etree import _Element

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
