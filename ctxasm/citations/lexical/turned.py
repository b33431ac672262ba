"""Words that stand in a source only behind one that makes something else of them: a "deputy mayor" is no mayor, "non-members" are no
members, a "half-day ticket" is no day ticket. The words are in the tables of `lexicon`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ctxasm.citations.lexical.clause_subjects import Matter
from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.lexicon import fits, turning_words
from ctxasm.citations.lexical.parts import Parts
from ctxasm.citations.lexical.words import LETTERS, Tongue, Word, read_words
from ctxasm.model.support import Gated
from ctxasm.text.terms import folded

_SUPERLATIVE = re.compile(r"\w+(?:est|st(?:e[nrs]?))|most|least|meest|meist\w*")
_ORDINAL = re.compile(r"\b(?!1\D)\d{1,3}(?:st|nd|rd|th|e|de|ste|\.)[\s-]$|\bop \d{1,3} na (?:de |het )?$", re.IGNORECASE)
ORDINAL_REACH = 12
"""Characters before a superlative among which a figure says which of several it is: "2nd largest"."""
_PARTING = re.compile(r"[,;:.()\n]")
_SIDES = frozenset(("north", "south", "east", "west"))
SIDE_LETTERS = 4
"""Letters by which a side of the world is known in another word: "north" in "northerly"."""
LONGEST_RANK = 4
"""Words before a superlative that say that it is one of several."""
_HYPHENS = ("-", "‐", "‑")


class Turned(NamedTuple):
    """A word at characters `start` to `end` that `by`, the meaning of the word at characters `low` to `high`, makes something else of."""

    start: int
    end: int
    by: str
    low: int
    high: int


Place = tuple[int, Word, Turned | None]
"""A sentence, a word of it, and what makes something else of it."""


def find_turned(matter: Matter) -> Iterator[Gated]:
    """A word of weight of the claim that its sentences have only as something else than the claim says."""
    parts, stems = matter.parts, matter.evidence.stems
    theirs: dict[int, list[Place]] = {}
    for at in matter.numbers:
        turned = matter.evidence.once(_turned, at)
        for clause in matter.evidence.clauses(at):
            for word in clause.words:
                bits = parts.forms.get(word.key, 0)
                while bits:
                    theirs.setdefault((bits & -bits).bit_length() - 1, []).append((at, word, turned.get(word.start)))
                    bits &= bits - 1
    yield from _narrowed(matter)
    if not any(one for places in theirs.values() for _, _, one in places):
        return
    ours = {one.start: one.by for one in read_turned(parts.text, 0, len(parts.text), stems.tongue)}
    denies = any(said.denied for said in matter.said)
    for bit, every in theirs.items():
        mine = ours.get(parts.words[bit].start, "")
        places = _before_the_same(matter, bit, every) or every
        if any((one.by if one else "") == mine for _, _, one in places):
            continue
        at, _, one = next((place for place in places if place[2]), places[0])
        if one is None:
            continue
        modifier = matter.text(at)[one.low : one.high]
        if all(other is not None for _, _, other in places) and not (denies and one.by == "not") and not _says(matter, modifier, one.by):
            span = sorted((one.low, one.high, one.start, one.end))
            yield Gated("qualifier", parts.text[parts.words[bit].start : parts.words[bit].end], matter.text(at)[span[0] : span[-1]])
            return


def _narrowed(matter: Matter) -> Iterator[Gated]:
    """The first word of a claim, without an article, where its sentence begins with some of them only: "Guide dogs may enter"."""
    parts, evidence = matter.parts, matter.evidence
    first = LETTERS.search(parts.text)
    if first is None or not parts.words or parts.words[0].start != first.start() or not parts.heavy & 1 or evidence.stems.tongue == "de":
        return
    places = [
        (at, words, place)
        for at in matter.numbers
        for words in [_in(evidence, at)]
        for place, word in enumerate(words)
        if _is_first(parts, word)
    ]
    if len(places) == 1 and places[0][2] == 1:
        at, (before, word), text = places[0][0], places[0][1][:2], matter.text(places[0][0])
        begins = not text[evidence.span(at)[0] : before.start].strip() and text[before.end : word.start] == " "
        if begins and text[word.start].islower() and before.key not in evidence.stems.light and not parts.forms.get(before.key):
            yield Gated("qualifier", parts.text[first.start() : first.end()], text[before.start : word.end])


def _in(evidence: Evidence, at: int) -> list[Word]:
    return [word for clause in evidence.clauses(at) for word in clause.words]


def _is_first(parts: Parts, word: Word) -> bool:
    return bool(parts.forms.get(word.key, 0) & 1)


def _before_the_same(matter: Matter, bit: int, places: Sequence[Place]) -> list[Place]:
    """The places of a word where the next word with content is that of the claim, too."""
    parts, stems = matter.parts, matter.evidence.stems
    after = matter.next_word(parts.words[bit].end)
    mine = matter.bits(frozenset((after.key,))) if after else 0
    found = []
    for at, word, one in places if mine else ():
        following = next(read_words(matter.text(at), word.end, matter.evidence.span(at)[1], stems), None)
        if following is not None and parts.forms.get(following.key, 0) & mine:
            found.append((at, word, one))
    return found


def _says(matter: Matter, modifier: str, by: str) -> bool:
    """Whether the claim has the word that turns another one, in another place; of a side of the world, also in a compound."""
    said = {folded(word) for word in LETTERS.findall(matter.parts.text)}
    if by in _SIDES:
        return any(word.startswith(folded(modifier)[:SIDE_LETTERS]) for word in said)
    words = {folded(word) for word in LETTERS.findall(modifier)}
    return bool(words) and said >= words


def _turned(evidence: Evidence, at: int) -> dict[int, Turned]:
    """The words of a sentence that another one makes something else of, by where they begin."""
    return {one.start: one for one in read_turned(evidence.text(at), *evidence.span(at), evidence.stems.tongue)}


def read_turned(text: str, low: int, high: int, tongue: Tongue) -> Iterator[Turned]:
    """The words between two characters that the word before them, or behind their hyphen, makes something else of."""
    tokens = list(LETTERS.finditer(text, low, high))
    for one, other in pairwise(tokens):
        between = text[one.end() : other.start()]
        if between in _HYPHENS:
            if by := _meaning(tongue, "behind", other.group()):
                yield Turned(one.start(), one.end(), by, other.start(), other.end())
            if by := _meaning(tongue, "joined", one.group()):
                yield Turned(other.start(), other.end(), by, one.start(), one.end())
        if between in (*_HYPHENS, " ") and (by := _meaning(tongue, "apart", one.group())):
            yield Turned(other.start(), other.end(), by, one.start(), one.end())
    yield from _ranked(text, tokens, turning_words(tongue)["ranked"])


def _ranked(text: str, tokens: Sequence[re.Match[str]], table: dict[str, str]) -> Iterator[Turned]:
    """Superlatives that are not the only one: the second largest, or one of the largest, is not the largest."""
    words = [folded(token.group()) for token in tokens]
    for place, token in enumerate(tokens):
        if "st" in words[place] and _SUPERLATIVE.fullmatch(words[place]):
            if figure := _ORDINAL.search(text, max(0, token.start() - ORDINAL_REACH), token.start()):
                yield Turned(token.start(), token.end(), "ranked", figure.start(), figure.end() - 1)
            for low in range(max(0, place - LONGEST_RANK), place):
                if "_".join(words[low:place]) in table and not _PARTING.search(text, tokens[low].start(), token.start()):
                    yield Turned(token.start(), token.end(), "ranked", tokens[low].start(), tokens[place - 1].end())
                    break


@lru_cache(maxsize=65536)
def _meaning(tongue: Tongue, where: str, word: str) -> str:
    """What a word that stands somewhere beside another makes of it; empty for most words."""
    plain, table = folded(word), turning_words(tongue)[where]
    return table.get(plain) or next((by for one, by in table.items() if "*" in one and fits(one, plain)), "")
