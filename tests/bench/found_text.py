"""Whether a context, as plain text, holds the evidence that a question needs: one rule for every system.

A system that is not ours says nothing of where its text comes from, so the text itself is searched. White space does not count:
several of them strip it, join with it, or break a word that goes over from one chunk to the next. A piece of evidence is found where it
stands in one stretch, or where
every chunk that holds a part of it shows that part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from ctxasm.model.records import Bundle, Chunk, GoldChunk, Query, Span

SHORT = 40
"""A part shorter than this could stand anywhere (a heading is often the title, too), so it counts only together with what surrounds it."""
CUT = 80
"""A chunk that is cut shows its head, when at least this much of it is there."""


def plain(text: str) -> str:
    """Without white space."""
    return "".join(text.split())


class Corpus:
    """A bundle by document, with the text of every chunk ready to be searched for."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.documents = {document.document_id: document for document in bundle.documents}
        self.chunks: Mapping[str, dict[int, Chunk]] = defaultdict(dict)
        for chunk in sorted(bundle.chunks, key=lambda c: (c.document_id, c.chunk_index)):
            self.chunks[chunk.document_id][chunk.chunk_index] = chunk

    @cached_property
    def whole(self) -> Mapping[str, str]:
        """The text of every document, put together from its chunks."""
        texts = {}
        for document_id, own in self.chunks.items():
            text = ""
            for chunk in own.values():
                start = chunk.start or 0
                text += " " * (start - len(text)) + chunk.text[max(0, len(text) - start) :]
            texts[document_id] = text
        return texts


def holds_evidence(text: str, query: Query, corpus: Corpus) -> bool:
    """Whether all evidence of the query is in the text: every span, itself or an alternative, or else every gold chunk."""
    shown = plain(text)
    if query.spans:
        return all(any(_holds_span(shown, place, corpus) for place in (span, *span.also)) for span in query.spans)
    return bool(query.gold) and all(_holds_chunk(shown, gold, corpus) for gold in query.gold)


def _holds_chunk(shown: str, gold: GoldChunk, corpus: Corpus) -> bool:
    chunk = corpus.chunks[gold.document_id].get(gold.chunk_index)
    return chunk is not None and plain(chunk.text) in shown


def _holds_span(shown: str, span: Span, corpus: Corpus) -> bool:
    holding = [c for c in corpus.chunks[span.document_id].values() if (c.start or 0) < span.end and span.start < (c.end or 0)]
    if not holding:
        return False
    if span.end - span.start >= SHORT and plain(corpus.whole[span.document_id][span.start : span.end]) in shown:
        return True
    needed = [(max(span.start, c.start or 0), min(span.end, c.end or 0)) for c in holding]
    found = [part for c in holding if (part := _shown_part(shown, c, span, corpus))]
    return all(_covered(low, high, found) for low, high in needed)


def _shown_part(shown: str, chunk: Chunk, span: Span, corpus: Corpus) -> tuple[int, int] | None:
    """The characters of the document, within the span, that the text shows of this chunk."""
    start = chunk.start or 0
    low, high = max(span.start - start, 0), min(span.end - start, len(chunk.text))
    wide = high - low < SHORT
    begin, end = (max(0, low - SHORT), min(len(chunk.text), high + SHORT)) if wide else (low, high)
    if end - begin < SHORT:
        found = any(plain(text) in shown for text in _surrounded(corpus.whole[span.document_id], start + begin, start + end))
        return (start + low, start + high) if found else None
    if plain(chunk.text[begin:end]) in shown:
        return start + low, start + high
    if plain(chunk.text[:CUT]) not in shown:
        return None
    fits, fails = CUT, len(chunk.text)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if plain(chunk.text[:middle]) in shown else (fits, middle)
    return (start + low, start + fits) if fits > low else None


def _surrounded(text: str, low: int, high: int) -> list[str]:
    """A whole short chunk with what stands before it in its document, and with what stands behind it."""
    ways = [text[max(0, low - SHORT) : high], text[low : high + SHORT]]
    return [way for way in ways if len(plain(way)) > len(plain(text[low:high]))] or [text[low:high]]


def _covered(low: int, high: int, found: Sequence[tuple[int, int]]) -> bool:
    for begin, end in sorted(found):
        if begin <= low < end:
            low = end
    return low >= high
