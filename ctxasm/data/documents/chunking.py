"""Where a text may be cut: ends of tokens, ends of sentences and lines, starts of words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

from ctxasm.text.sentences import sentence_spans

_SENTENCE_END = re.compile(r"[.!?…]['\"’”»)\]]?(?=\s)|[。！？]")
_WORD_START = re.compile(r"(?<!\S)\S")
_LONGEST_HEADING = 80
_TERMINATORS = (".", "!", "?", "…", ":", ";", ",")
_ABBREVIATIONS = frozenset({"art", "blz", "bv", "ca", "dr", "mevr", "nr", "prof", "resp", "tel", "vb", "vgl"})
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))


class Places:
    """Where a text may be cut: ends of tokens, ends of sentences and lines, starts of words."""

    def __init__(self, text: str, tokens: Sequence[int]) -> None:
        self.text = text
        self.tokens = tokens

    @cached_property
    def stops(self) -> list[int]:
        """Ends of sentences and of lines that are no headings."""
        return list(_stops(self.text))

    @cached_property
    def words(self) -> list[int]:
        """Where words begin."""
        return [match.start() for match in _WORD_START.finditer(self.text)]

    def end_of_chunk(self, start: int, covered: int, budget: int) -> int:
        """Where the chunk that begins at `start` ends when about `budget` tokens may be taken; always past `covered`."""
        first = bisect_right(self.tokens, start) - 1
        if first + budget >= len(self.tokens) - 1:
            return len(self.text)
        limit = max(self.tokens[first + budget], covered + 1)
        floor = max(self.tokens[first + budget // 2], covered)
        stop = bisect_right(self.stops, limit) - 1
        if stop >= 0 and self.stops[stop] > floor:
            return self.stops[stop]
        word = bisect_right(self.words, limit) - 1
        before = len(self.text[floor : self.words[word]].rstrip()) if word >= 0 else 0
        return floor + before if before else limit

    def start_of_next(self, start: int, end: int, budget: int) -> int:
        """About `budget` tokens before `end`, at a word start if there is one, after `start` and at most `end`."""
        last = bisect_left(self.tokens, end)
        earliest = max(self.tokens[max(last - budget, 0)], start + 1)
        if budget <= 0 or earliest >= end:
            return end
        word = bisect_left(self.words, earliest)
        return self.words[word] if word < len(self.words) and self.words[word] < end else earliest


def smaller(budget: int, allowed: int, counted: int) -> int:
    """The next budget to try when one led to `counted` tokens, more than allowed."""
    return min(budget - 1, budget * allowed // counted)


def _stops(text: str) -> Iterator[int]:
    """Ends of sentences and of lines that are no headings, ascending."""
    ends = {match.end() for match in _SENTENCE_END.finditer(text) if not _is_abbreviation(text, match.start())}
    ends.update(end for _, end, is_heading in _lines(text) if not is_heading)
    return iter(sorted(ends))


def heading_lines(text: str) -> Iterator[tuple[int, int]]:
    """The lines that look like headings: short, alone between blank lines, without a mark at their end."""
    return ((start, end) for start, end, is_heading in _lines(text) if is_heading)


def _lines(text: str) -> Iterator[tuple[int, int, bool]]:
    """Begin and end of each line with a visible character but the last, without white space behind it; and whether it is a heading."""
    offset = 0
    blank_before = True
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1]):
        content = line.strip()
        if content:
            alone = blank_before and not lines[number + 1].strip()
            heading = alone and len(content) <= _LONGEST_HEADING and not content.endswith(_TERMINATORS)
            yield offset, offset + len(line.rstrip()), heading
        blank_before = not content
        offset += len(line) + 1


def _is_abbreviation(text: str, dot: int) -> bool:
    word = _LAST_WORD.search(text[max(0, dot - _LONGEST_ABBREVIATION - 1) : dot])
    return text[dot] == "." and word is not None and word.group().lower() in _ABBREVIATIONS


_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)


def _united(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those inside others left out."""
    united: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not united or span[1] > united[-1][1]:
            united.append(span)
    return united


