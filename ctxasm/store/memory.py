"""Chunks, and one loaded bundle, over plain records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from time import perf_counter
from types import TracebackType

from ctxasm.model.datasets import DatasetInfo, QueryEntry
from ctxasm.model.moves import Moves
from ctxasm.model.neighbours import NoNeighbours, no_neighbours
from ctxasm.model.ports import Fetched, FetchedChunk, TokenCounter, Window
from ctxasm.model.records import Answer, Bundle, Chunk, CorpusLanguage, Document, GoldChange, GoldChunk, Query, changed_gold
from ctxasm.store.additions import check_kept, check_saved, check_summaries, no_saved_query, summarised, taken_by_a_load
from ctxasm.store.append_rules import joined_bundle, joined_origin
from ctxasm.store.digest import content_hash
from ctxasm.store.memory_runs import MemoryRuns
from ctxasm.store.moves import follow, old_texts
from ctxasm.store.validation import Intake, check_dataset_name, check_records, no_dataset, no_query
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


class MemoryStore(MemoryRuns):
    """Named datasets in memory, with the calls of the database store."""

    can_search = False

    def __init__(self, counter: TokenCounter | None = None) -> None:
        super().__init__()
        self._counter = counter
        self._datasets: dict[str, MemoryDataset] = {}
        self._loads = 0
        self._vectors: dict[tuple[str, bytes], bytes] = {}
        self._kept: dict[str, dict[str, str]] = {}
        self._saved: dict[str, dict[str, Query]] = {}

    def add(
        self, bundle: Bundle, name: str | None = None, origin: str | None = None, *, join: bool = False, moves: Moves | None = None
    ) -> DatasetInfo:
        """Load a bundle as the dataset `name` (default: the bundle's own), replacing or joining one of that name, as `Store.add`."""
        name = bundle.name if name is None else name
        check_dataset_name(name, origin)
        old = self.dataset(name) if join else None
        intake = check_records(bundle.documents, bundle.chunks, bundle.queries, bundle.answers)
        if old is not None:
            whole = tuple(chunk for _, own in intake.documents for chunk in own)
            came = Bundle(name, tuple(document for document, _ in intake.documents), whole, bundle.queries, bundle.answers, bundle.replaced)
            bundle = joined_bundle(old.bundle(), self._saved.get(name, {}), came)
            intake, origin = (
                check_records(bundle.documents, bundle.chunks, bundle.queries, bundle.answers),
                joined_origin(old.info.origin, origin),
            )
            if content_hash(intake) == old.info.content_hash:
                return old.info
        made = MemoryDataset(bundle, intake, self._info(bundle, intake, name, origin), self._counter, self._saved_of(name))
        if old is None and name in self._datasets and (saved := list(self._saved.get(name, {}).values())):
            texts = old_texts(saved, self._datasets[name].document_chunks)
            now = follow(saved, texts, made.document_chunks, Moves() if moves is None else moves)
            self._saved[name] = {query.query_id: query for query in now}
        return self._put(name, made)

    def add_stream(
        self,
        name: str,
        documents: Iterable[Document],
        chunks: Iterable[Chunk],
        queries: Iterable[Query] = (),
        answers: Iterable[Answer] = (),
        origin: str | None = None,
        *,
        replaced: Callable[[], int] = int,
        join: bool = False,
        moves: Moves | None = None,
    ) -> DatasetInfo:
        """Load records as they come, as `Store.add_stream`; here they are all kept in memory anyway."""
        parts = (tuple(documents), tuple(chunks), tuple(queries), tuple(answers))
        return self.add(Bundle(name, *parts, replaced=replaced()), origin=origin, join=join, moves=moves)

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
        # The key of a text that is indexed with its title or its enrichment begins with that of the chunk (16 bytes).
        self._vectors = {kept: vector for kept, vector in self._vectors.items() if kept[1][:16] not in gone}
        self._saved.pop(name, None)
        self._kept.pop(f"ingest {name}", None)

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """Chunks of the newest dataset. Raises NotFound in an empty store."""
        return self.dataset().fetch(windows, encoding)

    def corpus_language(self) -> CorpusLanguage:
        """The language of the newest dataset. Raises NotFound in an empty store."""
        return self.dataset().corpus_language()

    def no_neighbours(self) -> NoNeighbours | None:
        """Why no chunk of the newest dataset has a neighbour. Raises NotFound in an empty store."""
        return self.dataset().no_neighbours()

    def read_vectors(self, embedder: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The kept vectors of texts with these duplicate keys; a text without one is left out."""
        return {key: self._vectors[embedder, key] for key in keys if (embedder, key) in self._vectors}

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> bool:
        """Keep vectors by duplicate key, for all datasets."""
        self._vectors = {(embedder, key): vector for key, vector in vectors.items()} | self._vectors
        return True

    def read_kept(self, shelf: str, keys: Sequence[str] | None = None) -> dict[str, str]:
        """The kept ones of these keys (None: all of the shelf, by key)."""
        own = self._kept.get(shelf, {})
        return {key: own[key] for key in (sorted(own) if keys is None else keys) if key in own}

    def keep(self, shelf: str, values: Mapping[str, str]) -> None:
        """Keep these, replacing what was kept under their keys. Raises InvalidInput."""
        check_kept(shelf, values)
        self._kept[shelf] = {**self._kept.get(shelf, {}), **values}

    def forget(self, shelf: str, keys: Sequence[str] | None = None) -> None:
        """Remove these keys, None: the whole shelf. What is not there is no error."""
        gone = set(self._kept.get(shelf, ())) if keys is None else set(keys)
        self._kept[shelf] = {key: value for key, value in self._kept.get(shelf, {}).items() if key not in gone}

    def save_query(self, dataset_name: str, query: Query, *, linked: bool = False) -> Query:
        """Save a query to a dataset, in place of one saved under the same id, as `Store.save_query`."""
        check_saved(dataset_name, query)
        if not linked and query.query_id in self.dataset(dataset_name).loaded_ids():
            raise taken_by_a_load(query.query_id, dataset_name)
        self._saved[dataset_name] = self._saved.get(dataset_name, {}) | {query.query_id: query}
        return query

    def delete_query(self, dataset_name: str, query_id: str) -> None:
        """Remove a saved query. Raises NotFound naming those that were saved."""
        saved = self._saved.get(dataset_name, {})
        if query_id not in saved:
            raise no_saved_query(query_id, dataset_name, list(saved))
        self._saved[dataset_name] = {name: query for name, query in saved.items() if name != query_id}

    def saved_queries(self, dataset_name: str) -> list[Query]:
        """The saved queries of a dataset in the order they were saved; none for an unknown name."""
        return list(self._saved.get(dataset_name, {}).values())

    def set_summaries(self, dataset_name: str, summaries: Mapping[str, str | None], made_by: str) -> DatasetInfo:
        """Give documents a summary (None: take it back), as `Store.set_summaries`."""
        check_summaries(summaries, made_by)
        old = self.dataset(dataset_name)
        changed = {
            document.document_id: new
            for document in old.documents()
            if document.document_id in summaries and (new := summarised(document, summaries[document.document_id], made_by))
        }
        if not changed:
            return old.info
        intake = old.intake._replace(documents=tuple((changed.get(d.document_id, d), own) for d, own in old.intake.documents))
        info = replace(old.info, dataset_id=self._loads + 1, content_hash=content_hash(intake))
        return self._put(dataset_name, MemoryDataset(old.bundle(), intake, info, self._counter, self._saved_of(dataset_name)))

    def set_gold(
        self, dataset_name: str, query_id: str, gold: Sequence[GoldChunk], how: GoldChange = "replace", *, linked: bool = False
    ) -> Query:
        """Give a question other gold evidence, as `Store.set_gold`."""
        saved = self._saved.get(dataset_name, {})
        if linked and query_id not in saved:
            raise no_saved_query(query_id, dataset_name, list(saved))
        before = saved[query_id] if linked else self.dataset(dataset_name).query(query_id)
        query = replace(before, gold=changed_gold(before.gold, gold, how))
        if query == before:
            return query
        if linked or query_id not in (old := self.dataset(dataset_name)).loaded_ids():
            return self.save_query(dataset_name, query, linked=linked)
        intake = old.intake._replace(queries=tuple(query if one.query_id == query_id else one for one in old.intake.queries))
        info = replace(old.info, dataset_id=self._loads + 1, content_hash=content_hash(intake))
        bundle = replace(old.bundle(), queries=tuple(intake.queries))
        self._put(dataset_name, MemoryDataset(bundle, intake, info, self._counter, self._saved_of(dataset_name)))
        return query

    def close(self) -> None:
        """Nothing to let go of."""

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _put(self, name: str, dataset: MemoryDataset) -> DatasetInfo:
        self._loads += 1
        self._datasets = {name: dataset} | {other: kept for other, kept in self._datasets.items() if other != name}
        return dataset.info

    def _saved_of(self, name: str) -> Callable[[], Saved]:
        return lambda: self._saved.get(name, {})

    def _info(self, bundle: Bundle, intake: Intake, name: str, origin: str | None) -> DatasetInfo:
        now = datetime.now(UTC)
        created = self._datasets[name].info.created_at if name in self._datasets else now
        counter, sizes = self._counter, (len(intake.documents), intake.chunk_count(), len(intake.queries), len(intake.answers))
        encoding = counter.encoding if counter is not None and counter.exact else None
        return DatasetInfo(self._loads + 1, name, created, now, encoding, *sizes, bundle.replaced, content_hash(intake), origin)
