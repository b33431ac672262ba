"""What is said of a document and its chunks so that an index finds them: summaries, situating contexts, canonical questions.

None of it changes a stored text. Other rooms take what they need from here; it is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxasm.data.enrich.enriched import enriched_texts, enrichment_stamp, enrichments, forget_written, state, written_for
    from ctxasm.data.enrich.enriching import enrich, estimate
    from ctxasm.data.enrich.reports import EnrichReport, Estimate
    from ctxasm.data.enrich.run import EnrichOptions

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
_ELSEWHERE = {"EnrichOptions": "run", "EnrichReport": "reports", "Estimate": "reports", "enrich": "enriching", "estimate": "enriching"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'enriched')}"), name)
    globals()[name] = value
    return value
