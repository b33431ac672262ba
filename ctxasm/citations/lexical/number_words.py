"""Words for numbers, units, months and days in Dutch, English and German. Data only."""

from __future__ import annotations


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
    found: dict[str, float] = {"één": 1.0, "zwo": 2.0, "dozen": 12.0, "dozijn": 12.0, "anderhalf": 1.5, "anderhalve": 1.5}
    for words in (_DUTCH, _ENGLISH, _GERMAN):
        found |= {word: float(value) for value, word in enumerate(words)}
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
HALVES = {
    "half a": 0.5,
    "half an": 0.5,
    "een half": 0.5,
    "half": 0.5,
    "halve": 0.5,
    "a quarter of an": 0.25,
    "quarter": 0.25,
    "kwart": 0.25,
}
UNITS = {
    **_units("time", "second,seconds,sec,seconde,seconden,sekunde,sekunden=0.0166666667 minute,minutes,min,minuut,minuten=1"),
    **_units("time", "hour,hours,hr,hrs,uur,uren,stunde,stunden=60 day,days,dag,dagen,tag,tage,tagen,etmaal=1440"),
    **_units("time", "week,weeks,weken,woche,wochen=10080 month,months,maand,maanden,monat,monate,monaten=43800"),
    **_units("time", "year,years,jaar,jaren,jahr,jahre,jahren=525600 kwartier=15"),
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
FIGURE_WORDS = frozenset(
    word.split()[0].split("-")[0]
    for words in (NUMBER_WORDS, HALVES, MONTHS, DAYS, {f"{day}s": day for day in DAYS}, {f"{day}en": day for day in DAYS})
    for word in words
)
"""Words that a quantity may begin with."""
