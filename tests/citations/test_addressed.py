"""Whether an answer is one to its question, as a hint; and shares that say nothing are withheld."""

from __future__ import annotations

import pytest

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import Withheld
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.report import CheckedAnswer, Totals, summary_sentence

DESK, PARKING = "The desk opens at seven in the morning.", "Parking costs two euros an hour."
SOURCES = [{"n": 1, "text": DESK}, {"n": 2, "text": PARKING}]


def checked(answer: str, question: str, **more: object) -> CheckedAnswer:
    return check_answer(answer, grounds_of_sources(SOURCES), LexicalScorer(), question=question, **more)


@pytest.mark.parametrize(
    ("answer", "question", "doubtful"),
    [
        ("Parking costs two euros an hour [2].", "What does parking cost?", False),
        ("Parking costs two euros an hour [2].", "When does the desk open?", True),
        ("At seven in the morning [1].", "When does the desk open?", False),
        ("Parking costs two euros an hour [2].", "", None),
        ("I cannot find that in the sources.", "What does parking cost?", None),
        ("Parking costs two euros an hour [2].", "Hoe laat gaat de balie open?", None),
        ("Rain fell all night [1].", "When does the desk open?", None),
    ],
)
def test_an_answer_beside_its_question(answer: str, question: str, doubtful: bool | None) -> None:
    found = checked(answer, question)
    assert (found.addressed.is_doubtful if found.addressed else None) == doubtful
    assert ("may not answer the question" in summary_sentence(found)) == bool(doubtful)


def test_an_embedder_is_asked_where_few_words_are_shared() -> None:
    asked: list[str] = []

    def likeness(question: str, text: str) -> float | None:
        asked.append(text)
        return None if question.startswith("Wanneer") else 0.9

    near = checked("Parking costs two euros an hour [2].", "When does the desk open?", likeness=likeness).addressed
    assert near is not None
    assert (near.by, near.is_doubtful) == ("meaning", False)
    assert checked("Parking costs two euros an hour [2].", "What does parking cost?", likeness=likeness).addressed.by == "words"
    assert len(asked) == 1
    assert checked("Parking costs two euros an hour [2].", "Wanneer opent het?", likeness=likeness).addressed is None


@pytest.mark.parametrize(
    ("answer", "cut", "withheld"),
    [
        (f"{DESK} [1] {PARKING} [2]", False, "quotes"),
        (f"{DESK} [2]", False, None),
        ("Parking costs two euros [2].", True, "cut"),
        ("I cannot find that in the sources.", False, "declined"),
        ("Parking costs three euros an hour [2].", False, None),
    ],
)
def test_shares_that_say_nothing_are_withheld(answer: str, cut: bool, withheld: Withheld | None) -> None:
    found = checked(answer, "", cut=cut).figures
    assert found.withheld == withheld
    assert ((found.recall, found.precision, found.coverage) == (None, None, None)) == bool(withheld)


def test_withheld_shares_do_not_weigh_in_the_pool() -> None:
    totals = Totals()
    totals.add(checked(f"{DESK} [1]", ""))
    totals.add(checked("Parking costs three euros an hour [2].", ""))
    assert (totals.figures.claims, totals.figures.recall, totals.withheld) == (1, 0.0, 1)


WORDS = [f"{a}{b}mplost" for a in ("ba", "do", "gi", "ku", "fe") for b in "rnlst"]
"""None is like another."""


def beside(asked: int, shared: int, near: float | None = None, *, said: int = 0, carried: bool = True) -> tuple[bool, str] | None:
    """Whether an answer is doubtful that shares so many words with a question of so many, and by what; it says some words of its own."""
    answer = f"The {' '.join(WORDS[:shared] + WORDS[len(WORDS) - said :])} is in the house."
    sources = grounds_of_sources([{"n": 1, "text": answer if carried else "Nothing."}])
    likeness = None if near is None else lambda question, text: near
    question = f"What is the {' '.join(WORDS[:asked])}?"
    found = check_answer(f"{answer[:-1]} [1].", sources, LexicalScorer(), question=question, likeness=likeness).addressed
    return None if found is None else (found.is_doubtful, found.by)


@pytest.mark.parametrize(
    ("asked", "shared", "near", "expected"),
    [
        (10, 3, None, (False, "words")),
        (7, 2, None, (True, "words")),
        (5, 2, 0.1, (False, "words")),  # shares enough: the embedder is not asked
        (8, 3, 0.1, (True, "meaning")),
        (8, 3, 0.4, (False, "meaning")),
        (8, 3, 0.39, (True, "meaning")),
    ],
)
def test_three_tenths_of_the_words_are_enough_and_below_four_an_embedder_is_asked(
    asked: int, shared: int, near: float | None, expected: tuple[bool, str]
) -> None:
    assert beside(asked, shared, near) == expected


def test_nearness_is_told_to_four_digits() -> None:
    def likeness(question: str, text: str) -> float:
        return 0.123456

    found = checked("Parking costs two euros an hour [2].", "When does the desk open?", likeness=likeness).addressed
    assert found is not None
    assert found.score == 0.1235


@pytest.mark.parametrize(("said", "expected"), [(14, None), (15, (True, "words"))])
def test_what_no_source_carries_tells_from_sixteen_words_on(said: int, expected: tuple[bool, str] | None) -> None:
    assert beside(5, 0, said=said, carried=False) == expected


def test_where_nothing_is_known_of_a_question_nothing_is_expected() -> None:
    found = checked("Parking costs two euros an hour [2].", "What does parking cost?")
    assert (found.facts, found.passages) == ((0, 0), (0, 0))


def test_facts_of_a_reference_are_looked_for() -> None:
    found = checked("The desk opens at seven in the morning [1].", "", reference=f"{DESK} {PARKING}")
    assert found.facts == (1, 2)
    assert summary_sentence(found).endswith("1 of 2 facts of the reference found")
