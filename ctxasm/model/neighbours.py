"""Whether the chunks of a dataset can have neighbours at all, and if not, why: one decision and one sentence a reason, wherever it is said.

Expansion reads the chunks at the indexes before and after a hit. It adds nothing where no index follows another, where each document is
one chunk, where the hits name no stored chunk, and where no store stands behind the hits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ctxasm.model.errors import shown

Obstacle = Literal["gaps", "order", "single", "ids", "store"]
"""Why no chunk has a neighbour: no index follows another; every second index is free, as where the order is not known; each document is
one chunk; the hits name no stored chunk; there is no store behind the hits."""
NUMBERED: tuple[Obstacle, ...] = ("gaps", "order")
"""Those that numbering by order may remove."""
EXAMPLE, LOOKED_AT = 3, 10_000
"""Indexes that a sentence shows; chunks among which a store looks for an example."""


class NoNeighbours(NamedTuple):
    """An obstacle, and a document that shows it with its first indexes ("" and none where nothing does)."""

    obstacle: Obstacle
    document_id: str = ""
    chunk_indexes: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """What is the matter and what to do, without a full stop at the end."""
        which = ", ".join(map(str, self.chunk_indexes)) or "one"
        example = f" (such as {which} of {shown(self.document_id, 60)})" if self.document_id else ""
        return _SENTENCES[self.obstacle].format(example=example)


_NUMBER = "number them by order (--number-by-order, on the Load page: Number by order)"
_SENTENCES: dict[Obstacle, str] = {
    "gaps": (
        "no chunk has a neighbour, so expansion adds nothing: no chunk_index follows another in its document{example}. If these chunks "
        f"follow one another, {_NUMBER}; if not, load those between them"
    ),
    "order": (
        "no chunk has a neighbour, so expansion adds nothing: every second chunk_index is free{example}, as where the order of the chunks, "
        f"or what stands between them, is not known. Load all of them with their offsets; if these follow one another, {_NUMBER}"
    ),
    "single": (
        "no chunk has a neighbour, so expansion adds nothing: each document is one chunk. Load the chunks that were cut from one document "
        "under one document_id"
    ),
    "ids": (
        "no neighbour was found, so expansion adds nothing: none of the hits is a chunk of the dataset{example}. Give the dataset that the "
        "hits come from, or hits with its document_id and chunk_index, or its texts"
    ),
    "store": (
        "no neighbour was found, so expansion adds nothing: no store stands behind the hits. Give the dataset that holds their chunks as "
        "the source"
    ),
}


def no_neighbours(keys: Iterable[tuple[str, int]]) -> NoNeighbours | None:
    """Why none of these chunks (document_id, chunk_index) has a neighbour; None where one has, or where there is at most one chunk.

    The chunks of a document stand together, ascending by index. Read to the first pair of neighbours.
    """
    count, doubled = 0, True
    name: str | None = None
    own: list[int] = []
    example: NoNeighbours | None = None
    for document_id, index in keys:
        count += 1
        if document_id != name:
            name, own = document_id, []
        elif index == own[-1] + 1:
            return None
        doubled &= index == 2 * len(own)
        own.append(index)
        if len(own) > 1 and (example is None or (example.document_id == name and len(own) <= EXAMPLE)):
            example = NoNeighbours("gaps", document_id, tuple(own))
    if count < 2:
        return None
    if example is None:
        return NoNeighbours("single")
    return example._replace(obstacle="order" if doubled else "gaps")
