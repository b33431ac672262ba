"""From documents to chunks: what a user gives is collected, read apart by kind, and cut into chunks with exact offsets.

Start at `ingest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxasm.model.lazy import door

if TYPE_CHECKING:
    from ctxasm.data.documents.ingesting import FileProblem, IngestReport, ingest
    from ctxasm.data.documents.options import IngestOptions, ReadLimits

__all__ = ["FileProblem", "IngestOptions", "IngestReport", "ReadLimits", "ingest"]
__getattr__ = door(
    __name__,
    ingesting="FileProblem IngestReport ingest",
    options="IngestOptions ReadLimits",
)
