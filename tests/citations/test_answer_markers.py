"""Markers of a whole answer with its sources at hand: what is read, what is left out of the claim, what is said."""

from __future__ import annotations

import pytest

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.answer_markers import read_answer
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.report import CheckedAnswer
from ctxasm.model.support import Source
from ctxasm.text.markers.grammar import Numbering, Reading
from tests.growth import is_linear

LOAN, FINE, COATS = "The archive lends folders for nine days", "A fine of three euros is due at the desk", "Coats are kept free of charge"
SOURCES = (
    {"n": 1, "title": "lending.pdf", "text": f"{LOAN}."},
    {"n": 2, "title": "fines.pdf", "text": f"{FINE}."},
    {"n": 3, "title": "Coat rules", "text": f"{COATS}. Section (2) is void."},
)
BOTH = [(1,), (2,)]
NONE: list[tuple[int, ...]] = [(), ()]


def checked(answer: str, reading: Reading = "usual", numbering: Numbering = "auto") -> CheckedAnswer:
    return check_answer(answer, grounds_of_sources(SOURCES), LexicalScorer(), reading=reading, numbering=numbering)


def cited(answer: str, reading: Reading = "usual", numbering: Numbering = "auto") -> list[tuple[int, ...]]:
    return [claim.claim.cited for claim in checked(answer, reading, numbering).claims]


def supports(answer: CheckedAnswer) -> list[str | None]:
    return [claim["axes"]["support"] for claim in answer.to_dict()["claims"]]


READ = {
    "round brackets": (" (1)", " (2)"),
    "round, glued": ("(1)", "(2)"),
    "round, behind the stop": (". (1)", ". (2)"),
    "round, full width": ("（1）", "（2）"),
    "round, in emphasis": (" *(1)*", " _(2)_"),
    "round, see": (" (see 1)", " (vgl. 2)"),
    "circled": (" ①", " ❷"),
    "keycaps": (" 1️⃣", " 2️⃣"),
    "raised in brackets": ("⁽¹⁾", "⁽²⁾"),
    "raised behind a blank": (" ¹", "**²**"),
    "hats": ("^1", "^[2]"),
    "LaTeX": ("$^{1}$", r"\cite{2}"),
    "LaTeX with a place": (r"~\citep[p. 3]{1}", r"~\citep{2}"),
    "curly": (" {1}", " {{2}}"),
    "other brackets": ("⟦1⟧", "「2」"),
    "entities": (" &#91;1&#93;", " &#91;2&#93;"),
    "files": (" [lending.pdf]", " (fines.pdf)"),
    "files with a page": (" [lending.pdf#page=3]", " [see fines.pdf, p. 4]"),
    "files behind a label": (" [Source: lending.pdf]", " (Quelle: fines.pdf, S. 3)"),
    "files with a folder": (" [docs/lending.pdf]", " [[fines.pdf]]"),
    "titles": (" [Lending]", " [Fines]"),
    "links": (" [lending.pdf](https://x.example/1)", " ([fines.pdf](https://x.example/2))"),
    "names in other languages": (" [Fuente 1]", "【来源：2】"),
    "a word that is a name only here": (" [منبع ۱]", " [منبع ۲]"),
    "names and joins": (" [ref-1]", " [source_id=2]"),
    "chunks": (" [chunk_1]", " [Excerpt 2]"),
    "a dash": (" — Source 1", " – Quelle 2"),
    "hashes": ("##0$$", "##1$$"),
    "leaked by a chat": (":contentReference[oaicite:0]{index=0}", "【oaicite:1】"),
    "private use": ("\ue200cite\ue202turn0search0\ue201", "\ue200cite\ue202turn0search1\ue201"),
    "turns": (" citeturn0search0", " [turn0search1]"),
    "elements": ("<ref>1</ref>", '<span class="citation">2</span>'),
    "long tags": ('<sup><a href="#n" title="A title that is far longer than sixty-four characters">1</a></sup>', "<sup class='x'>2</sup>"),
    "numbers from 0": (" [0]", " [1]"),
    "names from 0": (" [doc0]", " [doc1]"),
    "two figures, of a call": ("【7:0†source】", "【7:1†source】"),
    "two figures, of a source": ("【1:0†source】", "【2:3†source】"),
    "two figures with a file": ("【7:0†lending.pdf】", "【7:1†fines.pdf】"),
    "direction marks": (" [\u200e1\u200e]", " (\u2067source 2\u2069)"),
}


