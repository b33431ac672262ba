"""What of a chunk a question is about, chosen by its words alone: whole sentences (lines of code), in their own order.

Every unit is rated by how near it stands to the question's words: a word counts as much as it is rare among the units of all
chunks that are compressed together, and fades with the distance in characters, more slowly for what follows it than for what
goes before. So a unit near several words beats one that repeats a single word, and the sentences around a match come with it.
The token-budget guide keeps matching sentences only. On the gold evidence of four corpora, chunks of 2,000 tokens cut to a half
(a quarter), such sentences alone keep 67 % (48 %) of it, this 80 % (62 %), the head of the chunk 44 % (22 %).

`REACH_AFTER`, `REACH_BEFORE` and `HEAD` lie on a plateau found on the other half of the questions (tests/bench/test_compress.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ctxasm.assembly.stages import Extract, KeptSpan, gap_between
from ctxasm.model.characters import is_visible
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.text.language import DENIALS, EXCEPTIONS, STOP_WORDS
from ctxasm.text.terms import inverse_frequency, is_alike, stem
from ctxasm.text.units import Span, pieces_of_unit, units_of

PASSED_OVER = 12
"""After so many units in a row that do not fit, what is left is taken for full."""
LOOKED_BEYOND = 64
"""Characters of white space after a unit that are counted with it."""
SAMPLE_CHARS = 2000
LONGEST_PIECE = 160
"""Characters of the pieces of a sentence that alone is too long."""


def fitting_units(text: str, max_tokens: int, counter: TokenCounter) -> list[Span]:
    """The units of `text` with something to see; one that alone has more than `max_tokens` tokens is cut between words."""
    found: list[Span] = []
    for unit in units_of(text):
        if _is_too_long(text, unit, max_tokens, counter):
            found += pieces_of_unit(text, unit, _piece_chars(text, unit, max_tokens, counter))
        else:
            found.append(unit)
    return [unit for unit in found if is_visible(text[slice(*unit)])]


def _piece_chars(text: str, unit: Span, max_tokens: int, counter: TokenCounter) -> int:
    """How many characters of a unit take about a quarter of the limit."""
    sample = text[unit[0] : min(unit[1], unit[0] + SAMPLE_CHARS)]
    return max(4, min(LONGEST_PIECE, max_tokens * len(sample) // max(1, counter.count(sample)) // 4))


def _is_too_long(text: str, unit: Span, max_tokens: int, counter: TokenCounter) -> bool:
    start, end = unit
    if end - start <= max_tokens and len(text[start:end].encode("utf-8", "replace")) <= max_tokens:
        return False  # a token has at least one byte
    return end - start > 16 * max_tokens or counter.count(text[start:end]) > max_tokens


def fill(
    text: str, units: Sequence[Span], ratings: Sequence[float], max_tokens: int, gap: str, counter: TokenCounter
) -> tuple[KeptSpan, ...]:
    """Spans of `text` to keep, ascending: the best rated units that fit, each whole, neighbours as one span.

    A unit rated below 0 is never kept. Where not one unit fits, the best one is cut after a token. Something is kept wherever one
    character fits.
    """
    filling = _Filling(text, units, gap, counter, max_tokens)
    order = sorted([at for at, rating in enumerate(ratings) if rating >= 0], key=lambda at: (-ratings[at], at))
    taken = filling.take(order)
    while taken and counter.count(filling.text()) > max_tokens:
        filling.leave(taken.pop())
    if taken:
        return filling.spans()
    return _head_of(text, units[order[0]], max_tokens, counter) if order else ()


class _Filling:
    """A choice of units that grows. `room` is the limit less the sum of the parts' counts, which is seldom below the whole's."""

    def __init__(self, text: str, units: Sequence[Span], gap: str, counter: TokenCounter, max_tokens: int) -> None:
        self._text, self._units, self._gap, self._counter = text, units, gap, counter
        self._gap_tokens = counter.count(gap)
        self._chosen = [False] * len(units)
        self.room = max_tokens

    def take(self, order: Sequence[int]) -> list[int]:
        """Take units in this order while they fit; returns those taken."""
        taken: list[int] = []
        passed = 0
        for at in order:
            cost = self._cost(at, bool(taken))
            if cost > self.room:
                passed += 1
                if passed > PASSED_OVER:
                    break
                continue
            passed = 0
            self.room -= cost
            self._chosen[at] = True
            taken.append(at)
        return taken

    def _cost(self, at: int, gapped: bool) -> int:
        """What a unit adds: its tokens and the white space after it, with one gap more, none, or one less where it closes one."""
        start, end = self._units[at]
        following = self._units[at + 1][0] if at + 1 < len(self._units) else len(self._text)
        end = min(following, end + LOOKED_BEYOND)
        neighbours = (at > 0 and self._chosen[at - 1]) + (at + 1 < len(self._units) and self._chosen[at + 1])
        return self._counter.count(self._text[start:end]) + (1 - neighbours) * self._gap_tokens * gapped

    def leave(self, at: int) -> None:
        """Give a unit up."""
        self._chosen[at] = False

    def spans(self) -> tuple[KeptSpan, ...]:
        """The chosen units, neighbours joined; what is only white space at either end of the text comes along."""
        spans: list[KeptSpan] = []
        for at, (start, end) in enumerate(self._units):
            if not self._chosen[at]:
                continue
            if at and self._chosen[at - 1]:
                spans[-1] = KeptSpan(spans[-1].start, end)
            else:
                spans.append(KeptSpan(start, end))
        if spans and self._chosen[0]:
            spans[0] = KeptSpan(0, spans[0].end)
        if spans and self._chosen[-1]:
            spans[-1] = KeptSpan(spans[-1].start, len(self._text))
        return tuple(spans)

    def text(self) -> str:
        """The kept text."""
        return self._gap.join([self._text[start:end] for start, end in self.spans()])


def _head_of(text: str, unit: Span, max_tokens: int, counter: TokenCounter) -> tuple[KeptSpan, ...]:
    """As many characters of a unit as fit."""
    start, end = unit
    fitting = [at for at in counter.boundaries(text[start:end]) if counter.count(text[start : start + at]) <= max_tokens]
    if not fitting or not is_visible(text[start : start + fitting[-1]]):
        return ()
    return (KeptSpan(start, start + fitting[-1]),)


REACH_AFTER, REACH_BEFORE = 1200, 600
"""Characters over which the weight of a word falls to 1/e, after it and before it."""
HEAD, HEAD_REACH = 1.0, 1500
"""What the beginning of a chunk is worth, as the weight of a word, and over how many characters that falls to 1/e."""
FACT = 0.05
"""What a figure, a date or a denial adds to a unit near the question's words: of equals, the one that states a fact stays."""
_WORD = re.compile(r"[^\W_]+(?:[.,:][0-9]+)*")
_PARTS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_TELLING = DENIALS | EXCEPTIONS | frozenset(("only", "enkel", "alleen", "nur"))
NEAR = 0.2
"""The share of the question's words, by weight, that a unit must be near to where chunks are filtered. On the tune half of four
corpora (10 hits with neighbours) .94 of the evidence stays in .51 of the tokens; at .1 .98 in .76, at .3 .83 in .32."""
MAX_KNOWN = 50_000
"""Words of texts that a reader remembers."""


