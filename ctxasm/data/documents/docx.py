"""Which paragraphs of a Word document are headings and which are items of a list: what its styles and numbering say."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.data.documents.collecting import UnreadableDocument, open_packed
from ctxasm.data.documents.html import rows_text
from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.source import SourceText, TextBuilder, stated
from ctxasm.model.characters import mended

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


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How an encrypted .docx begins, and an old .doc."""
_PART = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_DELETED = ("del", "moveFrom", "instrText", "delText", "delInstrText")
_PROPERTIES = ("rPr", "pPr", "sectPr", "tblPr", "sdtPr")
_LEFT_OUT = frozenset(f"{W}{name}" for name in (*_DELETED, *_PROPERTIES, "txbxContent")) | {
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
}
_SAYS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}


def read_docx(data: bytes, limits: ReadLimits) -> SourceText:
    """A Word document. Raises UnreadableDocument for one that is encrypted, damaged, or unpacks to more than is allowed."""
    if data.startswith(OLE):
        raise UnreadableDocument("it is protected by a password, or of the old Word format: save it as .docx without a password")
    archive, entries = open_packed(io.BytesIO(data), limits)
    if "word/document.xml" not in {entry.filename for entry in entries} and "[Content_Types].xml" not in archive.namelist():
        raise UnreadableDocument("it is no Word document")
    from docx import Document

    document = Document(io.BytesIO(data))
    body = document.element.find(f"{W}body")
    if body is None:
        raise UnreadableDocument("it is no Word document")
    reader = _Reader(document, _has_pages(document, body))
    reader.read(body)
    core = document.core_properties
    says = [("title", core.title), ("date", _day(core.modified)), ("date", _day(core.created)), ("language", core.language)]
    fields = stated([*says, ("language", reader.styles.language)])
    builder = reader.builder
    if "title" not in fields and (title := reader.title or builder.top_heading()) is not None:
        fields["title"] = title
    return SourceText(fields, builder.text(), builder.page_breaks, builder.sections(), paged=reader.paged)


def _day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment is not None else None


def _has_pages(document: Any, body: _Element) -> bool:
    """Whether Word's notes of where pages began are as many as it says there are pages; programs other than Word say one page."""
    marks = sum(1 for _ in body.iter(f"{W}lastRenderedPageBreak"))
    for part in document.part.package.iter_parts():
        if str(part.partname) == "/docProps/app.xml":
            said = part.blob.partition(b"<Pages>")[2].partition(b"</Pages>")[0]
            return said.isdigit() and len(said) < 9 and int(said) == marks + 1 > 1
    return False


class _Reader:
    """Adds the paragraphs and tables of a document to a text."""

    def __init__(self, document: Any, paged: bool) -> None:
        self.builder = TextBuilder()
        self.styles = Styles(document.styles.element)
        self.numbers = Numbers(_part(document, NUMBERING))
        self.notes = _notes(_part(document, _PART + "footnotes")) | _notes(_part(document, _PART + "endnotes"))
        self.paged = paged
        self.title: str | None = None
        self._after_item = False

    def read(self, body: _Element) -> None:
        """Everything in `body`."""
        for element in _blocks(body):
            if element.tag == f"{W}tbl":
                self._table(element)
            else:
                self._paragraph(element)

    def _paragraph(self, element: _Element) -> None:
        text, breaks_before, breaks_after = said(element)
        self._break_pages(breaks_before)
        text = mended(text).strip()
        style = self.styles.of(element)
        if text and style.is_title and self.title is None:
            self.title = " ".join(text.split())
        if text and style.level is not None:
            self.builder.heading(style.level, text)
            self._after_item = False
        elif text:
            mark = self.numbers.mark_of(element, style)
            self.builder.block(mark + text, tight=bool(mark) and self._after_item)
            self._after_item = bool(mark)
        for box in _boxes(element):
            self.read(box)
        for reference in element.iter(f"{W}footnoteReference", f"{W}endnoteReference"):
            if note := self.notes.get((reference.tag[len(W) : -len("Reference")], value_of(reference, "id"))):
                self.builder.block(f"* {note}", tight=True)
        self._break_pages(breaks_after)

    def _table(self, table: _Element) -> None:
        self._after_item = False
        rows = [list(_inside(row, f"{W}tc")) for row in _inside(table, f"{W}tr")]
        breaks = sum(1 for _ in table.iter(f"{W}lastRenderedPageBreak"))
        if max(map(len, rows), default=0) < 2:  # a frame around text, not a table
            for row in rows:
                for cell in row:
                    self.read(cell)
            return
        self.builder.block(rows_text([mended(_cell_text(cell)) for cell in row] for row in rows))
        self._break_pages(breaks)

    def _break_pages(self, times: int) -> None:
        for _ in range(times if self.paged else 0):
            self.builder.page_break()
            self._after_item = False


