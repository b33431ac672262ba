"""Prices come from somewhere, or there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxasm.data.enrich.cost import Price, price_of, prices_from_toml, shipped_prices
from ctxasm.model.errors import InvalidInput

OWN = '[models."huismodel"]\ninput = 1\noutput = 2.5\n[models."gpt-4o"]\ninput = 9\noutput = 9\n'


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


def test_the_users_own_table_and_numbers_come_first(tmp_path: Path) -> None:
    file = tmp_path / "prijzen.toml"
    file.write_text(OWN, encoding="utf-8")
    assert price_of("huismodel", str(file)) == Price(1.0, 2.5, str(file))
    assert price_of("gpt-4o", str(file)) == Price(9.0, 9.0, str(file))
    assert price_of("gpt-4o-mini", str(file)) == price_of("gpt-4o-mini")
    assert price_of("gpt-4o", str(file), 0.0, 3.0) == Price(0.0, 3.0, "as given")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[models", "not valid TOML"),
        ("x = 1", "must have tables"),
        ("[models]\na = 3", "must be a table"),
        ("[models.a]\ninput = 1", "output must be dollars"),
        ("[models.a]\ninput = -1\noutput = 1", "input must be dollars"),
        ("[models.a]\ninput = nan\noutput = 1", "input must be dollars"),
        ("[models.a]\ninput = true\noutput = 1", "input must be dollars"),
    ],
)
def test_a_wrong_table_is_refused_with_a_sentence(text: str, word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        prices_from_toml(text, "mijn.toml")


def test_half_a_price_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="both --price-in and --price-out"):
        price_of("m", None, 1.0)
    with pytest.raises(InvalidInput, match="cannot be read"):
        price_of("m", str(tmp_path / "geen.toml"))
