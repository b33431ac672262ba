"""Dates, months and days of the week in a text: as figures, by name, and the short names of days beside each other."""

from __future__ import annotations

import re

from ctxasm.citations.lexical.quantity import Quantity, Value, any_of
from ctxasm.text.dates import MONTHS, WEEKDAYS
from ctxasm.text.number_words import SHORT_DAYS

_MONTH = any_of(MONTHS)
_DAY = any_of(WEEKDAYS)
_SHORT = any_of(SHORT_DAYS)
_JOIN = r"\.?\s*(?:[-–—/&,+]|t/m|tot\s+en\s+met|tot|to|and|en|bis|und)\s*"
DATE = (
    r"(?P<iso>(?<!\d)(?P<y>[12]\d{3})-(?P<m>[01]?\d)-(?P<d>[0-3]?\d)(?!\d))"
    r"|(?P<dmy>(?<![\w.,])(?P<d2>[0-3]?\d)(?P<sep>[-/.])(?P<m2>[0-3]?\d)(?P=sep)"
    r"(?P<y2>[12]\d{3}(?!\d)|(?<=[-/])\d\d(?![\w/-]|[.,]\d|\s\d\d\s\d\d)))"
    rf"|(?P<long>\b(?P<d3>[0-3]?\d)(?:st|nd|rd|th|\.|e)?\s+(?:of\s+)?(?P<m3>{_MONTH})\b\.?(?:,?\s+(?P<y3>[12]\d{{3}})\b)?)"
    rf"|(?P<us>\b(?P<m4>{_MONTH})\b\.?\s+(?P<d4>[0-3]?\d)(?:st|nd|rd|th)?\b(?![\d:]|\.\d)(?:,?\s+(?P<y4>[12]\d{{3}})\b)?)"
    rf"|(?P<month>\b(?P<m5>{_MONTH})\b)(?:\s+(?P<y5>[12]\d{{3}})\b)?"
    rf"|(?P<weekday>\b(?P<day>{_DAY})(?:s|en)?\b)"
    rf"|(?P<short_day>\b(?P<abbreviation>{_SHORT})\b)"
)
"""One alternative of a regular expression, its groups named; IGNORECASE."""
_DAY_AFTER = re.compile(rf"(?:{_JOIN}(?:{_SHORT}|{_DAY})\b|\.?:?\s*\d{{1,2}}[.:]\d\d)", re.IGNORECASE)
_DAY_BEFORE = re.compile(rf"\b(?:{_SHORT}|{_DAY}){_JOIN}$", re.IGNORECASE)
_LOOK_BACK = 24


def date_of(match: re.Match[str], text: str) -> Quantity | None:
    """The date, month or day of the week of a match of `DATE`; None where it is none after all."""
    start, end = match.span()
    if match["weekday"]:
        return Quantity(start, end, "weekday", frozenset({WEEKDAYS[match["day"].lower()]}))
    if match["short_day"]:
        is_day = _DAY_AFTER.match(text, end) or _DAY_BEFORE.search(text[max(0, start - _LOOK_BACK) : start])
        return Quantity(start, end, "weekday", frozenset({SHORT_DAYS[match["abbreviation"].lower()]})) if is_day else None
    if match["month"]:
        return _month(match, text)
    for kind, fields in (("iso", "y m d"), ("long", "y3 m3 d3"), ("us", "y4 m4 d4")):
        if match[kind]:
            year, month, day = (match[name] for name in fields.split())
            if kind == "us" and month == "may" and not year:
                return None
            return _date(start, end, [(year, month, day)])
    year = match["y2"] if len(match["y2"]) == 4 else f"20{match['y2']}"
    readings = [(year, match["m2"], match["d2"])]
    return _date(start, end, [*readings, (year, match["d2"], match["m2"])] if match["sep"] == "/" else readings)


def _date(start: int, end: int, readings: list[tuple[str | None, str, str]]) -> Quantity | None:
    """A date in all its readings that exist."""
    values: set[Value] = set()
    for year, month, day in readings:
        number = int(month) if month.isdigit() else MONTHS[month.lower()]
        if 1 <= number <= 12 and 1 <= int(day) <= 31:
            values.add(f"{year or '????'}-{number:02d}-{int(day):02d}")
    return Quantity(start, end, "date", frozenset(values)) if values else None


def _month(match: re.Match[str], text: str) -> Quantity | None:
    """A month by its name; short for one ("Jan", which is a name) only with a year, "may" and "mei" only with a capital."""
    name, year = match["m5"], match["y5"]
    short = len(name) <= 4 and name.lower() not in ("may", "mei", "mai", "juni", "juli", "june", "july", "märz")
    if year is None and (short or (len(name) == 3 and not name[0].isupper())):
        return None
    month = f"{MONTHS[name.lower()]:02d}"
    if year:
        return Quantity(match.start(), match.end(), "date", frozenset({f"{year}-{month}"}))
    if name.lower() == "may" and text[max(0, match.start() - 2) : match.start()].strip() in ("", ".", "?", "!"):
        return None
    return Quantity(match.start(), match.end(), "month", frozenset({month}))
