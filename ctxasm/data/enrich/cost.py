"""What a model's tokens cost. A price that nobody stated is not made up."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ctxasm.model.errors import InvalidInput, shown

_VERSION = re.compile(r"(-\d{4}-\d{2}-\d{2}|-20\d{6}|-latest|:latest)$")
HIGHEST = 100_000
CHECKED = "2026-06"
LIST_PRICES = {
    "gpt-4.1": (2.00, 8.00),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4.1-nano": (0.10, 0.40),
    "gpt-4o": (2.50, 10.00),
    "gpt-4o-mini": (0.15, 0.60),
}
"""US dollars per million tokens, in and out: list prices of the maker, without discounts, taxes or regional surcharges."""


class Price(NamedTuple):
    """US dollars per million tokens, in and out, and where they come from."""

    tokens_in: float
    tokens_out: float
    source: str

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Dollars for that many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


def price_of(model: str, price_in: float | None = None, price_out: float | None = None) -> Price | None:
    """The price of a model: as given, else its list price, by its name with or without its maker and the date of its version.

    None where nobody knows. Raises InvalidInput for half a price, and for a number that is no price.
    """
    if (price_in is None) != (price_out is None):
        raise InvalidInput("a price needs both --price-in and --price-out, in dollars per million tokens")
    if price_in is not None and price_out is not None:
        return Price(_checked("--price-in", price_in), _checked("--price-out", price_out), "as given")
    name = model.strip().lower()
    forms = [form for one in (name, name.rpartition("/")[2]) for form in (one, _VERSION.sub("", one))]
    found = next((LIST_PRICES[form] for form in forms if form in LIST_PRICES), None)
    return Price(*found, f"the table of ctxasm, checked {CHECKED}") if found is not None else None


def _checked(name: str, value: float) -> float:
    if not math.isfinite(value) or not 0 <= value <= HIGHEST:
        raise InvalidInput(f"{name} must be dollars per million tokens from 0 to {HIGHEST:,}, got {shown(value)}")
    return float(value)
