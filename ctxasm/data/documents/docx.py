"""Word documents: paragraphs by their styles, lists as they are numbered, tables, notes, text boxes, equations and code."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.data.documents.collecting import UnreadableDocument, open_packed
from ctxasm.data.documents.formulas import END, LOWERED, RAISED, equation_text, plain_scripts
from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.source import SourceText, TextBuilder, document_metadata, has_header, numeral, row_lines
from ctxasm.model.characters import mended

if TYPE_CHECKING:
    from lxml.etree import _Element


W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
NUMBERING = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering"
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_CODE = re.compile(r"\b(?:source|code|listing|preformatted|verbatim|program|console|terminal)", re.IGNORECASE)
_FIXED_WIDTH = re.compile(r"courier|consol|mono\b|mono |menlo|monaco|fixed|typewriter|code", re.IGNORECASE)
LONGEST_CHAIN = 20
"""Styles on styles that are followed."""


def value_of(element: _Element, name: str = "val") -> str | None:
    """An attribute of Word's own."""
    value: str | None = element.get(f"{W}{name}")
    return value


class Style(NamedTuple):
    """What the style of a paragraph makes of it: a heading of a level from 0, an item of the list `number` at a depth, code."""

    level: int | None = None
    is_title: bool = False
    number: str | None = None
    is_code: bool = False
    depth: str | None = None


class Styles:
    """The styles of a document by their ids, which are translated where their names are not."""

    def __init__(self, root: _Element) -> None:
        self._found = {value_of(style, "styleId"): style for style in root.iter(f"{W}style")}
        self._known: dict[str | None, Style] = {}
        self._default = next((name for name, style in self._found.items() if value_of(style, "default") == "1"), None)
        self._script: dict[str | None, str] = {}
        language = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr/{W}lang")
        self.language = value_of(language) if language is not None else None

    def of(self, paragraph: _Element) -> Style:
        """The style of a paragraph, with the outline level that it sets itself."""
        named = paragraph.find(f"{W}pPr/{W}pStyle")
        style = self._style(value_of(named) if named is not None else self._default)
        own = paragraph.find(f"{W}pPr/{W}outlineLvl")
        return style._replace(level=_level(own)) if own is not None else style

    def script_of(self, run: _Element) -> str:
        """The mark of a run that is raised or lowered, by itself or by its style; else nothing."""
        named = run.find(f"{W}rPr/{W}rStyle")
        return _script(run) or ("" if named is None else self._script_of_style(value_of(named)))

    def _script_of_style(self, name: str | None) -> str:
        if name not in self._script:
            style = self._found.get(name)
            self._script[name] = "" if style is None else _script(style)
        return self._script[name]

    def _style(self, name: str | None) -> Style:
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str | None) -> Style:
        level = number = depth = None
        is_title = is_code = False
        for _ in range(LONGEST_CHAIN):
            style = self._found.get(name)
            if style is None:
                break
            called = style.find(f"{W}name")
            words = (value_of(called) or "") if called is not None else ""
            is_title = is_title or words.lower() == "title"
            is_code = is_code or (name != self._default and (bool(_CODE.search(words)) or _is_fixed_width(style)))
            if level is None and (heading := _HEADING.fullmatch(words)):
                level = int(heading[1]) - 1
            outline, listed = style.find(f"{W}pPr/{W}outlineLvl"), style.find(f"{W}pPr/{W}numPr/{W}numId")
            level = _level(outline) if level is None and outline is not None else level
            if number is None and listed is not None:
                at = style.find(f"{W}pPr/{W}numPr/{W}ilvl")
                number, depth = value_of(listed), value_of(at) if at is not None else None
            based = style.find(f"{W}basedOn")
            name = value_of(based) if based is not None else None
        return Style(level, is_title, number, is_code, depth)


def _script(element: _Element) -> str:
    shift = element.find(f"{W}rPr/{W}vertAlign")
    if shift is not None:
        return {"superscript": RAISED, "subscript": LOWERED}.get(value_of(shift) or "", "")
    place = element.find(f"{W}rPr/{W}position")  # in half points, chosen by hand
    height = (value_of(place) or "") if place is not None else ""
    return "" if not re.fullmatch(r"-?[1-9]\d?", height) or -3 < int(height) < 3 else RAISED if int(height) > 0 else LOWERED


def _is_fixed_width(element: _Element) -> bool:
    fonts = element.find(f"{W}rPr/{W}rFonts")
    return fonts is not None and bool(_FIXED_WIDTH.search(value_of(fonts, "ascii") or ""))


def _level(outline: _Element) -> int | None:
    value = value_of(outline)
    return int(value) if value in tuple("012345678") else None  # 9 is body text


class _Level(NamedTuple):
    """How a level of a list is numbered: from where, in which figures (None: a bullet), and what is written around them."""

    start: int = 1
    form: str | None = None
    words: str = "%1."


_FORMS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_PLACE = re.compile(r"%([1-9])")