def said(paragraph: _Element) -> tuple[str, int, int]:
    """The visible text of a paragraph, and how many pages begin before its text, and in or behind it."""
    pieces: list[str] = []
    before = after = 0
    for element in _visible(paragraph):
        tag = element.tag
        if tag == f"{W}t":
            pieces.append(element.text or "")
        elif tag == f"{W}br":
            pieces.append("\n" if value_of(element, "type") in (None, "textWrapping") else "")
        elif tag == f"{W}lastRenderedPageBreak":
            if any(piece.strip() for piece in pieces):
                after += 1
            else:
                before += 1
        else:
            pieces.append(_SAYS.get(tag, ""))
    return "".join(pieces), before, after


def _visible(paragraph: _Element) -> Iterator[_Element]:
    """The elements of a paragraph in order, without those that nobody sees; not recursive, a file may nest as it likes."""
    waiting = [iter(paragraph)]
    while waiting:
        element = next(waiting[-1], None)
        if element is None:
            waiting.pop()
        elif element.tag not in _LEFT_OUT and not (element.tag == f"{W}r" and _is_hidden(element)):
            yield element
            waiting.append(iter(element))


def _is_hidden(run: _Element) -> bool:
    vanish = run.find(f"{W}rPr/{W}vanish")
    return vanish is not None and value_of(vanish, "val") not in ("0", "false", "off")


def _blocks(body: _Element) -> Iterator[_Element]:
    """The paragraphs and tables of a body, a cell or a box, in order, those in content controls and insertions too."""
    waiting = [iter(body)]
    while waiting:
        element = next(waiting[-1], None)
        if element is None:
            waiting.pop()
        elif element.tag in (f"{W}p", f"{W}tbl"):
            yield element
        elif element.tag not in _LEFT_OUT:
            waiting.append(iter(element))


def _inside(element: _Element, tag: str) -> Iterator[_Element]:
    """The rows of a table or the cells of a row, those in content controls too; none of a table inside."""
    waiting = [iter(element)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif child.tag == tag:
            yield child
        elif child.tag not in _LEFT_OUT and child.tag not in (f"{W}tc", f"{W}p", f"{W}tbl"):
            waiting.append(iter(child))


def _cell_text(cell: _Element) -> str:
    return " ".join(said(paragraph)[0] for paragraph in cell.iter(f"{W}p"))


def _boxes(paragraph: _Element) -> Iterator[_Element]:
    """The text boxes that hang on a paragraph; each is in the file twice, once for programs that know no boxes."""
    for box in paragraph.iter(f"{W}txbxContent"):
        around = takewhile(lambda element: element is not paragraph, box.iterancestors())
        if not any(element.tag in _LEFT_OUT for element in around):
            yield box


def _part(document: Any, kind: str) -> _Element | None:
    """The root of another part of the package, None where there is none."""
    from docx.oxml import parse_xml

    for relation in document.part.rels.values():
        if relation.reltype == kind and not relation.is_external:
            root: _Element = parse_xml(relation.target_part.blob)
            return root
    return None


def _notes(root: _Element | None) -> dict[tuple[str, str | None], str]:
    """The text of each footnote or endnote by its kind and number."""
    if root is None:
        return {}
    found = (note for kind in ("footnote", "endnote") for note in root.iter(f"{W}{kind}"))
    return {(note.tag[len(W) :], value_of(note, "id")): " ".join(mended(_cell_text(note)).split()) for note in found}