def _is_inside(units: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_right(units, start, key=lambda unit: unit[0]) - 1
    return at >= 0 and end <= units[at][1]


_LINE_END = re.compile(r"\s*\n|\s*\Z")
_SURELY = 2
"""A sentence of this many times the limit, by the tokens of the whole text, is not counted by itself to know that it is longer."""


class Sentences:
    """The sentences of a text. `headings` are offsets at which headings begin that the text alone does not show.

    The rows of a table, and the stretches `whole`, are sentences however many full stops they hold.
    """

    def __init__(
        self, places: Places, headings: Sequence[int], count: Callable[[str], int], max_tokens: int, whole: Sequence[tuple[int, int]] = ()
    ) -> None:
        self._places, self._count, self._max_tokens = places, count, max_tokens
        text = places.text
        units = _united([*whole, *(found.span() for found in _ROW.finditer(text))])
        spans = [span for span in sentence_spans(text) if not _is_inside(units, *span)] + units
        shown = {at for at in headings if 0 <= at < len(text)}
        self.starts = sorted({start for start, _ in spans} | shown)
        heads = sorted([*heading_lines(text), *((at, _line_end(text, at)) for at in shown)])
        self._bad = self._after(heads)
        self._cuts = sorted({*self.starts, *(end for _, end in spans), *(end for _, end in heads), len(text)} - {0})

    def _after(self, heads: Sequence[tuple[int, int]]) -> set[int]:
        """The places right after a heading, which belongs to what follows."""
        bad = set()
        for _, end in heads:
            following = bisect_left(self.starts, end)
            bad |= {end, *self.starts[following : following + 1]}
        return bad

    def next_chunk(self, start: int, covered: int) -> tuple[int, int] | None:
        """End and tokens of the sentences from `start` that fit; None where not even the first one after `covered` does."""
        tokens = self._places.tokens
        first = bisect_right(tokens, start) - 1
        nearest = self.end_of_sentence(covered)
        if bisect_left(tokens, nearest) - first > _SURELY * self._max_tokens + 16:
            return None
        budget = self._max_tokens
        while True:
            limit = tokens[first + budget] if first + budget < len(tokens) else len(self._places.text)
            end = max(nearest, self._cuts[max(0, bisect_right(self._cuts, limit) - 1)])
            counted = self._count(self._places.text[start:end])
            if counted <= self._max_tokens:
                return self._without_heading(start, covered, end, counted)
            if end == nearest:
                return None
            budget = max(0, smaller(budget, self._max_tokens, counted))

    def _without_heading(self, start: int, covered: int, end: int, counted: int) -> tuple[int, int]:
        """The chunk without headings at its end, unless it is nothing else; at the end of the text they stay."""
        at = bisect_left(self._cuts, end)
        while at > 0 and self._cuts[at] in self._bad and self._cuts[at - 1] > covered:
            at -= 1
        if end == len(self._places.text) or at == 0 or self._cuts[at] in self._bad or self._cuts[at] == end:
            return end, counted
        fewer = self._count(self._places.text[start : self._cuts[at]])
        return (self._cuts[at], fewer) if fewer <= self._max_tokens else (end, counted)

    def start_of_next(self, start: int, end: int, overlap_tokens: int) -> int:
        """The first sentence after `start` from which on at most `overlap_tokens` tokens are left to `end`; else `end`."""
        last = bisect_left(self._places.tokens, end)
        earliest = max(self._places.tokens[max(last - overlap_tokens, 0)], start + 1)
        at = bisect_left(self.starts, earliest)
        while overlap_tokens and at < len(self.starts) and self.starts[at] < end:
            if self._count(self._places.text[self.starts[at] : end]) <= overlap_tokens:
                return self.starts[at]
            at += 1
        return end

    def is_cut(self, place: int) -> bool:
        """Whether no sentence is cut at `place`."""
        at = bisect_left(self._cuts, place)
        return place == 0 or (at < len(self._cuts) and self._cuts[at] == place)

    def end_of_sentence(self, covered: int) -> int:
        """The next place after `covered` at which no sentence is cut."""
        return self._cuts[bisect_right(self._cuts, covered)]


def _line_end(text: str, at: int) -> int:
    found = _LINE_END.search(text, at, at + 2000)
    return found.start() if found is not None and found.start() > at else min(len(text), at + 1)


class Tokenizer(Protocol):
    """What the chunker needs to know of an encoding; a `TokenCounter` knows it."""

    def count(self, text: str) -> int:
        """Tokens of `text`."""

    def boundaries(self, text: str) -> Sequence[int]:
        """Ascending character offsets at which a token ends and what stands before is valid text; the last is the end."""


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A slice of a text, `whole[start:end]`; in front of it the head of its table where that is not in the slice."""

    start: int
    end: int
    text: str
    tokens: int


def chunk_text(
    text: str,
    *,
    tokenizer: Tokenizer,
    max_tokens: int = 350,
    overlap_tokens: int = 70,
    hard_breaks: Sequence[int] = (),
    sentences: bool = False,
    headings: Sequence[int] = (),
    tables: Sequence[tuple[int, int, int]] = (),
) -> list[TextChunk]:
    """Cut `text` into chunks of at most `max_tokens`; see the module for where it cuts.

    `hard_breaks` are ascending character offsets strictly inside `text`. `sentences`: no sentence is cut that fits into a
    chunk; `headings` are then ascending offsets at which headings are known to begin. `tables`: where each begins, where the lines
    that head it end, where it ends; a table that fits stays in one chunk, each chunk of a longer one repeats its head.
    An empty text has no chunks.
    Raises `ValueError` for sizes or breaks out of range.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, got {max_tokens}")
    if not 0 <= overlap_tokens < max_tokens:
        raise ValueError(f"overlap_tokens must be between 0 and max_tokens - 1 = {max_tokens - 1}, got {overlap_tokens}")
    edges = [0, *hard_breaks, len(text)]
    if text and any(low >= high for low, high in pairwise(edges)):
        raise ValueError(f"hard_breaks must ascend strictly between 0 and {len(text)}, got {list(hard_breaks)}")
    if not text:
        return []
    chunks: list[TextChunk] = []
    whole, long = _tables(text, tokenizer, max_tokens if sentences else 0, max_tokens // 3, hard_breaks, headings, tables)
    edges = sorted({*edges, *(edge for table in long for edge in (table.start, table.end))})
    heads = {table.start: table for table in long}
    for low, high in pairwise(edges):
        inside = headings[bisect_left(headings, low) : bisect_left(headings, high)]
        table = heads.get(low)
        units = whole[bisect_left(whole, (low, low)) : bisect_left(whole, (high, high))]
        stretch = _Stretch(
            text[low:high],
            tokenizer,
            max_tokens - (table.tokens if table is not None else 0),
            overlap_tokens if table is None else 0,
            [at - low for at in inside] if sentences or table is not None else None,
            [(start - low, end - low) for start, end in units],
        )
        for start, end, tokens in stretch.chunks():
            head = table.head if table is not None and low + start >= table.body else ""
            own = head + text[low + start : low + end]
            chunks.append(TextChunk(low + start, low + end, own, tokenizer.count(own) if head else tokens))
    return chunks


class _Headed(NamedTuple):
    """A table of several chunks, from the heading above it on, with what each of them repeats and how many tokens that has."""

    start: int
    body: int
    end: int
    head: str
    tokens: int


def _tables(
    text: str,
    tokenizer: Tokenizer,
    fits: int,
    most: int,
    breaks: Sequence[int],
    headings: Sequence[int],
    tables: Sequence[tuple[int, int, int]],
) -> tuple[list[tuple[int, int]], list[_Headed]]:
    """The tables that stay in one piece, of at most `fits` tokens, and those of more whose head of at most `most` is repeated."""
    whole: list[tuple[int, int]] = []
    long: list[_Headed] = []
    for start, body, end in tables:
        if bisect_right(breaks, start) != bisect_left(breaks, end):
            continue  # a page ends in it
        if end - start <= 40 * fits and tokenizer.count(text[start:end]) <= fits:
            whole.append((start, end))
        elif start < body < end and body - start <= 40 * most and (tokens := tokenizer.count(text[start:body])) <= most:
            head, above = text[start:body], bisect_left(headings, start) - 1
            after = max([*(table.end for table in long[-1:]), *breaks[: bisect_right(breaks, start)][-1:], 0])
            if above >= 0 and headings[above] >= after and "\n" not in text[headings[above] : start].strip():
                start = headings[above]
            long.append(_Headed(start, body, end, head, tokens))
    return whole, long


class _Stretch:
    """A stretch without hard breaks. `headings` is None where sentences may be cut."""

    def __init__(
        self,
        text: str,
        tokenizer: Tokenizer,
        max_tokens: int,
        overlap_tokens: int,
        headings: Sequence[int] | None,
        whole: Sequence[tuple[int, int]],
    ) -> None:
        self._text, self._count, self._max_tokens, self._overlap_tokens = text, tokenizer.count, max_tokens, overlap_tokens
        self._places = Places(text, (0, *tokenizer.boundaries(text)))
        self._sentences = Sentences(self._places, headings, tokenizer.count, max_tokens, whole) if headings is not None else None

    def chunks(self) -> Iterator[tuple[int, int, int]]:
        """Start, end and tokens of each chunk."""
        start = covered = 0
        while covered < len(self._text):
            taken = self._take(start, covered)
            if taken is None:
                start = covered  # beside the overlap nothing new fits
                continue
            yield start, *taken
            covered = taken[0]
            start = self._start_of_next(start, covered)

    def _take(self, start: int, covered: int) -> tuple[int, int] | None:
        """End and tokens of the chunk that begins at `start`; None where it must begin at `covered`."""
        limit = len(self._text)
        if self._sentences is not None:
            if (whole := self._sentences.next_chunk(start, covered)) is not None:
                return whole
            if start < covered and self._sentences.is_cut(covered):
                return None
            limit = self._sentences.end_of_sentence(covered)
        budget = self._max_tokens
        while True:
            end = min(self._places.end_of_chunk(start, covered, budget), limit)
            tokens = self._count(self._text[start:end])
            if tokens <= self._max_tokens or end == covered + 1:
                break
            budget = smaller(budget, self._max_tokens, tokens)
        return None if tokens > self._max_tokens and start < covered else (end, tokens)

    def _start_of_next(self, start: int, end: int) -> int:
        budget = self._overlap_tokens
        if self._sentences is not None and self._sentences.is_cut(end):
            return self._sentences.start_of_next(start, end, budget)
        following = self._places.start_of_next(start, end, budget)
        while following < end and (tokens := self._count(self._text[following:end])) > self._overlap_tokens:
            budget = smaller(budget, self._overlap_tokens, tokens)
            following = self._places.start_of_next(start, end, budget)
        return following
