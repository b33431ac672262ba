"""What is left of a chunk that was compressed, and how its text maps back to the original, to the character."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from ctxasm.model.characters import is_visible, one_line
from ctxasm.model.ports import FetchedChunk, TokenCounter

How = Literal["extractive", "model", "rewritten"]
"""Who chose the spans; "rewritten": a model returned words that the chunk does not hold."""


class KeptSpan(NamedTuple):
    """Characters `start` to `end` of the original chunk text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Extract:
    """What is left of one chunk: `spans` ascending and disjoint, or, where `how` is "rewritten", `words` without a source.

    `failure` says why a model did not choose, where one was asked.
    """

    how: How
    spans: tuple[KeptSpan, ...] = ()
    words: str = ""
    failure: str = ""


NO_EXTRACTS: Mapping[tuple[str, int], Extract] = {}


class Part(NamedTuple):
    """Characters `low` to `high` of the compressed text: `start` to `end` of the original, or a gap mark (both None)."""

    low: int
    high: int
    start: int | None = None
    end: int | None = None


class Compressor(Protocol):
    """Shortens chunks to what a question is about."""

    def compress(
        self,
        query: str,
        chunks: Sequence[FetchedChunk],
        max_tokens: int,
        counter: TokenCounter,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[Extract | None]:
        """One extract a chunk, at most `max_tokens` tokens each with its gap marks. None: nothing in it is relevant."""
        ...


def gap_between(gap_mark: str) -> str:
    """What stands between two kept spans: the mark on its own line; an empty mark leaves a line break."""
    mark = one_line(gap_mark)
    return f"\n{mark}\n" if mark else "\n"


def compressed_text(text: str, extract: Extract, gap_mark: str) -> str:
    """The text that is left of a chunk's `text`."""
    if extract.how == "rewritten":
        return extract.words
    return gap_between(gap_mark).join([text[start:end] for start, end in extract.spans])


def pieces_of(extract: Extract, gap_mark: str, low: int, high: int) -> list[Part]:
    """Characters `low` to `high` of the compressed text, cut where it leaves the original; they join without a rest.

    A rewritten text is one part without a place in the original.
    """
    if extract.how == "rewritten":
        return [Part(low, high)] if low < high else []
    parts: list[Part] = []
    at, gap = 0, len(gap_between(gap_mark))
    for number, (start, end) in enumerate(extract.spans):
        if number:
            parts.append(Part(at, at + gap))
            at += gap
        parts.append(Part(at, at + end - start, start, end))
        at += end - start
    return [_clipped(part, low, high) for part in parts if part.low < high and low < part.high]


def _clipped(part: Part, low: int, high: int) -> Part:
    first, last = max(part.low, low), min(part.high, high)
    if part.start is None:
        return Part(first, last)
    return Part(first, last, part.start + first - part.low, part.start + last - part.low)


def cuts_head(text: str, extract: Extract) -> bool:
    """Whether something visible before the first kept span is left out; of a rewritten text nothing is known."""
    return extract.how == "rewritten" or is_visible(text[: extract.spans[0].start] if extract.spans else text)


def cuts_tail(text: str, extract: Extract) -> bool:
    """Whether something visible after the last kept span is left out."""
    return extract.how == "rewritten" or is_visible(text[extract.spans[-1].end :] if extract.spans else text)