class Row(NamedTuple):
    """What a unit holds: the question's words, by number, with how well each is met (0 to 1), and whether it states a fact."""

    met: Mapping[int, float]
    states_fact: bool


class ExtractiveCompressor:
    """Compresses without a model: the same chunks and question give the same extracts.

    Nothing is irrelevant to it unless it `filters`: then only what stands near the question's words is kept, however much fits.
    """

    def __init__(self, gap_mark: str, filters: bool = False) -> None:
        self._gap, self._least = gap_between(gap_mark), NEAR if filters else 0.0

    def compress(
        self,
        query: str,
        chunks: Sequence[FetchedChunk],
        max_tokens: int,
        counter: TokenCounter,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[Extract | None]:
        """See `Compressor`. A chunk without a word of the question keeps its head, or is irrelevant where this filters."""
        units = [fitting_units(chunk.text, max_tokens, counter) for chunk in chunks]
        found = shorten(query, [chunk.text for chunk in chunks], units, max_tokens, self._gap, counter, self._least)
        return [Extract("extractive", spans) if spans or not self._least else None for spans in found]


def shorten(
    query: str,
    texts: Sequence[str],
    units: Sequence[Sequence[Span]],
    max_tokens: int,
    gap: str,
    counter: TokenCounter,
    least: float = 0.0,
    within: Sequence[Span] | None = None,
) -> list[tuple[KeptSpan, ...]]:
    """The spans of each text to keep, chosen among its `units`; what a word is worth is told by all of them together.

    Of the question's words, by weight, a unit must be near to at least the share `least`. Where spans are given, only units that
    lie `within` them, whole or in part, are kept.
    """
    reader = reader_of(query)
    rows = [[reader.row(text, unit) for unit in own] for text, own in zip(texts, units, strict=True)]
    weights = weights_of(len(reader.asked), rows)
    kept: list[tuple[KeptSpan, ...]] = []
    for text, own, held in zip(texts, units, rows, strict=True):
        ratings = rate(own, held, weights)
        if least:
            most = sum(weights)
            near = [worth >= least * most > 0 for worth in nearness(own, held, weights)]
            ratings = [rating if is_near else -1.0 for rating, is_near in zip(ratings, near, strict=True)]
        if within is not None:
            ratings = [rating if is_touched(unit, within) else -1.0 for rating, unit in zip(ratings, own, strict=True)]
        kept.append(fill(text, own, ratings, max_tokens, gap, counter))
    return kept


def is_touched(unit: Span, spans: Sequence[Span | KeptSpan]) -> bool:
    """Whether a unit lies in any of these spans, whole or in part."""
    start, end = unit
    return any(low < end and start < high for low, high in spans)


class Reader:
    """Finds the words of one question. What a word of a text meets is worked out once."""

    def __init__(self, query: str) -> None:
        self.asked = tuple(dict.fromkeys(stem(word) for word in _words(query)))
        self._known: set[str] = set()
        self._telling: set[str] = set()
        self._rows: dict[str, Row] = {}
        self._long = tuple(word for word in self.asked if len(word) >= 4)
        self._near = {*self.asked, *(part for word in self._long for at in range(4, len(word)) for part in (word[:at], word[-at:]))}

    def row(self, text: str, unit: Span) -> Row:
        """What a unit holds of the question's words, each with its best match."""
        words = set(_WORD.findall(text, *unit))
        for word in words - self._known:
            self._learn(word)
        met: dict[int, float] = {}
        states_fact = False
        for word in words & self._telling:
            row = self._rows[word]
            states_fact = states_fact or row.states_fact
            for number, strength in row.met.items():
                if strength > met.get(number, 0.0):
                    met[number] = strength
        return Row(met, states_fact or text.find("n't", *unit) >= 0 or text.find("n’t", *unit) >= 0)

    def _learn(self, word: str) -> None:
        met: dict[int, float] = {}
        for reduced in map(stem, _words(word)):
            if reduced in self._near or reduced.startswith(self._long) or reduced.endswith(self._long):
                for number, asked in enumerate(self.asked):
                    if (strength := is_alike(asked, reduced)) > met.get(number, 0.0):
                        met[number] = strength
        row = Row(met, word.lower() in _TELLING or (not word.isalpha() and any(map(str.isdigit, word))))
        if row.met or row.states_fact:
            self._rows[word] = row
            self._telling.add(word)
        self._known.add(word)

    @property
    def is_full(self) -> bool:
        """Whether it has learned so much that a new one should take over."""
        return len(self._known) > MAX_KNOWN


@lru_cache(maxsize=8)
def _reader(query: str) -> Reader:
    return Reader(query)


def reader_of(query: str) -> Reader:
    """The reader of a question, with what it has learned: settings are moved while the question stays. May be shared by threads."""
    if _reader(query).is_full:
        _reader.cache_clear()
    return _reader(query)


def weights_of(words: int, chunks: Sequence[Sequence[Row]]) -> list[float]:
    """What each word is worth: BM25's inverse frequency (Robertson & Zaragoza 2009) over all units; nothing where none holds it."""
    rows = [row for own in chunks for row in own]
    holding = [0] * words
    for row in rows:
        for number in row.met:
            holding[number] += 1
    return [inverse_frequency(len(rows), held) if held else 0.0 for held in holding]


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


def rate(units: Sequence[Span], rows: Sequence[Row], weights: Sequence[float]) -> list[float]:
    """How much each unit is worth keeping."""
    return [
        round(worth * (1 + FACT * row.states_fact) + HEAD * math.exp(-start / HEAD_REACH), 9)
        for worth, row, (start, _) in zip(nearness(units, rows, weights), rows, units, strict=True)
    ]


def nearness(units: Sequence[Span], rows: Sequence[Row], weights: Sequence[float]) -> list[float]:
    """The weights of the question's words, as far as each unit is near to them. Linear in the units for each word."""
    after = [math.exp((low - high) / REACH_AFTER) for (_, low), (_, high) in pairwise(units)]
    before = [math.exp((low - high) / REACH_BEFORE) for (low, _), (high, _) in pairwise(units)]
    before.reverse()
    near = [0.0] * len(units)
    for number, weight in enumerate(weights):
        own = [row.met.get(number, 0.0) for row in rows]
        if weight and any(own):
            forth, back = _spread(own, after), _spread(own[::-1], before)
            near = [worth + weight * (a if a > b else b) for worth, a, b in zip(near, forth, reversed(back), strict=True)]
    return near


def _spread(own: Sequence[float], shares: Sequence[float]) -> list[float]:
    """Each value, or what is left of an earlier one where that is more; `shares[i]` is left of value i at place i + 1."""
    left = own[0] if own else 0.0
    spread = [left] if own else []
    for value, share in zip(own[1:], shares, strict=True):
        left *= share
        if value > left:
            left = value
        spread.append(left)
    return spread
