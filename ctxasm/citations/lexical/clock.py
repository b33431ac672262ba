"""Times of day in a text: in figures, in words ("half negen", "quarter past two"), by part of the day ("8 uur 's avonds")."""

from __future__ import annotations

import re

from ctxasm.citations.lexical.quantity import Quantity, any_of
from ctxasm.text.number_words import NUMBER_WORDS, POINTS

_HOURS = any_of(word for word, value in NUMBER_WORDS.items() if value in range(1, 13))
CLOCK = (
    r"(?P<clock>(?<![\d.,:])\b(?P<hour>[01]?\d|2[0-4])"
    r"(?:[.:](?P<minute>[0-5]\d)(?::[0-5]\d)?(?![.,:]?\d)|(?=\s*(?:[ap]\.?m\b|o[’']clock))|[hu](?P<short>[0-5]\d)\b)"
    r"(?:\s*(?P<half_day>[ap])\.?m\b\.?)?)"
    r"|(?P<spoken>\b(?P<lead>half past|half|halb|quarter past|quarter to|kwart over|kwart voor|viertel nach|viertel vor)"
    rf"\s+(?P<spoken_hour>{_HOURS}|1[0-2]|[1-9])\b(?![.,:]?\d))"
    rf"|(?P<point>\b(?:{'|'.join(POINTS)})\b)"
)
"""Alternatives of a regular expression, their groups named; IGNORECASE."""
_HOUR_MARK = re.compile(r"\s*(?:uur|uhr|u|h|o[’']clock)\b", re.IGNORECASE)
_PART_OF_DAY = re.compile(
    r"\s*(?:['’‘]s\s+|in\s+the\s+|in\s+de\s+|at\s+|am\s+|in\s+der\s+)?"
    r"(?P<part>ochtends|morgens|morning|vormittags|nachts|middags|avonds|afternoon|evening|nachmittags|abends|namiddag)\b",
    re.IGNORECASE,
)
_LATE = ("middags", "avonds", "afternoon", "evening", "nachmittags", "abends", "namiddag")
_BEFORE = re.compile(
    r"\b(?:om|van|tot|vanaf|tussen|at|from|until|till|by|between|um|ab|bis|zwischen)\s*$"
    r"|\d\s*[-–]\s*$|\d[.:]\d\d\s*(?:and|en|und|to|tot|bis|until)\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\s*(?:[-–]|tot|en|to|until|and|bis|und)\s*\d", re.IGNORECASE)
_LATER_HALF_DAY = re.compile(
    r"\s*(?:[-–—]|to|until|till|and)\s*(?P<hour>1[0-2]|0?\d)(?:[.:][0-5]\d)?\s*(?P<half_day>[ap])\.?m\b", re.IGNORECASE
)
_LEADS = {"half past": 30, "quarter past": 15, "kwart over": 15, "viertel nach": 15}
_LOOK_BACK = 12
DAY = 24 * 60.0


def clock_of(match: re.Match[str], text: str, high: int) -> Quantity | None:
    """The time of day of a match of `CLOCK`; None for "14.00" without a word of time beside it."""
    start, end = match.span()
    if match["point"]:
        return Quantity(start, end, "time", frozenset(POINTS[match["point"].lower()]))
    if match["spoken"]:
        return _spoken(match, text, high)
    hour, minute = int(match["hour"]), int(match["minute"] or match["short"] or 0)
    mark = _HOUR_MARK.match(text, end, high)
    dotted = text[match.end("hour") : match.end("hour") + 1] == "."
    if dotted and not match["half_day"] and not mark and not _is_beside_time(text, start, end, high):
        return None
    if match["half_day"]:
        hour = hour % 12 + (12 if match["half_day"].lower() == "p" else 0)
    end = mark.end() if mark else end
    part = _PART_OF_DAY.match(text, end, high)
    return _at(start, part.end() if part else end, _in_part(hour, part) * 60 + minute)


def hour_of(start: int, end: int, value: float, text: str, high: int, *, marked: bool) -> Quantity | None:
    """The time of day that a bare number may be: "8 uur 's avonds", "om 17 uur", "2 to 4 pm"; None for none.

    `marked`: a word for hours stands between the number and `end`.
    """
    if not value.is_integer() or not 0 <= value <= 24:
        return None
    hour, part = int(value), _PART_OF_DAY.match(text, end, high) if marked else None
    if part:
        return _at(start, part.end(), _in_part(hour, part) * 60)
    if marked:
        return _at(start, end, hour * 60) if _BEFORE.search(text[max(0, start - _LOOK_BACK) : start]) else None
    later = _LATER_HALF_DAY.match(text, end, high)
    if later is None or not 1 <= hour <= 12:
        return None
    is_late = later["half_day"].lower() == "p" and hour % 12 <= int(later["hour"]) % 12
    return _at(start, end, (hour % 12 + (12 if is_late else 0)) * 60)


def _spoken(match: re.Match[str], text: str, high: int) -> Quantity | None:
    """A time in words: before or after noon, unless the part of the day tells."""
    lead, hour_word = match["lead"].lower(), match["spoken_hour"].lower()
    hour = int(hour_word) if hour_word.isdigit() else int(NUMBER_WORDS[hour_word])
    minute = _LEADS.get(lead, -30 if lead in ("half", "halb") else -15)
    part = _PART_OF_DAY.match(text, match.end(), high)
    first = (hour * 60 + minute) % (DAY / 2)
    values = {first + (DAY / 2 if part["part"].lower() in _LATE else 0)} if part else {first, first + DAY / 2}
    return Quantity(match.start(), part.end() if part else match.end(), "time", frozenset(values))


def _at(start: int, end: int, minutes: float) -> Quantity:
    return Quantity(start, end, "time", frozenset({float(minutes)}))


def _in_part(hour: int, part: re.Match[str] | None) -> int:
    return hour + 12 if part and part["part"].lower() in _LATE and hour < 12 else hour


def _is_beside_time(text: str, start: int, end: int, high: int) -> bool:
    return bool(_BEFORE.search(text[max(0, start - _LOOK_BACK) : start]) or _AFTER.match(text, end, min(high, end + _LOOK_BACK)))
