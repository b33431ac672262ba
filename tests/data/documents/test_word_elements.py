"""What Word puts into a document beside paragraphs: notes, text boxes, content controls, tables inside tables, fields."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from ctxasm.data.documents.docx import read_docx
from ctxasm.data.documents.options import ReadLimits

FILES = Path(__file__).parent / "files"
SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
FOOTNOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
NOTE_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"


def paragraph(words: str, properties: str = "") -> str:
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{words}</w:t></w:r></w:p>'


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr>"


def text_of(body: str, notes: str = "") -> str:
    """The text of a document of these elements."""
    stream = io.BytesIO()
    with zipfile.ZipFile(FILES / "bezoek.docx") as source, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name).decode("utf-8", "surrogateescape")
            if name == "word/document.xml":
                data = f"<w:document {SPACES}><w:body>{body}</w:body></w:document>"
            elif name == "word/_rels/document.xml.rels":
                relation = f'<Relationship Id="rId999" Type="{FOOTNOTES}" Target="footnotes.xml"/>'
                data = data.replace("</Relationships>", relation + "</Relationships>")
            elif name == "[Content_Types].xml":
                data = data.replace("</Types>", f'<Override PartName="/word/footnotes.xml" ContentType="{NOTE_TYPE}"/></Types>')
            target.writestr(name, data.encode("utf-8", "surrogateescape"))
        target.writestr("word/footnotes.xml", f"<w:footnotes {SPACES}>{notes}</w:footnotes>")
    return read_docx(stream.getvalue(), ReadLimits()).text


def test_a_note_stands_below_its_paragraph() -> None:
    body = '<w:p><w:r><w:t>Tekst met noot</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>' + paragraph("Volgende.")
    notes = f'<w:footnote w:id="2">{paragraph("Wat de noot zegt.")}</w:footnote>'
    assert text_of(body, notes) == "Tekst met noot\n* Wat de noot zegt.\n\nVolgende."


def test_a_text_box_is_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('In het kader.')}</w:txbxContent>"
    both = (
        f"<mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
        "</mc:AlternateContent>"
    )
    assert text_of(f"<w:p><w:r><w:t>Ernaast.</w:t></w:r><w:r>{both}</w:r></w:p>") == "Ernaast.\n\nIn het kader."


def test_a_content_control_is_read_and_its_properties_are_not() -> None:
    control = "<w:sdt><w:sdtPr><w:alias w:val='Naam'/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    inline = f"<w:p>{control.format('<w:r><w:t>Ingevuld.</w:t></w:r>')}</w:p>"
    assert text_of(control.format(paragraph("Blok.")) + inline) == "Blok.\n\nIngevuld."


def test_a_table_inside_a_table_is_part_of_its_cell_and_a_frame_is_read_as_text() -> None:
    inner = f"<w:tbl>{row(paragraph('x'), paragraph('y'))}</w:tbl>"
    table = f"<w:tbl>{row(paragraph('a'), paragraph('b') + inner + paragraph(''))}{row(paragraph('c'), paragraph('d'))}</w:tbl>"
    assert text_of(table) == "| a | b x y |\n| c | d |"
    assert text_of(f"<w:tbl>{row(paragraph('Kader.') + paragraph('Tweede.'))}</w:tbl>") == "Kader.\n\nTweede."


def test_a_heading_is_one_by_its_outline_level_and_a_field_is_its_result() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGEREF _Toc1</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    body = paragraph("Kop", '<w:outlineLvl w:val="0"/>') + f"<w:p><w:r><w:t xml:space='preserve'>Zie blad </w:t></w:r>{field}</w:p>"
    assert text_of(body) == "Kop\n\nZie blad 7"


@pytest.mark.parametrize(("switch", "shown"), [("", False), (' w:val="0"', True), (' w:val="false"', True), (' w:val="1"', False)])
def test_hidden_text_is_left_out_unless_it_is_switched_off(switch: str, shown: bool) -> None:
    hidden = f"<w:r><w:rPr><w:vanish{switch}/></w:rPr><w:t>X</w:t></w:r>"
    assert ("X" in text_of(f"<w:p><w:r><w:t>ja</w:t></w:r>{hidden}</w:p>")) is shown
