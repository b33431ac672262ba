"""Text to the words that BM25 counts: Dutch, English or German.

The same path for a chunk and for a question: Unicode words, case folded, accents taken off, stemmed by Snowball (PyStemmer). What
is written together in several ways is found in each: `e-mail` is also *email*, `libafl_bolts::Named` also *libafl*, *bolts* and
*named*, `runTarget` also *run* and *target*, version `2.6.3` stays whole as well. Chinese, Japanese and Korean, which have no
blanks, go in as pairs of characters.

Stop words stay in the chunks (the length that BM25 divides by is the length of the text; on the tune half of the real corpora
that finds a little more), and are left out of a question: those of the corpus and those of the question's own language. Capitals
are no stop word (*IT*, *WHO*). A question of nothing but stop words is searched with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any, NamedTuple

from ctxasm.model.records import CorpusLanguage
from ctxasm.text.language import SAMPLE, STOP_WORDS_OF, language_of_texts
from ctxasm.text.terms import folded

__all__ = [
    "SNOWBALL",
    "STOP_WORDS_OF",
    "Analyser",
    "CorpusLanguage",
    "QuestionWords",
    "analyser",
    "folded",
    "language_of_corpus",
    "language_of_texts",
    "spread",
]

SNOWBALL: dict[CorpusLanguage, str] = {"nl": "dutch", "en": "english", "de": "german"}
REMEMBERED = 200_000
"""Spellings whose words are kept from one text to the next."""

_SPELLING = re.compile(r"[^\W_]+(?:(?:[-._'’/]|::)[^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[A-ZÀ-ÖØ-Þ]?[a-zß-öø-ÿ]+|[A-ZÀ-ÖØ-Þ]+(?![a-zß-öø-ÿ])|\d+|[^\W\d_a-zA-ZÀ-ÿ]+")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")


class QuestionWords(NamedTuple):
    """The words of a question that are searched for. `only_stop_words`: it has no others. Empty where it has no words at all.

    `is_foreign`: its small words, or its spelling, are those of another language than the corpus is in.
    """

    words: tuple[str, ...]
    only_stop_words: bool
    is_foreign: bool = False


class Analyser:
    """Texts and questions to words, for a corpus in one language. Threads may share it."""

    def __init__(self, language: CorpusLanguage) -> None:
        self.language = language
        self._stemmer: Any = import_module("Stemmer").Stemmer(SNOWBALL[language])
        self._turn = Lock()  # a Snowball stemmer works in one buffer
        self._known: dict[str, tuple[str, ...]] = {}

    def words(self, text: str) -> list[str]:
        """All words of a text, in its order."""
        found: list[str] = []
        for spelling in _SPELLING.findall(text):
            found += self._known.get(spelling) or self._words_of(spelling)
        return found

    def question(self, text: str) -> QuestionWords:
        """The words of a question. One that comes twice counts twice."""
        own = language_of_texts([text])
        stop = STOP_WORDS_OF[self.language] | STOP_WORDS_OF[own]
        shouted = text.isupper()
        spellings = _SPELLING.findall(text)
        kept = [s for s in spellings if s.lower() not in stop or (s.isupper() and len(s) > 1 and not shouted)]
        words = tuple(word for spelling in kept or spellings for word in self._words_of(spelling))
        # English is also what a question is taken for that tells nothing.
        tells = own != "en" or any(spelling.lower() in STOP_WORDS_OF[own] for spelling in spellings)
        return QuestionWords(words, bool(spellings) and not kept, tells and own != self.language)

    def _words_of(self, spelling: str) -> tuple[str, ...]:
        known = self._known.get(spelling)
        if known is None:
            with self._turn:
                known = tuple(self._stemmer.stemWords(_forms(spelling)))
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[spelling] = known
        return known


def _forms(spelling: str) -> list[str]:
    """The words that a spelling stands for: its parts, the humps of each, and the whole."""
    parts = _PART.findall(spelling)
    forms: list[str] = []
    for part in parts:
        if _IDEOGRAPHS.search(part):
            forms += _pairs(part)
            continue
        humps = _HUMP.findall(part) if not (part.islower() or part.isdigit()) or not part.isalpha() else [part]
        forms += [part, *humps] if len(humps) > 1 else [part]
    if len(parts) > 1:
        if "'" in spelling or "’" in spelling:  # foto's, l'hôpital, don't: a letter alone says nothing
            forms = [form for form in forms if len(form) > 1] or forms
        elif re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+)+", spelling):
            forms.append("".join(parts))
        else:
            forms.append(spelling)
    return [lower for form in forms if (lower := folded(form))]


def _pairs(part: str) -> list[str]:
    found: list[str] = []
    for run in re.findall(rf"{_IDEOGRAPHS.pattern}|[^\W_]+?(?={_IDEOGRAPHS.pattern}|\Z)", part):
        found += [run[at : at + 2] for at in range(len(run) - 1)] or [run] if _IDEOGRAPHS.match(run) else [run]
    return found


def language_of_corpus(chosen: str, texts: Iterable[str]) -> CorpusLanguage:
    """The language that was chosen, else that of the texts."""
    return next((language for language in SNOWBALL if language == chosen), None) or language_of_texts(texts)


def spread(texts: Sequence[str]) -> list[str]:
    """Up to SAMPLE texts from all over, for `language_of_texts`."""
    return list(texts[:: max(1, -(-len(texts) // SAMPLE))])


@cache
def analyser(language: CorpusLanguage) -> Analyser:
    """One for the process, with what it remembers."""
    return Analyser(language)
