"""Cut a text into overlapping chunks of at most `max_tokens` tokens, with exact character offsets.

The five-stage pipeline works on 350-token chunks with 70 tokens of overlap. This is the chunker that makes them.
Decisions:

* A chunk is a slice: `chunk.text == text[chunk.start:chunk.end]`. Together the chunks cover every character.
* A chunk ends at the latest sentence end or line end that fits and lies in its second half; else before the latest
  white space there; else at a token boundary that is a character boundary. Headings are not a place to stop: a heading
  belongs to what follows.
* The next chunk starts about `overlap_tokens` before that end, at the start of a word.
* `hard_breaks` (page breaks) end a chunk for certain, and no overlap reaches across them. So a chunk lies on one page.
* The limit holds for the chunk counted by itself. Tokens of a slice are not the tokens of the whole text, therefore each
  chunk is counted again and shortened when it is over. One exception: a chunk holds at least one character.

The work is linear in the text: one tokenisation of the whole, about two of each chunk, and binary searches.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

_SENTENCE_END = re.compile(r"[.!?…]['\"’”»)\]]?(?=\s)|[。！？]")
_WORD_START = re.compile(r"(?<!\S)\S")
_LONGEST_HEADING = 80
_TERMINATORS = (".", "!", "?", "…", ":", ";", ",")
_ABBREVIATIONS = frozenset({"art", "blz", "bv", "ca", "dr", "mevr", "nr", "prof", "resp", "tel", "vb", "vgl"})
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))


class Tokenizer(Protocol):
    """What the chunker needs to know of an encoding; a `TokenCounter` knows it."""

    def count(self, text: str) -> int:
        """Tokens of `text`."""

    def boundaries(self, text: str) -> Sequence[int]:
        """Ascending character offsets at which a token ends and what stands before is valid text; the last is the end."""


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A slice of a text: `text == whole[start:end]`, `tokens` counted on the slice by itself."""

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
) -> list[TextChunk]:
    """Cut `text` into chunks of at most `max_tokens`; see the module for where it cuts.

    `hard_breaks` are ascending character offsets strictly inside `text`. An empty text has no chunks.
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
    return [chunk for low, high in pairwise(edges) for chunk in _chunk_stretch(text[low:high], low, tokenizer, max_tokens, overlap_tokens)]


def _chunk_stretch(text: str, base: int, tokenizer: Tokenizer, max_tokens: int, overlap_tokens: int) -> Iterator[TextChunk]:
    """The chunks of one stretch without hard breaks; `base` is its offset in the whole text."""
    places = _Places(text, (0, *tokenizer.boundaries(text)))
    start = covered = 0
    while covered < len(text):
        budget = max_tokens
        while True:
            end = places.end_of_chunk(start, covered, budget)
            tokens = tokenizer.count(text[start:end])
            if tokens <= max_tokens or end == covered + 1:
                break
            budget = _smaller(budget, max_tokens, tokens)
        if tokens > max_tokens and start < covered:
            start = covered  # beside the overlap not one character fits
            continue
        yield TextChunk(base + start, base + end, text[start:end], tokens)
        covered = end
        budget = overlap_tokens
        start = places.start_of_next(start, end, budget)
        while start < end and tokenizer.count(text[start:end]) > overlap_tokens:
            budget = _smaller(budget, overlap_tokens, tokenizer.count(text[start:end]))
            start = places.start_of_next(start, end, budget)


def _smaller(budget: int, allowed: int, counted: int) -> int:
    """The next budget to try when one led to `counted` tokens, more than allowed."""
    return min(budget - 1, budget * allowed // counted)


class _Places:
    """Where a text may be cut: ends of tokens, ends of sentences and lines, starts of words."""

    def __init__(self, text: str, tokens: Sequence[int]) -> None:
        self.text = text
        self.tokens = tokens
        self.stops = list(_stops(text))
        self.words = [match.start() for match in _WORD_START.finditer(text)]

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


def _stops(text: str) -> Iterator[int]:
    """Ends of sentences and of lines that are no headings, ascending."""
    ends = {match.end() for match in _SENTENCE_END.finditer(text) if not _is_abbreviation(text, match.start())}
    offset = 0
    blank_before = True
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1]):
        content = line.strip()
        alone = blank_before and not lines[number + 1].strip()
        heading = alone and len(content) <= _LONGEST_HEADING and not content.endswith(_TERMINATORS)
        if content and not heading:
            ends.add(offset + len(line.rstrip()))
        blank_before = not content
        offset += len(line) + 1
    return iter(sorted(ends))


def _is_abbreviation(text: str, dot: int) -> bool:
    word = _LAST_WORD.search(text[max(0, dot - _LONGEST_ABBREVIATION - 1) : dot])
    return text[dot] == "." and word is not None and word.group().lower() in _ABBREVIATIONS
