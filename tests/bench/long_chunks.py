"""Real bundles cut into long chunks, with the gold evidence that lies in each: what compression must not lose."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ctxasm.model.records import Bundle, Query

CHUNK_CHARS = 8_000
"""About 2,000 tokens of English prose: the size above which the bookend guide compresses."""
TOGETHER = 8
"""Chunks that hold the best hits of a question and are compressed together."""
Half = Literal["tune", "judge"]


class Evidence(NamedTuple):
    """A question, the long chunks that are compressed for it, and which of them (by number) hold which evidence (in characters)."""

    question: str
    texts: tuple[str, ...]
    spans: dict[int, list[tuple[int, int]]]


def half_of(query_id: str) -> Half:
    """By the first byte of a digest: the half named tune is the one that the constants of extraction were looked for on."""
    return "judge" if hashlib.sha256(query_id.encode()).digest()[0] % 2 else "tune"


def evidence_of(bundle: Bundle, half: Half) -> Iterator[Evidence]:
    """Every question of a half whose evidence is known to the character."""
    chunks = {(chunk.document_id, chunk.chunk_index): chunk for chunk in bundle.chunks}
    long = {document_id: list(_cut(text)) for document_id, text in _texts(bundle).items()}
    for query in bundle.queries:
        if half_of(query.query_id) == half and query.spans:
            starts = [(hit.document_id, chunks[hit.document_id, hit.chunk_index].start or 0) for hit in query.retrieved[:TOGETHER]]
            yield _evidence(query, starts, long)


def _evidence(query: Query, starts: list[tuple[str, int]], long: dict[str, list[tuple[int, str]]]) -> Evidence:
    places = list(dict.fromkeys(place for place in (_place(*start, long) for start in starts) if place is not None))
    gold: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for span in query.spans:
        for number, (at, text) in enumerate(long.get(span.document_id, ())):
            low, high = max(at, span.start), min(at + len(text), span.end)
            if low < high:
                gold.setdefault((span.document_id, number), []).append((low - at, high - at))
    places += [place for place in gold if place not in places]
    texts = tuple(long[document_id][number][1] for document_id, number in places)
    return Evidence(query.query, texts, {places.index(place): spans for place, spans in gold.items()})


def _place(document_id: str, start: int, long: dict[str, list[tuple[int, str]]]) -> tuple[str, int] | None:
    return next(((document_id, n) for n, (at, text) in enumerate(long[document_id]) if at <= start < at + len(text)), None)


def _texts(bundle: Bundle) -> dict[str, str]:
    """The text of every document, put together again from its chunks' offsets."""
    texts: dict[str, str] = {}
    for chunk in sorted(bundle.chunks, key=lambda c: (c.document_id, c.start or 0)):
        before = texts.get(chunk.document_id, "").ljust(chunk.start or 0, "\n")
        texts[chunk.document_id] = before + chunk.text[max(0, len(before) - (chunk.start or 0)) :]
    return texts


def _cut(text: str) -> Iterator[tuple[int, str]]:
    """Chunks of CHUNK_CHARS, cut at a line end or a blank, with where each begins."""
    at = 0
    while at < len(text):
        end = min(len(text), at + CHUNK_CHARS)
        if end < len(text):
            end = 1 + max(end - 1, text.rfind("\n", at + CHUNK_CHARS // 2, end), text.rfind(" ", at + CHUNK_CHARS // 2, end))
        yield at, text[at:end]
        at = end
