"""What is found once, when a chunk is loaded, so that a query needs no tokenizer for chunk text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ctxasm.model.overlap import overlap_of
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Chunk
from ctxasm.model.visible import duplicate_key


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
    """The same chunks with their token counts, and the counts of overlaps that have a seam strictly inside."""
    heads = [c.text[: c.overlap_chars] if c.overlap_chars and c.overlap_kind in ("offsets", "text") else "" for c in chunks]
    heads = [head if head and counter.has_seam(head) else "" for head in heads]
    counts = counter.count_many([c.text for c in chunks])
    head_counts = iter(counter.count_many([head for head in heads if head]))
    facts: list[FetchedChunk] = []
    for chunk, count, head in zip(chunks, counts, heads, strict=True):
        shared = next(head_counts) if head else None
        lead = _lead(facts[-1], head, shared, counter) if facts and shared is not None else None
        facts.append(chunk._replace(token_count=count, overlap_tokens=shared, lead_tokens=lead))
    return facts


def _lead(first: FetchedChunk, head: str, head_tokens: int, counter: TokenCounter) -> int | None:
    """Tokens of the chunk before up to the shared text, where it ends in that text."""
    if not first.text.endswith(head):
        return None
    return counter.complement(first.text, len(first.text) - len(head), first.token_count or 0, head_tokens)


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
