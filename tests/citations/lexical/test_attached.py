"""How near before what is new in a sentence an article makes it the same again."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical.attached import find_crossed, find_untied
from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.parts import parts_of
from ctxasm.citations.lexical.windows import Windows
from ctxasm.citations.lexical.words import stems_of
from ctxasm.model.support import Source
from ctxasm.text.sentences import sentence_spans
from tests.citations.lexical.test_operators import matter

CLAIM = "Sable of the old red harbour mill town reaches 66 viewers."
REST = "Sable of the old red harbour mill town is a channel."


@pytest.mark.parametrize(("begins", "is_refused"), [("The company", False), ("Its company", True), ("Breathe company", True)])
def test_an_article_at_the_very_beginning_makes_what_follows_the_same_again(begins: str, is_refused: bool) -> None:
    assert bool(list(find_untied(matter(CLAIM, f"{begins} reaches 66 viewers. {REST}", "en")))) is is_refused


@pytest.mark.parametrize(
    ("head", "is_refused"),
    [
        ("Sable of the old red harbour mill town\n", False),  # eight words: all that follows may be about them
        ("Sable of the old red harbour mill town.\n", True),
        ("Sable of the very old red harbour mill town\n", True),
        ("Sable of the old red harbour mill town ", True),
        ("Ruins.\nSable of the old red harbour mill town\n", True),
    ],
)
def test_a_claim_may_name_what_the_heading_of_its_source_is_about(head: str, is_refused: bool) -> None:
    source = f"{head}Sable of the old red harbour mill town sells boats. Its company reaches 66 viewers."
    assert bool(list(find_untied(matter(CLAIM, source, "en")))) is is_refused


def test_a_claim_may_name_what_the_title_of_its_source_says() -> None:
    text = "Sable of the old red harbour mill town sells boats. Its company reaches 66 viewers."
    for title, is_refused in (("", True), ("Sable, old red harbour mill town", False)):
        evidence = Evidence([Source(1, text, ((0, len(text)),), title)], stems_of("en"), sentence_spans)
        windows = Windows(parts_of(CLAIM, evidence), evidence)
        assert bool(list(find_untied(Matter(windows.parts, windows.choose([0]), evidence)))) is is_refused


@pytest.mark.parametrize(
    ("claim", "source", "is_refused"),
    [
        ("It was designed by Drummond and built by Voss.", "It was designed by Voss and built by Drummond.", True),
        ("It was designed by Voss and built by Drummond.", "It was designed by Voss and built by Drummond.", False),
        ("It was built by Drummond and designed by Voss.", "It was designed by Voss and built by Drummond.", False),
        ("Guests pay nothing, and members pay 9 euros.", "Members pay nothing, and guests pay 9 euros.", True),
        (
            "Ann grew up in Zurich, where she sang, and studied in Bern.",
            "She grew up in Bern, where she sang, and studied in Zurich.",
            True,
        ),
        (
            "The dean, Ms Amadi, hears appeals; the tutor, Dr Ren, makes offers.",
            "Dr Ren, the tutor, makes offers; Ms Amadi, the dean, hears appeals.",
            False,
        ),
        (
            "The dean, Ms Amadi, makes offers; the tutor, Dr Ren, hears appeals.",
            "Dr Ren, the tutor, makes offers; Ms Amadi, the dean, hears appeals.",
            True,
        ),
        ("Both sang, and both sang and danced.", "Both sang, and both danced.", False),
    ],
)
def test_two_clauses_are_not_made_of_the_same_two(claim: str, source: str, is_refused: bool) -> None:
    assert bool(list(find_crossed(matter(claim, source, "en")))) is is_refused


@pytest.mark.parametrize(
    ("source", "is_refused"),
    [
        ("The World Bank (WB) gives loans.", False),
        ("The World Bank, WB, gives loans.", True),
        ("The World Bank (once the very old WB) gives loans.", True),
    ],
)
def test_a_short_form_in_brackets_is_the_same_as_what_stands_before_it(source: str, is_refused: bool) -> None:
    assert bool(list(find_untied(matter("WB is the World Bank.", source, "en")))) is is_refused
