"""A PDF page is read in the order of its reader: columns, turned lines, raised figures, running heads, pages without text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import pytest

from ctxasm.data.documents.layout import Piece, Word, _ordered
from ctxasm.data.documents.source import SourceText
from ctxasm.data.documents.worker import read_document

CARE = (
    "The municipal workshop repairs all bicycles that were bought in the village shop, provided that the receipt is shown. Repairs "
    "take three working days on average, and a spare bicycle can be borrowed for that time at no cost."
)
RULES = (
    "Members of the association receive a discount of ten percent on all spare parts and on the yearly check of brakes. It does not "
    "apply to electric bicycles, because their batteries are checked by the manufacturer."
)
TIMES = (
    "Lessons for beginners are held on Saturday mornings from April to September, whenever the weather permits it. Children need the "
    "consent of a parent, which can be given on the form at the entrance."
)
LINES = ("First line of the page", "Second line holds 1200 loans", "Third line is the last but one", "Fourth line ends it")


def line(x: float, y: float, text: str, size: float = 9) -> str:
    return f"BT /F {size} Tf {x} {y} Td ({text}) Tj ET"


def pdf(*pages: Sequence[str], turn: int = 0) -> bytes:
    """A document of pages of 600 by 600 points, without a table of its objects: PDFium makes its own."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for drawn in pages:
        content = "\n".join(drawn)
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 600] /Rotate {turn} /Contents {len(objects)} 0 R"
            " /Resources << /Font << /F 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    body = "\n".join(f"{number} 0 obj\n{text}\nendobj" for number, text in enumerate(objects, 1))
    return f"%PDF-1.4\n{body}\ntrailer << /Root 1 0 R /Size {len(objects) + 1} >>\n%%EOF".encode()


def read(*pages: Sequence[str], turn: int = 0) -> SourceText:
    return read_document("a.pdf", pdf(*pages, turn=turn))


def rows(columns: Sequence[Sequence[str]], width: float, lower: float = 0) -> list[str]:
    """Columns as they are drawn row by row."""
    return [
        line(40 + width * at, 500 - 11 * row - lower * at, column[row])
        for row in range(max(map(len, columns)))
        for at, column in enumerate(columns)
        if row < len(column)
    ]


@pytest.mark.parametrize("lower", [0, 5])
@pytest.mark.parametrize(("texts", "letters", "width"), [((CARE, RULES), 50, 250), ((CARE, RULES, TIMES), 34, 180)], ids=["two", "three"])
def test_columns_drawn_row_by_row_are_read_one_after_the_other(texts: Sequence[str], letters: int, width: int, lower: int) -> None:
    title, foot = line(40, 540, "A title that stands over all of the columns of this page", 14), line(300, 30, "17")
    source = read([title, *rows([wrap(text, letters) for text in texts], width, lower), foot])
    assert " ".join(source.text.split()) == f"A title that stands over all of the columns of this page {' '.join(texts)} 17"
    assert not source.notes


def test_of_columns_of_which_the_right_one_was_drawn_first_the_left_one_is_read_first() -> None:
    title = line(40, 540, "A title that stands over all of the columns of this page", 14)
    left, right = (wrap(text, 50) for text in (CARE, RULES))
    drawn = [line(x, 500 - 11 * at, text) for x, lines in ((290, right), (40, left)) for at, text in enumerate(lines)]
    assert " ".join(read([title, *drawn]).text.split()).endswith(f"{CARE} {RULES}")
    margin = [line(x, 500 - 11 * at, text) for x, lines in ((180, left), (40, wrap(TIMES, 20))) for at, text in enumerate(lines)]
    assert " ".join(read([title, *margin]).text.split()).endswith(f"{CARE} {TIMES}")


