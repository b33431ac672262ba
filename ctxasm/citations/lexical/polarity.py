"""What a text affirms and what it denies, word by word: "niet gratis" denies *gratis*, "forbidden" denies *may*.

A word of denial bears on the next word with content in its clause, and where that is a light one on the next of weight;
where none follows, on the ones before it up to a comma; and on a modal verb just before it ("may not enter" denies *may*),
but "no more than" only sets a limit. Opposites share one name with a sign, so that "closed" denies what "open" affirms.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxasm.citations.lexical.lexicon import signs
from ctxasm.citations.lexical.words import NOR, Read, Stems
from ctxasm.model.records import make_record
from ctxasm.text.language import DENIALS
from ctxasm.text.number_words import UNITS

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


_Found = tuple[int, int, Read, int]
"""A word at characters, and how many commas stand before it."""


class _Token(NamedTuple):
    start: int
    end: int
    plain: str
    key: str
    denies: bool
    part: int
    light: bool


def read_polarity(text: str, low: int, high: int, stems: Stems) -> list[Said]:
    """Every concept between two characters with its sign, in order."""
    said: list[Said] = []
    clause: list[_Found] = []
    part = 0
    kept, turns = stems.kept, signs().turns
    for match in _TOKEN.finditer(text, low, high):
        word = match.group()
        if word == ",":
            part += 1
        elif word in _BREAKS:
            if clause:
                said += _clause(clause, stems)
                clause = []
        else:
            read = kept[word]
            if read.plain in turns:
                said += _clause(clause, stems)
                clause = []
            clause.append((*match.span(), read, part))
    return [*said, *_clause(clause, stems)]


def _clause(words: Sequence[_Found], stems: Stems) -> Iterator[Said]:
    """The concepts of one clause, denied where a denial bears on them."""
    known, before = signs(), ""
    denied = _denied(words, stems)
    paired = known.paired
    for at, (start, end, (_, _, _, _, plain, concept, sign, _), _) in enumerate(words):
        if plain in paired:
            concept, sign = known.signed.get(f"{before}_{plain}", (concept, sign))
        before = plain
        if not concept or plain in DENIALS:
            continue
        if at in denied:
            cue = denied[at]
            yield Said(concept, -sign, min(cue.start, start), max(cue.end, end), True, cue.plain in _BARE)
        else:
            yield make_record(Said, (concept, sign, start, end, False, False))


def _denied(words: Sequence[_Found], stems: Stems) -> dict[int, _Token]:
    """The denials that bear on words of a clause, by the places of these."""
    denied: dict[int, _Token] = {}
    neither = next((at for at, (_, _, read, _) in enumerate(words) if read.plain == "weder"), len(words))
    denials = [at for at, (_, _, read, _) in enumerate(words) if read.denies or (at > neither and read.plain == NOR)]
    if not denials:
        return denied
    known, light = signs(), stems.light
    tokens = [_Token(start, end, read.plain, read.key, read.denies, part, read.key in light) for start, end, read, part in words]
    content = [at for at, token in enumerate(tokens) if _has_content(token)]
    heavy = [at for at in content if not tokens[at].light]
    modals = [at for at, token in enumerate(tokens) if token.plain in known.modals]
    for at in denials:
        for place in _borne_on(tokens, at, content, heavy, modals):
            if denied.pop(place, None) is None:
                denied[place] = tokens[at]
    return denied


def _borne_on(tokens: list[_Token], at: int, content: Sequence[int], heavy: Sequence[int], modals: Sequence[int]) -> list[int]:
    """The places in a clause that the denial at `at` bears on; those with content, those of weight and the modal verbs are given."""
    modal = _before(modals, at)
    places = [modal] if modal is not None and at - modal <= _MODAL_REACH and tokens[at].plain not in _BARE else []
    joined = at + 1 < len(tokens) and tokens[at + 1].plain in _JOINS
    after = None if joined else min((place for place in (_from(content, at + 1), _from(modals, at + 1)) if place is not None), default=None)
    if after is not None:
        if signs().signed.get(tokens[after].plain, ("", 0))[0] == "§more":
            return [after]
        weighty = _from(heavy, after)
        return list(dict.fromkeys((*places, after, after if weighty is None else weighty)))
    before = _before(content, at)
    return list(dict.fromkeys((*places, *((before,) if before is not None and tokens[before].part == tokens[at].part else ()))))


def _before(places: Sequence[int], at: int) -> int | None:
    """The last of some places before one."""
    found = bisect_left(places, at)
    return places[found - 1] if found else None


def _from(places: Sequence[int], at: int) -> int | None:
    """The first of some places from one on."""
    found = bisect_left(places, at)
    return places[found] if found < len(places) else None


def _has_content(token: _Token) -> bool:
    counted = token.plain in UNITS or token.plain[:1].isdigit()
    return (bool(token.key) and not token.denies and not counted) or token.plain in signs().signed


def without_prefix(key: str, stems: Stems) -> str | None:
    """The word that a negative prefix turns around: "ongeldig" -> "geldig"; None where there is no such prefix."""
    if not key.startswith(stems.negative):
        return None
    return next((key[len(p) :] for p in stems.negative if key.startswith(p) and len(key) - len(p) >= 4), None)
