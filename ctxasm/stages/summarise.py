"""Stage 5: the page summary, once before the first rendered chunk of each document that has one.

Contextual retrieval at query time: a fragment says what page it comes from, and the page says it only once.
"""

from __future__ import annotations

from collections.abc import Iterable

from ctxasm.model.events import Prefixed
from ctxasm.model.records import Document
from ctxasm.model.results import Segment
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.visible import is_visible, one_line


def prefix_of(document: Document, settings: AssemblySettings) -> str:
    """The summary line of a document, or nothing where it has no summary or prefixes are off."""
    if not settings.summary_prefix or not document.summary or not is_visible(document.summary):
        return ""
    return settings.summary_template.replace("{summary}", one_line(document.summary))


def prefixed(segments: Iterable[Segment]) -> tuple[Prefixed, ...]:
    """The summaries that were written, with the tokens each added."""
    return tuple([Prefixed(segment.document_id or "", segment.tokens) for segment in segments if segment.kind == "prefix"])
