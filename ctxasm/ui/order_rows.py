"""Rows of group and order: from order by score to position in the context, and what that does to citation numbers. Pure."""

from __future__ import annotations

from typing import NamedTuple

from ctxasm.model.events import Ordered
from ctxasm.model.results import Assembly
from ctxasm.ui.words import title_of

SLOPE_LIMIT = 15
"""Above this many chunks the slope is drawn by document."""


class SlopeLine(NamedTuple):
    """From a place by score (1 = best) to a place in the context (None: not in it)."""

    label: str
    document_id: str
    chunk_index: int | None
    by_score: int
    in_context: int | None
    retrieved: bool


def slope(assembly: Assembly) -> tuple[SlopeLine, ...]:
    """Order by score against position in the context, by chunk; by document above SLOPE_LIMIT chunks."""
    fates = sorted(assembly.trace.fates, key=lambda f: (-f.score, f.rank, f.document_id, f.chunk_index))
    shown = dict.fromkeys((s.document_id, s.chunk_index) for s in assembly.segments if s.kind == "chunk")
    places = {key: place for place, key in enumerate(shown, 1)}
    if len(fates) <= SLOPE_LIMIT:
        names = {key: title_of(assembly.trace.documents, key, 28) for key in assembly.trace.documents}
        return tuple(
            SlopeLine(
                f"{by_score}. #{f.chunk_index} {names.get(f.document_id, f.document_id)}",
                f.document_id,
                f.chunk_index,
                by_score,
                places.get((f.document_id, f.chunk_index)),
                f.retrieved,
            )
            for by_score, f in enumerate(fates, 1)
        )
    documents = dict.fromkeys(key for key, _ in shown if key is not None)
    document_places = {key: place for place, key in enumerate(documents, 1)}
    best = dict.fromkeys(f.document_id for f in fates)
    return tuple(
        SlopeLine(f"{by_score}. {title_of(assembly.trace.documents, key, 36)}", key, None, by_score, document_places.get(key), True)
        for by_score, key in enumerate(best, 1)
    )


MOST_BLOCKS = 30
"""Blocks that the picture of the order draws: the most relevant ones."""


class Place(NamedTuple):
    """A block: its place by relevance and its position in the context, 1 = first; its best score and that chunk's rank."""

    label: str
    relevance: int
    position: int
    score: float
    rank: int


def block_order(assembly: Assembly) -> tuple[Place, ...]:
    """The blocks by relevance (best score, then rank), each with its position in the context."""
    record = assembly.trace.stage("order")
    placed = [event for event in record.events if isinstance(event, Ordered)] if record else []
    best_first = sorted(placed, key=lambda event: (-event.score, event.rank, event.document_id, event.chunk_indexes))
    documents = assembly.trace.documents
    return tuple(
        Place(f"{title_of(documents, e.document_id, 30)} {_span(e.chunk_indexes)}", relevance, e.position, e.score, e.rank)
        for relevance, e in enumerate(best_first, 1)
    )


def _span(indexes: tuple[int, ...]) -> str:
    low, high = min(indexes), max(indexes)
    return f"#{low}" if low == high else f"#{low}–{high}"


def attention(position: float, blocks: int) -> float:
    """How well a model reads the block at this position, 0 to 1: a U, best at both ends. A hint, no measurement.

    After the bookend guide (Liu et al. 2024): full at the ends, least in the middle.
    """
    if blocks < 2:
        return 1.0
    at = 2 * (position - 1) / (blocks - 1) - 1
    return 0.25 + 0.75 * at * at


def at_the_ends(places: tuple[Place, ...]) -> int:
    """How many of the two best blocks stand first or last."""
    return sum(place.position in (1, len(places)) for place in places[:2])


class Shift(NamedTuple):
    """A marker of the list built before assembly, and the markers that point to the same document after it."""

    before: int
    document_id: str
    title: str
    after: tuple[int, ...]

    @property
    def wrong(self) -> bool:
        """Whether the old number would point at another source, or at none."""
        return self.before not in self.after


def citation_shift(assembly: Assembly) -> tuple[Shift, ...]:
    """`before [2] → after [1]`, an entry for each number of the list built before assembly."""
    after: dict[str, list[int]] = {}
    for citation in assembly.citations:
        for document_id in {citation.document_id, *(key for key, _ in citation.also_in)}:
            after.setdefault(document_id, []).append(citation.number)
    titles = assembly.trace.documents
    return tuple(
        Shift(p.number, p.document_id, title_of(titles, p.document_id), tuple(after.get(p.document_id, ())))
        for p in assembly.trace.before_assembly
    )
