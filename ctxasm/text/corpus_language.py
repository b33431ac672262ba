"""The language of a corpus, Dutch, English or German: by the small words of a sample of its texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from ctxasm.model.records import CorpusLanguage
from ctxasm.text.language import DUTCH, ENGLISH, GERMAN, language_of

STOP_WORDS: dict[CorpusLanguage, frozenset[str]] = {"nl": DUTCH, "en": ENGLISH, "de": GERMAN}
SAMPLE = 200
"""Texts that are looked at to tell the language of a corpus."""
SAMPLE_CHARS = 4000
"""Of each of them."""
SAMPLED_DOCUMENTS = 50
"""Documents out of which a sample is taken, where they can be picked."""

_WORD = re.compile(r"[^\W\d_]+")
_TELLING: dict[CorpusLanguage, frozenset[str]] = {
    language: stop.difference(*(other for name, other in STOP_WORDS.items() if name != language)) for language, stop in STOP_WORDS.items()
}
"""Small words of one language that none of the others has."""


class Sampled(NamedTuple):
    """What is looked at to tell the language of documents in a row: these of them, and as many chunks of each from its first on."""

    documents: range
    chunks: int


def sample_of(documents: int) -> Sampled:
    """Documents from all over, the same ones every time; with a summary each no more than SAMPLE texts."""
    some = range(0, documents, max(1, -(-documents // SAMPLED_DOCUMENTS)))
    return Sampled(some, (SAMPLE - len(some)) // max(1, len(some)))


def language_of_texts(texts: Iterable[str]) -> CorpusLanguage:
    """The language of a corpus (or one question), by the small words of up to SAMPLE texts; English where nothing tells."""
    some = list(islice(texts, SAMPLE))
    words = [word.lower() for text in some for word in _WORD.findall(text[:SAMPLE_CHARS])]
    own = {language: sum(word in stop for word in words) for language, stop in _TELLING.items()}
    best = max(own, key=lambda language: own[language])
    if list(own.values()).count(own[best]) > 1:
        return language_of(" ".join(text[:SAMPLE_CHARS] for text in some))
    return best
