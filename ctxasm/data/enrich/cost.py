"""What a model's tokens cost. A price that nobody stated is not made up."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.regular_files import read_text

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


def price_of(model: str, path: str | None = None, price_in: float | None = None, price_out: float | None = None) -> Price | None:
    """The price of a model: as given, else of the user's table at `path`, else of the table that ships; None where nobody knows.

    A name is found as it stands, without its provider and without the date of its version. Raises InvalidInput for half a price,
    a number that is no price, and a table that cannot be read.
    """
    if (price_in is None) != (price_out is None):
        raise InvalidInput("a price needs both --price-in and --price-out, in dollars per million tokens")
    if price_in is not None and price_out is not None:
        return Price(_checked("--price-in", price_in), _checked("--price-out", price_out), "as given")
    own = prices_from_toml(read_text(path, "the prices", "give --prices the path of a TOML file"), path) if path is not None else {}
    table = {**shipped_prices(), **own}
    name = model.strip().lower()
    forms = [form for one in (name, name.rpartition("/")[2]) for form in (one, _VERSION.sub("", one))]
    return next((table[form] for form in forms if form in table), None)


@cache
def shipped_prices() -> Mapping[str, Price]:
    """The table that ships with ctxasm."""
    return prices_from_toml(files("ctxasm.data.enrich").joinpath("prices.toml").read_text("utf-8"), "the table of ctxasm")


def prices_from_toml(text: str, where: str) -> dict[str, Price]:
    """A table from TOML: `[models."NAME"]` with `input` and `output`, and `checked` beside. Raises InvalidInput."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the prices {shown(where)} are not valid TOML: {str(error)[:200]}") from None
    models = content.get("models")
    if not isinstance(models, dict):
        raise InvalidInput(
            f'the prices {shown(where)} must have tables [models."NAME"] with input and output, got {shown(sorted(content))}'
        )
    checked = content.get("checked")
    source = f"{where}, checked {checked}" if isinstance(checked, str) else where
    return {name.strip().lower(): _price(name, values, source) for name, values in models.items()}


def _price(name: str, values: Any, source: str) -> Price:
    if not isinstance(values, dict):
        raise InvalidInput(f'models."{name}" must be a table with input and output, got {shown(values)}')
    tokens_in, tokens_out = (_checked(f'models."{name}".{side}', values.get(side)) for side in ("input", "output"))
    return Price(tokens_in, tokens_out, source)


def _checked(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 <= value <= HIGHEST:
        raise InvalidInput(f"{name} must be dollars per million tokens from 0 to {HIGHEST:,}, got {shown(value)}")
    return float(value)
