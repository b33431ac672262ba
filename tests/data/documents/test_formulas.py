"""Raised and lowered figures and equations are written on a line, in every kind of document: a power is no other number."""

from __future__ import annotations

import pytest
from test_word_elements import text_of

from ctxasm.data.documents.formulas import END, LOWERED, NOTE, RAISED, plain_scripts
from ctxasm.data.documents.worker import read_document

MARKS = str.maketrans({"{": RAISED, "<": LOWERED, "[": NOTE, "}": END, ">": END, "]": END})


@pytest.mark.parametrize(
    ("marked", "written"),
    [
        ("10{6} records", "10^6 records"),
        ("1.5 × 10{-3} m", "1.5 × 10^-3 m"),
        ("10{{6}}", "10^6"),
        ("2{n+1}", "2^(n+1)"),
        ("5 m{2}, s{-1}", "5 m², s⁻¹"),
        ("(a+b){2}", "(a+b)²"),
        ("since 2019{3}, or 1998[12].", "since 2019 ³, or 1998 ¹²."),
        ("a fee{1,2} of € 40{1}", "a fee ¹,² of € 40 ¹"),
        ("12{*} and 12{a)}", "12 * and 12 a)"),
        ("H<2>O, CO<2>, V<max>, x<i+1>", "H2O, CO2, V_max, x_(i+1)"),
        ("log<2>8 of 1010<2>", "log_2 8 of 1010_2"),
        ("Ca{2+}, SO<4>{2-}", "Ca²⁺, SO4^(2-)"),
        ("1{st}, n{o} 4, Acme{TM}, 25{o}C", "1st, no 4, Acme™, 25°C"),
        ("5{1}/<2> cups", "5 1/2 cups"),
        ("{a} text {set small all through}", "a text set small all through"),
        ("{" * 40 + "x", "x"),
    ],
)
def test_scripts_are_written_by_what_stands_before_them(marked: str, written: str) -> None:
    assert plain_scripts(marked.translate(MARKS)) == written


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def layout(kind: str, **parts: str) -> str:
    return f"<m:{kind}>{''.join(f'<m:{name}>{part}</m:{name}>' for name, part in parts.items())}</m:{kind}>"


HALF = layout("f", num=run("a+b"), den=run("2"))
SQUARE = layout("sSup", e=run("y"), sup=run("2"))
SUM = f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{run("i=1")}</m:sub><m:sup>{run("n")}</m:sup><m:e>{run("x")}</m:e></m:nary>'


@pytest.mark.parametrize(
    ("equation", "written"),
    [
        (run("40"), "40"),
        (HALF, "(a+b)/2"),
        (layout("f", num=run("1"), den=layout("f", num=run("x+1"), den=SQUARE)), "1/((x+1)/(y^2))"),
        (layout("rad", deg="", e=run("x+1")) + layout("rad", deg=run("3"), e=run("x")), "sqrt(x+1)root_3(x)"),
        (SUM, "∑_(i=1)^n x"),
        (layout("sSubSup", e=run("x"), sub=run("i"), sup=run("-2")), "x_i^-2"),
        (layout("d", e=HALF), "((a+b)/2)"),
        (f"<m:m>{layout('mr', e=run('1'))}{layout('mr', e=run('2'))}</m:m>", "[1; 2]"),
        (layout("kindOfTomorrow", e=run("q")), "q"),
    ],
)
def test_an_equation_of_word_is_written_on_a_line(equation: str, written: str) -> None:
    around = '<w:r><w:t xml:space="preserve">It is </w:t></w:r>{}<w:r><w:t>.</w:t></w:r>'
    assert text_of(f"<w:p>{around.format(f'<m:oMath>{equation}</m:oMath>')}</w:p>") == f"It is {written}."
    own_line = around.format(f"<m:oMathPara><m:oMath>{equation}</m:oMath></m:oMathPara>")
    assert text_of(f"<w:p>{own_line}</w:p>").splitlines()[1] == written


def test_raised_runs_of_word_are_raised_figures() -> None:
    raised = '<w:r><w:rPr><w:vertAlign w:val="{}"/></w:rPr><w:t>{}</w:t></w:r>'
    body = f"<w:p><w:r><w:t>10</w:t></w:r>{raised.format('superscript', '1')}{raised.format('superscript', '2')}"
    assert text_of(f"{body}<w:r><w:t xml:space='preserve'> CO</w:t></w:r>{raised.format('subscript', '2')}</w:p>") == "10^12 CO2"


@pytest.mark.parametrize(
    ("page", "written"),
    [
        ("<p>10<sup>6</sup>, 2019<a href='#n'><sup>1</sup></a>", "10^6, 2019 ¹"),
        ("<p>10<span style='vertical-align: super'>6</span>", "10^6"),
        ("<table><tr><td>10<sup>6</sup><td>m<sup>2</sup></table>", "| 10^6 | m² |"),
        ("<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>", "(a + b)/2"),
        ("<math><msqrt><msup><mi>x</mi><mn>2</mn></msup></msqrt><annotation>x^2</annotation></math>", "sqrt(x^2)"),
        ("<span><span><math><mi>x</mi></math></span><span aria-hidden=true>x</span></span>", "x"),
    ],
)
def test_raised_figures_and_equations_of_a_page(page: str, written: str) -> None:
    assert read_document("a.html", page.encode()).text == written


def test_tags_in_markdown_go_and_code_and_placeholders_stay() -> None:
    written = b"10<sup>6</sup> <b>H<sub>2</sub>O</b><br>`2<sup>3</sup>` <your-name> <https://x.y> 1 < 2"
    assert read_document("a.md", written).text == "10^6 H2O `2<sup>3</sup>` <your-name> <https://x.y> 1 < 2"
