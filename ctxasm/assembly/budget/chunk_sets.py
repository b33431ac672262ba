"""Sets of chunks as they grow: what they come to, and which chunk of the rest only repeats one of them."""

from __future__ import annotations

from collections.abc import Iterable

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
    """Chunks below `min_chunk_tokens`, all but the best, with the reason; an older one is judged by what stands for it."""
    least, superseded = scales.settings.min_chunk_tokens, scales.relations.superseded
    judged = {key: scales.candidates.get(superseded[key].key, c) if key in superseded else c for key, c in scales.candidates.items()}
    return {key: "degenerate" for key, c in judged.items() if c.key != best.key and (c.chunk.token_count or 0) < least}


class ChunkSet:
    """Chosen chunks, in documents that stand as they were grouped."""

    def __init__(self, scales: Scales) -> None:
        self.scales = scales
        self.chosen: dict[str, dict[int, Candidate]] = {}

    def __contains__(self, key: Key) -> bool:
        return key[1] in self.chosen.get(key[0], ())

    def keys(self) -> set[Key]:
        """The chosen chunks."""
        return {(document_id, index) for document_id, own in self.chosen.items() for index in own}

    def add(self, candidate: Candidate) -> None:
        """Take one more chunk."""
        document_id, index = candidate.key
        self.chosen.setdefault(document_id, {})[index] = candidate

    def drop(self, candidate: Candidate) -> None:
        """Give a chunk back."""
        document_id, index = candidate.key
        del self.chosen[document_id][index]
        if not self.chosen[document_id]:
            del self.chosen[document_id]

    def plans(self, cut: Candidate | None = None, at: int = 0) -> list[DocumentPlan]:
        """The documents in their order; with `cut` shown only up to character `at`."""
        return [
            self._cut_plan(cut, at) if cut is not None and cut.chunk.document_id == document_id else self._plan(document_id)
            for document_id in sorted(self.chosen, key=self.scales.place.__getitem__)
        ]

    def size(self, cut: Candidate | None = None, at: int = 0) -> int:
        """What the set comes to for the budget."""
        return self.scales.budgeted(self.plans(cut, at))

    def shown_from(self, candidate: Candidate) -> int:
        """How many characters of a chosen chunk's head its neighbours show."""
        document_id, index = candidate.key
        return next(j.start for j in self._plan(document_id).joined if j.chunk.chunk_index == index)

    def _plan(self, document_id: str) -> DocumentPlan:
        return self.scales.planned(document_id, tuple(sorted(self.chosen[document_id])))

    def _cut_plan(self, cut: Candidate, at: int) -> DocumentPlan:
        document_id, index = cut.key
        chunks = [c.chunk for _, c in sorted(self.chosen[document_id].items())]
        return self.scales.plan(document_id, join(chunks, self.scales.settings.min_overlap_chars, {index: at}))


class Repeats:
    """Which chunks only repeat chosen ones, noted while the set grows."""

    def __init__(self, scales: Scales) -> None:
        self.scales = scales
        self.likeness: dict[Key, Related] = {}
        self.orphans: set[Key] = set()

    def takes(self, candidate: Candidate, chosen: ChunkSet) -> bool:
        """Note on a chunk whether it repeats a chosen one, or was only brought by hits that repeat another document's."""
        related = next((each for each in self.scales.originals.get(candidate.key, ()) if each.key in chosen), None)
        if related is not None:
            self.likeness[candidate.key] = related
            return True
        document_id = candidate.chunk.document_id
        parents = [(document_id, parent) for parent in candidate.parents]
        if parents and all(parent in self.likeness and self.likeness[parent].key[0] != document_id for parent in parents):
            self.orphans.add(candidate.key)
            return True
        return False
