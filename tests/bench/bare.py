"""The same assembly with nothing explained: no segments, fates, events, sizes of what was dropped, citations or regret.

Only the text and its exact token count, from the stored facts. It is what the trace is measured against, and it must give
the very same text.
"""

from __future__ import annotations

from ctxasm.assembly.expand import plan_expansion, rank_hits
from ctxasm.model.ports import ChunkSource, TokenCounter
from ctxasm.model.records import Query
from ctxasm.text.chunk_facts import complete
from ctxasm.text.markers.collisions import might_hold_marker
from ctxasm.text.overlap import overlap_of


def assemble_bare(query: Query, source: ChunkSource, counter: TokenCounter, window: int = 1, limit: int = 8000) -> tuple[str, int] | None:
    """Text and exact token count under the default settings; None where the query needs more than the plain way: copies,
    markers in the text, nested chunks, or a best document that is too big."""
    hits = rank_hits(query, None).hits
    fetched = source.fetch(plan_expansion(hits, window), "cl100k_base")
    stored = {(c.document_id, c.chunk_index): c for c in complete(fetched.chunks, counter)}
    if len({c.duplicate_key for c in stored.values()}) < len(stored):
        return None
    best: dict[str, tuple[float, int]] = {}
    for hit in hits:
        standing = (-hit.score, hit.rank or 0)
        best[hit.document_id] = min(best.get(hit.document_id, standing), standing)
    indexes: dict[str, list[int]] = {}
    for document_id, index in stored:
        indexes.setdefault(document_id, []).append(index)
    tally = counter.tally()
    texts: list[str] = []
    kept, count = 0, 0
    for number, document_id in enumerate(sorted(indexes, key=lambda d: (*best[d], d)), 1):
        document = fetched.documents[document_id]
        if number > 1:
            texts.append("\n\n")
            tally.add("\n\n")
        own = [stored[document_id, index] for index in sorted(indexes[document_id])]
        pages = sorted({c.page_number for c in own if c.page_number is not None})
        where = "" if not pages else f", page {pages[0]}" if len(pages) == 1 else f", pages {pages[0]}–{pages[-1]}"
        head = f"[{number}] Source: {document.title or document.source or document_id}{where}\n"
        texts.append(head)
        tally.add(head)
        if document.summary:
            texts.append(f"[Pagina context: {document.summary}]\n")
            tally.add(texts[-1])
        before = None
        for chunk in own:
            if might_hold_marker(chunk.text):
                return None
            adjacent = before is not None and before.chunk_index == chunk.chunk_index - 1
            chars = 0
            if before is not None and adjacent:
                chars = chunk.overlap_chars if chunk.overlap_chars is not None else overlap_of(before, chunk).chars
                if chunk.overlap_kind == "coincidence" or chars <= 20:
                    chars = 0
            elif before is not None:
                gap = "[…]\n" if before.text.endswith("\n") else "\n[…]\n"
                texts.append(gap)
                tally.add(gap)
            if chars:
                if chunk.overlap_tokens is None or chars >= len(chunk.text):
                    return None
                texts.append(chunk.text[chars:])
                tally.add(texts[-1], None, (chunk.token_count or 0) - chunk.overlap_tokens)
            else:
                if (
                    adjacent
                    and before is not None
                    and not (before.text[-1].isspace() or chunk.text[0].isspace())
                    and before.end != chunk.start
                ):
                    texts.append("\n")
                    tally.add("\n")
                texts.append(chunk.text)
                tally.add(chunk.text, chunk.token_count)
            before = chunk
        # Sizes need not grow with the set: the longest prefix that fits is known only at the end.
        if tally.total <= limit:
            kept, count = len(texts), tally.total
    return ("".join(texts[:kept]), count) if kept else None
