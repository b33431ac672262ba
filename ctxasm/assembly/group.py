"""Stage 3: all chunks of a document together, documents by their best score. From here on no stage sorts them again.

Which document comes first and which copy stays decide each other, so the order is found while duplicates are resolved; this stage
carries it out.
"""

from __future__ import annotations

from ctxasm.assembly.steps import Grouped, Unique
from ctxasm.model.events import Placed


def group(one: Unique) -> Grouped:
    """The documents in their order."""
    return Grouped(one.found, one.relations, one.own, one.resolution, one.resolution.order)


def places(grouped: Grouped) -> tuple[Placed, ...]:
    """The place of every document that shows something, 1 = first."""
    return tuple(Placed(document_id, place, grouped.resolution.scores[document_id]) for place, document_id in enumerate(grouped.there, 1))
