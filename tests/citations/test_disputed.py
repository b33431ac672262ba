"""A claim that one source carries and another contradicts is seen, and texts that merely differ are not."""

from __future__ import annotations

import pytest

from ctxasm.citations.alignment import check_answer
from ctxasm.citations.checked import CheckedClaim
from ctxasm.citations.grounds import grounds_of_sources
from ctxasm.citations.lexical import LexicalScorer
from ctxasm.citations.report import problem_claims
from ctxasm.citations.verdicts import _same_but_for
from ctxasm.model.support import Conflict, Found, Match

OLD = "On ordinary wards visitors are welcome from 15.00 to 19.00 every day."


def disputed(answer: str, *texts: str, dates: tuple[str | None, ...] = ()) -> CheckedClaim:
    dated = [*dates, *[None] * (len(texts) - len(dates))]
    sources = [{"n": n, "text": text, "date": date} for n, (text, date) in enumerate(zip(texts, dated, strict=True), 1)]
    return check_answer(answer, grounds_of_sources(sources), LexicalScorer()).claims[0]


@pytest.mark.parametrize(
    ("dates", "age"),
    [(("2023-03-01", "2026"), "newer"), (("2026", "2023-03-01"), "older"), (("2026-01", "2026"), None), ((None, "2026"), None), ((), None)],
)
def test_another_source_disputes_and_its_age_is_told(dates: tuple[str | None, ...], age: str | None) -> None:
    claim = disputed(f"{OLD[:-1]} [1].", OLD, OLD.replace("15.00", "14.00"), dates=dates)
    assert (claim.verdict, claim.score) == ("supported", 1.0)
    assert claim.disputed is not None
    assert (claim.disputed.number, claim.disputed.age, claim.disputed.conflict.source) == (2, age, "14.00")
    assert claim.disputed.date == (dates[1] if len(dates) > 1 else None)


def test_the_newest_of_several_is_named() -> None:
    other = OLD.replace("15.00", "14.00")
    claim = disputed(f"{OLD[:-1]} [1].", OLD, other, other.replace("14.00", "13.00"), dates=("2024", "2023", "2026"))
    assert claim.disputed is not None
    assert claim.disputed.number == 3


@pytest.mark.parametrize(
    "other",
    [
        "On the maternity ward partners are welcome from 8.00 to 22.00.",
        "The shop on the ground floor is open from 9.00 to 17.00 every day.",
        OLD,
        "Parking costs two euros an hour.",
    ],
)
def test_another_subject_disputes_nothing(other: str) -> None:
    assert disputed(f"{OLD[:-1]} [1].", OLD, other).disputed is None


@pytest.mark.parametrize(("blanks", "is_said"), [(182, True), (183, False)])
def test_two_hundred_characters_on_either_side_of_a_conflict_tell_what_it_is_about(blanks: int, is_said: bool) -> None:
    """Where a scorer names no stretch that holds it."""
    words = "Oak wards visitors"
    for text, start in ((f"{words}{' ' * blanks}15", len(words) + blanks), (f"15{' ' * blanks}{words[::-1]}", 0)):
        claim = f"{words if start else words[::-1]} 14"
        match = Match(0.9, (), (), Conflict("number", "14", "15", 1, start, start + 2))
        assert (_same_but_for(claim, match, text) is not None) == is_said


@pytest.mark.parametrize(("claim", "is_said"), [("Oak wards welcome visitors 14", True), ("Oak wards welcome five visitors 14", False)])
def test_three_quarters_of_the_other_words_tell_that_it_is_the_same(claim: str, is_said: bool) -> None:
    match = Match(0.9, (Found(1, 0, 21, 0.9),), (), Conflict("number", "14", "15", 1, 19, 21))
    assert (_same_but_for(claim, match, "Oak wards visitors 15") is not None) == is_said


def test_a_wrong_number_behind_a_disputed_claim_hides_nothing() -> None:
    claim = disputed(f"{OLD[:-1]} [3].", OLD, OLD.replace("15.00", "14.00"), "Parking costs two euros an hour.")
    assert claim.verdict == "elsewhere"
    assert claim.disputed is not None
    assert claim.disputed.number == 2


def test_what_is_contradicted_by_what_it_cites_is_that_and_not_disputed() -> None:
    sources = [{"n": 1, "text": OLD.replace("15.00", "14.00")}]
    checked = check_answer(f"{OLD[:-1]} [1].", grounds_of_sources(sources), LexicalScorer())
    assert (checked.claims[0].verdict, checked.claims[0].disputed) == ("contradicted", None)
    assert problem_claims(checked) == checked.claims


def test_the_stretch_around_a_conflict_is_one_of_its_own_source() -> None:
    """Another source may have words at the same characters."""
    text = "Oak wards welcome visitors until 15"
    match = Match(0.9, (Found(2, 0, 40, 0.9), Found(1, 0, 35, 0.8)), (), Conflict("number", "14", "15", 1, 33, 35))
    assert _same_but_for("Oak wards welcome visitors until 14", match, text) == Found(1, 0, 35, 0.8)


def test_a_conflict_that_begins_where_a_stretch_ends_is_not_in_it() -> None:
    text = "Oak wards. 15 welcome visitors Oak wards until"
    match = Match(0.9, (Found(1, 0, 11, 0.9), Found(1, 11, 46, 0.8)), (), Conflict("number", "14", "15", 1, 11, 13))
    assert _same_but_for("Oak wards welcome visitors until 14", match, text) == Found(1, 11, 46, 0.8)
