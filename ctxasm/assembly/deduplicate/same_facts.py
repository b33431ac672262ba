"""Whether two texts that are much alike also say the same: figures, names and negation, which likeness does not see.

"Within 30 days" and "within 60 days" share nearly all words, and no embedder tells them apart (SPEC: nothing is said only
by a removed copy). The check is meant to be wrong on one side only: texts that say the same in other figures or with
another name are both kept, which costs tokens; dropping one that says something else costs an answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ctxasm.text.dates import MONTHS, WEEKDAYS
from ctxasm.text.denials import EXCEPTIONS, is_denial
from ctxasm.text.number_words import CURRENCIES, HALVES, SCALES, UNITS, number_of

_OPPOSITES = (
    "voor before|na after",
    "toegestaan toegelaten allowed permitted mag may|verboden forbidden prohibited",
    "verplicht mandatory required obligatory|vrijwillig optional optioneel facultatief",
    "minstens minimaal minimum least|hoogstens maximaal maximum most",
    "open geopend|dicht gesloten closed",
    "links linker left|rechts rechter right",
    "stijgt stijging toename increase increases increased rises rose more meer|daalt daling afname decrease decreases "
    "decreased falls fell less minder",
    "gratis free kosteloos|betalend betalen paid",
    "met with inclusief including|zonder without exclusief excluding",
    "altijd always|nooit never soms sometimes",
    "ochtend voormiddag morning|namiddag afternoon avond evening",
    "enabled ingeschakeld aan on|disabled uitgeschakeld uit off",
    "start begin begint starts begins|einde eindigt end ends",
    "boven above over|onder below under",
    "true waar|false onwaar",
)


_SHORT_UNITS = {"u": "hour", "s": "second", "pond": "pounds", "pound": "pounds"}
_ANSWERS_NO = frozenset(("nee", "nein", "non"))
_DOUBLE = frozenset(("dubbel", "dubbele", "double", "twice", "tweemaal"))
_NO_MONTHS = frozenset(("may", "mar", "jan", "sep", "dec"))
"""Short names of months that are words or names too."""
_SIDES = tuple((frozenset(one.split()), frozenset(other.split())) for one, _, other in (row.partition("|") for row in _OPPOSITES))
_TOKEN = re.compile(r"\d+(?:[.,:uh]\d+)*|[^\W\d_]+(?:['’]t\b)?|[€$£%]")
_WORD = re.compile(r"\w+")
_CAPITALISED = re.compile(r"\b[A-Z]\w*")
_MID_SENTENCE = r"(?<=[^\W_][ ,;])%s\b"


class Facts(NamedTuple):
    """What of a text must be the same: its figures in order and its number of negations.

    `leaning` has a bit for every pair of opposites of which the text has only the one side, and for the other side likewise.
    `capitalised` are the words, in lower case as `words`, that somewhere begin with a capital.
    """

    figures: tuple[str, ...]
    negations: int
    leaning: tuple[int, int]
    words: frozenset[str]
    capitalised: frozenset[str]


def say_the_same(one: str, other: str) -> bool:
    """Whether nothing speaks against two texts that are much alike saying the same. Symmetric."""
    first, second = facts_of(one), facts_of(other)
    if first.figures != second.figures or first.negations != second.negations:
        return False
    if first.leaning[0] & second.leaning[1] or first.leaning[1] & second.leaning[0]:
        return False
    return not (_names_more(one, first, second) or _names_more(other, second, first))


def _names_more(text: str, own: Facts, other: Facts) -> bool:
    """Whether `text` has a name, a word in capitals or capitalised in mid-sentence, that the other text does not have."""
    return any(_is_name(text, word) for word in own.capitalised - other.words)


@lru_cache(maxsize=8192)
def _is_name(text: str, word: str) -> bool:
    written = {found for found in _CAPITALISED.findall(text) if found.lower() == word}
    return any((len(form) > 1 and form.isupper()) or re.search(_MID_SENTENCE % re.escape(form), text) for form in written)


@lru_cache(maxsize=8192)
def facts_of(text: str) -> Facts:
    """The facts of a text, kept for the next comparison."""
    tokens = _TOKEN.findall(text.lower())
    different = frozenset(tokens)
    telling = {word for word in different if word[0].isdecimal() or _denies(word) or _worth(word)}
    figures: list[str] = []
    negations = 0
    for at, token in enumerate(tokens):
        if token not in telling:
            continue
        if figure := _spelled(token) if token[0].isdecimal() else _worth(token):
            figures += [figure, *_unit(tokens, at)]
        else:
            negations += 1
    words = frozenset([word.lower() for word in set(_WORD.findall(text))])
    capitalised = frozenset([word.lower() for word in _CAPITALISED.findall(text)])
    return Facts(tuple(figures), negations, _leaning(different), words, capitalised)


def _leaning(words: frozenset[str]) -> tuple[int, int]:
    ones = others = 0
    for bit, (one, other) in enumerate(_SIDES):
        has_one, has_other = not one.isdisjoint(words), not other.isdisjoint(words)
        ones |= (has_one and not has_other) << bit
        others |= (has_other and not has_one) << bit
    return ones, others


def _denies(word: str) -> bool:
    return is_denial(word) or word in EXCEPTIONS or word in _ANSWERS_NO


@lru_cache(maxsize=8192)
def _worth(word: str) -> str | None:
    """What a word for a number, a month or a day stands for. Words for one are none of these: they are articles too."""
    if word in _DOUBLE:
        return "x2"
    if word in MONTHS and word not in _NO_MONTHS:
        return f"month {MONTHS[word]}"
    value = SCALES.get(word) or HALVES.get(word) or number_of(word)
    return WEEKDAYS.get(word) if value in (None, 1) else f"{value:.15g}"


def _spelled(number: str) -> str:
    """A number in one spelling: 1.000 is 1000, 12,50 is 12.5, 9u30 and 9:30 are 9.3."""
    parts = re.split("[.,:uh]", number)
    if len(parts[-1]) == 3 and parts[0] != "0":
        parts = ["".join(parts)]
    spelled = ".".join([parts[0].lstrip("0") or "0", *parts[1:]])
    return spelled.rstrip("0").rstrip(".") if len(parts) > 1 else spelled


def _unit(tokens: list[str], at: int) -> list[str]:
    """The currency before a number or the unit after it, if there is one."""
    before, after = tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""
    if currency := CURRENCIES.get(before) or CURRENCIES.get(after):
        return [f"{currency} 1"]
    unit = UNITS.get(_SHORT_UNITS.get(after, after))
    return [f"{unit[0]} {unit[1]:g}"] if unit else []
