"""Documents and chunks are enriched: summaries, situating contexts and canonical questions, by rules or by a language model.

What is written stays beside the data, on the shelf "enrichment VARIANT": an index reads it, the stored text never changes.
"""

from __future__ import annotations

from ctxasm.enriched import enriched_texts, enrichment_stamp

__all__ = ["enriched_texts", "enrichment_stamp"]
