"""What a text affirms and what it denies, word by word: "niet gratis" denies *gratis*, "forbidden" denies *may*.

A word of denial bears on the next word with content in its clause, and where that is a light one on the next of weight;
where none follows, on the one before it up to a comma; and on a modal verb just before it ("may not enter" denies *may*),
but "no more than" only sets a limit. Opposites share one name with a sign, so that "closed" denies what "open" affirms.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from ctxasm.citations.lexical.lexicon import signs
from ctxasm.citations.lexical.words import Stems
from ctxasm.text.denials import DENIALS, is_denial
from ctxasm.text.number_words import UNITS
from ctxasm.text.terms import folded

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*|[.;:!?()\n]|,")
_BREAKS = frozenset(".;:!?()\n")
_MODAL_REACH = 5
_BARE = frozenset(("zonder", "without", "ohne", "geen", "no", "kein", "keine", "keinen", "keinem", "keiner", "keines"))
_JOINS = frozenset(("of", "or", "oder", "en", "and", "und"))


class Said(NamedTuple):
    """A concept that a text affirms (`sign` 1) or denies (-1), by its words at characters `start` to `end`.

    `denied`: by a word of denial, not by a word of its own such as "closed"; `bare`: by one that only bears on a noun, such as
    "without".
    """

    concept: str
    sign: int
    start: int
    end: int
    denied: bool = False
    bare: bool = False


class _Token(NamedTuple):
    start: int
    end: int
    plain: str
    key: str
    part: int
    light: bool


def read_polarity(text: str, low: int, high: int, stems: Stems) -> list[Said]:
    """Every concept between two characters with its sign, in order."""
    said: list[Said] = []
    clause: list[_Token] = []
    part = 0
    for match in _TOKEN.finditer(text, low, high):
        word = match.group()
        if word == ",":
            part += 1
            continue
        plain = folded(word).replace("’", "'")
        if word in _BREAKS or plain in signs().turns:
            said += _clause(clause)
            clause = []
        if word not in _BREAKS:
            clause.append(_Token(match.start(), match.end(), plain, key := stems.key(word), part, key in stems.light))
    return [*said, *_clause(clause)]


def _clause(tokens: list[_Token]) -> Iterator[Said]:
    """The concepts of one clause, denied where a denial bears on them."""
    known = signs()
    denied: dict[int, _Token] = {}
    content = [place for place, token in enumerate(tokens) if _has_content(token)]
    heavy = [place for place in content if not tokens[place].light]
    stated = [place for place, token in enumerate(tokens) if token.plain in known.modals or _has_content(token)]
    for at, token in enumerate(tokens):
        if is_denial(token.plain):
            for place in _borne_on(tokens, at, content, heavy, stated):
                if denied.pop(place, None) is None:
                    denied[place] = token
    for at, token in enumerate(tokens):
        if token.plain in DENIALS:
            continue
        pair = f"{tokens[at - 1].plain}_{token.plain}" if at else ""
        concept, sign = known.signed.get(pair) or known.signed.get(token.plain) or (known.modals.get(token.plain, token.key), 1)
        if concept:
            cue = denied.get(at, token)
            start, end, bare = min(cue.start, token.start), max(cue.end, token.end), cue.plain in _BARE
            yield Said(concept, -sign if at in denied else sign, start, end, at in denied, at in denied and bare)


def _borne_on(tokens: list[_Token], at: int, content: list[int], heavy: list[int], stated: list[int]) -> list[int]:
    """The places in a clause that the denial at `at` bears on, out of those of words with content, of weight, and with content or modal."""
    modals = signs().modals
    reach = range(max(0, at - _MODAL_REACH), at) if tokens[at].plain not in _BARE else range(0)
    places = [place for place in reach if tokens[place].plain in modals][-1:]
    joined = at + 1 < len(tokens) and tokens[at + 1].plain in _JOINS
    after = None if joined else _first(stated, at + 1)
    if after is not None:
        if signs().signed.get(tokens[after].plain, ("", 0))[0] == "§more":
            return [after]
        weighs = _first(heavy, after)
        return list(dict.fromkeys((*places, after, after if weighs is None else weighs)))
    last = bisect_left(content, at)
    before = [place for place in content[max(0, last - 1) : last] if tokens[place].part == tokens[at].part]
    return list(dict.fromkeys((*places, *before)))


def _first(places: list[int], at: int) -> int | None:
    """The first of some places, in order, that is no earlier than another."""
    found = bisect_left(places, at)
    return places[found] if found < len(places) else None


def _has_content(token: _Token) -> bool:
    counted = token.plain in UNITS or token.plain[:1].isdigit()
    return (bool(token.key) and not is_denial(token.plain) and not counted) or token.plain in signs().signed


def without_prefix(key: str, stems: Stems) -> str | None:
    """The word that a negative prefix turns around: "ongeldig" -> "geldig"; None where there is no such prefix."""
    return next((key[len(p) :] for p in stems.negative if key.startswith(p) and len(key) - len(p) >= 4), None)
