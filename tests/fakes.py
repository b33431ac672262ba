"""Fakes of the ports, for tests that need neither a database nor a clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxasm.model.ports import Fetched, FetchedChunk, TokenCounter, Window
from ctxasm.model.records import Chunk, Document
from ctxasm.text.chunk_facts import chunk_facts


class FakeSource:
    """Chunks in memory. `with_facts=False` hands them out bare, as a user's own table would. Remembers what was asked."""

    def __init__(self, documents: Iterable[Document], chunks: Iterable[Chunk], counter: TokenCounter, with_facts: bool = True) -> None:
        self.documents = {document.document_id: document for document in documents}
        self.asked: list[tuple[Window, ...]] = []
        grouped: dict[str, list[Chunk]] = {}
        for chunk in chunks:
            grouped.setdefault(chunk.document_id, []).append(chunk)
        self.stored: dict[tuple[str, int], FetchedChunk] = {}
        for own in grouped.values():
            for fact in chunk_facts(sorted(own, key=lambda c: c.chunk_index), counter):
                bare = fact if with_facts else FetchedChunk(*fact[:8])
                self.stored[fact.document_id, fact.chunk_index] = bare

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        self.asked.append(tuple(windows))
        found = [
            chunk
            for window in windows
            for index in range(window.low, window.high + 1)
            if (chunk := self.stored.get((window.document_id, index))) is not None
        ]
        documents = {w.document_id: self.documents[w.document_id] for w in windows if w.document_id in self.documents}
        return Fetched(found, documents, 1, 1, 0.0)


class FakeClock:
    """A clock that ticks one millisecond a look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now
