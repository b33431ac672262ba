"""Words that turn what a sentence says, as a text has them: modal verbs, quantifiers, exceptions, relations of time, causes, conditions,
hedges, comparisons and rates. Which words are alike is in the tables of `lexicon`, by kind and meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ctxasm.citations.lexical.lexicon import fits, operator_phrases
from ctxasm.citations.lexical.words import Tongue
from ctxasm.text.number_words import begins_figure
from ctxasm.text.terms import folded

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_THAN = frozenset(("than", "dan", "als"))
_MORE = frozenset(("meer", "minder", "mehr", "anders", "better", "beter", "besser"))
APART_SIGN = ".."
APART = 12
"""Words among which both ends of a phrase with ".." stand: "soll … haben"."""
_NAMES = frozenset(("may", "will"))
_THEN = frozenset(("dan", "dann"))
REACH = 4
"""Words before "than" among which something is compared."""
LEAST_COMPARED = 4
"""Letters of the shortest word that is no comparative for its end."""
Meaning = tuple[str, str]


class Operator(NamedTuple):
    """A word of a table at characters `start` to `end`."""

    kind: str
    value: str
    start: int
    end: int

    @property
    def meaning(self) -> Meaning:
        return self.kind, self.value


class _Phrase(NamedTuple):
    words: tuple[str, ...]
    kind: str
    value: str


@cache
def _phrases(tongue: Tongue) -> dict[str, tuple[_Phrase, ...]]:
    """The phrases of a language by the first three letters, those of most words first, figures ("every two") behind words ("every day")."""
    found: dict[str, list[_Phrase]] = {}
    for kind, value, phrase in operator_phrases(tongue):
        words = tuple(phrase.split("_"))
        found.setdefault(words[0].partition("*")[0][:3], []).append(_Phrase(words, kind, value))
    return {start: tuple(sorted(each, key=lambda phrase: (-len(phrase.words), "#" in phrase.words))) for start, each in found.items()}


@lru_cache(maxsize=65536)
def _begun(tongue: Tongue, plain: str) -> tuple[_Phrase, ...]:
    """The phrases that a word may begin: none, of most words."""
    return tuple(phrase for phrase in _phrases(tongue).get(plain[:3], ()) if _fits(phrase.words[0], plain))


def read_operators(text: str, low: int, high: int, tongue: Tongue, figures: Collection[tuple[int, int]] = ()) -> list[Operator]:
    """The words of the tables between two characters, in order, the longest phrase at each place; none that is part of a figure."""
    tokens = [(match.start(), match.end(), folded(match.group()).replace("’", "'")) for match in _TOKEN.finditer(text, low, high)]
    found: list[Operator] = []
    at = 0
    while at < len(tokens):
        start, _, plain = tokens[at]
        taken = 1
        begun = _begun(tongue, plain)
        ahead = tokens[at : at + APART] if begun else ()
        for phrase in begun if begun and not _is_name(text, tokens, at) else ():
            if len(phrase.words) == 1 or _stands(phrase.words, ahead):
                taken = 1 if APART_SIGN in phrase.words else len(phrase.words) - phrase.words[-1].startswith(("#", "*"))
                if phrase.kind == "none":
                    break
                found.append(Operator(phrase.kind, phrase.value, start, tokens[at + taken - 1][1]))
                break
        if taken == 1 and plain in _THEN and text[max(low, start - 2) : start] == ", " and not any(op.kind == "condition" for op in found):
            found.append(Operator("condition", "then", *tokens[at][:2]))
        elif (
            plain in _THAN and taken == 1 and (plain == "than" or any(_is_compared(token[2]) for token in tokens[max(0, at - REACH) : at]))
        ):
            found.append(Operator("comparison", "than", *tokens[at][:2]))
        at += taken
    return [op for op in found if not any(start < op.end and op.start < end for start, end in figures)]


def _is_name(text: str, tokens: Sequence[tuple[int, int, str]], at: int) -> bool:
    """Whether a word is a month or a name for its capital: "in May", "Will Smith"; at the head of a sentence only before a name."""
    start, end, plain = tokens[at]
    if plain not in _NAMES or not text[start].isupper():
        return False
    return at > 0 or (plain == "will" and text[end : end + 1] == " " and text[end + 1 : end + 2].isupper())


def _is_compared(plain: str) -> bool:
    return plain in _MORE or (len(plain) > LEAST_COMPARED and plain.endswith("er"))


def _stands(words: tuple[str, ...], tokens: Sequence[tuple[int, int, str]]) -> bool:
    """Whether a phrase that the first of some tokens begins goes on with the others; what ".." parts may stand apart."""
    if APART_SIGN in words:
        return any(_fits(words[-1], token[2]) for token in tokens[1:])
    return len(words) <= len(tokens) and all(_fits(word, token[2]) for word, token in zip(words[1:], tokens[1:], strict=False))


def _fits(word: str, plain: str) -> bool:
    if word == "#":
        return plain[0].isdigit() or begins_figure(plain)
    return fits(word, plain)
