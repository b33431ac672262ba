"""Cut a text into overlapping chunks of at most `max_tokens` tokens, with exact character offsets.

The five-stage pipeline works on 350-token chunks with 70 tokens of overlap. This is the chunker that makes them.
Decisions:

* A chunk is a slice: `chunk.text == text[chunk.start:chunk.end]`. Together the chunks cover every character.
* A chunk ends at the latest sentence end or line end that fits and lies in its second half; else before the latest
  white space there; else at a token boundary that is a character boundary. Headings are not a place to stop: a heading
  belongs to what follows.
* The next chunk starts about `overlap_tokens` before that end, at the start of a word.
* With `sentences` a chunk is made of whole sentences (ctxasm.text.sentences), and so is the overlap, which may then be less
  or nothing. Only a sentence longer than a chunk is cut, as above.
* `hard_breaks` (page breaks) end a chunk for certain, and no overlap reaches across them. So a chunk lies on one page.
* The limit holds for the chunk counted by itself. Tokens of a slice are not the tokens of the whole text, therefore each
  chunk is counted again and shortened when it is over. One exception: a chunk holds at least one character.

The work is linear in the text: one tokenisation of the whole, about two of each chunk, and binary searches.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from ctxasm.data.documents.places import Places, smaller
from ctxasm.data.documents.whole_sentences import Sentences


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
    sentences: bool = False,
    headings: Sequence[int] = (),
) -> list[TextChunk]:
    """Cut `text` into chunks of at most `max_tokens`; see the module for where it cuts.

    `hard_breaks` are ascending character offsets strictly inside `text`. `sentences`: no sentence is cut that fits into a
    chunk; `headings` are then ascending offsets at which headings are known to begin. An empty text has no chunks.
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
    for low, high in pairwise(edges):
        inside = headings[bisect_left(headings, low) : bisect_left(headings, high)]
        stretch = _Stretch(text[low:high], tokenizer, max_tokens, overlap_tokens, [at - low for at in inside] if sentences else None)
        chunks += [TextChunk(low + start, low + end, text[low + start : low + end], tokens) for start, end, tokens in stretch.chunks()]
    return chunks


class _Stretch:
    """A stretch without hard breaks. `headings` is None where sentences may be cut."""

    def __init__(self, text: str, tokenizer: Tokenizer, max_tokens: int, overlap_tokens: int, headings: Sequence[int] | None) -> None:
        self._text, self._count, self._max_tokens, self._overlap_tokens = text, tokenizer.count, max_tokens, overlap_tokens
        self._places = Places(text, (0, *tokenizer.boundaries(text)))
        self._sentences = Sentences(self._places, headings, tokenizer.count, max_tokens) if headings is not None else None

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
