"""What a sentence of an answer says, on one line: without what only introduced its markers ("According to [1], …")."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice, takewhile

from ctxasm.citations.declined import is_declined
from ctxasm.citations.plain_text import SOURCE_NOUN, STAND_IN, Plain
from ctxasm.text.markers.forms import MarkerForm, MarkerScanner

_AS_IT_SAYS = (
    r"as (?:stated|mentioned|described|noted|shown|reported) (?:in|by)|zoals (?:vermeld|beschreven|genoemd|gezegd|staat) in|wie in"
)
_SAYS_SO = rf"(?:according to|{_AS_IT_SAYS}|volgens|laut|gemäß)\s*{SOURCE_NOUN}"
_BY = rf"(?:{_SAYS_SO}|(?:as in|based on|op basis van)\s*{SOURCE_NOUN})"
_SAYING = (
    r"(?:says|states|mentions|notes|explains|shows|reports|confirms|zegt|vermeldt|stelt|meldt|schrijft|bevestigt|sagt|besagt|erwähnt|"
    r"erklärt|schreibt|zeigt)"
)
_SAYS = rf"{_SAYING},? (?:that|dat|dass)\s+"
_GIVEN = (
    r"(?:based on|according to|as per|from|volgens|op basis van|laut|gemäß)\s+(?:the|de|den|der|dem)\s+"
    r"(?:(?:given|provided|above|gegeven|verstrekte)\s+)?"
    r"(?:contexts?|sources?|passages?|documents?|bron(?:nen)?|quellen?|kontext)\s*,\s*"
)
_CAN_SAY = r"(?:(?:it can be|we can) (?:inferred|concluded|said|seen|infer|conclude|say|see) that\s+)?"
_THAT = r"(?:it is (?:mentioned|stated|said|noted|described|reported) that|staat dat|wordt vermeld dat|steht,? dass)\s+"
_ATTRIBUTION = re.compile(
    rf"\A(?:{_GIVEN}{_CAN_SAY}|{_BY}{STAND_IN},?\s*(?:{_THAT})?|(?:in|per|from|uit|nach)\s*{SOURCE_NOUN}{STAND_IN},?\s*(?:{_THAT})?"
    rf"|{SOURCE_NOUN}{STAND_IN}\s*(?:also |ook |auch )?{_SAYS}"
    rf"|(?:[^\W{STAND_IN}]+\s){{1,5}}{_SAYING}\s*{STAND_IN}?:\s*(?=[\"“„«]))"
    rf"|,?\s*\b{_SAYS_SO}{STAND_IN}(?=\W*\Z)",
    re.IGNORECASE,
)
_QUESTION = r"(?:(?:to|auf|op) (?:the|your|this|ihre|deine|diese|die|uw|je|jouw|deze|de) (?:question|frage|vraag) )?"
_IN_SHORT = (
    r"(?:in (?:short|brief|summary|conclusion)|to (?:sum up|answer (?:the|your|this) question)|kort(?:om| gezegd| samengevat)|samengevat|"
    r"om (?:de|uw|je|jouw|deze) vraag te beantwoorden|kurz (?:gesagt|zusammengefasst)|zusammenfassend|"
    r"um (?:die|ihre|deine|diese) frage zu beantworten)"
)
_HOW = r"(?:(?:final|correct|right|short|brief|direct|simple|best|definitieve|juiste|korte|richtige|kurze|endgültige) )?"
_LEAD = re.compile(
    rf"\A(?:(?:so|thus|therefore|hence|dus|daarom|also|daher|somit)\b,? )?(?:{_IN_SHORT} ?[:,]|"
    rf"(?:(?:the|my|het|mijn|die|meine) )?{_HOW}(?:answers?|antwoord(?:en)?|antwort(?:en)?) ?{_QUESTION}"
    rf"(?:(?:is|are|would be|zijn|luidt|ist|sind|lautet|wäre)(?![^\W{STAND_IN}]) ?{STAND_IN}? ?(?::|(?:that|dat|dass)\b|(?=\S)|\Z)"
    rf"|{STAND_IN}? ?:)) ?",
    re.IGNORECASE,
)
"""`The answer is:`, `Kort gezegd,`: what says that an answer follows is no part of it."""
ATTRIBUTED = re.compile(rf"(?:\A|[^\w{STAND_IN}]){_BY}\Z", re.IGNORECASE)
"""What only introduces the marker behind it."""
_EMPTY = re.compile(r"\(\s*[,;]?\s*\)|\[\s*\]|（\s*）")
_BEFORE_MARK = re.compile(r"\s+([.,;:!?)\]…](?!\w)|%)")


def spoken(plain: Plain, start: int, end: int) -> str:
    """Characters `start` to `end` of a plain text on one line; no citation marker can be read in it."""
    pieces, at = [], start
    first = bisect_left(plain.markers, (start, -1))
    within = takewhile(lambda marker: marker[0] <= end, islice(plain.markers, first, None))
    for place in dict.fromkeys(place for place, _ in within):
        pieces += [plain.text[at:place], STAND_IN]
        at = place + (1 if plain.text[place : place + 1] == STAND_IN else 0)
    marked = " ".join("".join([*pieces, plain.text[at:end]]).split())
    said = _ATTRIBUTION.sub("", marked)
    if (lead := _LEAD.match(said)) and not is_declined(_tidy(marked)):  # "The answer is not in the sources" says it as a whole
        said = said[lead.end() :]
    return unmarked(_tidy(said) or _tidy(marked))


_FOLLOWS = re.compile(
    r"(?:here (?:is|are)|here's|below (?:is|are|you will find)|see below|hieronder|hier (?:is|zijn|volgt|volgen|staat|ist|sind|"
    r"folgt|folgen)|"
    r"im folgenden|nachstehend|onderstaand)\b.*|.*\b(?:as follows|the following|see below|als volgt|het volgende|de volgende|hieronder|"
    r"wie folgt|folgende[snr]?|siehe unten|zie hieronder)\W*",
    re.IGNORECASE,
)
_LEAD_WORDS = 14


def only_leads(text: str) -> bool:
    """Whether a sentence only says that an answer follows."""
    lead = _LEAD.match(text)
    if lead is not None and not any(map(str.isalnum, text[lead.end() :])):
        return True
    return (
        len(text) < 160 and len(text.split()) <= _LEAD_WORDS and not any(map(str.isdecimal, text)) and _FOLLOWS.fullmatch(text) is not None
    )


def unmarked(text: str) -> str:
    """`text` on one line, without what reads as a citation marker."""
    text = _tidy(text)
    while forms := _forms(text):
        for form in reversed(forms):
            text = text[: form.start] + text[form.end :]
        text = _tidy(text)
    return text


def _forms(text: str) -> list[MarkerForm]:
    scanner = MarkerScanner(hide_thinking=False)
    return [form for form in scanner.feed(text) + scanner.finish() if form.form != "malformed"]


def _tidy(marked: str) -> str:
    text = " ".join(marked.replace(STAND_IN, "").split())
    text = _BEFORE_MARK.sub(r"\1", _EMPTY.sub(" ", text).replace("( ", "("))
    return " ".join(text.split()).lstrip(",;:.–- ")
