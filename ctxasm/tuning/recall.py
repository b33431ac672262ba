"""Recall of a ranking: how much of what a labelled question needs its first k hits hold.

A question needs its spans (and the gold chunks that a person added), else its gold chunks. A gold chunk is recalled when it, or one
that is enough in its place, is among the hits. A span is recalled when the hits together cover all of its characters that any chunk
holds (white space between two chunks is in none); a span with other places that say the same, when any one place is covered whole. A
label whose text is lost never is. The recall of a question is the share of its pieces that are recalled; that of a set is the mean over
its questions, as in the contextual embeddings source (Pass@k over golden chunks).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ctxasm.model.ports import FetchedChunk
from ctxasm.model.records import Chunk, GoldChunk, Query, Span
from ctxasm.text.overlap import has_offsets

Key = tuple[str, int]
Chunks = Mapping[str, Sequence[FetchedChunk] | Sequence[Chunk]]
"""All chunks of each document."""


class Needed(NamedTuple):
    """What a question needs: each piece as the ways in which it is recalled, each way as ranges of characters by chunk."""

    pieces: tuple[tuple[Way, ...], ...]


class Way(NamedTuple):
    """Characters (low, high) of a document, and which of them each chunk holds."""

    holds: Mapping[Key, tuple[int, int]]


def needed(query: Query, chunks: Chunks) -> Needed | None:
    """What is to be recalled for a question; None for one without labels, or whose labels point nowhere and are not known to be lost."""
    if query.spans:
        pieces = [tuple(_way(place, chunks) for place in span.places if not place.lost) for span in query.spans]
        pieces = [tuple(way for way in piece if way.holds) for piece in pieces]
        held = {key for piece in pieces for way in piece for key in way.holds}
        pieces += [_gold(gold) for gold in query.marked if not held.intersection(gold.chunks)]
    else:
        pieces = [_gold(gold) for gold in query.gold]
    return Needed(tuple(pieces)) if any(pieces) or query.lost_labels else None


def recall(need: Needed, hits: Iterable[Key]) -> float:
    """The share of the pieces that the hits recall, from 0 to 1."""
    found = set(hits)
    return sum(any(_covered(way, found) for way in piece) for piece in need.pieces) / len(need.pieces)


def mean_recall(needs: Sequence[Needed], rankings: Sequence[Sequence[Key]], k: int) -> float:
    """The mean recall of the first `k` hits over questions; 0 for no questions."""
    shares = [recall(need, ranking[:k]) for need, ranking in zip(needs, rankings, strict=True)]
    return sum(shares) / len(shares) if shares else 0.0


def _gold(gold: GoldChunk) -> tuple[Way, ...]:
    return tuple(Way({key: (0, 1)}) for key in gold.chunks)


def _way(place: Span, chunks: Chunks) -> Way:
    holds: dict[Key, tuple[int, int]] = {}
    for chunk in chunks.get(place.document_id, ()):
        if has_offsets(chunk):
            low, high = max(chunk.start or 0, place.start), min(chunk.end or 0, place.end)
            if low < high:
                holds[chunk.document_id, chunk.chunk_index] = low, high
    return Way(holds)


def _covered(way: Way, found: set[Key]) -> bool:
    return _size(way.holds.values()) == _size(way.holds[key] for key in way.holds if key in found)


def _size(ranges: Iterable[tuple[int, int]]) -> int:
    """How many characters ranges hold together."""
    total, last = 0, -1
    for low, high in sorted(ranges):
        total += max(0, high - max(low, last))
        last = max(last, high)
    return total
