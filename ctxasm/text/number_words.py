"""Words for numbers, units, months and days in Dutch, English and German, and what several number words are worth together."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


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
    found |= dict.fromkeys(("anderhalf", "anderhalve", "anderthalb", "eineinhalb"), 1.5) | dict.fromkeys(("eine", "einen", "einer"), 1.0)
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
    return found


NUMBER_WORDS = _numbers()


def _glued() -> dict[str, float]:
    """Numbers from a hundred on that are written in one: "tweehonderdvijftig", "zweitausend"."""
    found: dict[str, float] = {}
    for small, hundred, thousand, tens in ((_DUTCH, "honderd", "duizend", "en ën"), (_GERMAN, "hundert", "tausend", "und")):
        below = {word: value for word, value in NUMBER_WORDS.items() if value in range(1, 100) and _is_of(word, small, tens.split())}
        for lead, times in ({"": 1.0} | {word: value for word, value in below.items() if value < 20}).items():
            found |= {f"{lead}{hundred}{rest}": times * 100 + value for rest, value in ({"": 0.0} | below).items()}
        found |= {f"{lead}{thousand}": value * 1000 for lead, value in ({"": 1.0} | below).items()}
    return found


def _is_of(word: str, small: tuple[str, ...], joints: list[str]) -> bool:
    """Whether a number word is of the language of these small ones."""
    tens = {words.split()[0 if small is _DUTCH else 2] for value, words in _TENS.items() if value < 100}
    return word in small or word in tens or any(word.endswith(joint + ten) for joint in joints for ten in tens)


GLUED_WORDS = _glued()


def number_of(word: str) -> float | None:
    """The value of a number word, also of one that is written in one; lower case."""
    known = NUMBER_WORDS.get(word)
    return GLUED_WORDS.get(word) if known is None else known


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
FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
UNITS = {
    **_units("time", "second,seconds,sec,seconde,seconden,sekunde,sekunden=0.016666666666666666 minute,minutes,min,minuut,minuten=1"),
    **_units("time", "hour,hours,hr,hrs,uur,uren,stunde,stunden,h=60 day,days,dag,dagen,tag,tage,tagen,etmaal=1440"),
    **_units("time", "week,weeks,weken,woche,wochen=10080 month,months,maand,maanden,monat,monate,monaten=43800"),
    **_units("time", "year,years,jaar,jaren,jahr,jahre,jahren=525600 kwartier,viertelstunde=15"),
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
    **_units("percent", "%,percent,procent,prozent,per_cent=1"),
    **_units("degree", "°c,graden,degrees,grad=1"),
    **_units("fahrenheit", "°f=1"),
    **_units("data", "kb=0.001 mb=1 gb=1000 tb=1000000"),
    **_units("energy", "wh=0.001 kwh=1 mwh=1000"),
    **_units("power", "w,watt=0.001 kw=1 mw=1000"),
}
_MONTHS = (
    "january jan januari januar",
    "february feb februari februar",
    "march mar maart märz mrt",
    "april apr",
    "may mei mai",
    "june jun juni",
    "july jul juli",
    "august aug augustus",
    "september sep sept",
    "october oct oktober okt",
    "november nov",
    "december dec dezember dez",
)
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_DAYS = (
    "monday maandag montag",
    "tuesday dinsdag dienstag",
    "wednesday woensdag mittwoch",
    "thursday donderdag donnerstag",
    "friday vrijdag freitag",
    "saturday zaterdag samstag",
    "sunday zondag sonntag",
)
DAYS = {name: names.split()[0] for names in _DAYS for name in names.split()}
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


def _plain(words: Iterable[str]) -> set[str]:
    """Words as they are written and without accents."""
    written = set(words)
    apart = (unicodedata.normalize("NFKD", word) for word in written)
    return written | {"".join(c for c in word if not unicodedata.combining(c)) for word in apart}


FIGURE_WORDS = frozenset(
    _plain(
        word.split()[0].split("-")[0]
        for words in (
            *(NUMBER_WORDS, GLUED_WORDS, HALVES, FRACTIONS, MONTHS, DAYS, SHORT_DAYS, POINTS, HALF_OF),
            *((f"{day}s" for day in DAYS), (f"{day}en" for day in DAYS), ("halb", "viertel")),
        )
        for word in words
    )
)
"""Words that a quantity may begin with, also without their accents."""
