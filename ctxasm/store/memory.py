"""Chunks over plain records, without a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from time import perf_counter

from ctxasm.model.events import NoNeighbours, no_neighbours
from ctxasm.model.ports import Fetched, FetchedChunk, TokenCounter, Window
from ctxasm.model.records import Chunk, CorpusLanguage, Document
from ctxasm.store.validation import check_records
from ctxasm.text.chunk_facts import chunk_facts, has_coincidence, usual_in_dataset, with_counts, with_overlaps
from ctxasm.text.language import SAMPLE, language_of_texts, sample_of


class MemorySource:
    """A source of chunks over plain records. Token facts are kept for the counter's encoding, if it counts exactly."""

    def __init__(self, documents: Iterable[Document], chunks: Iterable[Chunk], counter: TokenCounter | None = None) -> None:
        intake = check_records(tuple(documents), tuple(chunks), (), ())
        found = [chunk_facts(own, None) for _, own in intake.documents]
        if any(map(has_coincidence, found)):
            sample = sample_of(len(found))
            some = [chunk for at in sample.documents for chunk in found[at] if chunk.chunk_index < sample.chunks]
            usual = usual_in_dataset(some)
            found = [with_overlaps(own, usual) if has_coincidence(own) else own for own in found]
        facts = [fact for own in found for fact in own]
        encoding = None
        if counter is not None and counter.exact:
            facts, encoding = with_counts(facts, counter), counter.encoding
        self._hold([document for document, _ in intake.documents], facts, encoding)

    @classmethod
    def of_facts(cls, documents: Iterable[Document], facts: Iterable[FetchedChunk], encoding: str | None) -> MemorySource:
        """The source of chunks whose facts are known; each is of one of the documents."""
        made = cls.__new__(cls)
        made._hold(documents, facts, encoding)
        return made

    def _hold(self, documents: Iterable[Document], facts: Iterable[FetchedChunk], encoding: str | None) -> None:
        self._encoding = encoding
        self._documents = {document.document_id: document for document in documents}
        self._chunks: dict[str, dict[int, FetchedChunk]] = {name: {} for name in self._documents}
        for fact in facts:
            self._chunks[fact.document_id][fact.chunk_index] = fact
        self._language: CorpusLanguage | None = None

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """All chunks inside the windows, as `ChunkSource.fetch`; counts as one statement for chunks and one for documents."""
        started = perf_counter()
        found = [chunk for window in windows for chunk in self._inside(window)]
        if encoding != self._encoding:
            found = [chunk._replace(token_count=None, overlap_tokens=None, lead_tokens=None) for chunk in found]
        documents = {name: self._documents[name] for name, _, _ in windows if name in self._documents}
        asked = 1 if windows else 0
        return Fetched(found, documents, asked, asked, (perf_counter() - started) * 1000)

    def corpus_language(self) -> CorpusLanguage:
        """The language of a sample of the summaries and texts, found once."""
        if self._language is None:
            documents = list(self._documents.values())
            sample = sample_of(len(documents))
            some = [documents[at] for at in sample.documents]
            held = [self._chunks[document.document_id] for document in some]
            texts = [own[at].text for own in held for at in range(sample.chunks) if at in own]
            found = texts or [chunk.text for chunk in islice(self.iter_chunks(), SAMPLE)]
            self._language = language_of_texts([*(document.summary or "" for document in some), *found])
        return self._language

    def no_neighbours(self) -> NoNeighbours | None:
        """Why none of the chunks has a neighbour; None where one has."""
        return no_neighbours((name, index) for name, own in self._chunks.items() for index in sorted(own))

    def document_chunks(self, document_id: str) -> list[FetchedChunk]:
        """All chunks of one document by index; empty for an unknown document."""
        return list(self._chunks.get(document_id, {}).values())

    def iter_chunks(self) -> Iterator[FetchedChunk]:
        """All chunks in document order, by index."""
        return (chunk for own in self._chunks.values() for chunk in own.values())

    def _inside(self, window: Window) -> list[FetchedChunk]:
        own = self._chunks.get(window.document_id, {})
        if window.high - window.low >= len(own):
            return [chunk for index, chunk in own.items() if window.low <= index <= window.high]
        return [own[index] for index in range(window.low, window.high + 1) if index in own]
