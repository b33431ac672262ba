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
from itertools import pairwise
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
    field = _Field(documents, limit, opening_tokens or {}, spread)
    if not field.places:
        return ()
    runs = field.runs(0.0)
    if runs is None:
        high, low = field.highest_rent, 0.0
        for _ in range(HALVINGS):
            rent = (low + high) / 2
            found = field.runs(rent)
            if found is None:
                low = rent
            else:
                high, runs = rent, found
    return tuple([field.run(places) for places in (*(runs or [field.best_alone]), *field.singles())])


class _Place(NamedTuple):
    """A chunk where it stands: `worth` is its own value and what its neighbours lend it."""

    document_id: str
    chunk: RunChunk
    worth: float


class _Field:
    """All candidates in stretches of consecutive indexes. A run is a slice of `places`."""

    def __init__(self, documents: Mapping[str, Sequence[RunChunk]], limit: int, opening: Mapping[str, int], spread: float) -> None:
        self.limit, self.opening = limit, opening
        self.places: list[_Place] = []
        self.stretches: list[tuple[float, range]] = []
        for document_id in sorted(documents):
            for stretch in _stretches(documents[document_id]):
                first = len(self.places)
                self.places += [_Place(document_id, *each) for each in zip(stretch, _worths(stretch, spread), strict=True)]
                reach = range(first, len(self.places))
                self.stretches.append((max([self._density(at) for at in reach]), reach))
        self.stretches.sort(key=lambda each: -each[0])
        self.highest_rent = self.stretches[0][0] if self.stretches else 0.0
        self.best = max(range(len(self.places)), key=lambda at: (self.places[at].chunk.value, -at), default=0)
        self.best_alone = range(self.best, self.best + 1)

    def runs(self, rent: float) -> list[range] | None:
        """The runs worth more than `rent` a token, None where they do not fit: that of the best hit ahead, the others by
        what they are worth above their rent."""
        ahead = self.best_alone
        found: list[tuple[float, range]] = []
        left = self.limit - self._tokens(ahead)
        for density, stretch in self.stretches:
            if density <= rent or left < 0:
                break
            opening = rent * self._opening(stretch[0])
            for first, last, gain in _maximal([self.places[at].worth - rent * self.places[at].chunk.tokens for at in stretch]):
                run = stretch[first:last]
                if self.best in run:
                    left += self._tokens(ahead) - self._tokens(run)
                    ahead = run
                elif gain > opening:
                    left -= self._tokens(run)
                    found.append((opening - gain, run))
        if left < 0:
            return None
        found.sort(key=lambda each: (each[0], each[1].start))
        return [ahead, *(run for _, run in found)]

    def singles(self) -> list[range]:
        """Every chunk by itself: worth most per token first, of equals the earlier in its document."""
        order = sorted(range(len(self.places)), key=lambda at: (-self._density(at), at))
        return [range(at, at + 1) for at in order]

    def _density(self, at: int) -> float:
        return self.places[at].worth / max(1, self.places[at].chunk.tokens)

    def _tokens(self, run: range) -> int:
        """What a run takes, its opening included."""
        return self._opening(run.start) + sum([self.places[at].chunk.tokens for at in run])

    def _opening(self, at: int) -> int:
        return self.opening.get(self.places[at].document_id, OPENING_TOKENS)

    def run(self, run: range) -> Run:
        """A slice of places as a record."""
        chunks = [self.places[at].chunk for at in run]
        indexes = tuple([chunk.index for chunk in chunks])
        return Run(self.places[run.start].document_id, indexes, sum([c.tokens for c in chunks]), sum([c.value for c in chunks]))


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
