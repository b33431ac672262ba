"""Language data of the lexical scorer, read once from the TOML files beside this module.

Modals and opposites are those of all languages at once, because an answer quotes; light words belong to
one language.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from ctxasm.text.language import DENIALS

TONGUES = ("nl", "en", "de")
_ALIKE = {"can": "may"}
"""What may not be done and what cannot be done are put in either way."""


class Signs(NamedTuple):
    """Words by what they do to a statement, folded.

    `signed` gives the concept and the sign of a word, or of two ("at_least"), that has an
    opposite; `paired` are the last words of such two; `modals` the concept of a modal verb. `opposing` are the words, of two the
    last ones, that say the opposite of others: without one of them, or a denial, a text only affirms.
    """

    turns: frozenset[str]
    modals: dict[str, str]
    signed: dict[str, tuple[str, int]]
    paired: frozenset[str]
    opposing: frozenset[str]


@cache
def _data(tongue: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("lexicon", f"{tongue}.toml").read_text(encoding="utf-8"))


@cache
def signs() -> Signs:
    """Modal verbs and opposites in all languages."""
    turns: set[str] = set()
    modals: dict[str, str] = {}
    signed: dict[str, tuple[str, int]] = {}
    for data in map(_data, TONGUES):
        turns |= set(data["turns"].split())
        modals |= {word: f"§{_ALIKE.get(concept, concept)}" for concept, words in data["modals"].items() for word in words.split()}
        for concept, sides in data["opposites"].items():
            for sign, words in zip((1, -1), sides, strict=True):
                signed |= dict.fromkeys(words.split(), (f"§{concept}", sign))
    paired = frozenset(word.split("_")[-1] for word in signed if "_" in word)
    opposing = frozenset(word.split("_")[-1] for word, (_, sign) in signed.items() if sign < 0)
    return Signs(frozenset(turns), modals, signed, paired, opposing)


def limit_words() -> frozenset[str]:
    """Words that only set a limit to a figure: the gates judge them, they are no content of their own."""
    return frozenset(word for word, (concept, _) in signs().signed.items() if concept == "§least" and "_" not in word)


def negative_prefixes(tongue: str) -> tuple[str, ...]:
    """Prefixes of a language that turn a word around."""
    return tuple(_data(tongue)["prefixes"].split())


def light_words(tongue: str) -> frozenset[str]:
    """Words of a language that carry little, as written."""
    return frozenset(_data(tongue)["light"].split()) | limit_words() | frozenset(signs().modals) | DENIALS


def operator_phrases(tongue: str) -> Iterator[tuple[str, str, str]]:
    """Kind, meaning and phrase of the words of a language that turn what a sentence says; "_" joins words, "*" ends a stem."""
    for kind, meanings in _data(tongue)["operators"].items():
        for value, phrases in meanings.items():
            for phrase in phrases.split():
                yield kind, value, phrase


class Table:
    """Words of a table, in which "*" stands for any letters: a word of a text, folded, is `in` it."""

    def __init__(self, words: Sequence[str]) -> None:
        starred = [word.partition("*") for word in words if "*" in word]
        self._whole = frozenset(word for word in words if "*" not in word)
        self._begun = tuple(start for start, _, end in starred if not end)
        self._around = [(start, end) for start, _, end in starred if end]

    def __contains__(self, plain: str) -> bool:
        if plain in self._whole or plain.startswith(self._begun):
            return True
        return bool(self._around) and any(plain.startswith(start) and plain.endswith(end) for start, end in self._around)


def fits(word: str, plain: str) -> bool:
    """Whether a word of a table, in which "*" stands for any letters, is a word of a text, folded."""
    if "*" not in word:
        return plain == word
    start, _, end = word.partition("*")
    return plain.startswith(start) and plain.endswith(end)


@cache
def reading_words(tongue: str) -> dict[str, Table]:
    """Words of a language by what they say of the sentence that they begin or that stands under them. Headings are
    read in all languages, because few words do not tell one; "False alarms" are none of what is false, so some must stand alone."""
    read = {name: Table(words.split()) for name, words in _data(tongue)["reading"].items()}
    return read | {
        name: Table([word for each in TONGUES for word in _data(each)["reading"][name].split()])
        for name in ("doubting", "doubting_alone", "affirming")
    }


@cache
def figure_words() -> dict[str, tuple[str, ...]]:
    """Words of all languages by where they stand around a figure; "*" ends a stem."""
    tables = [_data(tongue)["figures"] for tongue in TONGUES]
    return {name: tuple(word for table in tables for word in table[name].split()) for name in tables[0]}


@cache
def compound_heads() -> frozenset[str]:
    """Heads of Dutch and German compounds that make something else of their tail, without accents."""
    return frozenset(head for tongue in TONGUES for head in _data(tongue)["compounds"]["heads"].split())
