"""Numbers, amounts, times of day and dates in a text, by value: "half an hour" is "30 minutes", "2,50 euro" is "€ 2.50".

A number may be read in two ways ("1.500" is 1500 in Dutch and 1.5 in English): it then has both values and agrees with
either. Units of one kind are compared in one of them, the base of its table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ctxasm.citations.lexical.clock import CLOCK, clock_of, hour_of
from ctxasm.citations.lexical.dates import DATE, date_of
from ctxasm.citations.lexical.quantity import AND, TO, Quantity, Value, any_of
from ctxasm.citations.lexical.words import LETTERS
from ctxasm.text.number_words import (
    ARTICLES,
    CURRENCIES,
    FRACTIONS,
    HALF_OF,
    HALVES,
    NUMBER_WORDS,
    SCALES,
    UNITS,
    begins_figure,
    number_of_words,
)
from ctxasm.text.terms import as_matched

__all__ = ["Quantity", "read_quantities"]

_FRACTION = "".join(FRACTIONS)
_NUMBER = rf"\d{{1,3}}(?:[.,’' \u00a0\u202f]\d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+|\s?[{_FRACTION}])?|[{_FRACTION}]"
_HALVES = any_of(HALVES)
_WORD = (
    r"(?!ten\s+(?:minste|hoogste|laatste|vroegste|tijde|gevolge|opzichte|behoeve|eerste|onrechte|slotte|aanzien|einde|name)\b)"
    rf"(?:{any_of(NUMBER_WORDS)}"
    r"|[^\W\d_]{0,24}(?:honderd|hundert|duizend|tausend)[^\W\d_]{0,24})(?!\w)"
)
_TOKEN = re.compile(
    rf"{DATE}"
    r"|(?P<phone>(?<![\w.,+])(?:\+|\(?0)\d(?:[ ()/-]{0,2}\d){8,12}(?![\d.,]*\d))"
    r"|(?P<version>(?<![\w.,])\d+(?:\.\d+){2,}(?!\d))"
    rf"|{CLOCK}"
    rf"|(?P<and_half>\b(?P<half_of>{'|'.join(HALF_OF)})\s+and\s+a\s+half\b)"
    rf"|(?:(?P<currency>[€$£¥])\s?|(?<![\w.,]))(?P<number>{_NUMBER})(?!\d)"
    rf"|(?<!\w)(?:(?P<half>{_HALVES})(?!\w)|(?P<word>{_WORD}(?:(?:\s+|-)(?:(?:and|en|und)\s+)?{_WORD}){{0,5}}))",
    re.IGNORECASE,
)
_AND_A_HALF = re.compile(r"\s+(?:and\s+a\s+half|en\s+een\s+hal(?:f|ve)|einhalb)\b", re.IGNORECASE)
_UNIT = re.compile(
    r"(?:[\s\u00a0-]|,-)*(?P<scale>million|miljoen|millionen|billion|miljard|thousand|duizend|mln|mrd|bn)?"
    r"[\s\u00a0-]*(?P<unit>%|°\s?[CF]|€|(?:(?:cubic|square|kubieke|vierkante)\s)?[^\W\d_]+[²³]?)?",
    re.I,
)
_RANGE = re.compile(
    rf"\s*(?:{TO}|{AND}|of|or|oder)\s*(?P<end>{_NUMBER})"
    r"[\s\u00a0-]*(?P<unit>%|°\s?[CF]|€|[^\W\d_]+)",
    re.IGNORECASE,
)
_MINUS = re.compile(r"(?:(?<![^\s(])[-−–]|\b(?:min|minus)\s)\s?$", re.IGNORECASE)
_LONGEST_MINUS = 7
_BELOW_ZERO = ("degree", "fahrenheit")
_FIGURES = re.compile(_NUMBER)
_ANY = re.compile(rf"(?P<sign>[{''.join(map(re.escape, CURRENCIES))}]\s?|[+(])?(?P<figure>\d+)|[^\W\d_]+")
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")
_CENTS = re.compile(r"\s+(?P<cents>\d\d)(?:\s*cent\b|(?=\s*(?:[.,;)]|$|per\b)))", re.IGNORECASE)
_NEED_UNIT = ARTICLES | frozenset(HALVES)
_COUNTING = re.compile(
    rf"(?<!\w)(?:{any_of(ARTICLES)})(?!\w)(?:[\s\u00a0-]|,-)*"
    rf"(?:[%°€]|einhalb|cubic|square|kubieke|vierkante|{any_of(SCALES)}|{any_of(UNITS)}(?![^\W\d_])"
    rf"|(?:{TO}|{AND}|till|of|or|oder)\s*[\d{_FRACTION}])",
    re.IGNORECASE,
)
"""An article before what may be a unit, or the other end of a range that has one."""
EXACT_DIGITS = 15
"""A number of more digits is compared as text: it is the number of something."""
PHONE_DIGITS = 8
"""The last digits of a telephone number, the same with and without the number of the country."""


def read_quantities(text: str, low: int = 0, high: int | None = None) -> list[Quantity]:
    """All quantities between two characters, in order."""
    return list(_read(text, low, len(text) if high is None else high))


def may_count(text: str, low: int, high: int) -> bool:
    """Whether an article between two characters may be a quantity."""
    return _COUNTING.search(text, low, high) is not None


def _read(text: str, low: int, high: int) -> Iterator[Quantity]:
    at = low
    for start in _starts(text, low, high):
        if start >= at and (match := _TOKEN.match(text, start, high)) is not None:
            quantity = _quantity(match, text, high)
            if quantity is not None:
                yield quantity
                at = quantity.end


def _starts(text: str, low: int, high: int) -> Iterator[int]:
    """Where a quantity may begin: at a digit or the sign before it, or at a word for a figure, month or day."""
    for match in _ANY.finditer(text, low, high):
        if match.lastgroup:
            if match["sign"]:
                yield match.start()
            yield match.start("figure")
        elif _may_begin(match.group()):
            yield match.start()


@lru_cache(maxsize=65536)
def _may_begin(word: str) -> bool:
    """Whether a quantity may begin with a word as written; remembered, because each word of a text is asked about."""
    return begins_figure(as_matched(word)) or word[0] in FRACTIONS


def _quantity(match: re.Match[str], text: str, high: int) -> Quantity | None:
    start, end = match.span()
    if match["half"] or match["word"]:
        return _number_in_words(match, text, high)
    if match["clock"] or match["spoken"] or match["point"]:
        found = clock_of(match, text, high)
    elif match["version"] and not _GROUPED.fullmatch(match["version"]):
        return Quantity(start, end, "version", frozenset({match["version"]}))
    elif match["phone"]:
        return Quantity(start, end, "phone", frozenset({re.sub(r"\D", "", match["phone"])[-PHONE_DIGITS:]}))
    elif match["and_half"]:
        unit, factor = UNITS[as_matched(match["half_of"])]
        return Quantity(start, end, "number", frozenset({1.5 * factor}), unit, factor)
    else:
        found = None if match["number"] or match["version"] else date_of(match, text)
    figures = None if found else _FIGURES.match(text, match.start("number") if match["number"] else start, high)
    if figures is None:
        return found
    return _with_unit(start, figures.end(), _values(figures.group()), CURRENCIES.get(match["currency"] or "", ""), text, high)


def _number_in_words(match: re.Match[str], text: str, high: int) -> Quantity | None:
    start, end = match.span()
    if half := as_matched(match["half"] or ""):
        return _with_unit(start, end, frozenset({HALVES[half]}), "", text, high, needs_unit=True)
    words = list(LETTERS.finditer(text, start, end))
    plain = [as_matched(word.group()) for word in words]
    found = number_of_words(plain)
    if found is None:
        return None
    value, taken = found
    return _with_unit(start, words[taken - 1].end(), frozenset({value}), "", text, high, needs_unit=plain[0] in _NEED_UNIT and taken == 1)


def _with_unit(
    start: int, end: int, numbers: frozenset[Value], currency: str, text: str, high: int, *, needs_unit: bool = False
) -> Quantity | None:
    """A number with its unit, or with that of the range that it begins; None where it needs one and has none."""
    if half := _AND_A_HALF.match(text, end, high):
        numbers, end, needs_unit = _plus(numbers, 0.5), half.end(), False
    unit, factor, after = _unit_at(end, text, high)
    marked = unit == "time" and text[after - 1].lower() in "ruh" and factor == 60
    if not unit and not currency and (span := _RANGE.match(text, end, high)):
        unit, factor = _range_unit(numbers, span)
    whole = [number for number in numbers if isinstance(number, float)]
    if (marked or not (unit or currency)) and len(whole) == 1 and (hour := hour_of(start, after, whole[0], text, high, marked=marked)):
        return hour
    if unit == "money" and len(whole) == 1 and (cents := _CENTS.match(text, after, high)):
        numbers, after = _plus(numbers, int(cents["cents"]) / 100), cents.end()
    if needs_unit and not unit:
        return None
    if unit in _BELOW_ZERO and (minus := _MINUS.search(text, max(0, start - _LONGEST_MINUS), start)):
        numbers, start = frozenset(-n if isinstance(n, float) else n for n in numbers), minus.start()
    values = frozenset(round(n * factor, 9) if isinstance(n, float) else n for n in numbers)
    return Quantity(start, after, "number", values, unit or currency, factor)


def _unit_at(end: int, text: str, high: int) -> tuple[str, float, int]:
    """The unit after a number, what a number of it is multiplied by, and where it ends."""
    tail = _UNIT.match(text, end, high)
    factor = 1.0
    if tail is None:
        return "", factor, end
    at = end
    if tail["scale"]:
        factor, at = SCALES[as_matched(tail["scale"])], tail.end("scale")
    word = as_matched(tail["unit"] or "").replace(" ", "")
    if word == "u" and tail.start("unit") == end:
        return "time", 60.0, tail.end("unit")
    unit = UNITS.get(word)
    return (unit[0], factor * unit[1], tail.end("unit")) if unit else ("", factor, at)


def _range_unit(numbers: frozenset[Value], span: re.Match[str]) -> tuple[str, float]:
    """The unit of a range for the number that it begins ("1-2 dagen"); a year begins none."""
    unit = UNITS.get(as_matched(span["unit"]).replace(" ", ""))
    is_year = all(isinstance(number, float) and 1000 <= number <= 2100 for number in numbers)
    return unit if unit and not is_year else ("", 1.0)


def _plus(numbers: frozenset[Value], more: float) -> frozenset[Value]:
    return frozenset(number + more if isinstance(number, float) else number for number in numbers)


def _values(digits: str) -> frozenset[Value]:
    """What a number in figures may mean: a separator before exactly three digits may part thousands or decimals."""
    plain = re.sub(r"[’' \u00a0\u202f]", "", digits)
    if plain[-1] in FRACTIONS:
        return frozenset({float(plain[:-1].strip() or 0) + FRACTIONS[plain[-1]]})
    parts = re.split(r"[.,]", plain)
    if sum(map(len, parts)) > EXACT_DIGITS:
        return frozenset({"".join(parts)})
    if len(parts) == 2:
        decimal = float(f"{parts[0]}.{parts[1]}")
        is_either = len(parts[1]) == 3 and len(parts[0]) <= 3 and parts[0] != "0"
        return frozenset({decimal, float("".join(parts))} if is_either else {decimal})
    if plain.count(".") and plain.count(","):
        return frozenset({float("".join(parts[:-1]) + "." + parts[-1])})
    return frozenset({float("".join(parts))})