class Numbers:
    """The marks of list items, counted as Word does: `- ` for a bullet, `3. ` for the third, `2.1 ` where the list says so."""

    def __init__(self, root: _Element | None) -> None:
        self._levels: dict[tuple[str | None, str | None], _Level] = {}
        self._lists: dict[str | None, str | None] = {}
        self._starts: dict[tuple[str | None, str | None], int] = {}
        self._counts: dict[tuple[str | None, int], int] = {}
        for abstract in root.iter(f"{W}abstractNum") if root is not None else ():
            for level in abstract.iter(f"{W}lvl"):
                self._levels[value_of(abstract, "abstractNumId"), value_of(level, "ilvl")] = _level_of(level)
        for number in root.iter(f"{W}num") if root is not None else ():
            made_of, name = number.find(f"{W}abstractNumId"), value_of(number, "numId")
            self._lists[name] = value_of(made_of) if made_of is not None else None
            for other in number.iter(f"{W}lvlOverride"):
                if (start := other.find(f"{W}startOverride")) is not None:
                    self._starts[name, value_of(other, "ilvl")] = _whole(value_of(start), 1)

    def mark_of(self, paragraph: _Element, style: Style) -> str:
        """The mark of a paragraph, indented by its level; nothing for one that is no item."""
        listed = paragraph.find(f"{W}pPr/{W}numPr/{W}numId")
        number = value_of(listed) if listed is not None else style.number
        if number is None or number == "0":
            return ""
        depth = paragraph.find(f"{W}pPr/{W}numPr/{W}ilvl")
        written = (value_of(depth) if depth is not None else style.depth) or "0"
        level = int(written) if written in tuple("012345678") else 0
        about = self._level(number, level)
        if about.form is None:
            return "  " * level + "- "
        count = self._counts.get((number, level))
        self._counts[number, level] = self._starts.get((number, str(level)), about.start) if count is None else count + 1
        for deeper in range(level + 1, 9):
            self._counts.pop((number, deeper), None)
        words = _PLACE.sub(lambda found: self._figure(number, int(found[1]) - 1), about.words)
        return f"{'  ' * level}{words} "

    def _level(self, number: str, level: int) -> _Level:
        return self._levels.get((self._lists.get(number), str(level)), _Level())

    def _figure(self, number: str, level: int) -> str:
        about = self._level(number, level)
        return numeral(self._counts.get((number, level), about.start), _FORMS.get(about.form or "", "1"))


def _level_of(level: _Element) -> _Level:
    form, start, text = (level.find(f"{W}{name}") for name in ("numFmt", "start", "lvlText"))
    kind = value_of(form) if form is not None else None
    words = (value_of(text) or "")[:40] if text is not None else ""
    is_number = kind not in (None, "bullet", "none") and "%" in words
    return _Level(_whole(value_of(start) if start is not None else None, 1), kind if is_number else None, words)


def _whole(value: str | None, default: int) -> int:
    return int(value) if value is not None and re.fullmatch(r"\d{1,9}", value) else default


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
    data = _transitional(archive, data)
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
    fields = document_metadata([*says, ("language", reader.styles.language)])
    builder = reader.builder
    if "title" not in fields and (title := reader.title or builder.top_heading()) is not None:
        fields["title"] = title
    return SourceText(fields, builder.text(), builder.page_breaks, builder.sections(), paged=reader.paged, tables=builder.tables)


_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w{1,40})/")