@pytest.mark.parametrize("form", READ)
def test_what_is_read(form: str) -> None:
    one, other = READ[form]
    found = checked(f"{LOAN}{one}. {FINE}{other}.")
    assert [claim.claim.text.rstrip(".") for claim in found.claims] == [LOAN, FINE]
    assert [claim.claim.cited for claim in found.claims] == BOTH
    assert supports(found) == ["full", "full"]


@pytest.mark.parametrize("form", READ)
def test_for_a_context_that_was_assembled_here_they_cite_nothing_more_than_the_parser_reads(form: str) -> None:
    one, other = READ[form]
    found = checked(f"{LOAN}{one}. {FINE}{other}.", "strict")
    assert [claim.claim.text.rstrip(".") for claim in found.claims] == [LOAN, FINE]
    assert all(claim.claim.cited in ((), (number,)) for number, claim in enumerate(found.claims, 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (" [rules.docx]", " (see rules.docx, p. 7)"),
        (" [@doe2020]", r" \parencite{doe2020,roe}"),
        (" [p. 3]", " (pp. 4-5)"),
        (" [https://x.example/a]", " ([x.example](https://x.example/b))"),
        (" [source](https://x.example)", " [citation:e7f1a2b]"),
        (" [Doe et al., 2020]", " (Doe & Roe, 2021)"),
        ("\ue010a\ue011", "\ue200cite\ue202turn0search0\ue201\ue200cite\ue202turn1search0\ue201"),
    ],
)
def test_what_names_no_source_is_left_out_of_the_claim_and_accuses_nothing(one: str, other: str) -> None:
    found = checked(f"{LOAN}{one}. {FINE}{other}.")
    assert [claim.claim.text.rstrip(".") for claim in found.claims] == [LOAN, FINE]
    assert (supports(found), [claim.claim.cited for claim in found.claims]) == (["full", "full"], NONE)
    assert {marker.marker.form for marker in found.markers} == {"unread"}
    assert found.to_dict()["summary"]["unknown_numbers"] == []


@pytest.mark.parametrize(
    "text",
    [
        "There are (1) cats and (2) dogs.",
        "Section 5 (1) is void.",
        "As paragraph (2) says, coats are kept.",
        "Section (2) is void.",  # as a source has it
        "Two folders (2) are lent.",
        f"{LOAN} (9).",
        f"{LOAN} (2019).",
        f"{LOAN} (2024-05-03).",
        "The value a[0] is read, and b[1] is not.",
        r"The pattern \d{2} matches.",
        "The area is 10^2 metres.",
        "It is ranked #1.",
        '{"text": "Amounts (in", "source": "a.md"}, {"n": 2}',
        "The library [of folders] is open.",
        "See the [lending page](https://x.example) first.",
        f"`{LOAN} (1)`",
        "```\nb (2)\n[lending.pdf]\n```",
    ],
)
def test_what_is_said_is_no_marker(text: str) -> None:
    assert read_answer(text, grounds_of_sources(SOURCES).sources).events == ()


def test_a_figure_that_is_said_still_keeps_a_claim_from_being_supported() -> None:
    assert supports(checked(f"{LOAN} (14).")) == ["not_found"]
    assert supports(checked(f"{LOAN} (3). {FINE}.")) == ["not_found", "full"]
    assert cited(f"{LOAN} [1]. {FINE} (2).") == [(1,), ()]  # brackets of another kind cite here


