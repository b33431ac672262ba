"""What is said of a document and its chunks so that an index finds them: summaries, situating contexts, canonical questions.

Start at `enrich`. None of it changes a stored text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.data.enrich.cache import enriched_texts, enrichment_stamp, enrichments, forget_written, state, written_for
    from ctxasm.data.enrich.enriching import EnrichOptions, EnrichReport, Estimate, enrich, estimate

__all__ = [
    "EnrichOptions",
    "EnrichReport",
    "Estimate",
    "enrich",
    "enriched_texts",
    "enrichment_stamp",
    "enrichments",
    "estimate",
    "forget_written",
    "state",
    "written_for",
]
__getattr__ = door(
    __name__,
    cache="enriched_texts enrichment_stamp enrichments forget_written state written_for",
    enriching="EnrichOptions EnrichReport Estimate enrich estimate",
)
