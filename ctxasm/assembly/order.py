"""Stage 5: the order in which the chosen blocks stand. What is chosen is settled; this only says what comes first.

Models read the two ends of a context best (the bookend guide's U-shaped attention), so every ordering but
`chronological` puts the best block first, and most put another good one last. `document_first` (five-stage pipeline) keeps
the documents as they were grouped. Inside a block chunks stay in reading order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeVar

from ctxasm.assembly.passages import Joined, join
from ctxasm.assembly.stages import Arranged, Block, BlockPlan, Chosen, DocumentPlan
from ctxasm.model.events import Ordered
from ctxasm.model.results import Candidate, Key
from ctxasm.model.settings import AssemblySettings

FEW = 3
"""Up to this many blocks `auto` orders by relevance: there is no middle to get lost in (bookend guide)."""
Candidates = Mapping[Key, Candidate]


class _Unit(NamedTuple):
    """What is ordered as a whole: a document, a passage or a chunk."""

    plan: DocumentPlan
    group: tuple[Joined, ...]


def order(chosen: Chosen, settings: AssemblySettings, candidates: Candidates) -> Arranged:
    """The chosen documents as blocks, in the order in which they are written."""
    return Arranged(arrange(chosen.plans, settings, candidates))


def arrange(plans: Sequence[DocumentPlan], settings: AssemblySettings, candidates: Candidates) -> tuple[BlockPlan, ...]:
    """The blocks of these documents in the order in which they are written. `plans` come best first."""
    unit, ordering = settings.citation_unit, settings.ordering
    if ordering == "document_first":
        return _blocks([(plan, groups_of(plan.joined, unit)) for plan in plans])
    if settings.order_level == "document" or unit == "document":
        whole = _ordered([_Unit(plan, plan.joined) for plan in plans if plan.joined], ordering, candidates)
        return _blocks([(plan, groups_of(joined, unit)) for plan, joined in whole])
    units = [_Unit(plan, group) for plan in plans for group in groups_of(plan.joined, "passage")]
    if unit == "passage":
        return _blocks([(plan, [group]) for plan, group in _ordered(units, ordering, candidates)])
    chunks = [_Unit(plan, (j,)) for plan in plans for j in plan.joined]
    return _blocks(_rejoined(_ordered(chunks, ordering, candidates), settings.min_overlap_chars))


def groups_of(joined: Sequence[Joined], unit: str) -> list[tuple[Joined, ...]]:
    """The blocks of a document: all of it, one a passage, or one a chunk. A merged chunk joins the block before it."""
    if unit == "document":
        return [tuple(joined)] if joined else []
    groups: list[list[Joined]] = []
    for j in joined:
        if not groups or (unit == "passage" and j.opens) or (unit == "chunk" and not j.merged):
            groups.append([])
        groups[-1].append(j)
    return [tuple(group) for group in groups]


def _blocks(documents: Iterable[tuple[DocumentPlan, Sequence[tuple[Joined, ...]]]]) -> tuple[BlockPlan, ...]:
    return tuple([BlockPlan(plan, group, False) for plan, groups in documents for group in groups])


def _rejoined(units: Sequence[_Unit], min_overlap_chars: int) -> list[tuple[DocumentPlan, list[tuple[Joined, ...]]]]:
    """Chunks in their new places: only neighbours that now stand directly after each other share their overlap."""
    documents = []
    for _, run in groupby(units, lambda unit: unit.plan.document.document_id):
        own = list(run)
        # A chunk that was cut shows its beginning whatever stands before it.
        ends = {unit.group[0].chunk.chunk_index: unit.group[0].end for unit in own}
        documents.append((own[0].plan, groups_of(join([unit.group[0].chunk for unit in own], min_overlap_chars, ends), "chunk")))
    return documents


def _ordered(units: Sequence[_Unit], ordering: str, candidates: Candidates) -> list[_Unit]:
    if ordering == "chronological":
        return sorted(units, key=_place_in_source)
    best_first = sorted(units, key=lambda unit: standing(unit.plan.document.document_id, unit.group, candidates))
    return ORDERINGS[ordering](best_first)


def standing(document_id: str, group: Sequence[Joined], candidates: Candidates) -> tuple[float, int, str, int]:
    """What blocks are ordered by: best score first, then that chunk's rank, document and index."""
    own = [candidates[document_id, j.chunk.chunk_index] for j in group]
    return min([(-c.score, c.rank, document_id, c.chunk.chunk_index) for c in own])


def _place_in_source(unit: _Unit) -> tuple[str, str, int, int]:
    """Source, page, index: the order of an assembler that sorts fragments back into their files."""
    document, chunk = unit.plan.document, unit.group[0].chunk
    return (document.source or document.title or document.document_id, document.document_id, chunk.page_number or 0, chunk.chunk_index)


T = TypeVar("T")


def lost_in_middle(best_first: Sequence[T]) -> list[T]:
    """Alternating from both ends, best first: 1 3 5 … 6 4 2. The weakest stand in the middle."""
    return [*best_first[::2], *reversed(best_first[1::2])]


def bookend(best_first: Sequence[T]) -> list[T]:
    """Best first, second best last, the rest in between by relevance (bookend guide)."""
    return [*best_first[:1], *best_first[2:], *best_first[1:2]]


def auto(best_first: Sequence[T]) -> list[T]:
    """By relevance up to three blocks, else bookend."""
    return list(best_first) if len(best_first) <= FEW else bookend(best_first)


ORDERINGS: Mapping[str, Callable[[Sequence[_Unit]], list[_Unit]]] = {
    "relevance": list,
    "lost_in_middle": lost_in_middle,
    "bookend": bookend,
    "auto": auto,
}


def ordered_events(blocks: Iterable[Block], candidates: Candidates) -> tuple[Ordered, ...]:
    """The place of every block with what it was ordered by."""
    events = []
    for block in blocks:
        own = [candidates[block.document_id, index] for index in block.chunk_indexes]
        best = min(own, key=lambda c: (-c.score, c.rank))
        events.append(Ordered(block.number, block.document_id, block.chunk_indexes, best.score, best.rank))
    return tuple(events)
