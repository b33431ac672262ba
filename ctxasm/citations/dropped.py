"""An unknown number that a document would have had: which one, and which stage dropped it and why.

Two lists could have given a model or a reader that number. First the order in which the documents were considered, of
which the context shows the beginning: documents 1 to n are the blocks, the dropped ones go on with n + 1. Where that
order ends, the list as it would be if citations were built before assembly. A number beyond both is simply unknown.
"""

from __future__ import annotations

from collections.abc import Iterable

from ctxasm.citations.checked import DroppedSource
from ctxasm.model.results import Assembly, Fate


def dropped_numbers(assembly: Assembly, numbers: Iterable[int]) -> tuple[DroppedSource, ...]:
    """Those of `numbers` that a dropped document explains, in their order, each once. A number of a citation never is."""
    existing = {citation.number for citation in assembly.citations}
    cited = {citation.document_id for citation in assembly.citations}
    ordered = [size.document_id for size in assembly.trace.sizes if size.document_id not in cited]
    going_on = dict(enumerate(dict.fromkeys(ordered), start=max(existing, default=0) + 1))
    before = {entry.number: entry.document_id for entry in assembly.trace.before_assembly if entry.document_id not in cited}
    found: list[DroppedSource] = []
    for number in dict.fromkeys(numbers):
        document_id = going_on.get(number) or before.get(number)
        if number in existing or document_id is None:
            continue
        if fate := _decisive(assembly.trace.fates, document_id):
            found.append(DroppedSource(number, document_id, fate.stage, fate.reason))
    return tuple(found)


def _decisive(fates: Iterable[Fate], document_id: str) -> Fate | None:
    """The fate that speaks for a document: that of its best retrieved chunk, of any chunk where none was retrieved."""
    own = [fate for fate in fates if fate.document_id == document_id and fate.fate in ("dropped", "duplicate_of")]
    return min(own, key=lambda fate: (not fate.retrieved, fate.fate != "dropped", fate.rank, fate.chunk_index), default=None)
