"""The same store over plain records, without a database: for tests, notebooks and library users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from time import perf_counter
from types import TracebackType

from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.facts import chunk_facts, with_counts
from ctxasm.model.ports import Fetched, FetchedChunk, TokenCounter, Window
from ctxasm.model.records import Answer, Bundle, Chunk, Document, Query
from ctxasm.store.digest import ContentDigest
from ctxasm.store.intake import Intake, check_records, check_text
from ctxasm.store.listing import DatasetInfo, QueryEntry, no_dataset, no_query


class MemorySource:
    """A source of chunks over plain records. Token facts are kept for the counter's encoding, if it counts exactly."""

    def __init__(self, documents: Iterable[Document], chunks: Iterable[Chunk], counter: TokenCounter | None = None) -> None:
        self._take(check_records(tuple(documents), tuple(chunks), (), ()), counter)

    def _take(self, intake: Intake, counter: TokenCounter | None) -> None:
        self._encoding = counter.encoding if counter is not None and counter.exact else None
        self._documents = {document.document_id: document for document, _ in intake.documents}
        facts = [fact for _, own in intake.documents for fact in chunk_facts(own, None)]
        self._chunks: dict[str, dict[int, FetchedChunk]] = {name: {} for name in self._documents}
        for fact in with_counts(facts, counter) if counter is not None and counter.exact else facts:
            self._chunks[fact.document_id][fact.chunk_index] = fact
        self._own = tuple(chunk for _, own in intake.documents for chunk in own)

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """All chunks inside the windows, as `ChunkSource.fetch`; counts as one statement for chunks and one for documents."""
        started = perf_counter()
        found = [chunk for window in windows for chunk in self._inside(window)]
        if encoding != self._encoding:
            found = [chunk._replace(token_count=None, overlap_tokens=None, lead_tokens=None) for chunk in found]
        documents = {name: self._documents[name] for name, _, _ in windows if name in self._documents}
        asked = 1 if windows else 0
        return Fetched(found, documents, asked, asked, (perf_counter() - started) * 1000)

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

    def _inside(self, window: Window) -> list[FetchedChunk]:
        own = self._chunks.get(window.document_id, {})
        if window.high - window.low >= len(own):
            return [chunk for index, chunk in own.items() if window.low <= index <= window.high]
        return [own[index] for index in range(window.low, window.high + 1) if index in own]


class MemoryDataset(MemorySource):
    """A loaded bundle. It stays as it was loaded, also when its name is loaded again."""

    def __init__(self, bundle: Bundle, intake: Intake, info: DatasetInfo, counter: TokenCounter | None) -> None:
        self.info, self._bundle = info, bundle
        self._take(intake, counter)
        self._queries = {query.query_id: query for query in intake.queries}

    def duplicate_keys(self) -> set[bytes]:
        """The duplicate keys of all chunks."""
        return {chunk.duplicate_key for own in self._chunks.values() for chunk in own.values() if chunk.duplicate_key}

    def query_list(self) -> list[QueryEntry]:
        """The queries in loaded order, without what was retrieved for them."""
        return [QueryEntry(query.query_id, query.query, len(query.retrieved)) for query in self._queries.values()]

    def queries(self) -> list[Query]:
        """All queries in loaded order."""
        return list(self._queries.values())

    def query(self, query_id: str) -> Query:
        """One query. Raises NotFound naming those that exist."""
        if query_id not in self._queries:
            raise no_query(query_id, self.info.name, list(self._queries))
        return self._queries[query_id]

    def answers(self) -> list[Answer]:
        """All recorded answers in loaded order."""
        return list(self._bundle.answers)

    def bundle(self) -> Bundle:
        """The whole dataset as it was loaded, chunks by document and index."""
        info = self.info
        return Bundle(info.name, tuple(self.documents()), self._own, tuple(self.queries()), self._bundle.answers, info.replaced)


class MemoryStore:
    """Named datasets in memory, with the calls of the database store."""

    def __init__(self, counter: TokenCounter | None = None) -> None:
        self._counter = counter
        self._datasets: dict[str, MemoryDataset] = {}
        self._loads = 0
        self._vectors: dict[tuple[str, bytes], bytes] = {}

    def add(self, bundle: Bundle, name: str | None = None, origin: str | None = None) -> DatasetInfo:
        """Load a bundle as the dataset `name` (default: the bundle's own), replacing one of that name."""
        name = bundle.name if name is None else name
        check_text(name, "dataset name", name=True)
        if not name.strip():
            raise InvalidInput(f"dataset name must have at least one visible character, got {shown(name)}")
        intake = check_records(bundle.documents, bundle.chunks, bundle.queries, bundle.answers)
        dataset = MemoryDataset(bundle, intake, self._info(bundle, intake, name, origin), self._counter)
        self._loads += 1
        self._datasets = {name: dataset} | {other: kept for other, kept in self._datasets.items() if other != name}
        return dataset.info

    def datasets(self) -> list[DatasetInfo]:
        """All datasets, the one loaded last first."""
        return [dataset.info for dataset in self._datasets.values()]

    def dataset(self, name: str | None = None) -> MemoryDataset:
        """The dataset of this name, without one the newest. Raises NotFound naming those that exist."""
        wanted = next(iter(self._datasets), None) if name is None else name
        if wanted is None or wanted not in self._datasets:
            raise no_dataset(name, list(self._datasets))
        return self._datasets[wanted]

    def delete(self, name: str) -> None:
        """Remove a dataset. Raises NotFound naming those that exist."""
        if name not in self._datasets:
            raise no_dataset(name, list(self._datasets))
        gone = self._datasets[name].duplicate_keys()
        self._datasets = {other: kept for other, kept in self._datasets.items() if other != name}
        self._vectors = {kept: vector for kept, vector in self._vectors.items() if kept[1] not in gone}

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """Chunks of the newest dataset. Raises NotFound in an empty store."""
        return self.dataset().fetch(windows, encoding)

    def read_vectors(self, embedder: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The kept vectors of texts with these duplicate keys; a text without one is left out."""
        return {key: self._vectors[embedder, key] for key in keys if (embedder, key) in self._vectors}

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> bool:
        """Keep vectors by duplicate key, for all datasets."""
        self._vectors = {(embedder, key): vector for key, vector in vectors.items()} | self._vectors
        return True

    def close(self) -> None:
        """Nothing to let go of."""

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _info(self, bundle: Bundle, intake: Intake, name: str, origin: str | None) -> DatasetInfo:
        now = datetime.now(UTC)
        created = self._datasets[name].info.created_at if name in self._datasets else now
        counter, sizes = self._counter, (len(intake.documents), intake.chunk_count(), len(intake.queries), len(intake.answers))
        encoding = counter.encoding if counter is not None and counter.exact else None
        return DatasetInfo(self._loads + 1, name, created, now, encoding, *sizes, bundle.replaced, _content_hash(intake), origin)


def _content_hash(intake: Intake) -> str:
    digest = ContentDigest()
    for document, _ in intake.documents:
        digest.document(document)
    for _, own in intake.documents:
        for chunk in own:
            digest.chunk(chunk)
    for query in intake.queries:
        digest.query(query)
    for answer in intake.answers:
        digest.answer(answer)
    return digest.hex()
