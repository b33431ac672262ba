"""The store: named datasets in a SQLite file or a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType

from sqlalchemy import Connection, select

from ctxasm.model.characters import storable
from ctxasm.model.datasets import DatasetInfo, Moves
from ctxasm.model.errors import CtxasmError, NotFound
from ctxasm.model.events import NoNeighbours
from ctxasm.model.ports import Fetched, TokenCounter, Window
from ctxasm.model.records import Answer, Bundle, Chunk, CorpusLanguage, Document, GoldChange, GoldChunk, Query
from ctxasm.store.append import more_of
from ctxasm.store.connect import Connections
from ctxasm.store.dataset import NEWEST_FIRST, HeldDataset, StoredDataset, Version, version_of
from ctxasm.store.kept_runs import StoredRuns
from ctxasm.store.kv import forget, keep, keep_vectors, read_kept, read_vectors
from ctxasm.store.load import (
    Load,
    Records,
    listed_documents,
    named_chunks,
    remove_dataset,
    reserve_document_numbers,
)
from ctxasm.store.memory import MemorySource
from ctxasm.store.migrate import ensure_schema
from ctxasm.store.moves import follow, old_texts
from ctxasm.store.saved import (
    check_saved,
    no_saved_query,
    read_saved,
    remove_saved,
    rewrite_saved,
    write_gold,
    write_saved,
    write_summaries,
)
from ctxasm.store.schema import datasets
from ctxasm.store.validation import Intake, check_dataset_name, check_records, check_summaries, no_dataset
from ctxasm.text.tokens.estimate import EstimateCounter

__all__ = ["DatasetInfo", "Store", "StoredDataset"]


class Store(StoredRuns):
    """Datasets at `url` (`sqlite:///file.db`, `sqlite://` in memory, `postgresql://…`). Usable from several threads.

    `counter` counts the tokens of what is loaded; where it only estimates, no counts are stored. As a source of chunks
    the store itself is the dataset that was newest when it was first asked, or that it loaded last.
    Raises StoreUnavailable where the database cannot be reached or used.
    """

    def __init__(self, url: str, counter: TokenCounter) -> None:
        self._counter = counter
        self._connections = Connections(url)
        self._newest: StoredDataset | None = None
        self._held: dict[int, MemorySource] = {}
        try:
            ensure_schema(self._connections)
        except BaseException:
            self._connections.close()
            raise

    def add(
        self, bundle: Bundle, name: str | None = None, origin: str | None = None, *, join: bool = False, moves: Moves | None = None
    ) -> DatasetInfo:
        """Load a bundle as the dataset `name` (default: the bundle's own), replacing one of that name.

        Labels and hits of its saved questions follow their texts to the new chunks; `moves` takes what became of them.

        With `join` its records join those of that dataset, as if both had been loaded at once: what is there already is fine,
        a document or query that says more fills that in, one with other content is refused. One transaction: readers see
        the old dataset until the new one is whole, and on any error nothing has changed. Raises InvalidInput for records
        that cannot be kept or joined, NotFound for a dataset to join that is not there, StoreUnavailable where the
        database refuses.
        """
        name = bundle.name if name is None else name
        check_dataset_name(name, origin)
        intake = check_records(bundle.documents, bundle.chunks, bundle.queries, bundle.answers)
        if join:
            return self._join(name, origin, intake, bundle.replaced)
        listed = [document for document, _ in intake.documents]
        ordered = (chunk for _, own in intake.documents for chunk in own)
        return self._write(name, origin, Records(listed, ordered, intake.queries, intake.answers, lambda: bundle.replaced), moves)

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
        """Load records as they come, as `add` would: one transaction, the same result, memory flat.

        Each part is read once, in this order. Of the chunks one document at a time is held, as long as they come document by document
        and each is of a listed one; from there on all of them are. So are all records that join others. An error of an iterator
        undoes everything. `replaced` is asked at the end. Raises as `add`.
        """
        check_dataset_name(name, origin)
        if join:
            parts = (tuple(documents), tuple(chunks), tuple(queries), tuple(answers))
            return self._join(name, origin, check_records(*parts), replaced())
        return self._write(name, origin, Records(listed_documents(documents), chunks, queries, answers, replaced), moves)

    def _write(self, name: str, origin: str | None, records: Records, moves: Moves | None) -> DatasetInfo:
        first = self._reserve(len(records.documents))
        with self._connections.loading() as connection:
            self._lock_name(connection, name)
            saved = read_saved(connection, name, None)
            old = old_texts(saved, named_chunks(connection, name))
            Load(connection, self._counter).write(name, origin, records, first)
            now = follow(saved, old, named_chunks(connection, name), Moves() if moves is None else moves)
            for was, query in zip(saved, now, strict=True):
                if query is not was:
                    rewrite_saved(connection, name, query)
        return self._loaded(name)

    def _reserve(self, count: int) -> int:
        # In a transaction of its own, so that loads of different datasets do not wait for each other.
        with self._connections.writing() as connection:
            return reserve_document_numbers(connection, count)

    def _join(self, name: str, origin: str | None, came: Intake, replaced: int) -> DatasetInfo:
        """Add records to a dataset; where none is new, nothing changes."""
        while not self._try_join(name, origin, came, replaced):
            pass
        return self._loaded(name)

    def _try_join(self, name: str, origin: str | None, came: Intake, replaced: int) -> bool:
        """False where another process replaced the dataset meanwhile."""
        stored = self.dataset(name)
        was = stored.info
        more = more_of(stored, {query.query_id: query for query in self.saved_queries(name)}, came)
        if not any(more):
            return True
        first = self._reserve(was.documents + len(more.documents)) if more.documents or more.chunks else 0
        with self._connections.loading() as connection:
            self._lock_name(connection, name)
            if self._dataset_id(connection, name) != was.dataset_id:
                return False
            Load(connection, self._counter).add(was.dataset_id, more, origin, replaced, first)
        return True

    def _loaded(self, name: str) -> DatasetInfo:
        self._held.clear()
        self._refresh_statistics()
        self._newest = self.dataset(name)
        return self._newest.info

    def datasets(self) -> list[DatasetInfo]:
        """All datasets, the one loaded last first."""
        return self._connections.read(lambda c: [version_of(row).info for row in c.execute(NEWEST_FIRST)])

    def dataset(self, name: str | None = None) -> StoredDataset:
        """The dataset of this name, without one the newest. Raises NotFound naming those that exist."""
        if self._connections.is_private:
            return HeldDataset(self._connections, self._open(name), self._open, self._held)
        return StoredDataset(self._connections, self._open(name), self._open)

    def delete(self, name: str) -> None:
        """Remove a dataset with all its records. Raises NotFound naming those that exist."""
        with self._connections.writing() as connection:
            if storable(name):
                self._lock_name(connection, name)
            if not storable(name) or remove_dataset(connection, name, for_good=True) is None:
                raise no_dataset(name, _names(connection))
        self._newest = None
        self._held.clear()

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """Chunks of the newest dataset, as `StoredDataset.fetch`. Raises NotFound in an empty store."""
        if self._newest is not None:
            with suppress(NotFound):  # deleted by another process: the newest is another one now
                return self._newest.fetch(windows, encoding)
        self._newest = self.dataset()
        return self._newest.fetch(windows, encoding)

    def corpus_language(self) -> CorpusLanguage:
        """The language of the newest dataset. Raises NotFound in an empty store."""
        return (self._newest or self.dataset()).corpus_language()

    def no_neighbours(self) -> NoNeighbours | None:
        """Why no chunk of the newest dataset has a neighbour. Raises NotFound in an empty store."""
        return (self._newest or self.dataset()).no_neighbours()

    def read_vectors(self, embedder: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The kept vectors of texts with these duplicate keys, in one statement; a text without one is left out."""
        return read_vectors(self._connections, embedder, keys)

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> bool:
        """Keep vectors by duplicate key, for all datasets. False where the database is locked or only to be read."""
        return keep_vectors(self._connections, embedder, vectors)

    def read_kept(self, shelf: str, keys: Sequence[str] | None = None) -> dict[str, str]:
        """The kept ones of these keys (None: all of the shelf, by key)."""
        return read_kept(self._connections, shelf, keys)

    def keep(self, shelf: str, values: Mapping[str, str]) -> None:
        """Keep these, replacing what was kept under their keys. Raises InvalidInput, StoreUnavailable."""
        keep(self._connections, shelf, values)

    def forget(self, shelf: str, keys: Sequence[str] | None = None) -> None:
        """Remove these keys, None: the whole shelf. What is not there is no error."""
        forget(self._connections, shelf, keys)

    def save_query(self, dataset_name: str, query: Query, *, linked: bool = False) -> Query:
        """Save a query to a dataset, in place of one saved under the same id. It survives later loads of that name.

        `linked`: the dataset lies elsewhere, only its name is known here. Raises NotFound for an unknown dataset, InvalidInput
        for a query that cannot be kept or has the id of a loaded one.
        """
        check_saved(dataset_name, query)
        with self._connections.writing() as connection:
            self._lock_name(connection, dataset_name)
            write_saved(connection, dataset_name, None if linked else self._dataset_id(connection, dataset_name), query)
        return query

    def delete_query(self, dataset_name: str, query_id: str) -> None:
        """Remove a saved query. Raises NotFound naming those that were saved."""
        with self._connections.writing() as connection:
            remove_saved(connection, dataset_name, query_id)

    def saved_queries(self, dataset_name: str) -> list[Query]:
        """The saved queries of a dataset in the order they were saved; none for an unknown name."""
        return self._connections.read(lambda c: read_saved(c, dataset_name, None)) if storable(dataset_name) else []

    def set_summaries(self, dataset_name: str, summaries: Mapping[str, str | None], made_by: str) -> DatasetInfo:
        """Give documents a summary (None: take it back), all at once: readers see the old documents or the new ones, never a mix.

        Only documents without a summary or with one `made_by` the same means are written; others, and unknown ones, stay as
        they are. Metadata says who made it. The dataset gets a new number. Raises NotFound, InvalidInput.
        """
        check_summaries(summaries, made_by)
        with self._connections.writing() as connection:
            self._lock_name(connection, dataset_name)
            write_summaries(connection, self._dataset_id(connection, dataset_name), summaries, made_by)
        self._held.clear()
        return self.dataset(dataset_name).info

    def set_gold(
        self, dataset_name: str, query_id: str, gold: Sequence[GoldChunk], how: GoldChange = "replace", *, linked: bool = False
    ) -> Query:
        """Give a question, loaded or saved, this gold evidence instead of what it has, beside it, or no longer.

        It is read and written under one lock, so that of two people who mark at once neither loses a mark. The dataset gets a new
        number where a loaded question changes. `linked`: as for `save_query`. Raises NotFound.
        """
        with self._connections.writing() as connection:
            self._lock_name(connection, dataset_name)
            dataset_id = None if linked else self._dataset_id(connection, dataset_name)
            query = write_gold(connection, dataset_name, dataset_id, query_id, gold, how)
        self._held.clear()
        if query is None and linked:
            raise no_saved_query(query_id, dataset_name, [saved.query_id for saved in self.saved_queries(dataset_name)])
        return self.dataset(dataset_name).query(query_id) if query is None else query

    def close(self) -> None:
        """Let go of all connections."""
        self._connections.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _open(self, name: str | None) -> Version:
        def ask(connection: Connection) -> Version:
            wanted = NEWEST_FIRST if name is None else NEWEST_FIRST.where(datasets.c.name == name)
            row = connection.execute(wanted.limit(1)).one_or_none() if name is None or storable(name) else None
            if row is None:
                raise no_dataset(name, _names(connection))
            return version_of(row)

        return self._connections.read(ask)

    def _dataset_id(self, connection: Connection, name: str) -> int:
        found = select(datasets.c.dataset_id).where(datasets.c.name == name)
        dataset_id = connection.execute(found).scalar_one_or_none() if storable(name) else None
        if dataset_id is None:
            raise no_dataset(name, _names(connection))
        return int(dataset_id)

    def _lock_name(self, connection: Connection, name: str) -> None:
        # Two loads of one name: the second waits for the first and then replaces it. SQLite has one writer anyway.
        if not self._connections.is_sqlite:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"ctxasm dataset {name}",))

    def _refresh_statistics(self) -> None:
        # The load is already in: that the planner knows its size is worth a try, not an error.
        if not self._connections.is_sqlite:
            with suppress(CtxasmError), self._connections.reading() as connection:
                connection.exec_driver_sql("ANALYZE ctxasm_chunks, ctxasm_documents")


def _names(connection: Connection) -> list[str]:
    return list(connection.execute(select(datasets.c.name).order_by(datasets.c.dataset_id.desc())).scalars())


class MemoryStore(Store):
    """Named datasets in memory, gone with the process. Without a `counter` no tokens are counted at load."""

    def __init__(self, counter: TokenCounter | None = None) -> None:
        super().__init__("sqlite://", counter or EstimateCounter("none", ""))
