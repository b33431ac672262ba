"""Sets of chunks as they grow: what they come to, and which chunk of the rest only repeats one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxasm.budgeting.desk import Desk
from ctxasm.model.passages import join
from ctxasm.model.plans import DocumentPlan, Related
from ctxasm.model.results import Candidate, Key


def by_standing(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best score first; of equals a hit before a neighbour, the better rank, the document, the lower index."""
    return sorted(candidates, key=lambda c: (-c.score, not c.retrieved, c.rank, *c.key))


def degenerate(desk: Desk, best: Candidate) -> dict[Key, str]:
    """Chunks below `min_chunk_tokens`, all but the best, with the reason; an older one is judged by what stands for it."""
    least, superseded = desk.settings.min_chunk_tokens, desk.relations.superseded
    judged = {key: desk.candidates.get(superseded[key].key, c) if key in superseded else c for key, c in desk.candidates.items()}
    return {key: "degenerate" for key, c in judged.items() if c.key != best.key and (c.chunk.token_count or 0) < least}


class ChunkSet:
    """Chosen chunks, in documents that stand by the best of their chunks."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.chosen: dict[str, dict[int, Candidate]] = {}
        self._standing: dict[str, tuple[float, int, str]] = {}

    def copy(self) -> ChunkSet:
        """The same set, free to grow."""
        other = ChunkSet(self.desk)
        other.chosen = {document_id: dict(own) for document_id, own in self.chosen.items()}
        other._standing = dict(self._standing)
        return other

    def __contains__(self, key: Key) -> bool:
        return key[1] in self.chosen.get(key[0], ())

    def keys(self) -> set[Key]:
        """The chosen chunks."""
        return {(document_id, index) for document_id, own in self.chosen.items() for index in own}

    def add(self, candidate: Candidate) -> None:
        """Take one more chunk."""
        document_id, index = candidate.key
        self.chosen.setdefault(document_id, {})[index] = candidate
        self._place(document_id)

    def drop(self, candidate: Candidate) -> None:
        """Give a chunk back."""
        document_id, index = candidate.key
        del self.chosen[document_id][index]
        self._place(document_id)

    def _place(self, document_id: str) -> None:
        own = self.chosen[document_id].values()
        if own:
            self._standing[document_id] = (-max([c.score for c in own]), min([c.rank for c in own]), document_id)
        else:
            del self.chosen[document_id], self._standing[document_id]

    def plans(self, cut: Candidate | None = None, at: int = 0) -> list[DocumentPlan]:
        """The documents, best first; with `cut` shown only up to character `at`."""
        order = sorted(self._standing, key=self._standing.__getitem__)
        return [
            self._cut_plan(cut, at) if cut is not None and cut.chunk.document_id == document_id else self._plan(document_id)
            for document_id in order
        ]

    def size(self, cut: Candidate | None = None, at: int = 0) -> int:
        """What the set comes to for the budget."""
        return self.desk.budgeted(self.plans(cut, at))

    def shown_from(self, candidate: Candidate) -> int:
        """How many characters of a chosen chunk's head its neighbours show."""
        document_id, index = candidate.key
        return next(j.start for j in self._plan(document_id).joined if j.chunk.chunk_index == index)

    def _plan(self, document_id: str) -> DocumentPlan:
        return self.desk.planned(document_id, tuple(sorted(self.chosen[document_id])))

    def _cut_plan(self, cut: Candidate, at: int) -> DocumentPlan:
        document_id, index = cut.key
        chunks = [c.chunk for _, c in sorted(self.chosen[document_id].items())]
        return self.desk.plan(document_id, join(chunks, self.desk.settings.min_overlap_chars, {index: at}))


class Repeats:
    """Which chunks only repeat chosen ones, worked out while the set grows."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.likeness: dict[Key, Related] = {}
        self.orphans: set[Key] = set()

    def of(self, candidate: Candidate, chosen: ChunkSet) -> Related | None:
        """The chosen chunk that says the same."""
        return next((related for related in self.desk.originals.get(candidate.key, ()) if related.key in chosen), None)

    def takes(self, candidate: Candidate, chosen: ChunkSet) -> bool:
        """Note on a chunk whether it repeats a chosen one, or was only brought by hits that repeat another document's."""
        related = self.of(candidate, chosen)
        if related is not None:
            self.likeness[candidate.key] = related
            return True
        document_id = candidate.chunk.document_id
        parents = [(document_id, parent) for parent in candidate.parents]
        if parents and all(parent in self.likeness and self.likeness[parent].key[0] != document_id for parent in parents):
            self.orphans.add(candidate.key)
            return True
        return False

    def settle(self, left: Sequence[Candidate], chosen: ChunkSet) -> None:
        """What repeats the chosen set of everything that was not looked at."""
        for candidate in left:
            newer = self.desk.relations.superseded.get(candidate.key)
            if newer is not None and newer.key in chosen:
                self.likeness[candidate.key] = newer
            elif candidate.key not in self.likeness and candidate.key not in self.orphans:
                self.takes(candidate, chosen)
