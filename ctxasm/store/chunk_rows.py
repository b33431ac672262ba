"""Chunks to rows: what is found once at load, for a batch at a time, here or in a worker process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from ctxasm.model.ports import FetchedChunk, TokenCounter
from ctxasm.model.records import Chunk
from ctxasm.store.codec import written_metadata
from ctxasm.store.digest import HASH_BYTES
from ctxasm.text.chunk_facts import chunk_facts, with_counts

RawChunk = tuple[int, str, int | None, int | None, int | None, str | None, int | None, str | None]
"""A checked chunk as plain values: index, text, start, end, page_number, section, row_number, metadata as JSON."""
ChunkRow = tuple[object, ...]
"""The values of `ctxasm_chunks` in the order of its columns."""


class Run(NamedTuple):
    """Chunks of one document, ascending by index. `base` is the place of its index 0, `before` the stored chunk just before
    the first, where there is one.
    """

    document_id: str
    base: int
    before: RawChunk | None
    chunks: list[RawChunk]


class Placed(NamedTuple):
    """Rows to insert, and what the content hash takes of them."""

    rows: list[ChunkRow]
    digested: bytes


def raw_chunk(chunk: Chunk) -> RawChunk:
    """Raises InvalidInput for metadata that JSON cannot hold."""
    metadata = written_metadata(chunk.metadata, f"chunk {chunk.chunk_index} of document {chunk.document_id!r}") if chunk.metadata else None
    return chunk.chunk_index, chunk.text, chunk.start, chunk.end, chunk.page_number, chunk.section, chunk.row_number, metadata


def place_runs(runs: Sequence[Run], counter: TokenCounter) -> Placed:
    """All facts of these chunks. Counted together: a counter has a fixed cost a call, and most documents are short."""
    facts: list[FetchedChunk] = []
    for document_id, _, before, chunks in runs:
        own = chunks if before is None else [before, *chunks]
        facts += chunk_facts([Chunk(document_id, *raw[:7]) for raw in own], None)
    if counter.exact:
        facts = with_counts(facts, counter)
    rows: list[ChunkRow] = []
    digested: list[str] = []
    known = iter(facts)
    for document_id, base, before, chunks in runs:
        name = json.dumps(document_id)
        if before is not None:
            next(known)
        for raw, fact in zip(chunks, known, strict=False):
            content_hash = blake2b(raw[1].encode(), digest_size=HASH_BYTES).digest()
            rows.append(_row(base, raw, fact, content_hash))
            digested.append(_digested(name, raw, content_hash.hex()))
    return Placed(rows, "".join(digested).encode())


def _digested(name: str, raw: RawChunk, content_hash: str) -> str:
    """What `ContentDigest.chunk` hashes of a chunk: the same bytes as from json.dumps, in a third of the time."""
    index, _, start, end, page, section, row, metadata = raw
    place = f"{'null' if start is None else start}, {'null' if end is None else end}"
    if section is None and metadata is None:
        rest = f"[{'null' if page is None else page}, null, {'null' if row is None else row}, null]"
    else:
        rest = json.dumps((page, section, row, metadata))
    return f'["chunk", {name}, {index}, "{content_hash}", {place}]{rest}'


def _row(base: int, raw: RawChunk, fact: FetchedChunk, content_hash: bytes) -> ChunkRow:
    index, text, start, end, page_number, section, row_number, metadata = raw
    counted = (fact.token_count, fact.overlap_chars, fact.overlap_kind, fact.overlap_tokens, fact.lead_tokens)
    told = (fact.duplicate_key, content_hash, metadata, fact.quiet)
    return (base + index, text, start, end, page_number, section, row_number, *counted, *told)
