"""A quantity and what it means beside another: whether the two may be the same, or cannot both be meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

Value = float | str
Key = str | tuple[str, Value]
TO = r"(?:[-–—]|t/m|tot(?:\s+en\s+met)?|to|until|à|bis)"
"""What joins the two ends of a range, as a regular expression."""
AND = r"(?:and|en|und)"
"""What joins two figures that are a range behind "between" only."""


def any_of(words: Iterable[str]) -> str:
    """The longest of some words that stands there, as a regular expression: letter by letter, because hundreds of words are slow to try one
    after another."""
    tails: dict[str, list[str]] = {}
    for word in words:
        tails.setdefault(word[:1], []).append(word[1:])
    is_end = tails.pop("", None) is not None
    longer = "|".join(re.escape(letter) + any_of(each) for letter, each in tails.items())
    return f"(?:{longer}){'?' * is_end}" if longer else ""


class Quantity(NamedTuple):
    """A quantity at characters `start` to `end`, its unit word included. `values` are all that it may mean, in the unit's base.

    `kind` is "number", "time" (minutes after midnight), "date" (text of what is known: "2020-05-03", "????-05-03",
    "2020-05"), "month", "weekday", "phone" (its last digits) or "version" ("3.11.2"); `unit` the base unit, "" where it has none,
    and `factor` what it was multiplied by to get there. A number of very many digits is its text.
    """

    start: int
    end: int
    kind: str
    values: frozenset[Value]
    unit: str = ""
    factor: float = 1.0

    def agrees(self, other: Quantity) -> bool:
        """Whether the two may mean the same: equal values, and no different units."""
        if self.kind == other.kind:
            equal = _EQUAL.get(self.kind)
            if not equal(self.values, other.values) if equal else self.values.isdisjoint(other.values):
                return False
            if self.unit == other.unit:
                return self.factor == other.factor or self.raw != other.raw
            return not self.unit or not other.unit
        one, two = (self, other) if self.kind < other.kind else (other, self)
        agree = _ACROSS.get((one.kind, two.kind))
        return agree is not None and agree(one, two)

    @property
    def keys(self) -> list[Key]:
        """What it is found by: its kind, and each of its values."""
        return [self.kind, *self._by_value]

    @property
    def sought(self) -> list[Key]:
        """Of the keys of each quantity that it agrees with, at least one."""
        across = [two if one == self.kind else one for one, two in _ACROSS if self.kind in (one, two)]
        return [*across, *([self.kind] if self.kind in _EQUAL else self._by_value)]

    @property
    def _by_value(self) -> list[Key]:
        return [(self.kind, value) for value in self.values]

    @property
    def raw(self) -> frozenset[float]:
        """The values as they are written, before the unit."""
        return frozenset(round(value / self.factor, 6) for value in self.values if isinstance(value, float))

    def rivals(self, other: Quantity) -> bool:
        """Whether the other is of the same sort but says something else, so that the two cannot both be meant."""
        if self.kind != other.kind or self.unit != other.unit or self.agrees(other):
            return False
        return self.kind != "number" or bool(self.unit) or self.is_year == other.is_year

    @property
    def is_year(self) -> bool:
        return all(isinstance(value, float) and 1000 <= value <= 2100 and value.is_integer() for value in self.values)

    @property
    def floats(self) -> list[float]:
        """The values that are numbers."""
        return [value for value in self.values if isinstance(value, float)]


def _dates_agree(ours: frozenset[Value], theirs: frozenset[Value]) -> bool:
    """Dates agree when all parts that both name are equal."""
    return any(_parts_agree(str(a).split("-"), str(b).split("-")) for a in ours for b in theirs)


def _parts_agree(one: list[str], other: list[str]) -> bool:
    return all("?" in a or "?" in b or a == b for a, b in zip(one, other, strict=False))


def _versions_agree(ours: frozenset[Value], theirs: frozenset[Value]) -> bool:
    """Versions agree when one goes on where the other ends."""
    pairs = ((str(a).split("."), str(b).split(".")) for a in ours for b in theirs)
    return any(all(x == y for x, y in zip(a, b, strict=False)) for a, b in pairs)


def _number_is_time(number: Quantity, time: Quantity) -> bool:
    times = time.values
    return number.unit in ("", "time") and any(isinstance(v, float) and (v in times or v * 60 in times) for v in number.values)


def _date_has_year(date: Quantity, number: Quantity) -> bool:
    years = {str(value)[:4] for value in date.values}
    return not number.unit and any(f"{value:.0f}" in years for value in number.floats if value.is_integer())


def _date_has_month(date: Quantity, month: Quantity) -> bool:
    return any(str(value)[5:7] in month.values for value in date.values)


def _number_begins_version(number: Quantity, version: Quantity) -> bool:
    begun = {".".join(str(value).split(".")[:2]) for value in version.values}
    return not number.unit and any(float(value) in number.values for value in begun)


_EQUAL: dict[str, Callable[[frozenset[Value], frozenset[Value]], bool]] = {"date": _dates_agree, "version": _versions_agree}
_ACROSS: dict[tuple[str, str], Callable[[Quantity, Quantity], bool]] = {
    ("number", "time"): _number_is_time,
    ("date", "number"): _date_has_year,
    ("date", "month"): _date_has_month,
    ("number", "version"): _number_begins_version,
}
