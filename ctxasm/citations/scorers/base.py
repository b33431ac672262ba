"""What all scorers with a model share: matches that a gate looks at again, and the stretches of a source that can carry a claim."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ctxasm.model.errors import InvalidInput, ModelUnavailable, shown
from ctxasm.model.messages import Cancel
from ctxasm.model.support import NO_MATCH, Match, Source, Spent

Gate = Callable[[str, Sequence[Source], Match], Match]
"""Looks at a match for what a model does not see, such as another number: (claim, the sources compared, their match) -> the
match as it stands. It may lower the score and fill `missing` and `conflict`. It is asked only about matches that would count,
and where a model sees a contradiction without naming it."""


def canonical(source: Source) -> tuple[int, tuple[tuple[int, int], ...], str, str]:
    """What puts sources in one order, however they were given. A source and its page summary share a number."""
    return source.number, source.ranges, source.text, source.title


def require_thresholds(partly: float, threshold: float) -> None:
    """Raises InvalidInput where the two cannot be those of a scorer."""
    if not 0 < partly <= threshold <= 1:
        raise InvalidInput(f"partly and threshold must be above 0, in that order, and at most 1, got {shown((partly, threshold))}")


class ModelComparison(ABC):
    """See the port `Comparison`. `partly` is the score from which on a match counts, and the gate is asked."""

    def __init__(self, claims: Sequence[str], sources: Sequence[Source], partly: float, gate: Gate | None, spent: Spent) -> None:
        self._claims, self._sources, self._partly, self._gate = list(claims), list(sources), partly, gate
        self._matches: dict[tuple[str, tuple[int, ...]], Match] = {}
        self.spent = spent

    def each(self, claim: int) -> Sequence[Match]:
        """The match with every source alone, in their order."""
        return [self.together(claim, [at]) for at in range(len(self._sources))]

    def together(self, claim: int, sources: Sequence[int]) -> Match:
        """The match with some sources taken together, whatever their order."""
        text = self._claims[claim]
        chosen = tuple(sorted(set(sources), key=lambda at: (canonical(self._sources[at]), at)))
        if not chosen or not text.strip():
            return NO_MATCH
        if (text, chosen) not in self._matches:
            match = self._compared(text, chosen)
            if self._gate is not None and self._is_doubtful(text, chosen, match):
                match = self._gate(text, [self._sources[at] for at in chosen], match)
            self._matches[text, chosen] = match
        return self._matches[text, chosen]

    def _is_doubtful(self, claim: str, chosen: Sequence[int], match: Match) -> bool:
        """Whether the gate has something to look at."""
        return match.score >= self._partly

    @abstractmethod
    def _compared(self, claim: str, chosen: Sequence[int]) -> Match:
        """The match of a claim with the sources at these positions, before the gate. At least one, each once."""


Split = Callable[[str], Sequence[tuple[int, int]]]
"""The sentences of a text as spans: ascending and disjoint."""
MAX_SENTENCE_CHARS = 600
"""A longer sentence is cut at white space: models read a few hundred tokens, and a table or a log has no full stops."""


class Window(NamedTuple):
    """Characters `start` to `end` of a source: `sentences` of them, the first being number `first` of the source."""

    start: int
    end: int
    first: int
    sentences: int


def sentences_of(source: Source, split: Split) -> list[list[tuple[int, int]]]:
    """The spans of the sentences in each range of `source`, in its text. Blank ones are left out."""
    found = []
    for low, high in source.ranges:
        part = source.text[low:high]
        spans = [(low + a, low + b) for start, end in split(part) for a, b in _pieces(part, start, end)]
        found.append([(start, end) for start, end in spans if not source.text[start:end].isspace()])
    return [spans for spans in found if spans]


def windows_of(sentences: Sequence[Sequence[tuple[int, int]]], widest: int, step: int = 1) -> list[Window]:
    """Windows of up to `widest` sentences, the narrow ones first, so that the first of equals is the narrowest.

    With `step` above 1 only the widest that fit, `step` sentences apart, the last of a range always included.
    """
    found: list[Window] = []
    for size in range(1, widest + 1) if step == 1 else (widest,):
        before = 0
        for spans in sentences:
            width = size if step == 1 else min(size, len(spans))
            last = len(spans) - width
            starts = sorted({*range(0, last, step), last}) if last >= 0 else []
            found += [Window(spans[at][0], spans[at + width - 1][1], before + at, width) for at in starts]
            before += len(spans)
    return found


def stop_if(cancel: Cancel | None) -> None:
    """Raises ModelUnavailable once a check is no longer wanted."""
    if cancel is not None and cancel():
        raise ModelUnavailable("the check was stopped on request before every claim was compared")


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence, cut at white space into parts of at most MAX_SENTENCE_CHARS characters."""
    pieces = []
    while end - start > MAX_SENTENCE_CHARS:
        limit = start + MAX_SENTENCE_CHARS
        blank = max((match.start() for match in re.finditer(r"\s", text[start:limit])), default=0)
        cut = start + blank if blank > MAX_SENTENCE_CHARS // 2 else limit
        pieces.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    return [*pieces, (start, end)] if start < end else pieces
