"""The blocks of an assembly one by one, each with its citation: what a framework hands on in place of documents."""

from __future__ import annotations

from typing import Any, NamedTuple

from ctxasm.model.results import Assembly, Citation


class Block(NamedTuple):
    """One block as it stands in the context, its citation as JSON values, and the best score among its chunks."""

    text: str
    metadata: dict[str, Any]
    score: float


def blocks_of(assembly: Assembly) -> list[Block]:
    """All blocks in order. Joined by a blank line, or by `block_separator`, they are the context (but for a supplement before them)."""
    spans: dict[int, tuple[int, int, int]] = {}
    for segment in assembly.segments:
        if segment.block is not None:
            start, _, tokens = spans.get(segment.block, (segment.start, 0, 0))
            spans[segment.block] = (start, segment.end, tokens + segment.tokens)
    fates = {(fate.document_id, fate.chunk_index): fate for fate in assembly.trace.fates}
    found = []
    for citation in assembly.citations:
        start, end, tokens = spans[citation.number]
        own = [fates[citation.document_id, index] for index in citation.chunk_indexes]
        score = max(fate.score for fate in own)
        retrieved = [fate.chunk_index for fate in own if fate.retrieved]
        found.append(
            Block(assembly.text[start:end], {**_metadata(citation), "retrieved": retrieved, "score": score, "tokens": tokens}, score)
        )
    return found


def _metadata(citation: Citation) -> dict[str, Any]:
    return {
        "number": citation.number,
        "document_id": citation.document_id,
        "title": citation.title,
        "source": citation.source,
        "ref": citation.ref,
        "page_number": citation.page_number,
        "row_number": citation.row_number,
        "chunk_indexes": list(citation.chunk_indexes),
        "snippet": citation.snippet,
        "also_in": [{"document_id": document_id, "chunk_index": index} for document_id, index in citation.also_in],
    }
