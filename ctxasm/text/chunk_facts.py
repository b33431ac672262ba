"""What is found once, when a chunk is loaded, so that a query needs no tokenizer for chunk text: what its head repeats of the chunk
before it, what its text is equal to, what it counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ctxasm.model.characters import laid_out
from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Chunk, make_record
from ctxasm.text.markers.collisions import collision_free_formats
from ctxasm.text.overlap import Overlap, header_of, overlap_of, usual_share


def overlap_at(before: FetchedChunk, chunk: FetchedChunk) -> Overlap:
    """The same for chunks as fetched, `chunk` to be put behind `before`: as stored, where it is stored for these two."""
    if chunk.overlap_kind is None or before.chunk_index + 1 != chunk.chunk_index:
        return overlap_of(before, chunk)
    chars = chunk.overlap_chars or 0
    header = header_of(before.text, chunk.text, chars) if chunk.overlap_kind == "header" else 0
    return make_record(Overlap, (chars, chunk.overlap_kind, header))


def duplicate_key(text: str) -> bytes:
    """Equal for texts that read the same and are laid out alike (16 bytes)."""
    return hashlib.blake2b(laid_out(text).encode("utf-8", "surrogatepass"), digest_size=16).digest()


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
            quiet=collision_free_formats(c.text),
        )
        for c in chunks
    ]
    fetched = with_overlaps(fetched)
    return with_counts(fetched, counter) if counter is not None and counter.exact else fetched


def with_overlaps(chunks: Sequence[FetchedChunk], usual: float = 0.0, own: float | None = None) -> list[FetchedChunk]:
    """The chunks of one document, ascending by index, with their overlaps.

    Where a match is long, what neighbours of this document share as a rule explains it or not (`own`; None: found in these chunks);
    where its pairs tell nothing, what those of the dataset do (`usual`): one document may be cut into sliding windows, another not.
    """
    found = [*chunks[:1], *(_with_overlap(first, second) for first, second in pairwise(chunks))]
    if not has_coincidence(found):
        return found
    own = own_share(chunks) if own is None else own
    if own or usual:
        found = [*chunks[:1], *(_with_overlap(first, second, own or usual, own) for first, second in pairwise(chunks))]
    return found


def own_share(chunks: Iterable[FetchedChunk]) -> float:
    """What neighbours among these chunks, by document and index, share as a rule (see `usual_share`)."""
    return usual_share(
        (one, two) for one, two in pairwise(chunks) if one.document_id == two.document_id and one.chunk_index + 1 == two.chunk_index
    )


def usual_in_dataset(sample: Iterable[FetchedChunk]) -> float:
    """What to pass to `with_overlaps` as `usual`, of a sample of a dataset's chunks by document and index.

    0 where neighbours share so little that it explains no match of more than half.
    """
    return share if 2 * (share := own_share(sample)) > 0.5 else 0.0


def has_coincidence(chunks: Iterable[FetchedChunk]) -> bool:
    """Whether a match of neighbours was too long to be taken for an overlap."""
    return any(chunk.overlap_kind == "coincidence" for chunk in chunks)


def _with_overlap(first: FetchedChunk, second: FetchedChunk, usual: float = 0.0, own: float = 0.0) -> FetchedChunk:
    if second.chunk_index != first.chunk_index + 1:
        return second
    found = overlap_of(first, second, usual, own)
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
