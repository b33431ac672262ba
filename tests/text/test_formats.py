"""What stands around a block in each format: the worked examples of the sources, and the rules behind them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxasm.citations.markers import parse_markers
from ctxasm.model.records import Document
from ctxasm.model.settings import AssemblySettings, Format, spec_of
from ctxasm.text.formats import (
    Frame,
    Heading,
    expects_markers,
    frame_of,
    has_markers,
    heading_of,
    marker_of,
    title_of,
    with_number,
)
from ctxasm.text.tokens.counter import Seams

FORMATS: tuple[Format, ...] = ("numbered", "source", "xml", "grouped", "minimal")
MARKED = FORMATS[:3]


def heading(title: str = "T", **more: object) -> Heading:
    return Heading(title, None, None, (), 0.5, "d")._replace(**more)  # type: ignore[arg-type]


def written(format: Format, blocks: list[tuple[Heading, str]]) -> str:
    """The blocks as the renderer joins them."""
    texts, before = [], None
    for number, (each, body) in enumerate(blocks, 1):
        header, foot = with_number(frame_of(format, each, continues=each.document_id == before), number)
        texts.append(header + body + foot)
        before = each.document_id
    return "\n\n".join(texts)


REPORT = "The Q3 revenue increased by 15% year-over-year, driven primarily by expansion in the Asia-Pacific region..."
POLICY = "All employees must complete annual compliance training by December 31."
DATA = "Product: Widget A, Q3 Sales: 12,450 units, Revenue: $1.24M"


def test_the_example_of_the_source_n_assembler() -> None:
    """SOURCE-N assembler: `[SOURCE %d] %s%n%s%n%n` with `filename § section`; only the last blank line is not written."""
    blocks = [
        (heading("Report", source="report.pdf", section="Executive Summary", document_id="a"), REPORT),
        (heading("Policy", source="policy.docx", section="Section 3 — Compliance Training", document_id="b"), POLICY),
        (heading("Data", source="data.xlsx", section="Sheet1 Row 42", document_id="c"), DATA),
    ]
    assert written("source", blocks) == (
        f"[SOURCE 1] report.pdf § Executive Summary\n{REPORT}\n\n"
        f"[SOURCE 2] policy.docx § Section 3 — Compliance Training\n{POLICY}\n\n"
        f"[SOURCE 3] data.xlsx § Sheet1 Row 42\n{DATA}"
    )


CHUNKS = [
    (heading("handbook.pdf", pages=(3,), score=0.91234, document_id="a"), "First."),
    (heading("handbook.pdf", pages=(), score=0.8, document_id="a"), "Second."),
    (heading("faq.md", pages=(12,), score=-1.5, document_id="b"), "Third."),
]


def test_the_numbered_format_of_the_guides() -> None:
    """Token-budget guide: `[i] Source: path, page p`; bookend guide: the same without a page."""
    assert written("numbered", CHUNKS) == (
        "[1] Source: handbook.pdf, page 3\nFirst.\n\n[2] Source: handbook.pdf\nSecond.\n\n[3] Source: faq.md, page 12\nThird."
    )


def test_the_xml_format_of_the_token_budget_guide() -> None:
    """Token-budget guide: `<chunk index= source= page= score=>`, three decimals, the tags on lines of their own."""
    assert written("xml", CHUNKS) == (
        '<chunk index="1" source="handbook.pdf" page="3" score="0.912">\nFirst.\n</chunk>\n\n'
        '<chunk index="2" source="handbook.pdf" score="0.800">\nSecond.\n</chunk>\n\n'
        '<chunk index="3" source="faq.md" page="12" score="-1.500">\nThird.\n</chunk>'
    )


def test_the_grouped_format_of_the_token_budget_guide() -> None:
    """Token-budget guide: one `## source` for each document, its chunks below it with blank lines between them."""
    assert written("grouped", CHUNKS) == "## handbook.pdf\n\nFirst.\n\nSecond.\n\n## faq.md\n\nThird."


def test_the_minimal_format_of_the_token_budget_guide() -> None:
    assert written("minimal", CHUNKS) == "First.\n\nSecond.\n\nThird."


@pytest.mark.parametrize(
    ("pages", "numbered", "xml"),
    [
        ((), "", ""),
        ((7,), ", page 7", ' page="7"'),
        ((7, 7), ", page 7", ' page="7"'),
        ((9, 7, 8), ", pages 7–9", ' pages="7–9"'),
        ((0, -1), ", pages -1–0", ' pages="-1–0"'),
    ],
)
def test_a_header_shows_the_range_of_pages(pages: tuple[int, ...], numbered: str, xml: str) -> None:
    assert frame_of("numbered", heading(pages=pages)).after == f"] Source: T{numbered}\n"
    assert frame_of("xml", heading(pages=pages)).after == f'" source="T"{xml} score="0.500">\n'


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0.0, "0.000"), (-0.0, "0.000"), (-0.0004, "0.000"), (12.34567, "12.346"), (-3, "-3.000"), (1e300, "1e+300"), (-2.5e9, "-2.5e+09")],
)
def test_scores_are_short_whatever_their_scale(score: float, shown: str) -> None:
    assert frame_of("xml", heading(score=score)).after.endswith(f' score="{shown}">\n')


def test_what_a_header_names() -> None:
    document = Document("d1", "Cardio\nlogie ", "cardio.pdf")
    assert title_of(document) == "Cardio logie"
    assert title_of(Document("d1", " ", "cardio.pdf")) == "cardio.pdf"
    assert title_of(Document("d 1", "\u200b", None)) == "d 1"
    assert title_of(Document("\n")) == "?"
    found = heading_of(document, "Cardio logie", ["Intro", None, "In\ntro", "Kosten"], [2, None, 1, 2], 0.5)
    assert found._replace(pages=()) == Heading("Cardio logie", "cardio.pdf", "Intro – Kosten", (), 0.5, "d1")
    assert sorted(found.pages) == [1, 2]
    assert frame_of("source", found).after == "] cardio.pdf § Intro – Kosten\n"


@pytest.mark.parametrize(
    ("document", "section", "header"),
    [
        (Document("d", "T", "a.pdf"), "S", "[SOURCE 1] a.pdf § S\n"),
        (Document("d", "T", "a.pdf"), " ", "[SOURCE 1] a.pdf\n"),
        (Document("d", "T", " "), "S", "[SOURCE 1] T § S\n"),
        (Document("d"), None, "[SOURCE 1] d\n"),
    ],
)
def test_a_reference_is_the_file_and_the_section(document: Document, section: str | None, header: str) -> None:
    found = heading_of(document, title_of(document), [section], [], 1.0)
    assert with_number(frame_of("source", found), 1)[0] == header


@pytest.mark.parametrize("format", FORMATS)
def test_a_shortened_title_shortens_every_header(format: Format) -> None:
    """The budget cuts the title; then nothing else is named, so that every header gives way."""
    document = Document("d" * 50, "Een lange titel", "https://example.org/" + "x" * 200)
    found = heading_of(document, "Een…", ["Hoofdstuk " * 20], [1], 0.5)
    header, foot = with_number(frame_of(format, found), 1)
    assert len(header + foot) < 75
    assert ("Een…" in header) == (format != "minimal")


def test_attributes_are_escaped() -> None:
    after = frame_of("xml", heading("A & B <b> \"c\" 'd'\n</chunk>")).after
    assert after == '" source="A &amp; B &lt;b&gt; &quot;c&quot; \'d\' &lt;/chunk&gt;" score="0.500">\n'


def test_grouped_opens_a_group_for_each_document_only() -> None:
    assert frame_of("grouped", heading(), continues=True) == Frame("", "", "", False)
    for format in FORMATS:
        if format != "grouped":
            assert frame_of(format, heading(), continues=True) == frame_of(format, heading())


NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
HEADINGS = st.builds(
    Heading,
    NAMES,
    st.none() | NAMES,
    st.none() | NAMES,
    st.lists(st.integers(-3, 10**6), max_size=3).map(tuple),
    st.floats(allow_nan=False, allow_infinity=False),
    NAMES,
)


@given(st.sampled_from(FORMATS), HEADINGS, st.integers(1, 10**6), st.sampled_from(["cl100k", "o200k"]))
def test_the_number_is_a_piece_of_its_own_and_a_header_one_line(format: Format, each: Heading, number: int, family: str) -> None:
    frame = frame_of(format, each)
    header, foot = with_number(frame, number)
    assert frame.numbered == has_markers(format)
    if frame.numbered:
        assert header == f"{frame.before}{number}{frame.after}"
        assert not frame.before[-1].isdigit()
        assert Seams(family).safe(str(number)[-1], frame.after)
        assert len(header.splitlines()) == 1
    else:
        assert str(number) in each.title or str(number) not in header
    assert header == "" or header.endswith("\n")
    assert foot == ("\n</chunk>" if format == "xml" else "")
    if format in ("numbered", "xml"):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", header)


@pytest.mark.parametrize("format", FORMATS)
def test_markers_are_those_that_the_answer_parser_reads(format: Format) -> None:
    assert format in spec_of("format").choices
    assert has_markers(format) == (format in MARKED)
    for number in (1, 12, 345):
        numbers = [marker.numbers for marker in parse_markers(f"Zo is het {marker_of(format, number)}.")]
        assert numbers == ([(number,)] if has_markers(format) else [])
    written_answer, spoken = AssemblySettings(format=format), AssemblySettings(format=format, channel="voice")
    assert (expects_markers(written_answer), expects_markers(spoken)) == (has_markers(format), False)
