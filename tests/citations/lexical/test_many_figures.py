"""A claim that is a list of figures, against a source that is one."""

from __future__ import annotations

import pytest

from ctxasm.citations.lexical import LexicalScorer, amounts, around, asserted, order
from ctxasm.citations.lexical.polarity import read_polarity
from ctxasm.citations.lexical.quantity import Quantity
from ctxasm.citations.lexical.words import stems_of
from ctxasm.model.support import Match, Source
from tests.citations.lexical.test_operators import matter
from tests.growth import is_linear


def match_of(figures: int, sentences: int) -> Match:
    claim = "Kost " + " euro ".join(str(1_000 + at) for at in range(figures))
    text = "\n\n".join(f"Kost {500_000 + at} euro." for at in range(sentences))
    return LexicalScorer().compare([claim], [Source(1, text, ((0, len(text)),))]).together(0, (0,))


def test_a_list_of_figures_is_not_looked_up_in_every_sentence() -> None:
    compared = 0
    agrees = Quantity.agrees

    def counted(self: Quantity, other: Quantity) -> bool:
        nonlocal compared
        compared += 1
        return agrees(self, other)

    Quantity.agrees = counted  # type: ignore[method-assign]
    try:
        match_of(400, 2_000)
    finally:
        Quantity.agrees = agrees  # type: ignore[method-assign]
    assert compared < 100 * 400


def test_what_stands_around_a_figure_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each figure of the claim again."""
    read = 0
    end = around._end

    def counted(*args: object) -> str:
        nonlocal read
        read += 1
        return end(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(around, "_end", counted)
    of = matter("The boats cost " + "40, " * 200, f"The boats cost {'40, ' * 100}. The boats cost {'40, ' * 100}.", "en")
    list(amounts.find_amounts(of))
    assert read == 300


@pytest.mark.parametrize("unit", [" ", "*", "* ", "a ", "a*", "1"])
def test_a_line_of_anything_is_read_as_heading_and_label_in_linear_time(unit: str) -> None:
    def read(text: str) -> None:
        for pattern in (asserted._LABEL, asserted._HEADING):
            pattern.fullmatch(text)

    assert is_linear(read, unit * (40_000 // len(unit)))


def test_words_of_a_long_list_are_not_all_tried_in_each_others_place(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0
    fit = order.Order._fit

    def counted(*args: object) -> int:
        nonlocal tried
        tried += 1
        return fit(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(order.Order, "_fit", counted)
    listed = "up to 40, " * 300
    of = matter(f"The boats cost {listed}and more.", f"The boats cost {listed}and less.", "en")
    list(order.Order(of).swapped())
    assert tried < 20 * 900


def test_what_denials_bear_on_is_read_in_linear_time() -> None:
    assert is_linear(lambda text: read_polarity(text, 0, len(text), stems_of("en")), "no not " * 4_000)
