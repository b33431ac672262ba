"""A claim that is a list of figures, against a source that is one."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical import LexicalScorer, assertion, polarity
from ctxasm.citations.lexical.alignment import MOST_CANDIDATES, MOST_STATES, MOST_TOKENS, Alignment
from ctxasm.citations.lexical.quantities import read_quantities
from ctxasm.citations.lexical.quantity import Quantity
from ctxasm.citations.lexical.words import stems_of
from ctxasm.model.support import Match, Source
from tests.citations.lexical.claim_contexts import matter
from tests.growth import is_linear


def match_of(figures: int, sentences: int) -> Match:
    claim = "Kost " + " euro ".join(str(1_000 + at) for at in range(figures))
    text = "\n\n".join(f"Kost {500_000 + at} euro." for at in range(sentences))
    return LexicalScorer().compare([claim], [Source(1, text, ((0, len(text)),))]).together(0, (0,))


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[Quantity]:
    """The figures that are asked whether they agree with another, each time."""
    asked: list[Quantity] = []
    agrees = Quantity.agrees

    def counted(self: Quantity, other: Quantity) -> bool:
        asked.append(self)
        return agrees(self, other)

    monkeypatch.setattr(Quantity, "agrees", counted)
    return asked


def test_a_list_of_figures_is_not_looked_up_in_every_sentence(compared: list[Quantity]) -> None:
    match_of(400, 2_000)
    assert len(compared) < 100 * 400


@pytest.mark.parametrize("last", [9, 3_000])
def test_claims_that_are_bare_figures_are_looked_up_by_their_values(last: int, compared: list[Quantity]) -> None:
    """Each in the sentences that hold its value, not in all; and the same one once."""
    figures = [str(1 + at % last) for at in range(600)]
    text = "\n\n".join(figures)
    comparison = LexicalScorer().compare(figures, [Source(1, text, ((0, len(text)),))])
    scores = {comparison.together(at, (0,)).score for at in range(600)}
    assert scores == {1.0}
    assert len(compared) < 5 * 600


def test_what_agrees_with_a_quantity_is_found_by_what_it_seeks() -> None:
    said = (
        "3", "3.0", "3,1", "3 euro", "3%", "180", "180 minutes", "3 hours", "3 p.m.", "15:00", "03:00", "half past two", "three", "2001",
        "3 May", "3 May 2001", "2001-05-03", "in May", "May 2001", "Monday", "3.1.2", "3.1", "version 3.1.4", "06-12345678",
        "+31 6 12345678",
    )  # fmt: skip
    read = [quantity for text in said for quantity in read_quantities(text)]
    agreeing = [(one, two) for one in read for two in read if one.agrees(two)]
    assert {(one.kind, two.kind) for one, two in agreeing if one.kind < two.kind} == {
        ("number", "time"),
        ("date", "number"),
        ("date", "month"),
        ("number", "version"),
    }
    assert [(one, two) for one, two in agreeing if not set(one.sought) & set(two.keys)] == []


@pytest.mark.parametrize("unit", [" ", "*", "* ", "a ", "a*", "1"])
def test_a_line_of_anything_is_read_as_heading_and_label_in_linear_time(unit: str) -> None:
    def read(text: str) -> None:
        for pattern in (assertion._LABEL, assertion._HEADING):
            pattern.fullmatch(text)

    assert is_linear(read, unit * (40_000 // len(unit)))


@pytest.mark.parametrize(
    ("unit", "head", "known"),
    [
        *((unit, "No cars may park here ", "No cars may park here " + unit * 40) for unit in ("no not ", "may no not ", "no, not, ")),
        ("no one may ", "", "no one may sail boats. " * 20),
    ],
)
def test_a_claim_of_denials_is_compared_in_linear_time(unit: str, head: str, known: str) -> None:
    """With a source that has many, too, so that every gate looks at them."""

    def compare(pairs: str) -> None:
        claim = f"{head}{unit * 2 * len(pairs)}desk opens nine"
        text = f"{known}and desk opens nine."
        LexicalScorer().compare([claim], [Source(1, text, ((0, len(text)),))]).together(0, (0,))

    assert is_linear(compare, "x" * (7_600 // len(unit) // 2))


def test_what_a_denial_bears_on_is_not_looked_for_from_each_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    has_content = polarity._has_content

    def counted(token: polarity._Token) -> bool:
        nonlocal looked
        looked += 1
        return has_content(token)

    monkeypatch.setattr(polarity, "_has_content", counted)
    text = f"Visitors {'no not ' * 500}park."
    polarity.read_polarity(text, 0, len(text), stems_of("en"))
    assert looked <= 1_002


@pytest.mark.parametrize("listed", ["up to 40, ", "not only, ", "boats and boats, ", "40 may 40 "])
def test_a_list_is_aligned_in_bounded_time(listed: str) -> None:
    def align(pairs: str) -> None:
        claim = f"The boats cost {listed * (len(pairs) // 2)}and more."
        Alignment(matter(claim, f"The boats cost {listed * 40}and less. And more.", "en"))

    assert is_linear(align, "x" * 700)


def test_no_more_ways_and_places_are_kept_than_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0
    step = Alignment._step

    def counted(self: Alignment, *given: int) -> float:
        nonlocal steps
        steps += 1
        return step(self, *given)

    monkeypatch.setattr(Alignment, "_step", counted)
    aligned = Alignment(matter("The boats cost " + "up to 40, " * 800, f"The boats cost {'up to 40, ' * 60}.", "en"))
    assert len(aligned.tokens) == MOST_TOKENS
    assert 0 < steps <= MOST_TOKENS * MOST_CANDIDATES * MOST_STATES
