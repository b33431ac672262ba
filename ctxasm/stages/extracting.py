"""What of a chunk a question is about, chosen by its words alone: whole sentences (lines of code), in their own order.

Every unit is rated by how near it stands to the question's words: a word counts as much as it is rare among the units of all
chunks that are compressed together, and fades with the distance in characters, more slowly for what follows it than for what
goes before. So a unit near several words beats one that repeats a single word, and the sentences around a match come with it
(the token-budget guide's extraction keeps matching sentences only: on the gold evidence of four corpora, cut from 2,000
tokens to a half, sentences alone keep 70 % of it, this 78 %, the head of the chunk 52 %).

`REACH_AFTER`, `REACH_BEFORE` and `HEAD` lie on a plateau found on one half of the questions (tests/bench/test_compress.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxasm.model.extracts import Extract, gap_between
from ctxasm.model.language import STOP_WORDS
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.terms import is_alike, stem
from ctxasm.model.units import Span
from ctxasm.stages.filling import fill, fitting_units

REACH_AFTER, REACH_BEFORE = 1200, 600
"""Characters over which the weight of a word falls to 1/e, after it and before it."""
HEAD, HEAD_REACH = 1.0, 1500
"""What the beginning of a chunk is worth, as the weight of a word, and over how many characters that falls to 1/e."""
FACT = 0.05
"""What a figure, a date or a denial adds to a unit near the question's words: of equals, the one that states a fact stays."""
_WORD = re.compile(r"[^\W_]+(?:[.,:][0-9]+)*")
_PARTS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_FACT = re.compile(
    r"\d|\b(?:not|no|never|none|without|except|unless|only|cannot|niet|geen|nooit|zonder|behalve|tenzij|enkel|alleen|nicht|keine?[nmrs]?"
    r"|nie|ohne|außer|nur)\b|n['’]t\b",
    re.IGNORECASE,
)
Matches = tuple[tuple[int, float], ...]
"""Which of the question's words a word meets, by number, and how well (0 to 1)."""


class Words(NamedTuple):
    """The question's words, reduced, with what each is worth: nothing where no unit holds it."""

    asked: tuple[str, ...]
    weights: tuple[float, ...]


class ExtractiveCompressor:
    """Compresses without a model: the same chunks and question give the same extracts. Nothing is ever irrelevant to it."""

    def __init__(self, gap_mark: str) -> None:
        self._gap = gap_between(gap_mark)

    def compress(
        self,
        query: str,
        chunks: Sequence[FetchedChunk],
        max_tokens: int,
        counter: TokenCounter,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[Extract | None]:
        """See `Compressor`. A chunk without a word of the question keeps its head."""
        reader = Reader(query)
        units = [fitting_units(chunk.text, max_tokens, counter) for chunk in chunks]
        rows = [[reader.row(chunk.text, unit) for unit in own] for chunk, own in zip(chunks, units, strict=True)]
        weights = reader.weights(rows)
        extracts: list[Extract | None] = []
        for chunk, own, met in zip(chunks, units, rows, strict=True):
            ratings = rate(chunk.text, own, met, weights)
            extracts.append(Extract("extractive", fill(chunk.text, own, ratings, max_tokens, self._gap, counter)))
        return extracts


class Reader:
    """Finds the words of one question. What a word of a text meets is worked out once."""

    def __init__(self, query: str) -> None:
        self.asked = tuple(dict.fromkeys(stem(word) for word in _words(query)))
        self._known: dict[str, Matches] = {}

    def row(self, text: str, unit: Span) -> dict[int, float]:
        """The question's words that a unit holds, by number, each with its best match."""
        row: dict[int, float] = {}
        known = self._known
        for word in _WORD.findall(text, *unit):
            matches = known.get(word)
            if matches is None:
                matches = known[word] = self._matches(word)
            for number, strength in matches:
                if strength > row.get(number, 0.0):
                    row[number] = strength
        return row

    def _matches(self, word: str) -> Matches:
        found: dict[int, float] = {}
        for part in _words(word):
            reduced = stem(part)
            for number, asked in enumerate(self.asked):
                strength = is_alike(asked, reduced)
                if strength > found.get(number, 0.0):
                    found[number] = strength
        return tuple(found.items())

    def weights(self, chunks: Sequence[Sequence[Mapping[int, float]]]) -> list[float]:
        """What each word is worth: BM25's inverse frequency (Robertson & Zaragoza 2009) over all units."""
        rows = [row for own in chunks for row in own]
        holding = [0] * len(self.asked)
        for row in rows:
            for number in row:
                holding[number] += 1
        return [math.log(1 + (len(rows) - held + 0.5) / (held + 0.5)) if held else 0.0 for held in holding]


def _words(text: str) -> list[str]:
    """Words with content, lower case: a name such as `runTarget` also in its parts, a script without spaces in pairs of characters."""
    words: list[str] = []
    for word in _WORD.findall(text):
        if _UNSPACED.search(word):
            words += [a + b for a, b in pairwise(word)] or [word]
            continue
        low = word.lower()
        words.append(low)
        if not word.islower() and len(parts := _PARTS.findall(word)) > 1:
            words += [part.lower() for part in parts]
    return [word for word in words if word not in STOP_WORDS and (len(word) > 1 or not word.isascii() or word.isdigit())]


def rate(text: str, units: Sequence[Span], rows: Sequence[Mapping[int, float]], weights: Sequence[float]) -> list[float]:
    """How much each unit is worth keeping. Takes time linear in the units for each word of the question."""
    after = [math.exp((low - high) / REACH_AFTER) for (_, low), (_, high) in pairwise(units)]
    before = [math.exp((low - high) / REACH_BEFORE) for (low, _), (high, _) in pairwise(units)]
    near = [0.0] * len(units)
    for number, weight in enumerate(weights):
        if not weight:
            continue
        own = [row.get(number, 0.0) for row in rows]
        forth = _spread(own, after)
        back = _spread(own[::-1], before[::-1])[::-1]
        near = [sum_ + weight * max(a, b) for sum_, a, b in zip(near, forth, back, strict=True)]
    return [
        round(worth * (1 + FACT * (_FACT.search(text, start, end) is not None)) + HEAD * math.exp(-start / HEAD_REACH), 9)
        for worth, (start, end) in zip(near, units, strict=True)
    ]


def _spread(own: Sequence[float], shares: Sequence[float]) -> list[float]:
    """Each value, or what is left of an earlier one where that is more; `shares[i]` is left of value i at place i + 1."""
    spread = list(own)
    for place, share in enumerate(shares, 1):
        spread[place] = max(spread[place], spread[place - 1] * share)
    return spread
