"""Sets of chunks as they grow: what they come to, and which chunk of the rest only repeats one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from ctxasm.assembly.measure import EDGES, Scales
from ctxasm.assembly.passages import join
from ctxasm.assembly.stages import Ahead, Chosen, DocumentPlan, Related
from ctxasm.model.events import Event
from ctxasm.model.results import Candidate, DocumentSize, Key


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
        self._place = scales.place.__getitem__
        self._unchanged: dict[str, DocumentPlan] = {}
        self._size: int | None = None
        self._apart = not (scales.small and scales.originals)
        """Whether what fills a document does not depend on the others: nothing small is left out because another says it."""

    def __contains__(self, key: Key) -> bool:
        return key[1] in self.chosen.get(key[0], ())

    def keys(self) -> set[Key]:
        """The chosen chunks."""
        return {(document_id, index) for document_id, own in self.chosen.items() for index in own}

    def add(self, candidate: Candidate) -> None:
        """Take one more chunk."""
        chunk = candidate.chunk
        self.chosen.setdefault(chunk.document_id, {})[chunk.chunk_index] = candidate
        self._unchanged.pop(chunk.document_id, None)
        self._size = None

    def drop(self, candidate: Candidate) -> None:
        """Give a chunk back."""
        document_id, index = candidate.key
        del self.chosen[document_id][index]
        self._unchanged.pop(document_id, None)
        self._size = None
        if not self.chosen[document_id]:
            del self.chosen[document_id]

    def takes(self, candidates: Sequence[Candidate], limit: int, likely: bool = False) -> bool:
        """Take these chunks, none of which is in, where the set comes to no more than `limit` with them; else leave it as it was.

        What surely comes to more is not put together to be counted. `likely`: by an estimate it fits, so that this is not looked at.
        """
        before, size = self._unchanged, self.size()
        self._unchanged = before.copy()
        for candidate in candidates:
            self.add(candidate)
        if (likely or self._at_least(size, before, candidates) <= limit) and self.size() <= limit:
            return True
        for candidate in candidates:
            self.drop(candidate)
        self._unchanged, self._size = before, size
        return False

    def _at_least(self, size: int, before: Mapping[str, DocumentPlan], fresh: Iterable[Candidate]) -> int:
        """What the set comes to at least, which came to `size` with other plans of the documents of these chunks."""
        if not (self._apart and self.scales.adds_up):
            return 0
        for document_id in {candidate.chunk.document_id for candidate in fresh}:
            size += self.scales.least(self._plan(document_id))
            if document_id in before:
                size -= self.scales.alone(before[document_id])
        return size

    def plans(self, cut: Candidate | None = None, at: int = 0) -> list[DocumentPlan]:
        """The documents in their order; with `cut` shown only up to character `at`."""
        ordered = sorted(self.chosen, key=self._place)
        if cut is None and self._apart:
            return [self._unchanged.get(document_id) or self._plan(document_id) for document_id in ordered]
        filled = self._filled(ordered, cut)
        return [
            self._cut_plan(filled[document_id], cut, at)
            if cut is not None and cut.chunk.document_id == document_id
            else self.scales.planned(document_id, filled[document_id])
            for document_id in ordered
        ]

    def _plan(self, document_id: str) -> DocumentPlan:
        plan = self._unchanged[document_id] = self.scales.planned(document_id, self._filled([document_id])[document_id])
        return plan

    def size(self, cut: Candidate | None = None, at: int = 0) -> int:
        """What the set comes to for the budget."""
        if cut is not None:
            return self.scales.budgeted(self.plans(cut, at))
        if self._size is None:
            self._size = self.scales.budgeted(self.plans())
        return self._size

    def shown_from(self, candidate: Candidate) -> int:
        """How many characters of a chosen chunk's head its neighbours show."""
        document_id, index = candidate.key
        ordered = sorted(self.chosen, key=self._place)
        plan = self.scales.planned(document_id, self._filled(ordered, candidate)[document_id])
        return next(j.start for j in plan.joined if j.chunk.chunk_index == index)

    def _filled(self, ordered: Sequence[str], cut: Candidate | None = None) -> dict[str, tuple[int, ...]]:
        """The indexes that each of these documents shows. What is cut has no neighbour behind its end."""
        filled = {document_id: tuple(sorted(self.chosen[document_id])) for document_id in ordered}
        small, originals = self.scales.small, self.scales.originals
        if not small:
            return filled
        there: set[Key] = set()
        for document_id, indexes in filled.items():
            fresh: list[int] = []
            for low, high in pairwise(indexes):
                # What is large is most often told by the first of them.
                if high == low + 1 or (document_id, low + 1) not in small or (cut is not None and cut.key == (document_id, low)):
                    continue
                between = [(document_id, index) for index in range(low + 1, high)]
                if not small.issuperset(between):
                    continue
                there = there or self.keys()
                for key in between:
                    if not any(related.key in there for related in originals.get(key, ())):
                        there.add(key)
                        fresh.append(key[1])
            if fresh:
                filled[document_id] = tuple(sorted((*indexes, *fresh)))
        return filled

    def _cut_plan(self, indexes: tuple[int, ...], cut: Candidate, at: int) -> DocumentPlan:
        document_id, index = cut.key
        chunks = [self.scales.own[document_id][each].chunk for each in indexes]
        return self.scales.plan(document_id, join(chunks, self.scales.settings.min_overlap_chars, {index: at}))


