"""What is found once, when a chunk is loaded, so that a query needs no tokenizer for chunk text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Chunk
from ctxasm.text.markers.quiet import quiet_formats
from ctxasm.text.overlap import overlap_of
from ctxasm.text.visible import duplicate_key


def chunk_facts(chunks: Sequence[Chunk], counter: TokenCounter | None) -> list[FetchedChunk]:
    """The chunks of one document, ascending by index, with overlaps, duplicate keys and token counts.

    Without a counter, or with one that only estimates, the token facts stay None: estimates are never stored.
    """
    fetched = [
        FetchedChunk(
            c.document_id,
            c.chunk_index,
            c.text,
            c.start,
            c.end,
            c.page_number,
            c.section,
            c.row_number,
            duplicate_key=duplicate_key(c.text),
            quiet=quiet_formats(c.text),
        )
        for c in chunks
    ]
    fetched = fetched[:1] + [_with_overlap(first, second) for first, second in pairwise(fetched)]
    return with_counts(fetched, counter) if counter is not None and counter.exact else fetched


def _with_overlap(first: FetchedChunk, second: FetchedChunk) -> FetchedChunk:
    if second.chunk_index != first.chunk_index + 1:
        return second
    found = overlap_of(first, second)
    return second._replace(overlap_chars=found.chars, overlap_kind=found.kind)


def with_counts(chunks: Sequence[FetchedChunk], counter: TokenCounter) -> list[FetchedChunk]:
    """The same chunks with their token counts, and the counts of overlaps that have a seam strictly inside.

    Text that two neighbours share is tokenized once: every chunk is cut where its own overlap ends and where the next one
    begins, and the counts are put together again at the cuts.
    """
    if not counter.exact or not chunks:
        return [chunk._replace(token_count=counter.count(chunk.text)) for chunk in chunks]
    heads = _heads(chunks)
    cuts = [_cuts(chunk, head, after) for chunk, head, after in zip(chunks, heads, [*heads[1:], 0], strict=True)]
    counts = iter(counter.count_many([c.text[low:high] for c, cut in zip(chunks, cuts, strict=True) for low, high in pairwise(cut)]))
    facts: list[FetchedChunk] = []
    lead = tail = 0
    for chunk, head, cut in zip(chunks, heads, cuts, strict=True):
        seam = head > 0 and counter.has_seam(chunk.text[:head])
        known = (tail, lead) if seam else (None, None)
        total = tail if head else 0
        for low, high in pairwise(cut):
            lead, tail = total, next(counts)
            total = counter.merge(chunk.text[:high], low, lead, tail)
        facts.append(chunk._replace(token_count=total, overlap_tokens=known[0], lead_tokens=known[1]))
    return facts


def _heads(chunks: Sequence[FetchedChunk]) -> list[int]:
    """How much of each chunk's head was counted as the end of the chunk before it."""
    heads = [0] if chunks else []
    for first, second in pairwise(chunks):
        chars = _shared(first, second)
        heads.append(chars if len(first.text) - chars >= heads[-1] else 0)
    return heads


def _shared(first: FetchedChunk, second: FetchedChunk) -> int:
    """How many characters of the head of `second` are the end of `first`, straight before it."""
    chars = second.overlap_chars or 0
    follows = first.document_id == second.document_id and first.chunk_index + 1 == second.chunk_index
    if not follows or second.overlap_kind not in ("offsets", "text") or not first.text.endswith(second.text[:chars]):
        return 0
    return chars


def _cuts(chunk: FetchedChunk, head: int, after: int) -> list[int]:
    """Where the text is cut to be counted: after the head, whose count is known, and where the next overlap begins."""
    end = len(chunk.text)
    return sorted({head, end - after, end})


def complete(chunks: Sequence[FetchedChunk], counter: TokenCounter) -> Sequence[FetchedChunk]:
    """Chunks as read, with token counts and duplicate keys filled in where the store had none. Unchanged if all are there."""
    if all(chunk.token_count is not None for chunk in chunks):
        return chunks
    known = {(c.document_id, c.chunk_index): c for c in chunks}
    facts = []
    for chunk in chunks:
        if chunk.overlap_kind is None:
            first = known.get((chunk.document_id, chunk.chunk_index - 1))
            chunk = _with_overlap(first, chunk) if first is not None else chunk
        facts.append(chunk)
    return with_counts(facts, counter)
