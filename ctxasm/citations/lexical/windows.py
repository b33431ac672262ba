"""The stretches of sources that hold most of a claim: one to three sentences next to each other, and more of them where a
claim is merged from several places.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from ctxasm.citations.lexical.evidence import Evidence
from ctxasm.citations.lexical.parts import Parts
from ctxasm.model.records import make_record

MOST_SENTENCES = 3
"""Sentences in one window."""
MOST_WINDOWS = 3
"""Windows that may carry one claim together."""
CANDIDATES = 4
"""Sentences of a source around which windows are tried."""
STEP = 0.02
"""What each further sentence of a window costs: of two that hold the same, the shorter is the better evidence."""
MOST_FIGURES = 12
"""Quantities of a claim that its sentences are looked up by; a claim of more is a list, which its words must find."""
LEAST_GAIN = 0.12
"""Share of the claim that a further window must add."""
LEAST_SHARE = 0.5
"""A source that holds less than this share of the claim is tried sentence by sentence only."""


class Window(NamedTuple):
    """Sentences `first` to `last` (both included) of one source, and the bits of the claim that they hold."""

    source: int
    first: int
    last: int
    mask: int


class Masks(dict[int, int]):
    """The bits of a claim that a sentence holds, its quantities included, by the number of the sentence: found when asked for. `words` are
    those of words alone."""

    def __init__(self, parts: Parts, evidence: Evidence, words: Sequence[int]) -> None:
        self._parts, self._evidence, self._words = parts, evidence, words

    def __missing__(self, at: int) -> int:
        known, theirs = self._words[at], self._evidence.quantities(at)
        for place, quantity in enumerate(self._parts.quantities if theirs else (), len(self._parts.words)):
            for other in theirs:
                if quantity.agrees(other):
                    known |= 1 << place
                    break
        self[at] = known
        return known


class Windows:
    """The windows of one claim, by source."""

    def __init__(self, parts: Parts, evidence: Evidence) -> None:
        self.parts = parts
        self._evidence = evidence
        words = self._words = [0] * len(evidence.sentences)
        for form, bits in parts.forms.items():
            for at in evidence.postings[form]:
                words[at] |= bits
        self._masks = Masks(parts, evidence, words) if parts.quantities else words
        self._held = [reduce(or_, words[numbers.start : numbers.stop], 0) for numbers in evidence.of_source]
        self._of_source: dict[int, list[Window]] = {}

    def may_hold(self, source: int, share: float) -> bool:
        """Whether a source may hold this share of the claim, all of its sentences and every quantity counted."""
        held = self._held[source]
        return held != 0 and self.parts.weight(held | self.parts.all_quantities) >= share * self.parts.total

    def best_sentence(self, source: int) -> list[Window]:
        """The sentence of a source that holds most of the claim's words, as a window; none where no word stands in it."""
        holding = self._holding(source)
        if not holding:
            return []
        at = max(holding, key=lambda at: self.parts.weight(self._words[at]))
        return [Window(source, at, at, self._masks[at])]

    def of_source(self, source: int) -> list[Window]:
        """The windows of a source worth trying."""
        known = self._of_source.get(source)
        if known is None:
            known = self._of_source[source] = self._tried(source)
        return known

    def _tried(self, source: int) -> list[Window]:
        """Windows around the sentences that hold most; of those that hold the same the shortest, then the first, for no other is chosen."""
        holding = self._holding(source) or self._with_figures(source)
        held, weight = self._masks if len(self.parts.quantities) <= MOST_FIGURES else self._words, self.parts.weight
        best = sorted(holding, key=lambda at: -weight(held[at]))[:CANDIDATES]
        if self._held[source] and not self.may_hold(source, LEAST_SHARE):
            return [Window(source, at, at, self._masks[at]) for at in best]
        numbers, found = self._evidence.of_source[source], dict[int, Window]()
        best.sort()
        for further in range(MOST_SENTENCES):
            low = numbers.start
            for at in best:
                for first in range(max(low, at - further), min(at + 1, numbers.stop - further)):
                    mask = self._union(first, first + further)
                    if mask not in found and self._is_together(first, first + further):
                        found[mask] = make_record(Window, (source, first, first + further, mask))
                low = at + 1
        return list(found.values())

    def _holding(self, source: int) -> list[int]:
        """The sentences of a source that hold a word of the claim."""
        return [at for at in self._evidence.of_source[source] if self._words[at]] if self._held[source] else []

    def _with_figures(self, source: int) -> list[int]:
        """The sentences that hold a quantity of the claim: all there is to find of an answer such as "17.00 uur"."""
        if not 0 < len(self.parts.quantities) <= MOST_FIGURES or len(self.parts.words) > 1:
            return []
        return [at for at in self._evidence.may_hold(source, self.parts.quantities) if self._masks[at]]

    def _union(self, first: int, last: int) -> int:
        """The bits that some of the sentences `first` to `last` (included) hold."""
        masks = self._masks
        held = masks[first]
        for at in range(first + 1, last + 1):
            held |= masks[at]
        return held

    def _is_together(self, first: int, last: int) -> bool:
        return self._evidence.sentences[first].range_ == self._evidence.sentences[last].range_

    def choose(self, sources: Sequence[int]) -> list[Window]:
        """The best window of all sources, then more while each adds enough of the claim."""
        pool = [window for source in sources for window in self.of_source(source)]
        weight, total, covered = self.parts.weight, self.parts.total, 0
        step = STEP * total
        chosen: list[Window] = []
        while pool and len(chosen) < MOST_WINDOWS:
            best, most = pool[0], -math.inf
            for window in pool:
                gain = weight(window.mask & ~covered) - step * (window.last - window.first)
                if gain > most or (gain == most and self._place(window) > self._place(best)):
                    best, most = window, gain
            new = best.mask & ~covered
            if chosen and (weight(new) < LEAST_GAIN * total or new.bit_count() < 2):
                break
            chosen.append(self._tight(best, covered))
            covered |= best.mask
        return chosen

    def _tight(self, window: Window, covered: int) -> Window:
        """A window without the sentences at its ends that hold no word of weight or figure which the rest of it does not hold."""
        counted = (self.parts.heavy | self.parts.all_quantities) & ~covered or self.parts.everything
        for first, last in ((1, 0), (0, 1), (1, 0), (0, 1)):
            low, high = window.first + first, window.last - last
            if low <= high and not window.mask & counted & ~(mask := self._union(low, high)):
                window = Window(window.source, low, high, mask)
        return window

    def _place(self, window: Window) -> tuple[int, int]:
        """What decides between windows that hold the same, whatever the order of the sources: the lower number, then the earlier place."""
        return -self._evidence.sources[window.source].number, -self._evidence.sentences[window.first].start


def union(windows: Iterable[Window]) -> int:
    """The bits that some window holds."""
    mask = 0
    for window in windows:
        mask |= window.mask
    return mask
