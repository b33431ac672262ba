"""What a model's tokens cost. A price that nobody stated is not made up."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ctxasm.model.errors import InvalidInput, shown

_VERSION = re.compile(r"(-\d{4}-\d{2}-\d{2}|-20\d{6}|-latest|:latest)$")
HIGHEST = 100_000


class Price(NamedTuple):
    """US dollars per million tokens, in and out, and where they come from."""

    tokens_in: float
    tokens_out: float
    source: str

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Dollars for that many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


def price_of(model: str, price_in: float | None = None, price_out: float | None = None) -> Price | None:
    """The price of a model: as given, else of the table that ships; None where nobody knows.

    A name is found as it stands, without its provider and without the date of its version. Raises InvalidInput for half a price and a
    number that is no price.
    """
    if (price_in is None) != (price_out is None):
        raise InvalidInput("a price needs both --price-in and --price-out, in dollars per million tokens")
    if price_in is not None and price_out is not None:
        return Price(_checked("--price-in", price_in), _checked("--price-out", price_out), "as given")
    name, table = model.strip().lower(), shipped_prices()
    forms = [form for one in (name, name.rpartition("/")[2]) for form in (one, _VERSION.sub("", one))]
    return next((table[form] for form in forms if form in table), None)


@cache
def shipped_prices() -> Mapping[str, Price]:
    """The table that ships with ctxasm: `[models."NAME"]` with `input` and `output`."""
    content = tomllib.loads(files("ctxasm.data.enrich").joinpath("prices.toml").read_text("utf-8"))
    source = f"the table of ctxasm, checked {content['checked']}"
    return {name: Price(float(values["input"]), float(values["output"]), source) for name, values in content["models"].items()}


def _checked(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 <= value <= HIGHEST:
        raise InvalidInput(f"{name} must be dollars per million tokens from 0 to {HIGHEST:,}, got {shown(value)}")
    return float(value)
