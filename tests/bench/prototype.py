"""The least that an assembly can be: fetch, strip, group, cut to the budget, join. By the same fetch, from the same stored facts.

No header but a number and a title, no exact count (stored counts are added up), no copies, gaps, pages, summaries, markers,
citations or segments. What ctxasm takes is measured against it.
"""

from __future__ import annotations

from ctxasm.model.ports import ChunkSource, FetchedChunk, Window
from ctxasm.model.records import Query

HEADER_TOKENS = 12
LEAST_OVERLAP = 20


def assemble_least(query: Query, source: ChunkSource, window: int = 1, limit: int = 8000) -> str:
    """The text of whole documents, best first, as many as fit."""
    best: dict[str, float] = {}
    wanted: dict[str, list[int]] = {}
    for hit in query.retrieved:
        best[hit.document_id] = max(best.get(hit.document_id, hit.score), hit.score)
        wanted.setdefault(hit.document_id, []).append(hit.chunk_index)
    windows: list[Window] = []
    for document_id, indexes in wanted.items():
        last = None
        for index in sorted(indexes):
            low, high = max(0, index - window), index + window
            if last is None or low > last + 1:
                windows.append(Window(document_id, low, high))
            else:
                windows[-1] = Window(document_id, windows[-1].low, high)
            last = high
    fetched = source.fetch(windows, "cl100k_base")
    documents: dict[str, list[FetchedChunk]] = {}
    for chunk in fetched.chunks:
        documents.setdefault(chunk.document_id, []).append(chunk)
    parts: list[str] = []
    total = 0
    for number, document_id in enumerate(sorted(documents, key=lambda name: (-best[name], name)), 1):
        own = sorted(documents[document_id], key=lambda chunk: chunk.chunk_index)
        texts, tokens, before = [f"[{number}] Source: {fetched.documents[document_id].title}\n"], HEADER_TOKENS, None
        for chunk in own:
            overlap = chunk.overlap_chars or 0
            if before == chunk.chunk_index - 1 and overlap > LEAST_OVERLAP:
                texts.append(chunk.text[overlap:])
                tokens += (chunk.token_count or 0) - (chunk.overlap_tokens or 0)
            else:
                texts.append(chunk.text)
                tokens += chunk.token_count or 0
            before = chunk.chunk_index
        if total + tokens > limit:
            break
        total += tokens
        parts.append("".join(texts))
    return "\n\n".join(parts)
