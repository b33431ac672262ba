"""The most relevant runs: neighbouring chunks that together are worth their place (relevant-segment extraction, in tokens).

A hit is worth 1 / rank, and lends its neighbours a third of that for every step away, so that a chunk between or beside good
hits is worth something too. Every token costs rent: what the rest of the limit would be worth elsewhere. A run is a
maximal stretch whose worth exceeds its rent (Ruzzo and Tompa 1999), the rent of its heading included: it may lead over a
poor chunk to the next good one. The rent is the lowest at which all runs fit the limit together, so it needs no setting
and knows no scale: values ten times as high make a rent ten times as high. More limit lowers it and lets runs grow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

SPREAD = 1 / 3
"""What of a chunk's value reaches the next one on either side."""
OPENING_TOKENS = 30
"""What a run takes besides its chunks, where the caller does not know: a heading or a gap mark, and a head not stripped."""
HALVINGS = 24
"""Steps in which the rent is found: to 1 / 2²⁴ of the highest that anyone could pay."""


@dataclass(frozen=True, slots=True)
class RunChunk:
    """A candidate: its index in its document, its tokens, and its value: `value_of` its rank, 0 for an adjacent chunk."""

    index: int
    tokens: int
    value: float


class Run(NamedTuple):
    """Consecutive chunks of one document. `value` is the sum of their own values."""

    document_id: str
    indexes: tuple[int, ...]
    tokens: int
    value: float


def value_of(rank: int) -> float:
    """Value of a hit for the choice of runs. Steeper than packing's 1 / (60 + rank), under which all hits are worth nearly
    the same and no neighbour of the best hit ever comes before the tenth."""
    return 1.0 / rank


