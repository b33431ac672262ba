"""Sets of chunks as they grow: what they come to, and which chunk of the rest only repeats one of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from ctxasm.assembly.budget.scales import Scales
from ctxasm.assembly.passages import join
from ctxasm.assembly.steps import DocumentPlan, Related
from ctxasm.model.results import Candidate, Key


def by_standing(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best score first; of equals a hit before a neighbour, the better rank, the document, the lower index."""
    return sorted(candidates, key=lambda c: (-c.score, not c.retrieved, c.rank, *c.key))


def in_sequence(scales: Scales) -> list[Candidate]:
    """All chunks that may be taken, best first. What a newer chunk stands for is not: that one stands in its place."""
    return [candidate for candidate in by_standing(scales.candidates.values()) if not scales.superseded(candidate.key)]


def degenerate(scales: Scales, best: Candidate) -> dict[Key, str]:
    """Chunks below `min_chunk_tokens`, all but the best, with the reason; an older one is judged by what stands for it.

    None of them is chosen; one whose neighbours are in comes in with them (see `ChunkSet`).
    """
    small, superseded = scales.small, scales.relations.superseded
    judged = {key: superseded[key].key if key in superseded else key for key in scales.candidates} if superseded else {k: k for k in small}
    return {key: "degenerate" for key, of in judged.items() if of in small and of != best.key}


class ChunkSet:
    """Chosen chunks, in documents that stand as they were grouped.

    What is too small to be chosen stands between chosen chunks all the same, where no gap is left beside it: a heading costs hardly
    more than the gap mark in its place. It follows from what is chosen, so whatever is chosen or dropped, nothing has to be undone.
    """

    def __init__(self, scales: Scales, chosen: dict[str, dict[int, Candidate]] | None = None) -> None:
        self.scales = scales
        self.chosen = {} if chosen is None else chosen
        self._ascending: dict[str, tuple[int, ...]] = {}

    def __contains__(self, key: Key) -> bool:
        return key[1] in self.chosen.get(key[0], ())

    def keys(self) -> set[Key]:
        """The chosen chunks."""
        return {(document_id, index) for document_id, own in self.chosen.items() for index in own}

    def add(self, candidate: Candidate) -> None:
        """Take one more chunk."""
        document_id, index = candidate.key
        self.chosen.setdefault(document_id, {})[index] = candidate
        self._ascending.pop(document_id, None)

    def drop(self, candidate: Candidate) -> None:
        """Give a chunk back."""
        document_id, index = candidate.key
        del self.chosen[document_id][index]
        self._ascending.pop(document_id, None)
        if not self.chosen[document_id]:
            del self.chosen[document_id]

    def plans(self, cut: Candidate | None = None, at: int = 0) -> list[DocumentPlan]:
        """The documents in their order; with `cut` shown only up to character `at`."""
        filled = self._filled(cut)
        return [
            self._cut_plan(filled[document_id], cut, at)
            if cut is not None and cut.chunk.document_id == document_id
            else self.scales.planned(document_id, filled[document_id])
            for document_id in filled
        ]

    def size(self, cut: Candidate | None = None, at: int = 0) -> int:
        """What the set comes to for the budget."""
        return self.scales.budgeted(self.plans(cut, at))

    def fits(self, limit: int) -> bool:
        """Whether the set comes to no more than `limit`."""
        return self.scales.fits(self.plans(), limit)

    def shown_from(self, candidate: Candidate) -> int:
        """How many characters of a chosen chunk's head its neighbours show."""
        document_id, index = candidate.key
        plan = self.scales.planned(document_id, self._filled(candidate)[document_id])
        return next(j.start for j in plan.joined if j.chunk.chunk_index == index)

    def _filled(self, cut: Candidate | None = None) -> dict[str, tuple[int, ...]]:
        """The indexes that each document shows, the documents in their order. What is cut has no neighbour behind its end."""
        ascending = self._ascending
        for document_id, own in self.chosen.items():
            if document_id not in ascending:
                ascending[document_id] = tuple(sorted(own))
        ordered = {document_id: ascending[document_id] for document_id in sorted(self.chosen, key=self.scales.place.__getitem__)}
        small = self.scales.small
        if not small:
            return ordered
        there: set[Key] = set()
        for document_id, indexes in list(ordered.items()):
            filled = False
            for low, high in pairwise(indexes):
                # What is large is most often told by the first of them.
                if high == low + 1 or (document_id, low + 1) not in small or (cut is not None and cut.key == (document_id, low)):
                    continue
                between = [(document_id, index) for index in range(low + 1, high)]
                if not small.issuperset(between):
                    continue
                there = there or self.keys()
                for key in between:
                    if not any(related.key in there for related in self.scales.originals.get(key, ())):
                        there.add(key)
                        filled = True
            if filled:
                ordered[document_id] = self._shown(document_id, there)
        return ordered

    def _shown(self, document_id: str, there: set[Key]) -> tuple[int, ...]:
        return tuple([index for index in self.scales.own[document_id] if (document_id, index) in there])

    def _cut_plan(self, indexes: tuple[int, ...], cut: Candidate, at: int) -> DocumentPlan:
        document_id, index = cut.key
        chunks = [self.scales.own[document_id][each].chunk for each in indexes]
        return self.scales.plan(document_id, join(chunks, self.scales.settings.min_overlap_chars, {index: at}))


class Repeats:
    """Which chunks only repeat chosen ones, noted while the set grows."""

    def __init__(self, scales: Scales) -> None:
        self.scales = scales
        self.likeness: dict[Key, Related] = {}
        self.orphans: set[Key] = set()

    def takes(self, candidate: Candidate, chosen: ChunkSet) -> bool:
        """Note on a chunk whether it repeats a chosen one, or was only brought by hits that repeat another document's."""
        originals = self.scales.originals
        if not originals:
            return False
        related = next((each for each in originals.get(candidate.key, ()) if each.key in chosen), None)
        if related is not None:
            self.likeness[candidate.key] = related
            return True
        if not self.likeness:
            return False
        document_id = candidate.chunk.document_id
        parents = [(document_id, parent) for parent in candidate.parents]
        if parents and all(parent in self.likeness and self.likeness[parent].key[0] != document_id for parent in parents):
            self.orphans.add(candidate.key)
            return True
        return False
