"""Words reduced until Dutch and English inflections of one word look alike, whatever language the text is in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import log

from ctxasm.text.language import STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:[.,:][0-9]+)*")
_DOUBLE = re.compile(r"([a-z])\1")
_SUFFIX = re.compile(r"(?:ingen|ing|tjes|tje|jes|je|ers|en|er|es|ed|d|e|s|t)$")


def terms_of(text: str) -> list[str]:
    """The meaningful words of a text, reduced by `stem`, in order."""
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without accents, doubled letters and a common ending: `spreekuren` and `spreekuur` meet in `sprekur`."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
    if not plain.isalpha():
        return plain
    if len(plain) > 4:
        plain = _SUFFIX.sub("", plain) or plain
    return _DOUBLE.sub(r"\1", plain)


def folded(text: str) -> str:
    """`text` without case and accents: `Één` and `een` are one, as are `Straße` and `strasse`."""
    if text.isascii():
        return text.lower()
    # Taken apart first: a mathematical A has no lower case, the plain one that it stands for has. And again: what case folding gives.
    lower = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(char for char in lower if not unicodedata.combining(char))


_ODD = str.maketrans({"\u017f": "s", "\u0131": "i", "\u0307": None})


def as_matched(text: str) -> str:
    """Lower case as an expression with IGNORECASE compares: to it a long s, an i without a dot and a capital one with it are s and i."""
    return text.lower() if text.isascii() else text.lower().translate(_ODD)


def is_alike(one: str, other: str) -> float:
    """1 for the same stem, 0.5 where one is the beginning or end of a compound with the other, else 0."""
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    return 0.5 if len(short) >= 4 and not short.isdigit() and (long.startswith(short) or long.endswith(short)) else 0.0


K1, B = 1.5, 0.9


def inverse_frequency(texts: int, holding: int) -> float:
    """What a word weighs that `holding` of so many texts hold."""
    return log(1 + (texts - holding + 0.5) / (holding + 0.5))


def scores_of(counted: Iterable[tuple[int, float, str, int]], weights: Mapping[str, float], mean: float) -> dict[int, float]:
    """The score of each text from (its number, its length in words, a word of the question, how often it holds that).

    `mean` is the usual length.
    """
    scores: dict[int, float] = {}
    for text, length, word, count in counted:
        scores[text] = scores.get(text, 0.0) + weights[word] * count / (count + K1 * (1 - B + B * length / mean))
    return scores
