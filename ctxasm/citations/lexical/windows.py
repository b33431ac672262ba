"""The stretches of sources that hold most of a claim: one to three sentences next to each other, and more of them where a
claim is merged from several places.

What a claim consists of is a set of bits: one for each of its words with content, one for each of its quantities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ctxasm.citations.lexical.evidence import Evidence, clause_spans
from ctxasm.citations.lexical.polarity import Said, read_polarity
from ctxasm.citations.lexical.quantities import Quantity, read_quantities
from ctxasm.citations.lexical.words import Word, read_words

MOST_SENTENCES = 3
"""Sentences in one window."""
MOST_WINDOWS = 3
"""Windows that may carry one claim together."""
CANDIDATES = 4
"""Sentences of a source around which windows are tried."""
STEP = 0.02
"""What each further sentence of a window costs: of two that hold the same, the shorter is the better evidence."""
LEAST_GAIN = 0.12
"""Share of the claim that a further window must add."""
QUANTITY_WEIGHT = 1.5
LIGHT_WEIGHT = 0.2
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\n\s*|[\"“„‘(\[•\-–]\s*)$")


@dataclass(frozen=True, slots=True)
class Parts:
    """A claim as bits: bit i < len(words) is `words[i]`, the others are `quantities`. `order` are the bits as they stand in it.

    `heavy` and `names` those of words that carry much, and of names. `forms` are the
    words of the sources that hold a bit.
    """

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    weights: tuple[float, ...]
    order: tuple[int, ...]
    clauses: tuple[Stretch, ...]
    heavy: int
    names: int
    forms: Mapping[str, int]
    said: tuple[Said, ...]

    @property
    def total(self) -> float:
        return sum(self.weights)

    def weight(self, mask: int) -> float:
        """The weight of a set of bits."""
        return sum(weight for bit, weight in enumerate(self.weights) if mask >> bit & 1)

    def part(self, bit: int) -> Word | Quantity:
        """The word or quantity of a bit."""
        return self.words[bit] if bit < len(self.words) else self.quantities[bit - len(self.words)]


class Stretch(NamedTuple):
    """A clause of a claim, at characters `start` to `end` of it, and its bits."""

    start: int
    end: int
    mask: int


class Window(NamedTuple):
    """Sentences `first` to `last` (both included) of one source, and the bits of the claim that they hold."""

    source: int
    first: int
    last: int
    mask: int


def parts_of(claim: str, evidence: Evidence) -> Parts:
    """The words and quantities of a claim, with rare words weighing more and light ones little."""
    quantities = tuple(read_quantities(claim))
    inside = [(quantity.start, quantity.end) for quantity in quantities]
    stems = evidence.stems
    words: dict[str, Word] = {}
    places: list[tuple[int, int]] = []
    for word in read_words(claim, 0, len(claim), stems):
        if not any(start <= word.start < end for start, end in inside):
            words.setdefault(word.key, word)
            places.append((word.start, list(words).index(word.key)))
    places += [(quantity.start, len(words) + at) for at, quantity in enumerate(quantities)]
    weights = [LIGHT_WEIGHT if key in stems.light else 0.5 + evidence.rarity(key) for key in words]
    forms: dict[str, int] = {}
    for bit, (key, word) in enumerate(words.items()):
        for form in evidence.variants(key, stems.verb_of(claim[word.start : word.end])):
            forms[form] = forms.get(form, 0) | 1 << bit
    return Parts(
        claim,
        tuple(words.values()),
        quantities,
        (*weights, *(QUANTITY_WEIGHT for _ in quantities)),
        tuple(bit for _, bit in sorted(places)),
        _clauses(claim, sorted(places)),
        sum(1 << bit for bit, key in enumerate(words) if key not in stems.light),
        sum(1 << bit for bit, word in enumerate(words.values()) if is_name(claim, word.start, word.end, stems.tongue)),
        forms,
        tuple(read_polarity(claim, 0, len(claim), stems)),
    )


def _clauses(claim: str, places: Sequence[tuple[int, int]]) -> tuple[Stretch, ...]:
    """The clauses with their bits; one of a single bit goes with the clause before it, or the next."""
    found: list[Stretch] = []
    for low, high in clause_spans(claim, 0, len(claim)):
        mask = 0
        for start, bit in places:
            if low <= start < high:
                mask |= 1 << bit
        if found and (mask.bit_count() < 2 or found[-1].mask.bit_count() < 2):
            found[-1] = Stretch(found[-1].start, high, found[-1].mask | mask)
        elif mask:
            found.append(Stretch(low, high, mask))
    return tuple(found)


def is_name(text: str, start: int, end: int, tongue: str) -> bool:
    """Whether a word is written as a name: a capital inside it, or at its head within a sentence (in German all nouns have one)."""
    word = text[start:end]
    if any(letter.isupper() for letter in word[1:]):
        return True
    return tongue != "de" and word[:1].isupper() and not _SENTENCE_START.search(text[max(0, start - 4) : start])


class Windows:
    """The windows of one claim, by source."""

    def __init__(self, parts: Parts, evidence: Evidence) -> None:
        self.parts = parts
        self._evidence = evidence
        self._words: dict[int, int] = {}
        for form, bits in parts.forms.items():
            for at in evidence.postings[form]:
                self._words[at] = self._words.get(at, 0) | bits
        self._full: dict[int, int] = {}
        self._of_source: dict[int, list[Window]] = {}
        self._weights: dict[int, float] = {}

    def weight(self, mask: int) -> float:
        """The weight of a set of bits, remembered."""
        known = self._weights.get(mask)
        if known is None:
            known = self._weights[mask] = self.parts.weight(mask)
        return known

    def mask(self, at: int) -> int:
        """The bits that a sentence holds, its quantities included."""
        known = self._full.get(at)
        if known is None:
            known = self._words.get(at, 0)
            if self.parts.quantities:
                theirs = self._evidence.quantities(at)
                for place, quantity in enumerate(self.parts.quantities, len(self.parts.words)):
                    if any(quantity.agrees(other) for other in theirs):
                        known |= 1 << place
            self._full[at] = known
        return known

    def of_source(self, source: int) -> list[Window]:
        """The windows of a source worth trying."""
        known = self._of_source.get(source)
        if known is None:
            known = self._of_source[source] = self._tried(source)
        return known

    def _tried(self, source: int) -> list[Window]:
        numbers = self._evidence.of_source[source]
        holding = [at for at in numbers if at in self._words]
        best = sorted(holding, key=lambda at: -self.weight(self._words[at]))[:CANDIDATES]
        found: dict[tuple[int, int], Window] = {}
        for at in best:
            for first in range(at - MOST_SENTENCES + 1, at + 1):
                for last in range(at, first + MOST_SENTENCES):
                    if (first, last) not in found and self._together(numbers, first, last):
                        mask = 0
                        for place in range(first, last + 1):
                            mask |= self.mask(place)
                        found[first, last] = Window(source, first, last, mask)
        return list(found.values())

    def _together(self, numbers: range, first: int, last: int) -> bool:
        if first < numbers.start or last >= numbers.stop:
            return False
        return self._evidence.sentences[first].range_ == self._evidence.sentences[last].range_

    def choose(self, sources: Sequence[int]) -> list[Window]:
        """The best window of all sources, then more while each adds enough of the claim."""
        pool = [window for source in sources for window in self.of_source(source)]
        total, covered = self.parts.total, 0
        chosen: list[Window] = []
        while pool and len(chosen) < MOST_WINDOWS:
            best = max(pool, key=lambda w: (self._gain(w, covered), -w.first))
            new = best.mask & ~covered
            if chosen and (self.weight(new) < LEAST_GAIN * total or new.bit_count() < 2):
                break
            chosen.append(best)
            covered |= best.mask
        return chosen

    def _gain(self, window: Window, covered: int) -> float:
        return self.weight(window.mask & ~covered) - STEP * self.parts.total * (window.last - window.first)


def union(windows: Iterable[Window]) -> int:
    """The bits that some window holds."""
    mask = 0
    for window in windows:
        mask |= window.mask
    return mask