def fill(
    chosen: ChunkSet, groups: Sequence[Sequence[Candidate]], limit: int, repeats: Callable[[Sequence[Candidate]], bool] = lambda _: False
) -> list[int]:
    """Take of these groups of chunks each that fits beside what is in by then, and that does not `repeats` it; which they are.

    While all fit, twice as many are tried at once: what fits with the last of them fits without it, but for what merges at its edges.
    """
    several = chosen.scales.adds_up and not chosen.scales.originals
    taken: list[int] = []
    at, step = 0, 1
    while at < len(groups):
        together = range(at, min(at + step, len(groups)))
        fresh = {candidate.key: candidate for place in together for candidate in groups[place] if candidate.key not in chosen}
        left_out = step == 1 and repeats(groups[at])
        if not left_out and (not fresh or chosen.takes([*fresh.values()], limit - EDGES * (len(together) - 1))):
            taken += together
            at, step = at + step, step * 2 if several else 1
        elif step > 1:
            step //= 2
        else:
            at += 1
    return taken


class Repeats:
    """Which chunks only repeat chosen ones, noted while the set grows."""

    def __init__(self, scales: Scales) -> None:
        self.originals = scales.originals
        self.likeness: dict[Key, Related] = {}
        self.orphans: set[Key] = set()

    def takes(self, candidate: Candidate, chosen: ChunkSet) -> bool:
        """Note on a chunk whether it repeats a chosen one, or was only brought by hits that repeat another document's."""
        if not self.originals:
            return False
        related = next((each for each in self.originals.get(candidate.key, ()) if each.key in chosen), None)
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


def nothing_ahead() -> tuple[Ahead, ...]:
    """For a policy in which what a chunk lacks is no single number."""
    return ()


def taken(
    scales: Scales,
    chosen: ChunkSet,
    reasons: Mapping[Key, str],
    ahead: Callable[[], Iterable[Ahead]] = nothing_ahead,
    cut: Candidate | None = None,
    cut_at: int = 0,
    plans: Sequence[DocumentPlan] = (),
    yielded: Sequence[Event] = (),
) -> Chosen:
    """The set with `cut` shown up to character `cut_at`; `plans` replace those of the set where a frame gave way."""
    final = tuple(plans) or tuple(chosen.plans(cut, cut_at))
    kept = {plan.document.document_id for plan in final}
    return Chosen(final, lambda missing: _sizes(scales, kept, missing), ahead, reasons, tuple(yielded))


def _sizes(scales: Scales, kept: set[str], missing: Mapping[Key, int]) -> tuple[DocumentSize, ...]:
    """Every document as a whole on the token axis; one of which anything is shown counts as kept."""
    plans = scales.all_plans()
    sizes, before = [], 0
    for plan, (end, _) in zip(plans, scales.sizes(plans), strict=True):
        document_id = plan.document.document_id
        lacks = [missing[document_id, j.chunk.chunk_index] for j in plan.joined if (document_id, j.chunk.chunk_index) in missing]
        there = document_id in kept
        sizes.append(DocumentSize(document_id, end - before, end, there, None if there else min(lacks, default=None)))
        before = end
    return tuple(sizes)