def best_runs(
    documents: Mapping[str, Sequence[RunChunk]], limit: int, opening_tokens: Mapping[str, int] | None = None, spread: float = SPREAD
) -> tuple[Run, ...]:
    """All candidates, as runs, in the order in which they should enter the context: each as far as it fits, what is in already
    being passed over.

    First the runs worth their rent within `limit` tokens, the one with the best hit ahead and then by what they are worth
    above it; then every chunk by itself, by worth per token: what a run that does not fit after all leaves, and what was
    not worth the rent. `opening_tokens` are what a run of the document takes besides its chunks.
    """
    field = RunField(documents, opening_tokens or {}, spread)
    return (*field.best(limit), *field.singles())


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Candidates at consecutive indexes, the first at place `first` of all: their worth and tokens, the best worth per token, and what
    opening a run of them takes."""

    first: int
    worths: Sequence[tuple[float, int]]
    density: float
    opening: int


class RunField:
    """All candidates in stretches of consecutive indexes: what `best_runs` looks for at any limit. A run is a slice of `places`."""

    def __init__(self, documents: Mapping[str, Sequence[RunChunk]], opening: Mapping[str, int], spread: float = SPREAD) -> None:
        self.places: list[tuple[str, RunChunk]] = []
        self.densities: list[float] = []
        self.openings: list[int] = []
        self.stretches: list[_Stretch] = []
        for document_id in sorted(documents):
            opens = opening.get(document_id, OPENING_TOKENS)
            for stretch in _stretches(documents[document_id]):
                worths = [(worth, chunk.tokens) for worth, chunk in zip(_worths(stretch, spread), stretch, strict=True)]
                densities = [worth / max(1, tokens) for worth, tokens in worths]
                self.stretches.append(_Stretch(len(self.places), worths, max(densities), opens))
                self.places += [(document_id, chunk) for chunk in stretch]
                self.densities += densities
                self.openings += [opens] * len(stretch)
        self.stretches.sort(key=lambda stretch: -stretch.density)
        self.before = [0, *accumulate([chunk.tokens for _, chunk in self.places])]
        best = max(range(len(self.places)), key=lambda at: (self.places[at][1].value, -at), default=0)
        self.best_alone = range(best, best + 1)

    def best(self, limit: int) -> list[Run]:
        """The runs worth their rent within `limit` tokens, the one with the best hit ahead."""
        if not self.places:
            return []
        runs = self._worth(0.0, limit)
        if runs is None:
            high, low = self.stretches[0].density, 0.0
            for _ in range(HALVINGS):
                rent = (low + high) / 2
                found = self._worth(rent, limit)
                if found is None:
                    low = rent
                else:
                    high, runs = rent, found
        return [self._run(places) for places in runs or [self.best_alone]]

    def _worth(self, rent: float, limit: int) -> list[range] | None:
        """The runs worth more than `rent` a token, None where they do not fit: that of the best hit ahead, the others by
        what they are worth above their rent."""
        ahead, best = self.best_alone, self.best_alone.start
        found: list[tuple[float, range]] = []
        left = limit - self._tokens(ahead)
        for stretch in self.stretches:
            if stretch.density <= rent or left < 0:
                break
            opening = rent * stretch.opening
            for first, last, gain in _maximal([worth - rent * tokens for worth, tokens in stretch.worths]):
                run = range(stretch.first + first, stretch.first + last)
                if best in run:
                    left += self._tokens(ahead) - self._tokens(run)
                    ahead = run
                elif gain > opening:
                    left -= self._tokens(run)
                    found.append((opening - gain, run))
        if left < 0:
            return None
        found.sort(key=lambda each: (each[0], each[1].start))
        return [ahead, *(run for _, run in found)]

    def singles(self) -> list[Run]:
        """Every chunk by itself: worth most per token first, of equals the earlier in its document."""
        order = sorted(range(len(self.places)), key=lambda at: (-self.densities[at], at))
        return [self._run(range(at, at + 1)) for at in order]

    def _tokens(self, run: range) -> int:
        """What a run takes, its opening included."""
        return self.openings[run.start] + self.before[run.stop] - self.before[run.start]

    def _run(self, run: range) -> Run:
        """A slice of places as a record."""
        chunks = [chunk for _, chunk in self.places[run.start : run.stop]]
        indexes = tuple([chunk.index for chunk in chunks])
        return Run(self.places[run.start][0], indexes, self.before[run.stop] - self.before[run.start], sum([c.value for c in chunks]))


def _stretches(chunks: Sequence[RunChunk]) -> Iterator[list[RunChunk]]:
    """The chunks of one document in stretches of consecutive indexes."""
    ordered = sorted(chunks, key=lambda chunk: chunk.index)
    breaks = [place for place, (one, other) in enumerate(pairwise(ordered), 1) if other.index != one.index + 1]
    for first, last in pairwise((0, *breaks, len(ordered))):
        if first < last:
            yield ordered[first:last]


def _worths(stretch: Sequence[RunChunk], spread: float) -> list[float]:
    """Own value and what both sides lend: each side's loan shrinks by `spread` at every step."""
    worths = [chunk.value for chunk in stretch]
    for steps in (range(len(stretch)), range(len(stretch) - 1, -1, -1)):
        loan = 0.0
        for at in steps:
            worths[at] += loan
            loan = (loan + stretch[at].value) * spread
    return worths


def _maximal(gains: Sequence[float]) -> list[tuple[int, int, float]]:
    """All maximal scoring stretches (first, end, sum) of `gains`, in one pass (Ruzzo and Tompa 1999)."""
    found: list[tuple[int, int, float, float]] = []
    total = 0.0
    for at, gain in enumerate(gains):
        before, total = total, total + gain
        if gain <= 0:
            continue
        first, low = at, before
        while found:
            below = len(found) - 1
            while below >= 0 and found[below][2] >= low:
                below -= 1
            if below < 0 or found[below][3] >= total:
                break
            first, low = found[below][0], found[below][2]
            del found[below:]
        found.append((first, at + 1, low, total))
    return [(first, end, high - low) for first, end, low, high in found]