def test_columns_of_arabic_are_read_from_the_right() -> None:
    def column(left: float, letter: str, first: int) -> list[Piece]:
        texts = [f"{letter * 12} {letter * 12}"] * 4
        return [Piece((Word(text, 0, left, left + 200, 500 - 11 * at, 9, "\n", first + at),)) for at, text in enumerate(texts)]

    for letter, is_moved in (("\u0628", False), ("b", True)):
        pieces = [*column(300, letter, 0), *column(40, letter, 4)]
        assert (_ordered(pieces)[0] != pieces) is is_moved


def test_a_table_keeps_its_rows_and_what_may_be_either_is_named() -> None:
    cells = [["Item", "Helmet", "Cargo bike", "Lock"], ["Price", "4.00 a day", "40.00 a week", "1.00 a day"]]
    assert read(rows(cells, 250)).text == "Item Price\nHelmet 4.00 a day\nCargo bike 40.00 a week\nLock 1.00 a day"
    left = "Lending of bicycles to members|Repairs of bicycles bought here|and elsewhere, for a small fee|Lessons for beginners in summer"
    right = (
        "Only with a card that is valid|Three days after its arrival here|Saturday mornings, April to July|Once a year, free for members"
    )
    long = [left.split("|"), right.split("|")]
    source = read(rows(long, 250))
    assert source.text.startswith("Lending of bicycles to members Only with a card that")
    assert source.notes == ["page 1 of 1 may be set in columns: it was read row by row"]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("drawn", [0, 90, 180, 270])
def test_every_line_of_a_turned_page_is_a_line(turn: int, drawn: int) -> None:
    cosine, sine = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[drawn]
    around = f"q 1 0 0 1 300 300 cm {cosine} {sine} {-sine} {cosine} 0 0 cm 1 0 0 1 -300 -300 cm"
    text = read([around, *(line(60, 500 - 14 * at, words) for at, words in enumerate(LINES)), "Q"], turn=turn).text
    assert text.split("\n") == list(LINES)


def test_what_stands_off_the_page_is_not_read() -> None:
    assert read([line(60, 500, "Seen"), line(60, 900, "Hidden")], turn=90).text == "Seen"


def test_raised_and_lowered_figures_keep_their_meaning() -> None:
    def raised(parts: Sequence[tuple[str, int]]) -> str:
        return "BT 60 500 Td " + " ".join(f"/F {7 if rise else 11} Tf {rise} Ts ({text}) Tj" for text, rise in parts) + " ET"

    parts = [("10", 0), ("6", 5), (" records since 2019", 0), ("3", 5), (", 5 m", 0), ("2", 5), (" of H", 0), ("2", -2), ("O, not 106.", 0)]
    assert read([raised(parts)]).text == "10^6 records since 2019 ³, 5 m² of H2O, not 106."


def test_running_heads_are_kept_once_and_headings_that_count_stay() -> None:
    pages = [
        [
            *(line(40, 580, "Handbook of the library", 8), line(500, 580, str(at), 8), line(40, 540, f"Lesson {at}", 12)),
            *(line(40, 510, f"Subject {at * at} is taught."), line(40, 480, f"Homework {at}"), line(290, 20, f"- {at} -")),
        ]
        for at in range(1, 6)
    ]
    text = read(*pages).text
    assert text.count("Handbook of the library") == 1
    assert [f"Lesson {at}" in text and f"Homework {at}" in text for at in range(1, 6)] == [True] * 5
    assert "- 2 -" not in text


def test_dots_of_a_table_of_contents_go() -> None:
    assert read([line(40, 500, "Lending " + "." * 60 + " 12"), line(40, 480, "Wait ....")]).text == "Lending … 12\nWait ...."


def test_a_page_without_text_is_named() -> None:
    picture = "q 500 0 0 500 50 50 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"
    pages = [[line(40, 500, "Text")], ["50 50 300 400 re f"], [], [picture, line(40, 500, "4")], [picture, line(40, 500, CARE)]]
    notes = ["pages 2, 4 of 5 seem to be pictures without their text: run text recognition (OCR) on them"]
    assert read(*pages).notes == notes
