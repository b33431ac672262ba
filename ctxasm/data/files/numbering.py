"""Chunks numbered by their order: where the indexes of a file leave gaps (10, 20, 30), so that none follows another.

Done only where a user asks for it. Hits and gold chunks go along; the index that a chunk came with stays in its metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ctxasm.model.amounts import counted
from ctxasm.model.records import Bundle, Chunk

ORIGINAL = "original_chunk_index"
"""The metadata that keeps the index that a chunk came with."""
_Key = tuple[str, int]


def number_by_order(bundle: Bundle) -> tuple[Bundle, tuple[str, ...]]:
    """The bundle with the chunks of each document numbered from 0 in the order of their indexes, and the note that says so.

    Hits and gold chunks name chunks of the bundle, as every load checks.
    """
    indexes: dict[str, list[int]] = {}
    for chunk in bundle.chunks:
        indexes.setdefault(chunk.document_id, []).append(chunk.chunk_index)
    places = {(name, index): at for name, own in indexes.items() for at, index in enumerate(sorted(own))}
    moved = sum(key[1] != at for key, at in places.items())
    if not moved:
        return bundle, ("every document numbers its chunks from 0 without gaps: nothing was numbered",)

    chunks = tuple(_placed(chunk, places) for chunk in bundle.chunks)
    queries = tuple(
        replace(
            query,
            retrieved=tuple(replace(hit, chunk_index=places[hit.document_id, hit.chunk_index]) for hit in query.retrieved),
            gold=tuple(replace(gold, chunk_index=places[gold.document_id, gold.chunk_index]) for gold in query.gold),
        )
        for query in bundle.queries
    )
    told = f"{counted(moved, 'chunk')} of {len(bundle.chunks):,} got another chunk_index, by their order in each document"
    return replace(bundle, chunks=chunks, queries=queries), (f"{told}; metadata {ORIGINAL} keeps the one of the file",)


def _placed(chunk: Chunk, places: Mapping[_Key, int]) -> Chunk:
    index = places[chunk.document_id, chunk.chunk_index]
    if index == chunk.chunk_index:
        return chunk
    return replace(chunk, chunk_index=index, metadata={**chunk.metadata, ORIGINAL: chunk.chunk_index})
