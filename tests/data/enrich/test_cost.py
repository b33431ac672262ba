"""Prices come from somewhere, or there is none."""

from __future__ import annotations

import pytest

from ctxasm.data.enrich.cost import Price, price_of, shipped_prices
from ctxasm.model.errors import InvalidInput


def test_the_table_that_ships_says_when_it_was_checked() -> None:
    price = price_of("gpt-4.1-mini")
    assert price == Price(0.40, 1.60, "the table of ctxasm, checked 2026-06")
    assert price.of(1_000_000, 500_000) == pytest.approx(1.20)
    assert price_of("openai/gpt-4.1-mini-2025-04-14") == price
    assert all(one.tokens_in > 0 for one in shipped_prices().values())


def test_an_unknown_model_has_no_price() -> None:
    assert price_of("llama-9") is None
    assert price_of("gpt-4.1-mini-huis") is None
    assert price_of("") is None


def test_given_numbers_come_first() -> None:
    assert price_of("gpt-4o", 0.0, 3.0) == Price(0.0, 3.0, "as given")


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), 100_001.0])
def test_what_is_no_price_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidInput, match="both --price-in and --price-out"):
        price_of("m", 1.0)
    with pytest.raises(InvalidInput, match="--price-out must be dollars per million tokens from 0 to 100,000, got"):
        price_of("m", 1.0, wrong)
