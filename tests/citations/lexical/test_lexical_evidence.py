"""Sources taken apart: where a clause ends, which words of a source may mean a word of a claim, how rare a word is."""

from __future__ import annotations

import math

import pytest

from ctxasm.citations.lexical.evidence import Evidence, clause_spans
from ctxasm.citations.lexical.findings import in_titles
from ctxasm.citations.lexical.parts import parts_of
from ctxasm.citations.lexical.words import Tongue, stems_of
from ctxasm.model.support import Source
from ctxasm.text.sentences import sentence_spans


def evidence(*texts: str, tongue: Tongue = "nl", title: str = "") -> Evidence:
    sources = [Source(at, text, ((0, len(text)),), title) for at, text in enumerate(texts, 1)]
    return Evidence(sources, stems_of(tongue), sentence_spans)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("It opens at nine, and closes; it is free", ["It opens at nine", "closes", "it is free"]),
        ("from 9 and 10 (on Friday) or 11:30", ["from 9 and 10", "on Friday", "or 11:30"]),
        ("1,5 euro - or 2 - 3 euro", ["1,5 euro", "or 2 - 3 euro"]),
        ("Bel 9, 10 en 11", ["Bel 9, 10 en 11"]),
        ("9 , 10", ["9 , 10"]),
        ("9  , 10", ["9", "10"]),
        ("9,  10", ["9", "10"]),
        ("9, x", ["9", "x"]),
        ("x, 9", ["x", "9"]),
        ("9;10", ["9", "10"]),
        (",,", []),
    ],
)
def test_a_clause_ends_at_a_mark_or_a_conjunction_but_not_between_two_figures(text: str, clauses: list[str]) -> None:
    assert [text[low:high].strip() for low, high in clause_spans(text, 0, len(text))] == clauses


def test_clauses_lie_between_the_places_that_were_asked_for() -> None:
    text = "9, 10, it opens"
    assert clause_spans(text, 3, len(text)) == [(3, 5), (6, 15)]
    assert clause_spans(text, 1, 6) == [(2, 5)]
    assert clause_spans(text, 0, 0) == []


@pytest.mark.parametrize(
    ("words", "key", "found"),
    [
        # the head of longer words, from five letters on
        ("tabakbak tabakpop", "tabak", ["tabakbak", "tabakpop"]),
        ("tababak", "taba", []),
        # the end of a compound, where its head has three letters and makes no other word of it
        ("rugtabak", "tabak", ["rugtabak"]),
        ("ugtabak", "tabak", []),
        ("vertabak", "tabak", []),
        # three fifths of a longer word
        ("tabak", "tabakbak", ["tabak"]),
        ("tabakp", "tabakpopba", ["tabakp"]),
        ("tabak", "tabakpopba", []),
        # the tail of a compound that no source has
        ("tabak", "rugtabak", ["tabak"]),
        ("tabak", "vertabak", []),
        ("taba", "rugtaba", []),
        ("tabak rugtabak", "rugtabak", ["rugtabak"]),
    ],
)
def test_longer_and_shorter_forms_of_a_word_are_found(words: str, key: str, found: list[str]) -> None:
    assert [form for form in evidence(words).variants(key) if form in words.split()] == found


def test_english_has_no_compounds() -> None:
    assert evidence("rugtabak", tongue="en").variants("tabak") == ()
    assert evidence("tabak", tongue="en").variants("rugtabak") == ()


@pytest.mark.parametrize(
    ("title", "key", "is_in"),
    [
        ("tabakbak", "tabak", True),
        ("tabak", "tabakbak", True),
        ("rugtabak", "tabak", True),
        ("taba", "tababak", False),
        ("bak", "bak", True),
    ],
)
def test_a_title_holds_a_word_also_as_head_or_tail(title: str, key: str, is_in: bool) -> None:
    assert evidence("x", title=title).is_in_title(0, key) is is_in


def test_a_title_is_looked_at_for_the_words_that_are_asked_for() -> None:
    source = evidence("x", title="tabak rugbak", tongue="en")
    parts = parts_of("tabak rugbak danst", source)
    assert [in_titles(parts, [0], source, asked) for asked in (0b1, 0b10, 0b100, 0b111)] == [0b1, 0b10, 0, 0b11]


def test_a_word_in_no_sentence_is_rarest_and_one_in_all_is_worth_nothing() -> None:
    three = evidence("tabak. rugbak. tabak kop.")
    assert len(three.sentences) == 3
    assert three.rarity(()) == 1.0
    assert three.rarity(("tabak",)) == pytest.approx(math.log(4 / 3) / math.log(4))
    assert three.rarity(("tabak", "kop")) == pytest.approx(math.log(4 / 3) / math.log(4))
    assert three.rarity(("tabak", "rugbak")) == 0.0
    assert evidence("").rarity(()) == 1.0


@pytest.mark.parametrize(
    ("text", "segments"),
    [("It opens, and closes", [0, 0]), ("It opens; it closes (soon), or not", [0, 1, 1, 1]), ("It opens: daily", [0, 1])],
)
def test_a_comma_parts_no_segment(text: str, segments: list[int]) -> None:
    assert [clause.segment for clause in evidence(text, tongue="en").clauses(0)] == segments
