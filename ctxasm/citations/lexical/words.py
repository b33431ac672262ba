"""Words as the lexical scorer sees them: stems, and which of them carry no content.

Stemming is Snowball's (Porter 2001), by PyStemmer, in the language of the text; a number keeps its digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple

import Stemmer

from ctxasm.citations.lexical.lexicon import light_words, negative_prefixes, signs
from ctxasm.model.records import make_record
from ctxasm.text.language import DUTCH, ENGLISH, GERMAN, is_denial
from ctxasm.text.number_words import ARTICLES, begins_figure
from ctxasm.text.terms import as_matched, folded

Tongue = Literal["nl", "en", "de"]
TALK = frozenset(
    re.findall(
        r"\w+",
        "according based context contexts given provided source sources document documents passage text information states stated mentions "
        "mentioned mention says said however therefore additionally furthermore moreover although though also thus hence overall "
        "yes no conclude concluded example cited claim claims while whereas both other another such same various several including "
        "include includes included addition known called "
        "volgens contexten bron bronnen documenten tekst informatie gegeven vermeld vermeldt vermelde genoemd echter "
        "daarnaast bovendien daarom dus tevens verder terwijl hoewel beide ander andere zoals evenals namelijk "
        "ja nee geconcludeerd voorbeeld laut zufolge kontext quelle quellen dokument angaben jedoch außerdem daher somit sowie yet",
    )
)
"""Words by which an answer talks about its sources or joins its sentences: they state nothing that a source could hold."""
LETTERS = re.compile(r"[^\W\d_]+")
"""Letters in a row: a word as written, in any language."""
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_][^\W_]*(?:['’][^\W\d_]+)*")
LEADS = {
    "aan": "an", "af": "af", "an": "an", "auf": "auf", "aus": "aus", "bij": "bij", "door": "dor", "ein": "ein", "in": "in", "los": "los",
    "mee": "me", "mit": "mit", "na": "na", "om": "om", "op": "op", "over": "over", "terug": "terug", "toe": "toe", "uit": "uit",
    "vast": "vast", "voor": "vor", "vor": "vor", "weg": "weg", "zu": "zu",
}  # fmt: skip
"""Heads of Dutch and German verbs that stand apart ("u meldt zich aan" is of "aanmelden"), and how they stand in keys."""
BOUND = frozenset((*LEADS, *LEADS.values(), "be", "ent", "er", "ge", "her", "mis", "on", "ont", "onder", "un", "ver", "zer"))
"""What makes another word of one when it stands before it: "verkopen" is not "kopen"."""
_PARTICIPLE = re.compile(rf"(?P<lead>{'|'.join(LEADS)}|)ge(?P<root>[a-z]{{3,}}?)(?P<end>d|t|en)")
_DOUBLE = re.compile(r"([aeou])\1|([b-df-hj-np-tv-z])\2$")
_ENDING = re.compile(r"(?<=[a-z]{2}[bfgklmnprs])(?:dt|[dt])$")
"""The end of a verb in the third person or of a participle ("betaalt", "betaald"); nouns lose it too, in all their forms."""
_HARD = {"z": "s", "v": "f"}
"""Letters that Dutch writes hard at the end of a word: "huizen", "huis"; "brieven", "brief"."""
_ALGORITHMS: dict[Tongue, str] = {"nl": "dutch_porter", "en": "english", "de": "german"}
_STOPS: dict[Tongue, frozenset[str]] = {"nl": DUTCH | TALK, "en": ENGLISH | TALK, "de": GERMAN | TALK}
_AGENT = re.compile(r"[eo]rs?$")
"""The end of who does it: a manager is more than to manage."""
SUBJECTS: dict[Tongue, tuple[str, ...]] = {"en": ("he", "she", "it", "they"), "nl": ("hij", "zij", "ze"), "de": ("er", "sie")}
"""Pronouns that stand for a subject which was named."""
NOR = "noch"
"""Dutch for "nor"; German for "still", as in "noch nicht", but behind "weder"."""
_GERMAN_ONLY = GERMAN - DUTCH - ENGLISH
MAX_KEPT_STEMS = 200_000


class Word(NamedTuple):
    """A word or number at characters `start` to `end`. `key` is equal for forms of the same word."""

    start: int
    end: int
    key: str


class Read(NamedTuple):
    """The key of a word (empty: no content), whether it may begin a figure (an article does before a unit only), denies, or says the
    opposite of another word, how it is written, folded and with plain apostrophes, the concept (empty: none) that it affirms (`sign` 1)
    or says the opposite of (-1), and the key of the verb whose participle it may be ("opgehaald" of "ophalen"; empty for no
    participle)."""

    key: str
    figure: Literal["", "article", "figure"]
    denies: bool
    opposes: bool
    plain: str
    concept: str
    sign: int
    verb: str


def _figure(word: str, plain: str) -> Literal["", "article", "figure"]:
    if not (plain[:1].isdigit() or begins_figure(plain)) or plain == "a":  # "a quarter of an hour" has another one
        return ""
    return "article" if as_matched(word) in ARTICLES else "figure"


class _Kept(dict[str, Read]):
    """Words as read, by how they are written: read when asked for, and remembered."""

    def __init__(self, read: Callable[[str], Read]) -> None:
        self._read = read

    def __missing__(self, word: str) -> Read:
        if len(self) > MAX_KEPT_STEMS:
            self.clear()
        found = self[word] = self._read(word)
        return found


class Stems:
    """The keys of words in one language, remembered. `light` are keys that carry little."""

    def __init__(self, tongue: Tongue) -> None:
        self.tongue: Tongue = tongue
        self._stem = Stemmer.Stemmer(_ALGORITHMS[tongue], 0).stemWord
        self._stops = _STOPS[tongue]
        self.kept = _Kept(self._read)
        self.negative = negative_prefixes(tongue)
        self.light: frozenset[str] = frozenset()
        self._listed = light_words(tongue)
        self.light = frozenset(key for word in self._listed if (key := self.key(word)))

    def key(self, word: str) -> str:
        """The key of a word: folded and stemmed; empty for one without content."""
        return self.kept[word].key

    def _read(self, word: str) -> Read:
        folds, known = folded(word), signs()
        key, plain = self._found(folds), folds.replace("’", "'")
        concept, sign = known.signed.get(plain) or (known.modals.get(plain, key), 1)
        return Read(
            key,
            _figure(word, folds),
            is_denial(folds) and not (self.tongue == "de" and folds == NOR),
            folds in known.opposing,
            plain,
            concept,
            sign,
            self._verb_of(folds),
        )

    def _found(self, plain: str) -> str:
        if plain in self._stops or plain.replace("’", "'").endswith("n't"):
            return ""
        plain = plain.removesuffix("'s").removesuffix("’s").replace("'", "").replace("’", "")
        if plain.isdigit() or not plain[:1].isalpha():
            return plain
        if len(plain) == 1 and plain.isascii():
            return ""
        if self.tongue != "en":
            return self._plainer(plain)
        stem = str(self._stem(plain))
        return plain.removesuffix("s") if stem in self.light and _AGENT.search(plain) and plain not in self._listed else stem

    def _plainer(self, plain: str) -> str:
        """The stem of a Dutch or German word; Dutch ones without what verbs end in, with single letters and no soft one at the end."""
        stem = str(self._stem(plain))
        if self.tongue != "nl":
            return stem
        short = _DOUBLE.sub(r"\1\2", _ENDING.sub("", stem))
        return short[:-1] + _HARD.get(short[-1:], short[-1:])

    def _verb_of(self, plain: str) -> str:
        found = None if self.tongue == "en" else _PARTICIPLE.fullmatch(plain)
        return "" if found is None else self._plainer(found["lead"] + found["root"] + ("en" if found["end"] == "en" else ""))

    def leads_in(self, text: str) -> frozenset[str]:
        """The heads of verbs that stand apart in a text, as they stand in keys; English has none."""
        words = (word.strip(".,;:!?()") for word in {*text.casefold().split()}) if self.tongue != "en" else ()
        return frozenset(LEADS[word] for word in words if word in LEADS)


@cache
def stems_of(tongue: Tongue) -> Stems:
    """The stems of a language, one object a process."""
    return Stems(tongue)


def words_in(text: str, low: int, high: int) -> list[str]:
    """The words and numbers between two characters, as written."""
    return _WORD.findall(text, low, high)


def read_words(text: str, low: int, high: int, stems: Stems) -> Iterator[Word]:
    """The words with content between characters `low` and `high`."""
    kept = stems.kept
    for match in _WORD.finditer(text, low, high):
        if key := kept[match.group()].key:
            yield make_record(Word, (*match.span(), key))


def read_all(text: str, low: int, high: int, stems: Stems) -> Iterator[tuple[int, int, Read]]:
    """All words between two characters."""
    kept = stems.kept
    for match in _WORD.finditer(text, low, high):
        yield match.start(), match.end(), kept[match.group()]


def tongue_of(*groups: Iterable[str]) -> Tongue:
    """The language of the first group of texts that tells: the one of most small words in 20,000 characters; else English."""
    for texts in groups:
        sample = " ".join(text[:2_000] for text in texts)[:20_000]
        words = [word.casefold() for word in LETTERS.findall(sample)]
        tally: dict[Tongue, int] = {
            "en": sum(word in ENGLISH and word not in DUTCH for word in words),
            "nl": sum(word in DUTCH and word not in ENGLISH and word not in GERMAN for word in words),
            "de": sum(word in _GERMAN_ONLY for word in words),
        }
        found = max(tally, key=lambda tongue: tally[tongue])
        if tally[found]:
            return found
    return "en"
