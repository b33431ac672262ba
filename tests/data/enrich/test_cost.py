"""Prices come from somewhere, or there is none."""

from __future__ import annotations

import pytest

from ctxasm.data.enrich.cost import LIST_PRICES, Price, price_of
from ctxasm.model.errors import InvalidInput


def test_the_table_that_ships_says_when_it_was_checked() -> None:
    price = price_of("gpt-4.1-mini")
    assert price == Price(0.40, 1.60, "the table of ctxasm, checked 2026-06")
    assert price.of(1_000_000, 500_000) == pytest.approx(1.20)
    assert price_of("openai/gpt-4.1-mini-2025-04-14") == price
    assert all(price > 0 for prices in LIST_PRICES.values() for price in prices)


def test_an_unknown_model_has_no_price() -> None:
    assert price_of("llama-9") is None
    assert price_of("gpt-4.1-mini-huis") is None
    assert price_of("") is None


def test_given_numbers_come_first_and_are_checked() -> None:
    assert price_of("gpt-4o", 0.0, 3.0) == Price(0.0, 3.0, "as given")
    with pytest.raises(InvalidInput, match="both --price-in and --price-out"):
        price_of("m", 1.0)
    for wrong in (-1, float("nan"), 1e9):
        with pytest.raises(InvalidInput, match="--price-in must be dollars"):
            price_of("m", wrong, 1.0)
