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

The work is linear in the text: one tokenisation of the whole, one of each chunk, and binary searches.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

_SENTENCE_END = re.compile(r"[.!?…]['\"’”»)\]]?(?=\s)|[。！？]")
_WORD_START = re.compile(r"(?<!\S)\S")
_LONGEST_HEADING = 80
_TERMINATORS = (".", "!", "?", "…", ":", ";", ",")
_LATIN_ABBREVIATIONS = frozenset({"art", "blz", "bv", "ca", "dr", "mevr", "nr", "prof", "resp", "tel", "vb", "vgl"})
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")
_LONGEST_ABBREVIATION = max(map(len, _LATIN_ABBREVIATIONS))


class TokenOffsets(Protocol):
    """What the chunker needs to know of a tokenizer."""

    def __call__(self, text: str) -> Sequence[int]:
        """The character offset at which each token of `text` starts, ascending.

        A token that starts inside a character has the offset of that character.
        """


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
    encoder: TokenOffsets,
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
    if text and any(low >= high for low, high in zip(edges, edges[1:], strict=False)):
        raise ValueError(f"hard_breaks must ascend strictly between 0 and {len(text)}, got {list(hard_breaks)}")
    if not text:
        return []
    return [
        chunk
        for low, high in zip(edges, edges[1:], strict=False)
        for chunk in _chunk_stretch(text[low:high], low, encoder, max_tokens, overlap_tokens)
    ]


def _chunk_stretch(
    text: str, base: int, encoder: TokenOffsets, max_tokens: int, overlap_tokens: int
) -> Iterator[TextChunk]:
    """The chunks of one stretch without hard breaks; `base` is its offset in the whole text."""
    starts = encoder(text)
    stops = list(_stops(text))
    words = [match.start() for match in _WORD_START.finditer(text)]
    start = covered = 0
    while covered < len(text):
        budget = max_tokens
        while True:
            end = _end_of_chunk(text, start, covered, budget, starts, stops, words)
            tokens = len(encoder(text[start:end]))
            if tokens <= max_tokens or end == covered + 1:
                break
            budget = max(0, min(budget - 1, budget - (tokens - max_tokens)))
        if tokens > max_tokens and start < covered:
            start = covered  # the overlap itself is what does not fit
            continue
        yield TextChunk(base + start, base + end, text[start:end], tokens)
        covered = end
        start = _start_of_next(start, end, overlap_tokens, starts, words)


def _end_of_chunk(
    text: str, start: int, covered: int, budget: int, starts: Sequence[int], stops: Sequence[int], words: Sequence[int]
) -> int:
    """Where the chunk that begins at `start` ends when about `budget` tokens may be taken; always past `covered`."""
    first = bisect_left(starts, start)
    last = first + budget
    if last >= len(starts):
        return len(text)
    limit = max(starts[last], covered + 1)
    floor = max(starts[first + budget // 2], covered)
    stop = bisect_right(stops, limit) - 1
    if stop >= 0 and stops[stop] > floor:
        return stops[stop]
    word = bisect_right(words, limit) - 1
    if word >= 0:
        gap = len(text[floor : words[word]].rstrip())
        if gap > 0:
            return floor + gap
    return limit


def _start_of_next(start: int, end: int, overlap_tokens: int, starts: Sequence[int], words: Sequence[int]) -> int:
    """About `overlap_tokens` before `end`, at a word start if there is one, after `start` and at most `end`."""
    earliest = max(starts[max(bisect_left(starts, end) - overlap_tokens, 0)], start + 1)
    if earliest >= end:
        return end
    word = bisect_left(words, earliest)
    return words[word] if word < len(words) and words[word] < end else earliest


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
    return text[dot] == "." and word is not None and word.group().lower() in _LATIN_ABBREVIATIONS
