"""When a document is from, as far as its date says: a span of time, because "2023" and "4/5/2023" are no single day."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple

_MONTHS = (
    "jan january januari januar",
    "feb february februari februar",
    "mar march mrt maart märz",
    "apr april",
    "may mei mai",
    "jun june juni",
    "jul july juli",
    "aug august augustus",
    "sep sept september",
    "oct october okt oktober",
    "nov november",
    "dec december dez dezember",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
"""The number of a month by its Dutch, English and German names."""
_WEEKDAYS = (
    "monday maandag montag",
    "tuesday dinsdag dienstag",
    "wednesday woensdag mittwoch",
    "thursday donderdag donnerstag",
    "friday vrijdag freitag",
    "saturday zaterdag samstag",
    "sunday zondag sonntag",
)
WEEKDAYS = {name: names.split()[0] for names in _WEEKDAYS for name in names.split()}
"""The English name of a day of the week by its Dutch, English and German ones."""
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_YEAR_FIRST = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_NAMED = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th|e|de|ste|\.)?\s+)?([^\W\d_]+)\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})")


class Period(NamedTuple):
    """From the first to the last moment that a date can mean (UTC)."""

    first: datetime
    last: datetime

    def is_after(self, other: Period) -> bool:
        """Whether every moment of this lies after every moment of `other`."""
        return self.first > other.last


@lru_cache(maxsize=4096)
def period_of(written: str | None) -> Period | None:
    """What a date says, None where it cannot be read for certain enough to say what came first.

    ISO 8601 (with or without time), a year, a year and a month, day-month-year and month-day-year (where both readings are
    possible, both are meant), and English, Dutch and German names of months.
    """
    text = " ".join((written or "").lower().split())
    if not text or len(text) > 40:
        return None
    try:
        return _year_first(text) or _numeric(text) or _named(text) or _moment(text)
    except (ValueError, OverflowError):
        return None


def _year_first(text: str) -> Period | None:
    found = _YEAR_FIRST.fullmatch(text)
    if not found:
        return None
    year, month, day = found.groups()
    return _days(int(year), int(month) if month else None, int(day) if day else None)


def _numeric(text: str) -> Period | None:
    """Day and month in either order: where both are possible, from the earlier to the later."""
    found = _NUMERIC.fullmatch(text)
    if not found:
        return None
    one, other, year = int(found[1]), int(found[3]), int(found[4])
    possible = [
        date(year, month, day) for day, month in {(one, other), (other, one)} if 1 <= month <= 12 and day <= monthrange(year, month)[1]
    ]
    return Period(_first(min(possible)), _last(max(possible))) if possible else None


def _named(text: str) -> Period | None:
    found = _NAMED.fullmatch(text)
    if not found or found[2] not in MONTHS or (found[1] and found[3]):
        return None
    day = found[1] or found[3]
    return _days(int(found[4]), MONTHS[found[2]], int(day) if day else None)


def _moment(text: str) -> Period | None:
    """A time stamp; without a zone it is taken for UTC."""
    moment = datetime.fromisoformat(text.upper())
    if len(text) <= 10:
        return Period(_first(moment.date()), _last(moment.date()))
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return Period(moment, moment)


def _days(year: int, month: int | None, day: int | None) -> Period:
    first = date(year, month or 1, day or 1)
    last = date(year, month or 12, day or monthrange(year, month or 12)[1])
    return Period(_first(first), _last(last))


def _first(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _last(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC) + timedelta(days=1, microseconds=-1)
