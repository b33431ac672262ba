"""Stage 3: all chunks of a document together, documents by their best score.

The order itself is fixed while duplicates are resolved (the two decide each other); this stage carries it out.
"""

from __future__ import annotations

from ctxasm.model.events import Placed
from ctxasm.model.plans import Resolution


def place(resolution: Resolution) -> tuple[Placed, ...]:
    """The place of every document that still has chunks, 1 = first."""
    there = [document_id for document_id in resolution.order if resolution.shown[document_id]]
    return tuple(Placed(document_id, place, resolution.scores[document_id]) for place, document_id in enumerate(there, 1))
