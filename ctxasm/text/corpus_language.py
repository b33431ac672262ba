"""The language of a corpus, Dutch, English or German: by the small words of a sample of its texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Literal

from ctxasm.model.language import DUTCH, ENGLISH, language_of

Language = Literal["nl", "en", "de"]
GERMAN = frozenset(
    re.findall(
        r"\w+",
        "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren wird werden wurde "
        "mit von vom zu zum zur in im auf an am aus bei für fur über uber unter nach vor durch als auch wie wo was wer wann warum welche "
        "welcher welches ich du er sie es wir ihr man mich mir uns ihnen sein seine ihre haben hat hatte kann können konnen muss müssen "
        "mussen darf soll sollte wenn dass ob so noch nur schon sehr mehr viel viele wieviel bis um sich dies diese dieser dieses hier "
        "dort gibt es",
    )
)
STOP_WORDS: dict[Language, frozenset[str]] = {"nl": DUTCH, "en": ENGLISH, "de": GERMAN}
SAMPLE = 200
"""Texts that are looked at to tell the language of a corpus."""
SAMPLE_CHARS = 4000
"""Of each of them."""

_WORD = re.compile(r"[^\W\d_]+")
_TELLING: dict[Language, frozenset[str]] = {
    language: stop.difference(*(other for name, other in STOP_WORDS.items() if name != language)) for language, stop in STOP_WORDS.items()
}
"""Small words of one language that none of the others has."""


def language_of_texts(texts: Iterable[str]) -> Language:
    """The language of a corpus (or one question), by the small words of up to SAMPLE texts; English where nothing tells."""
    some = list(islice(texts, SAMPLE))
    words = [word.lower() for text in some for word in _WORD.findall(text[:SAMPLE_CHARS])]
    own = {language: sum(word in stop for word in words) for language, stop in _TELLING.items()}
    best = max(own, key=lambda language: own[language])
    if list(own.values()).count(own[best]) > 1:
        return language_of(" ".join(text[:SAMPLE_CHARS] for text in some))
    return best
