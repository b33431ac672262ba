"""Numbers, amounts, times of day and dates in a text, by value: "half an hour" is "30 minutes", "2,50 euro" is "€ 2.50".

A number may be read in two ways ("1.500" is 1500 in Dutch and 1.5 in English): it then has both values and agrees with
either. Units of one kind are compared in their smallest member.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ctxasm.citations.lexical.number_words import DAYS, FIGURE_WORDS, HALVES, MONTHS, NUMBER_WORDS, UNITS

_NUMBER = r"\d+(?:[.,’' \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
_CURRENCY = {"€": "money", "$": "dollar", "£": "pound", "¥": "yen"}
_WORDS = "|".join(sorted((*NUMBER_WORDS, *HALVES), key=len, reverse=True))
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = "|".join(sorted(DAYS, key=len, reverse=True))
_CLOCK = r"(?P<hour>[01]?\d|2[0-4])(?:[.:](?P<minute>[0-5]\d)(?![.,:]?\d)|(?=\s*(?:[ap]\.?m\b|o[’']clock))|[hu](?P<short>[0-5]\d)\b)"
_TOKEN = re.compile(
    rf"(?P<iso>(?P<y>[12]\d{{3}})-(?P<m>[01]?\d)-(?P<d>[0-3]?\d)\b)"
    rf"|(?P<dmy>\b(?P<d2>[0-3]?\d)[-/.](?P<m2>[01]?\d)[-/.](?P<y2>[12]\d{{3}})\b)"
    rf"|(?P<long>\b(?P<d3>[0-3]?\d)(?:st|nd|rd|th|\.|e)?\s+(?:of\s+)?(?P<m3>{_MONTH})\b\.?(?:,?\s+(?P<y3>[12]\d{{3}})\b)?)"
    rf"|(?P<us>\b(?P<m4>{_MONTH})\b\.?\s+(?P<d4>[0-3]?\d)(?:st|nd|rd|th)?\b(?!\d)(?:,?\s+(?P<y4>[12]\d{{3}})\b)?)"
    rf"|(?P<month>\b(?:{_MONTH})\b)(?:\s+(?P<y5>[12]\d{{3}})\b)?"
    rf"|(?P<weekday>\b(?P<day>{_DAY})(?:s|en)?\b)"
    rf"|(?P<clock>(?<![\d.,:])\b{_CLOCK}(?:\s*(?P<half_day>[ap])\.?m\b\.?)?)"
    rf"|(?:(?P<currency>[€$£¥])\s?|(?<![\w.,]))(?P<number>{_NUMBER})(?!\d)"
    rf"|(?<![\w])(?P<word>{_WORDS})(?![\w])",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"(?:[\s\u00a0-]|,-)*(?P<scale>million|miljoen|billion|miljard|thousand|duizend|mln|mrd|bn)?[\s\u00a0-]*(?P<unit>%|°\s?[CF]|€|[^\W\d_]+)?",
    re.I,
)
_WORD = re.compile(r"\d+|[^\W\d_]+")
_HOUR_MARK = re.compile(r"\s*(?:uur|uhr|u|h)\b", re.IGNORECASE)
_TIME_BEFORE = re.compile(
    r"\b(?:om|van|tot|vanaf|tussen|at|from|until|till|by|between|um|ab|bis|zwischen)\s*$"
    r"|\d\s*[-–]\s*$|\d[.:]\d\d\s*(?:and|en|und|to|tot|bis|until)\s*$",
    re.IGNORECASE,
)
_TIME_AFTER = re.compile(r"\s*(?:[-–]|tot|en|to|until|and|bis|und)\s*\d", re.IGNORECASE)
_ARTICLES = frozenset((*HALVES, "one", "een", "één", "ein", "eins"))
_SCALES = {
    "million": 1e6,
    "miljoen": 1e6,
    "mln": 1e6,
    "billion": 1e9,
    "miljard": 1e9,
    "mrd": 1e9,
    "bn": 1e9,
    "thousand": 1e3,
    "duizend": 1e3,
}


class Quantity(NamedTuple):
    """A quantity at characters `start` to `end`, its unit word included. `values` are all that it may mean, in the unit's base.

    `kind` is "number", "time" (minutes after midnight), "date" (text of what is known: "2020-05-03", "-05-03", "2020-05"),
    "month" or "weekday"; `unit` the base unit, "" where it has none, and `factor` what it was multiplied by to get there.
    """

    start: int
    end: int
    kind: str
    values: frozenset[float | str]
    unit: str = ""
    factor: float = 1.0

    def agrees(self, other: Quantity) -> bool:
        """Whether the two may mean the same: equal values, and no different units."""
        if self.kind == other.kind:
            if self.unit == other.unit and self.factor != other.factor and self.raw == other.raw:
                return False
            same = bool(self.values & other.values) or (self.kind == "date" and _dates_agree(self.values, other.values))
            return same and (not self.unit or not other.unit or self.unit == other.unit)
        if {self.kind, other.kind} == {"time", "number"}:
            time, number = (self, other) if self.kind == "time" else (other, self)
            return number.unit in ("", "time") and any(
                isinstance(v, float) and (v * 60 in time.values or v in time.values) for v in number.values
            )
        if {self.kind, other.kind} == {"date", "number"}:
            date, number = (self, other) if self.kind == "date" else (other, self)
            return not number.unit and any(f"{int(v)}" == str(d)[:4] for v in number.values if isinstance(v, float) for d in date.values)
        if {self.kind, other.kind} == {"date", "month"}:
            date, month = (self, other) if self.kind == "date" else (other, self)
            return any(str(d)[5:7] == str(m) for d in date.values for m in month.values)
        return False

    @property
    def raw(self) -> frozenset[float]:
        """The values as they are written, before the unit."""
        return frozenset(round(value / self.factor, 6) for value in self.values if isinstance(value, float))

    def rivals(self, other: Quantity) -> bool:
        """Whether the other is of the same sort but says something else, so that the two cannot both be meant."""
        if self.kind != other.kind or self.unit != other.unit or self.agrees(other):
            return False
        return self.kind != "number" or bool(self.unit) or self._is_year == other._is_year

    @property
    def _is_year(self) -> bool:
        return all(isinstance(value, float) and 1000 <= value <= 2100 and value.is_integer() for value in self.values)


def read_quantities(text: str, low: int = 0, high: int | None = None) -> list[Quantity]:
    """All quantities between two characters, in order."""
    return list(_read(text, low, len(text) if high is None else high))


def _read(text: str, low: int, high: int) -> Iterator[Quantity]:
    at = low
    for start in _starts(text, low, high):
        if start >= at and (match := _TOKEN.match(text, start, high)) is not None:
            quantity = _quantity(match, text, high)
            if quantity is not None:
                yield quantity
                at = quantity.end


def _starts(text: str, low: int, high: int) -> Iterator[int]:
    """Where a quantity may begin: at a digit or its currency sign, or at a word for a figure, month or day."""
    for match in _WORD.finditer(text, low, high):
        word = match.group()
        if word[0].isdigit():
            sign = max(low, match.start() - 2)
            before = text[sign : match.start()]
            yield match.start() - (len(before) - len(before.rstrip()) + 1 if before.rstrip()[-1:] in _CURRENCY else 0)
        elif word.lower() in FIGURE_WORDS:
            yield match.start()


def _quantity(match: re.Match[str], text: str, high: int) -> Quantity | None:
    start, end, got = match.start(), match.end(), match.groupdict()
    for kind, fields in (("iso", "y m d"), ("dmy", "y2 m2 d2"), ("long", "y3 m3 d3"), ("us", "y4 m4 d4")):
        if got[kind]:
            year, month, day = (got[name] for name in fields.split())
            return Quantity(start, end, "date", frozenset({_date(year, month, day)}))
    if got["month"]:
        return _month(match, text)
    if got["weekday"]:
        return Quantity(start, end, "weekday", frozenset({DAYS[got["day"].lower()]}))
    if got["clock"]:
        return _clock(match, text, high)
    return _number(match, text, high)


def _month(match: re.Match[str], text: str) -> Quantity | None:
    """A month by its name; short for one ("Jan", which is a name) only with a year, "may" and "mei" only with a capital."""
    name, year = match["month"], match["y5"]
    short = len(name) <= 4 and name.lower() not in ("may", "mei", "mai", "juni", "juli", "june", "july", "märz")
    if year is None and (short or (len(name) == 3 and not name[0].isupper())):
        return None
    month = f"{MONTHS[name.lower()]:02d}"
    if year:
        return Quantity(match.start(), match.end(), "date", frozenset({f"{year}-{month}"}))
    if name.lower() == "may" and (match.start() == 0 or text[max(0, match.start() - 2) : match.start()].strip() in ("", ".", "?", "!")):
        return None
    return Quantity(match.start(), match.end(), "month", frozenset({month}))


def _clock(match: re.Match[str], text: str, high: int) -> Quantity | None:
    """A time of day; "14.00" is one only beside a word of time ("14.00 uur", "from 14.00", "14.00 - 20.00")."""
    hour, minute = int(match["hour"]), int(match["minute"] or match["short"] or 0)
    suffix = _HOUR_MARK.match(text, match.end(), high)
    dotted = text[match.end("hour") : match.end("hour") + 1] == "."
    if dotted and not match["half_day"] and not suffix:
        before, after = text[max(0, match.start() - 12) : match.start()], text[match.end() : min(high, match.end() + 12)]
        if not _TIME_BEFORE.search(before) and not _TIME_AFTER.match(after):
            return _number(match, text, high)
    if match["half_day"]:
        hour = hour % 12 + (12 if match["half_day"].lower() == "p" else 0)
    return Quantity(match.start(), suffix.end() if suffix else match.end(), "time", frozenset({float(hour * 60 + minute)}))


def _number(match: re.Match[str], text: str, high: int) -> Quantity | None:
    word = (match["word"] or "").lower()
    values = {NUMBER_WORDS[word]} if word in NUMBER_WORDS else {HALVES[word]} if word else _values(match["number"] or match["clock"])
    unit, factor, end = _CURRENCY[match["currency"]] if match["currency"] else "", 1.0, match.end()
    tail = _UNIT.match(text, end, high)
    if tail is not None and tail["scale"]:
        factor, end = _SCALES[tail["scale"].lower()], tail.end("scale")
    if tail is not None and (found := UNITS.get((tail["unit"] or "").lower().replace(" ", ""))):
        unit, factor, end = found[0], factor * found[1], tail.end("unit")
    if word in _ARTICLES and not unit:
        return None
    return Quantity(match.start(), end, "number", frozenset(round(value * factor, 9) for value in values), unit, factor)


def _values(digits: str) -> set[float]:
    """What a number in figures may mean: a separator before exactly three digits may part thousands or decimals."""
    plain = re.sub(r"[’' \u00a0\u202f]", "", digits)
    parts = re.split(r"[.,]", plain)
    if len(parts) == 1:
        return {float(plain)}
    if len(parts) == 2:
        decimal = float(f"{parts[0]}.{parts[1]}")
        return {decimal, float("".join(parts))} if len(parts[1]) == 3 and parts[0] != "0" else {decimal}
    if plain.count(".") and plain.count(","):
        return {float("".join(parts[:-1]) + "." + parts[-1])}
    return {float("".join(parts))}


def _date(year: str | None, month: str, day: str) -> str:
    number = int(month) if month.isdigit() else MONTHS[month.lower()]
    return f"{year or '????'}-{number:02d}-{int(day):02d}"


def _dates_agree(ours: frozenset[float | str], theirs: frozenset[float | str]) -> bool:
    """Dates agree when all parts that both name are equal."""
    return any(_parts_agree(str(a), str(b)) for a in ours for b in theirs)


def _parts_agree(one: str, other: str) -> bool:
    pairs = zip(one.split("-"), other.split("-"), strict=False)
    return all("?" in a or "?" in b or a == b for a, b in pairs)
