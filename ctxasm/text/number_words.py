"""Words for numbers, units, months and days in Dutch, English and German, and what several number words are worth together."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ctxasm.text.dates import MONTHS, WEEKDAYS


def _plain(words: Iterable[str]) -> Iterator[str]:
    """Words as they are written and without accents, also with "ss" for "ß"."""
    for word in words:
        bare = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
        yield from (written.replace("ß", sharp) for written in (word, bare) for sharp in ("ß", "ss"))


def _units(base: str, members: str) -> dict[str, tuple[str, float]]:
    """`name=factor` pairs, comma-separated names sharing a factor, of one base unit."""
    found: dict[str, tuple[str, float]] = {}
    for member in members.split():
        names, _, factor = member.partition("=")
        found |= {name.replace("_", " "): (base, float(factor or 1)) for name in names.split(",")}
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_DUTCH = _words(
    "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien "
    "twintig"
)
_ENGLISH = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen "
    "twenty"
)
_GERMAN = _words(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn "
    "zwanzig"
)
_TENS = {
    20: "twintig twenty zwanzig",
    30: "dertig thirty dreißig",
    40: "veertig forty vierzig",
    50: "vijftig fifty fünfzig",
    60: "zestig sixty sechzig",
    70: "zeventig seventy siebzig",
    80: "tachtig eighty achtzig",
    90: "negentig ninety neunzig",
    100: "honderd hundred hundert",
    1000: "duizend thousand tausend",
}


def _numbers() -> dict[str, float]:
    found: dict[str, float] = {"één": 1.0, "zwo": 2.0, "dozen": 12.0, "dozijn": 12.0}
    found |= dict.fromkeys(("anderhalf", "anderhalve", "anderthalb", "eineinhalb"), 1.5)
    found |= dict.fromkeys(("eine", "einen", "einem", "einer", "eines"), 1.0)
    for words in (_DUTCH, _ENGLISH, _GERMAN):
        found |= {word: float(value) for value, word in enumerate(words)}
    for value in range(2, 13):
        joint = "ën" if _DUTCH[value].endswith("e") else "en"
        found |= dict.fromkeys((f"{_DUTCH[value]}{joint}half", f"{_DUTCH[value]}{joint}halve", f"{_GERMAN[value]}einhalb"), value + 0.5)
    for value, words_of in _TENS.items():
        dutch, english, german = words_of.split()
        found |= {word: float(value) for word in (dutch, english, german)}
        if value < 100:
            for one in range(1, 10):
                joint = "ën" if _DUTCH[one].endswith("e") else "en"
                found[f"{_DUTCH[one]}{joint}{dutch}"] = found[f"{english}-{_ENGLISH[one]}"] = float(value + one)
                found[f"{'ein' if one == 1 else _GERMAN[one]}und{german}"] = float(value + one)
    return {plain: value for word, value in found.items() for plain in _plain((word,))}


ARTICLES = frozenset(("one", "een", "ein", "eins", "eine", "einen", "einem", "einer", "eines"))
"""Words for one that are no figure unless they stand before a unit."""
NUMBER_WORDS = _numbers()
"""Numbers below a hundred, and a hundred and a thousand; accents may lack."""
_HUNDREDS = re.compile(r"(.*?)(?:honderd|hundert)(?:(?:en|und)?(.+))?")
_THOUSANDS = re.compile(r"(.*?)(?:duizend|tausend)(?:(?:en|und)?(.+))?")


def number_of(word: str) -> float | None:
    """The value of a number word, also of one that is written in one ("tweehonderdvijftig", "zweitausend"); lower case."""
    parts = _THOUSANDS.fullmatch(word)
    if parts is None or word in NUMBER_WORDS:
        return _below_thousand(word)
    return _sum(_below_thousand(parts[1] or "een"), 1000, _below_thousand(parts[2]) if parts[2] else 0.0)


def _below_thousand(word: str) -> float | None:
    known = 1.0 if word == "ein" else NUMBER_WORDS.get(word)
    parts = _HUNDREDS.fullmatch(word) if known is None else None
    if parts is None:
        return known
    lead = 1.0 if parts[1] in ("", "ein") else NUMBER_WORDS.get(parts[1])
    return _sum(lead, 100, NUMBER_WORDS.get(parts[2]) if parts[2] else 0.0)


def _sum(lead: float | None, scale: int, rest: float | None) -> float | None:
    """So many hundreds or thousands and the rest; None where the parts do not make one number."""
    if lead is None or rest is None or not (lead.is_integer() and rest.is_integer()):
        return None
    return lead * scale + rest if 1 <= lead < (1000 if scale == 1000 else 100) and rest < scale else None


def number_of_words(words: list[str]) -> tuple[float, int] | None:
    """The value of number words in a row ("two hundred and fifty"), and how many of them it takes; None where the first is none."""
    total = current = 0.0
    room, taken = float("inf"), 0
    for place, word in enumerate(words):
        if word in ("and", "en", "und"):
            if room not in (100, 1000):
                break
            continue
        value = number_of(word)
        if value is None or not value.is_integer():
            return (value, 1) if value is not None and not taken else (total + current, taken) if taken else None
        if taken and value in (100, 1000) and 0 < current < value:
            current *= value
            total, current = (total + current, 0.0) if value == 1000 else (total, current)
        elif value < room and (not taken or value > 0) and not (room == 10 and value == 0):
            current += value
        else:
            break
        room, taken = _room_after(value), place + 1
    return (total + current, taken) if taken else None


def _room_after(value: float) -> float:
    """What a further number word must be below to belong to the same number."""
    for scale in (1000, 100):
        if value % scale == 0 and value:
            return scale
    return 10 if value >= 20 and value % 10 == 0 else 0


HALVES = {
    "half a": 0.5,
    "half an": 0.5,
    "een half": 0.5,
    "half": 0.5,
    "halve": 0.5,
    "a quarter of an": 0.25,
    "quarter": 0.25,
    "kwart": 0.25,
    "eine halbe": 0.5,
    "ein halber": 0.5,
    "ein halbes": 0.5,
    "eine viertel": 0.25,
    "halbe": 0.5,
    "halben": 0.5,
    "halbes": 0.5,
    "three quarters of an": 0.75,
}
SCALES = {
    **dict.fromkeys(("million", "miljoen", "millionen", "mln"), 1e6),
    **dict.fromkeys(("billion", "miljard", "mrd", "bn"), 1e9),
    **dict.fromkeys(("thousand", "duizend"), 1e3),
}
"""Words that multiply the figures before them."""
CURRENCIES = {"€": "money", "$": "dollar", "£": "pound", "¥": "yen"}
FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
UNITS = {
    **_units("time", "second,seconds,sec,seconde,seconden,sekunde,sekunden=0.016666666666666666 minute,minutes,min,minuut,minuten=1"),
    **_units("time", "hour,hours,hr,hrs,uur,uren,stunde,stunden,h=60 day,days,dag,dagen,tag,tage,tagen,tages,etmaal=1440"),
    **_units("time", "week,weeks,weken,woche,wochen=10080 month,months,maand,maanden,monat,monate,monaten,monats=43800"),
    **_units("time", "year,years,jaar,jaren,jahr,jahre,jahren,jahres=525600 kwartier,viertelstunde=15"),
    **_units("money", "euro,euros,eur,€=1 cent,cents=0.01"),
    **_units("dollar", "dollar,dollars,usd=1"),
    **_units("pound", "pounds,gbp=1"),
    **_units("length", "mm,millimeter,millimeters,millimetre,millimetres=0.001 cm,centimeter,centimeters,centimetre,centimetres=0.01"),
    **_units("length", "m,meter,meters,metre,metres=1 km,kilometer,kilometers,kilometre,kilometres=1000 mile,miles=1609.344"),
    **_units("length", "foot,feet,ft=0.3048 inch,inches=0.0254"),
    **_units("mass", "mcg,microgram,micrograms=0.000001 mg,milligram,milligrams,milligrammen=0.001 g,gr,gram,grams,gramm=1"),
    **_units("mass", "kg,kilo,kilos,kilogram,kilograms=1000 ton,tons,tonnes,tonne=1000000 lb,lbs=453.592"),
    **_units("volume", "ml,milliliter,millilitre,milliliters,millilitres=0.001 cl,centiliter=0.01 dl,deciliter=0.1"),
    **_units("volume", "l,liter,litre,liters,litres=1"),
    **_units("volume", "cubicmetre,cubicmetres,cubicmeter,cubicmeters,kubiekemeter,kubikmeter,m³=1000"),
    **_units("area", "squaremetre,squaremetres,squaremeter,squaremeters,vierkantemeter,quadratmeter,m²=1"),
    **_units("area", "squarekilometre,squarekilometres,squarekilometer,squarekilometers,vierkantekilometer,quadratkilometer,km²=1000000"),
    **_units("area", "squarefoot,squarefeet=0.092903 squaremile,squaremiles=2589988 hectare,hectares,hektar,ha=10000 acre,acres=4046.86"),
    **_units("percent", "%,percent,procent,prozent,per_cent=1"),
    **_units("degree", "°c,graden,degrees,grad=1"),
    **_units("fahrenheit", "°f=1"),
    **_units("data", "kb=0.001 mb=1 gb=1000 tb=1000000"),
    **_units("energy", "wh=0.001 kwh=1 mwh=1000"),
    **_units("power", "w,watt=0.001 kw=1 mw=1000"),
}
SHORT_DAYS = {
    name: day
    for day, names in zip(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        ("ma mon", "di tue tues", "wo wed", "do thu thurs", "vr fri", "za sat", "zo sun"),
        strict=True,
    )
    for name in names.split()
}
"""Days only beside another day or a time."""
POINTS = {"noon": (720.0,), "midday": (720.0,), "midnight": (0.0, 1440.0), "middernacht": (0.0, 1440.0), "mitternacht": (0.0, 1440.0)}
"""Times of day with a name, in minutes."""
HALF_OF = ("hour", "day", "week", "month", "year", "mile")
"""Units that a half may follow: "an hour and a half"."""


_FIGURE_WORDS = frozenset(
    _plain(
        word.split()[0].split("-")[0]
        for words in (
            *(NUMBER_WORDS, HALVES, FRACTIONS, MONTHS, WEEKDAYS, SHORT_DAYS, POINTS, HALF_OF),
            *((f"{day}s" for day in WEEKDAYS), (f"{day}en" for day in WEEKDAYS), ("halb", "viertel")),
        )
        for word in words
    )
)


@lru_cache(maxsize=65536)
def begins_figure(word: str) -> bool:
    """Whether a quantity may begin with a word in lower case, also without its accents."""
    return word in _FIGURE_WORDS or number_of(word) is not None