def _transitional(archive: zipfile.ZipFile, data: bytes) -> bytes:
    """The same document by the names that Word usually writes, where it is one of the strict form of the standard."""
    if "_rels/.rels" not in archive.namelist() or not _STRICT.search(archive.read("_rels/.rels")):
        return data
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as target:
        for name in archive.namelist():
            content = archive.read(name)
            usual = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", content)
            target.writestr(name, usual if name.endswith((".xml", ".rels")) else content)
    return stream.getvalue()


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
        self.notes = self._notes(_part(document, _PART + "footnotes")) | self._notes(_part(document, _PART + "endnotes"))
        self.paged = paged
        self.title: str | None = None
        self._after_item = False
        self._code: list[str] = []
        self._has_fixed_width = _is_font_of_code(document.element.body)

    def read(self, body: _Element) -> None:
        """Everything in `body`."""
        for element in _blocks(body):
            if element.tag == f"{W}tbl":
                self._table(element)
            else:
                self._paragraph(element)
        self._end_code()

    def _paragraph(self, element: _Element) -> None:
        text, breaks_before, breaks_after = self.text_of(element)
        style = self.styles.of(element)
        if style.level is None and (style.is_code or (self._has_fixed_width and _is_typed(element))) and not breaks_before + breaks_after:
            self._code.append(mended(text).rstrip())
            return
        if self._code and not text.strip() and not breaks_before + breaks_after:
            self._code.append("")  # an empty line, unless nothing of the code follows
            return
        self._end_code()
        self._break_pages(breaks_before)
        text = mended(text)
        indent = _INDENT.match(text)
        text = text.strip()
        if text and style.is_title and self.title is None:
            self.title = " ".join(text.split())
        if text and style.level is not None:
            self.builder.heading(style.level, text)
            self._after_item = False
        elif text:
            mark = self.numbers.mark_of(element, style)
            if indent is not None and not mark:  # lines of code or of a form, set in with blanks
                self.builder.block(indent[0] + text, tight=True)
            else:
                self.builder.block(mark + text, tight=bool(mark) and self._after_item)
            self._after_item = bool(mark)
        for box in _boxes(element):
            self.read(box)
        for reference in element.iter(f"{W}footnoteReference", f"{W}endnoteReference"):
            if note := self.notes.get((reference.tag[len(W) : -len("Reference")], value_of(reference, "id"))):
                self.builder.block(f"* {note}", tight=True)
        self._break_pages(breaks_after)

    def _end_code(self) -> None:
        """The paragraphs of code so far as one block."""
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code.strip():
            self.builder.block(f"```\n{code}\n```")
            self._after_item = False

    def _table(self, table: _Element) -> None:
        self._after_item = False
        self._end_code()
        rows = [list(_inside(row, f"{W}tc")) for row in _inside(table, f"{W}tr")]
        breaks = sum(1 for _ in table.iter(f"{W}lastRenderedPageBreak"))
        if max(map(len, rows), default=0) < 2:  # a frame around text, not a table
            for row in rows:
                for cell in row:
                    self.read(cell)
            return
        lines = [line for row in rows for line in row_lines([[mended(self._cell_text(cell)) for cell in row]])]
        heads = sum(1 for _ in takewhile(lambda row: row.find(f"{W}trPr/{W}tblHeader") is not None, _inside(table, f"{W}tr")))
        self.builder.table(lines, heads if 0 < heads < len(lines) else int(has_header(lines, _names_columns(table))))
        self._break_pages(breaks)

    def _break_pages(self, times: int) -> None:
        for _ in range(times if self.paged else 0):
            self.builder.page_break()
            self._after_item = False

    def text_of(self, paragraph: _Element) -> tuple[str, int, int]:
        """The visible text of a paragraph, and how many pages begin before its text, and in or behind it."""
        pieces: list[str] = []
        before = after = 0
        script = run_script = ""
        for element in _visible(paragraph):
            tag = element.tag
            said = ""
            if tag == f"{W}r":
                run_script = self.styles.script_of(element)
            elif tag == f"{W}t":
                said = element.text or ""
            elif tag == f"{_M}oMath":
                is_own_line = element.getparent().tag == f"{_M}oMathPara"
                said, run_script = f"\n{equation_text(element)}\n" if is_own_line else equation_text(element), ""
            elif tag == f"{W}br":
                said = "\n" if value_of(element, "type") in (None, "textWrapping") else ""
            elif tag == f"{W}lastRenderedPageBreak":
                if any(piece.strip() for piece in pieces):
                    after += 1
                else:
                    before += 1
            else:
                said = _SAYS.get(tag, "")
            if said and script != run_script:
                said = (END if script else "") + run_script + said
                script = run_script
            pieces.append(said)
        return plain_scripts("".join([*pieces, END if script else ""])).replace("\n\n", "\n"), before, after

    def _cell_text(self, cell: _Element) -> str:
        return " ".join(self.text_of(paragraph)[0] for paragraph in cell.iter(f"{W}p"))

    def _notes(self, root: _Element | None) -> dict[tuple[str, str | None], str]:
        """The text of each footnote or endnote by its kind and number."""
        if root is None:
            return {}
        found = (note for kind in ("footnote", "endnote") for note in root.iter(f"{W}{kind}"))
        return {(note.tag[len(W) :], value_of(note, "id")): " ".join(mended(self._cell_text(note)).split()) for note in found}


_INDENT = re.compile(r"\n? {2,40}(?=\S)")


def _is_typed(paragraph: _Element) -> bool:
    """Whether all text of a paragraph is of a font in which all characters are equally wide."""
    runs = [run for run in paragraph.iter(f"{W}r") if any(text.text for text in run.iter(f"{W}t"))]
    return bool(runs) and all(_is_fixed_width(run) for run in runs)


def _is_font_of_code(body: _Element) -> bool:
    """Whether such a font sets paragraphs apart; not where most of the document is written in it."""
    typed = [_is_typed(paragraph) for paragraph in body.iter(f"{W}p") if paragraph.find(f"{W}r") is not None]
    return 2 * sum(typed) < len(typed) or len(typed) < 4


def _names_columns(table: _Element) -> bool:
    """Whether the style of a table sets its first row apart."""
    look = table.find(f"{W}tblPr/{W}tblLook")
    if look is None:
        return False
    old = value_of(look) or ""
    return value_of(look, "firstRow") in ("1", "true", "on") or (bool(re.fullmatch("[0-9A-Fa-f]{4}", old)) and bool(int(old, 16) & 0x20))


def _visible(paragraph: _Element) -> Iterator[_Element]:
    """The elements of a paragraph in order, without those that nobody sees; not recursive, a file may nest as it likes."""
    waiting = [iter(paragraph)]
    while waiting:
        element = next(waiting[-1], None)
        if element is None:
            waiting.pop()
        elif element.tag == f"{_M}oMath":
            yield element
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