def test_beside_two_others_a_number_that_no_source_has_is_unknown() -> None:
    assert cited(f"{LOAN} (1). {FINE} (2). {COATS} (8).") == [(1,), (2,), (8,)]


def test_swapped_numbers_stay_wrong() -> None:
    for one, other in ((" [2]", " [1]"), (" (2)", " (1)"), ("【7:1†source】", "【7:0†source】")):
        found = checked(f"{LOAN}{one}. {FINE}{other}.")
        assert [claim["axes"]["citation"] for claim in found.to_dict()["claims"]] == ["wrong_number", "wrong_number"]


def test_long_lists_are_read() -> None:
    sources = [Source(n, f"Text {n}.", ((0, 7),)) for n in range(1, 31)]
    for opened, closed, name in (("[", "]", ""), ("【", "】", ""), ("(", ")", ""), ("[", "]", "doc")):
        answer = f"All say so {opened}{', '.join(f'{name}{n}' for n in range(1, 31))}{closed}."
        assert [event.numbers for event in read_answer(answer, sources).events] == [tuple(range(1, 31))]


def test_numbers_begin_at_0_only_where_0_is_cited_and_sources_fit_better() -> None:
    assert checked(f"{LOAN} [0]. {FINE} [1].").first_number == 0
    assert cited(f"{LOAN} [1]. {FINE} [2]. {COATS} [0].") == [(1,), (2,), (0,)]
    assert cited(f"{LOAN} [0]. {FINE} [3].") == [(0,), (3,)]
    assert cited(f"{LOAN} [0].", numbering="0") == [(1,)]
    assert cited(f"{LOAN} [0]. {FINE} [1].", numbering="1") == [(0,), (1,)]
    assert cited(f"{FINE}【3:1†source】.", numbering="second") == [(2,)]
    assert cited(f"{FINE}【3:1†source】.", numbering="1") == [(3,)]


def test_tags_of_documents_and_sentences() -> None:
    assert cited(f'(cite index="1-1,2-4">{LOAN}(/cite>. <cite index="2-1">{FINE}</cite>. <cite index="3-5">{COATS}</cite>.') == [
        (1, 2),
        (2,),
        (3,),
    ]
    assert cited(f"<co: 0>{LOAN}</co: 0>. <co: 1>{FINE}</co: 1>.") == BOTH


def test_lists_of_sources_cite_nothing() -> None:
    for listed in ("References:\n(1) lending.pdf\n(2) fines.pdf", "Quellen: lending.pdf, fines.pdf", "[^a]: lending.pdf", "¹ lending.pdf"):
        assert len(checked(f"{LOAN} (1). {FINE} (2).\n\n{listed}").claims) == 2
    assert cited(f"{LOAN}.\n\nSource: lending.pdf, p. 3") == [(1,)]


def test_of_sources_with_one_title_the_one_that_fits_is_meant() -> None:
    sources = [{**source, "title": "rules.pdf"} for source in SOURCES]
    found = check_answer(f"{LOAN} [rules.pdf]. {FINE} [rules.pdf].", grounds_of_sources(sources), LexicalScorer())
    assert [claim.claim.cited for claim in found.claims] == BOTH


@pytest.mark.parametrize(
    "piece", [" (1)", "(1)", "`", "[", "(", "①", "^1", "[^1]: x\n", "【7:0†s】", r"\cite{", "##0$$", "\ue200a", "[a; ", "<ref>1"]
)
def test_long_runs_take_linear_time(piece: str) -> None:
    sources = grounds_of_sources(SOURCES).sources
    assert is_linear(lambda text: read_answer(text, sources), piece * (20_000 // len(piece)))


@pytest.mark.parametrize("piece", ["a", "(", "(a", "[1]", "a (1) ", ".pdf"])
def test_long_sources_take_linear_time(piece: str) -> None:
    def read(text: str) -> object:
        return read_answer(f"{LOAN} (1). {FINE} (2) [a.pdf].", [Source(1, text, (), text), Source(2, FINE, ())])

    assert is_linear(read, piece * (40_000 // len(piece)))
