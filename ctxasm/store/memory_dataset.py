"""Chunks, and one loaded bundle, over plain records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from time import perf_counter

from ctxasm.model.datasets import DatasetInfo, QueryEntry
from ctxasm.model.neighbours import NoNeighbours, no_neighbours
from ctxasm.model.ports import Fetched, FetchedChunk, TokenCounter, Window
from ctxasm.model.records import Answer, Bundle, Chunk, CorpusLanguage, Document, Query
from ctxasm.store.intake import Intake, check_records
from ctxasm.store.listing import no_query
from ctxasm.text.chunk_facts import chunk_facts, has_coincidence, usual_in_dataset, with_counts, with_overlaps
from ctxasm.text.language import SAMPLE, language_of_texts, sample_of


class MemorySource:
    """A source of chunks over plain records. Token facts are kept for the counter's encoding, if it counts exactly."""

    def __init__(self, documents: Iterable[Document], chunks: Iterable[Chunk], counter: TokenCounter | None = None) -> None:
        self._take(check_records(tuple(documents), tuple(chunks), (), ()), counter)

    def _take(self, intake: Intake, counter: TokenCounter | None) -> None:
        self._encoding = counter.encoding if counter is not None and counter.exact else None
        self._documents = {document.document_id: document for document, _ in intake.documents}
        found = [chunk_facts(own, None) for _, own in intake.documents]
        if any(map(has_coincidence, found)):
            sample = sample_of(len(found))
            some = [chunk for at in sample.documents for chunk in found[at] if chunk.chunk_index < sample.chunks]
            usual = usual_in_dataset(some)
            found = [with_overlaps(own, usual) if has_coincidence(own) else own for own in found]
        facts = [fact for own in found for fact in own]
        self._chunks: dict[str, dict[int, FetchedChunk]] = {name: {} for name in self._documents}
        for fact in with_counts(facts, counter) if counter is not None and counter.exact else facts:
            self._chunks[fact.document_id][fact.chunk_index] = fact
        self._own = tuple(chunk for _, own in intake.documents for chunk in own)
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

    def documents(self) -> list[Document]:
        """All documents in given order."""
        return list(self._documents.values())

    def document_chunks(self, document_id: str) -> list[FetchedChunk]:
        """All chunks of one document by index; empty for an unknown document."""
        return list(self._chunks.get(document_id, {}).values())

    def find_text(self, phrase: str, limit: int = 200) -> list[FetchedChunk]:
        """The first `limit` chunks whose text contains `phrase` in any case, in document order. A blank phrase finds none."""
        if not phrase.strip() or limit < 1:
            return []
        wanted = phrase.lower()
        return [chunk for own in self._chunks.values() for chunk in own.values() if wanted in chunk.text.lower()][:limit]

    def iter_chunks(self) -> Iterator[FetchedChunk]:
        """All chunks in document order, by index."""
        return (chunk for own in self._chunks.values() for chunk in own.values())

    def _inside(self, window: Window) -> list[FetchedChunk]:
        own = self._chunks.get(window.document_id, {})
        if window.high - window.low >= len(own):
            return [chunk for index, chunk in own.items() if window.low <= index <= window.high]
        return [own[index] for index in range(window.low, window.high + 1) if index in own]


Saved = Mapping[str, Query]
"""The saved queries of a dataset by id, in the order they were saved."""


class MemoryDataset(MemorySource):
    """A loaded bundle. It stays as it was loaded, also when its name is loaded again; queries saved later are seen."""

    def __init__(
        self, bundle: Bundle, intake: Intake, info: DatasetInfo, counter: TokenCounter | None, saved: Callable[[], Saved] = dict
    ) -> None:
        self.info, self.intake, self._bundle, self._saved = info, intake, bundle, saved
        self._take(intake, counter)
        self._loaded = {query.query_id: query for query in intake.queries}

    @property
    def follows(self) -> bool:
        """See `Dataset`: this is one load, as it was."""
        return False

    @property
    def _queries(self) -> Saved:
        return self._loaded | {name: query for name, query in self._saved().items() if name not in self._loaded}

    def loaded_ids(self) -> set[str]:
        """The ids of the queries that came with the load."""
        return set(self._loaded)

    def iter_records(self) -> Iterator[Chunk]:
        """All chunks as they were loaded, in document order."""
        return iter(self._own)

    def documents_named(self, names: Sequence[str]) -> dict[str, Document]:
        """The documents of these identifiers that are there."""
        return {name: self._documents[name] for name in names if name in self._documents}

    def document_lengths(self, names: Sequence[str]) -> dict[str, int | None]:
        """Characters of those documents that are there, as `Dataset.document_lengths`."""
        found: dict[str, int | None] = {}
        for name in filter(self._documents.__contains__, names):
            ends = [chunk.end for chunk in self._chunks[name].values()]
            found[name] = None if None in ends else max((end for end in ends if end is not None), default=0)
        return found

    def chunks_at(self, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Chunk]:
        """The chunks (document_id, chunk_index) that are there, as they were loaded."""
        wanted = set(keys)
        return {key: chunk for chunk in self._own if (key := (chunk.document_id, chunk.chunk_index)) in wanted}

    def held_chunks(self, keys: Sequence[tuple[str, int]]) -> set[tuple[str, int]]:
        """Which of these chunks (document_id, chunk_index) are there."""
        return {(name, index) for name, index in keys if index in self._chunks.get(name, {})}

    def queries_named(self, query_ids: Sequence[str]) -> dict[str, Query]:
        """The queries of these ids that are there, loaded or saved."""
        return {query_id: self._queries[query_id] for query_id in query_ids if query_id in self._queries}

    def duplicate_keys(self) -> set[bytes]:
        """The duplicate keys of all chunks."""
        return {chunk.duplicate_key for own in self._chunks.values() for chunk in own.values() if chunk.duplicate_key}

    def query_list(self) -> list[QueryEntry]:
        """The queries in loaded order, then the saved ones, without what was retrieved for them."""
        return [QueryEntry(query.query_id, query.query, len(query.retrieved)) for query in self._queries.values()]

    def queries(self) -> list[Query]:
        """All queries in loaded order, then the saved ones."""
        return list(self._queries.values())

    def query(self, query_id: str) -> Query:
        """One query, loaded or saved. Raises NotFound naming those that exist."""
        if query_id not in self._queries:
            raise no_query(query_id, self.info.name, list(self._queries))
        return self._queries[query_id]

    def answers(self) -> list[Answer]:
        """All recorded answers in loaded order."""
        return list(self._bundle.answers)

    def bundle(self) -> Bundle:
        """The whole dataset as it was loaded, chunks by document and index; without saved queries."""
        info = self.info
        return Bundle(info.name, tuple(self.documents()), self._own, tuple(self._loaded.values()), self._bundle.answers, info.replaced)
