"""One load of a dataset, as a handle knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Column, Connection, Row, false, func, or_, select

from ctxasm.model.characters import storable
from ctxasm.model.datasets import DatasetInfo, QueryEntry
from ctxasm.model.errors import StoreUnavailable, shown
from ctxasm.model.events import LOOKED_AT, NoNeighbours, no_neighbours
from ctxasm.model.ports import Fetched, FetchedChunk, Window
from ctxasm.model.records import Answer, Bundle, Chunk, CorpusLanguage, Document, Query
from ctxasm.store import schema
from ctxasm.store.connect import Connections, driver_rows
from ctxasm.store.load import chunks_of_documents, dataset_places, document_ids
from ctxasm.store.memory import MemorySource
from ctxasm.store.records import RowTypes, decoding, read_answer, read_query
from ctxasm.store.saved import read_saved, saved_entries, saved_named
from ctxasm.store.schema import INDEX_BITS, INDEX_MASK, datasets
from ctxasm.store.statements import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    FETCHED_COLUMNS,
    chunk_parameters,
    document_names,
    document_parameters,
    fetched,
    readable,
    record_chunk,
    record_document,
)
from ctxasm.store.validation import no_query
from ctxasm.text.language import SAMPLE, SAMPLE_CHARS, language_of_texts, sample_of

MOST_DOCUMENTS = 1 << (63 - INDEX_BITS)
"""In all datasets that a database ever held: the places of their chunks are numbers of 64 bits."""
_TYPES = RowTypes(*datasets.columns)
NEWEST_FIRST = select(datasets).order_by(datasets.c.dataset_id.desc())


class Numbered(NamedTuple):
    """A document with its number in the database."""

    document_no: int
    document: Document


class Version(NamedTuple):
    """One load of the dataset, with the documents of it that were read before, and, once they are known, its language and why its chunks
    have no neighbours."""

    info: DatasetInfo
    first_document_no: int
    remembered: dict[str, Numbered]
    languages: list[CorpusLanguage]
    obstacles: list[NoNeighbours | None]

    @property
    def places(self) -> tuple[int, int]:
        return dataset_places(self.first_document_no, self.info.documents)


def version_of(row: Row[tuple[object, ...]]) -> Version:
    """The version of a row of `NEWEST_FIRST`, with nothing read yet. Raises DamagedData."""
    _TYPES.check([row])
    stored = row._asdict()
    first_document_no, counts = stored.pop("first_document_no"), [stored[name] for name in ("documents", "chunks", "queries", "answers")]
    with decoding(f"dataset {shown(stored['name'])}"):
        for field in ("created_at", "loaded_at"):
            stored[field] = datetime.fromisoformat(stored[field])
        if min(first_document_no, *counts) < 0 or first_document_no + stored["documents"] > MOST_DOCUMENTS:
            raise ValueError(f"no dataset holds {counts} records from {first_document_no} on")
        return Version(DatasetInfo(**stored), first_document_no, {}, [], [])


REMEMBERED_DOCUMENTS = 4096
BATCH_ROWS = 1000
_ATTEMPTS = 20

_Result = TypeVar("_Result")


class StoredDataset:
    """A named dataset of a store. Follows its name: after a new load, reads see the new records, never a mix."""

    def __init__(self, connections: Connections, version: Version, reopen: Callable[[str], Version]) -> None:
        self._connections, self._version, self._reopen = connections, version, reopen

    @property
    def follows(self) -> bool:
        """See `Dataset`."""
        return True

    @property
    def info(self) -> DatasetInfo:
        """What was loaded, as of the last read."""
        return self._version.info

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """All stored chunks inside the windows, in one statement however many they are; documents take at most one more.

        Token facts are None for another encoding than that of the load.
        """
        started = perf_counter()
        asked = list(readable(windows))
        names = list(dict.fromkeys(window.document_id for window in asked))
        if not asked:
            return Fetched((), {}, 0, 0, (perf_counter() - started) * 1000)
        document_statements = 0
        for statements in range(1, _ATTEMPTS):
            version = self._version
            known, read = self._numbered(version, names)
            document_statements += read
            rows = self._connections.read(partial(self._read_places, version, known, asked, encoding))
            if rows or self._unchanged(version):
                with self._connections.translating():
                    chunks = fetched(rows, {n.document_no: n.document.document_id for n in known.values()})
                documents = {name: n.document for name, n in known.items()}
                return Fetched(chunks, documents, statements, document_statements, (perf_counter() - started) * 1000)
        raise self._too_busy()

    def corpus_language(self) -> CorpusLanguage:
        """The language of a sample of the summaries and texts, found once a load."""
        languages = self._version.languages
        if not languages:
            summaries, texts = self._consistent(_sample)
            languages.append(language_of_texts([*summaries, *(texts or [chunk.text for chunk in islice(self.iter_chunks(), SAMPLE)])]))
        return languages[0]

    def no_neighbours(self) -> NoNeighbours | None:
        """Why none of its chunks has a neighbour, found once a load; None where one has."""
        obstacles = self._version.obstacles
        if not obstacles:
            obstacles.append(self._consistent(_obstacle))
        return obstacles[0]

    def documents(self) -> list[Document]:
        """All documents in loaded order."""
        t = schema.documents

        def ask(connection: Connection, version: Version) -> list[Document]:
            own = select(*DOCUMENT_COLUMNS).where(t.c.dataset_id == version.info.dataset_id).order_by(t.c.document_no)
            return [record_document(row) for row in connection.execute(own)]

        return self._consistent(ask)

    def document_chunks(self, document_id: str) -> list[FetchedChunk]:
        """All chunks of one document by index, with the token facts of the load; empty for an unknown document."""
        return sorted(self.fetch([Window(document_id, 0, INDEX_MASK)], self.info.encoding or "").chunks, key=lambda c: c.chunk_index)

    def documents_named(self, names: Sequence[str]) -> dict[str, Document]:
        """The documents of these identifiers that are there."""

        def ask(connection: Connection, version: Version) -> dict[str, Document]:
            return {row[1]: record_document(row) for row in self._document_rows(connection, version, names)}

        return self._consistent(ask)

    def document_lengths(self, names: Sequence[str]) -> dict[str, int | None]:
        """Characters of those documents that are there, as far as their chunks reach; None where a chunk does not say."""
        c = schema.chunks.c

        def ask(connection: Connection, version: Version) -> dict[str, int | None]:
            found: dict[str, int | None] = {}
            for row in self._document_rows(connection, version, names):
                low, high = dataset_places(row[0], 1)
                reach = select(func.coalesce(func.max(c.end_char), 0), func.count(), func.count(c.end_char)).where(
                    c.place.between(low, high)
                )
                end, chunks, said = connection.execute(reach).one()
                found[row[1]] = end if chunks == said else None
            return found

        return self._consistent(ask)

    def chunks_at(self, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Chunk]:
        """The chunks (document_id, chunk_index) that are there, as they were loaded."""
        return {(chunk.document_id, chunk.chunk_index): chunk for chunk in self._at(keys, CHUNK_COLUMNS, record_chunk)}

    def held_chunks(self, keys: Sequence[tuple[str, int]]) -> set[tuple[str, int]]:
        """Which of these chunks (document_id, chunk_index) are there."""
        return set(self._at(keys, (schema.chunks.c.place,), lambda row, names: (names[row[0] >> INDEX_BITS], row[0] & INDEX_MASK)))

    def _at(
        self, keys: Sequence[tuple[str, int]], columns: Sequence[Column[Any]], made: Callable[[Sequence[Any], dict[int, str]], _Result]
    ) -> list[_Result]:
        place = schema.chunks.c.place

        def ask(connection: Connection, version: Version) -> list[_Result]:
            numbers = {row[1]: row[0] for row in self._document_rows(connection, version, list(dict.fromkeys(name for name, _ in keys)))}
            names = {number: name for name, number in numbers.items()}
            places = [(numbers[name] << INDEX_BITS) + index for name, index in keys if name in numbers and 0 <= index <= INDEX_MASK]
            found: list[_Result] = []
            for at in range(0, len(places), BATCH_ROWS):
                rows = connection.execute(select(*columns).where(place.in_(places[at : at + BATCH_ROWS])))
                found += [made(row, names) for row in rows]
            return found

        return self._consistent(ask)

    def _document_rows(self, connection: Connection, version: Version, names: Sequence[str]) -> Sequence[Sequence[Any]]:
        wanted = [name for name in names if storable(name)]
        parameters = document_parameters(self._connections.engine_name, wanted, version.info.dataset_id)
        return connection.exec_driver_sql(self._connections.statements.documents, parameters).fetchall()

    def find_text(self, phrase: str, limit: int = 200) -> list[FetchedChunk]:
        """The first `limit` chunks whose text contains `phrase` in any case, in document order. A blank phrase finds none."""
        if not phrase.strip() or not storable(phrase) or limit < 1:
            return []

        def ask(connection: Connection, version: Version) -> list[FetchedChunk]:
            phrase_any_case = phrase.lower() if self._connections.is_sqlite else phrase
            parameters = (*version.places, phrase_any_case, min(limit, INDEX_MASK))
            rows = connection.exec_driver_sql(self._connections.statements.containing, parameters).fetchall()
            names = document_names(connection, (row[0] >> INDEX_BITS for row in rows))
            # Replaced between the two statements: some have no name any more, and all will be read again.
            return fetched([row for row in rows if row[0] >> INDEX_BITS in names], names)

        return self._consistent(ask)

    def query_list(self) -> list[QueryEntry]:
        """The queries in loaded order, then the saved ones, without what was retrieved for them: for a picker."""
        t = schema.queries

        def ask(connection: Connection, version: Version) -> list[QueryEntry]:
            own = select(t.c.query_id, t.c.query, t.c.hits).where(t.c.dataset_id == version.info.dataset_id)
            loaded = [QueryEntry(*row) for row in connection.execute(own.order_by(t.c.position))]
            return loaded + saved_entries(connection, version.info.name, version.info.dataset_id)

        return self._consistent(ask)

    def queries(self) -> list[Query]:
        """All queries in loaded order, then the saved ones."""
        return self._consistent(lambda c, version: _loaded_queries(c, version) + read_saved(c, version.info.name, version.info.dataset_id))

    def loaded_queries(self) -> list[Query]:
        """The queries in loaded order, without the saved ones."""
        return self._consistent(_loaded_queries)

    def query(self, query_id: str) -> Query:
        """One query, loaded or saved. Raises NotFound naming those that exist."""

        def ask(connection: Connection, version: Version) -> list[Query]:
            if not storable(query_id):
                return []
            loaded = _loaded_queries(connection, version, query_id)
            return loaded or read_saved(connection, version.info.name, version.info.dataset_id, query_id)

        if not (found := self._consistent(ask)):
            raise no_query(query_id, self.info.name, [entry.query_id for entry in self.query_list()])
        return found[0]

    def queries_named(self, query_ids: Sequence[str]) -> dict[str, Query]:
        """The queries of these ids that are there, loaded or saved."""
        wanted, t = [query_id for query_id in query_ids if storable(query_id)], schema.queries

        def ask(connection: Connection, version: Version) -> dict[str, Query]:
            own = select(t.c.query_id, t.c.query, t.c.payload).where(t.c.dataset_id == version.info.dataset_id, t.c.query_id.in_(wanted))
            found = {row.query_id: read_query(*row) for row in connection.execute(own)}
            return {query.query_id: query for query in saved_named(connection, version.info.name, wanted)} | found

        return self._consistent(ask)

    def answers(self) -> list[Answer]:
        """All recorded answers in loaded order."""
        t = schema.answers

        def ask(connection: Connection, version: Version) -> list[Answer]:
            own = select(t.c.query_id, t.c.payload).where(t.c.dataset_id == version.info.dataset_id)
            return [read_answer(*row) for row in connection.execute(own.order_by(t.c.position))]

        return self._consistent(ask)

    def bundle(self) -> Bundle:
        """The whole dataset as it was loaded, chunks by document and index; without saved queries."""
        for _ in range(_ATTEMPTS):
            version = self._version
            documents, queries, answers = self.documents(), self.loaded_queries(), self.answers()
            chunks = self._consistent(lambda c, own: list(chunks_of_documents(c, document_ids(c, own.info.dataset_id))))
            if self._unchanged(version) and self._version is version:
                info = version.info
                return Bundle(info.name, tuple(documents), tuple(chunks), tuple(queries), tuple(answers), info.replaced)
        raise self._too_busy()

    def iter_chunks(self) -> Iterator[FetchedChunk]:
        """All chunks in document order, by index, with the token facts of the load; read in batches, so that memory stays flat.

        Raises StoreUnavailable where the dataset is replaced meanwhile: what was read before is of the old one.
        """
        return self._batches(FETCHED_COLUMNS, fetched)

    def iter_records(self) -> Iterator[Chunk]:
        """All chunks as they were loaded, with their metadata, in document order; else as `iter_chunks`."""
        return self._batches(CHUNK_COLUMNS, lambda rows, names: [record_chunk(row, names) for row in rows])

    def _batches(
        self, columns: Sequence[Column[Any]], made: Callable[[Sequence[Sequence[Any]], dict[int, str]], Sequence[_Result]]
    ) -> Iterator[_Result]:
        """What is `made` of the rows of chunks by place, a batch at a time, with the identifiers of their documents by number."""
        t = schema.chunks
        first, (low, high) = self._version.first_document_no, self._version.places

        def ask(connection: Connection, version: Version) -> tuple[Sequence[Sequence[Any]], dict[int, str]]:
            rows = connection.execute(select(*columns).where(t.c.place.between(low, high)).order_by(t.c.place).limit(BATCH_ROWS)).fetchall()
            return rows, document_names(connection, (row[0] >> INDEX_BITS for row in rows))

        while True:
            rows, names = self._consistent(ask)
            if self._version.first_document_no != first:
                raise StoreUnavailable(f"dataset {self.info.name!r} was replaced while it was read: read it again")
            if not rows:
                return
            with self._connections.translating():
                records = made(rows, names)
            yield from records
            low = rows[-1][0] + 1

    def _numbered(self, version: Version, names: Sequence[str]) -> tuple[dict[str, Numbered], int]:
        """The stored ones of the documents `names`, and the number of statements that took: 0 or 1."""
        remembered = version.remembered
        known = {name: numbered for name in names if (numbered := remembered.get(name))}
        unread = [name for name in names if name not in known]
        found = dict[str, Numbered]()
        if unread:
            found = self._connections.read(
                lambda c: {row[1]: Numbered(row[0], record_document(row)) for row in self._document_rows(c, version, unread)}
            )
        if len(remembered) + len(found) > REMEMBERED_DOCUMENTS:
            remembered.clear()
        remembered.update(found)
        return known | found, 1 if unread else 0

    def _read_places(
        self, version: Version, known: dict[str, Numbered], asked: Sequence[Window], encoding: str, connection: Connection
    ) -> Sequence[tuple[Any, ...]]:
        ranges = [
            ((numbered.document_no << INDEX_BITS) + low, (numbered.document_no << INDEX_BITS) + high)
            for name, low, high in asked
            if (numbered := known.get(name))
        ]
        sql = self._connections.statements.counted if encoding == version.info.encoding else self._connections.statements.uncounted
        return driver_rows(connection, sql, chunk_parameters(self._connections.engine_name, ranges, version.info.dataset_id))

    def _consistent(self, ask: Callable[[Connection, Version], _Result]) -> _Result:
        """What `ask` reads of one version of the dataset."""
        for _ in range(_ATTEMPTS):
            version = self._version
            found = self._connections.read(partial(_asked, ask, version))
            if self._unchanged(version):
                return found
        raise self._too_busy()

    def _unchanged(self, version: Version) -> bool:
        """Whether `version` is still the stored one; where not, this handle moves on to the one that is."""
        current = self._reopen(version.info.name)
        if current.info.dataset_id == version.info.dataset_id:
            return True
        self._version = current
        return False

    def _too_busy(self) -> StoreUnavailable:
        return StoreUnavailable(f"dataset {self.info.name!r} is being replaced again and again: wait for the loads to finish and try again")


class HeldDataset(StoredDataset):
    """A dataset of a database in memory that only this store opens.

    Its chunks are fetched from `held` (by the number of a load): a statement takes longer.
    """

    def __init__(self, connections: Connections, version: Version, reopen: Callable[[str], Version], held: dict[int, MemorySource]) -> None:
        super().__init__(connections, version, reopen)
        self._held = held

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """As `StoredDataset.fetch`."""
        return (self._held.get(self._version.info.dataset_id) or self._hold()).fetch(windows, encoding)

    def _hold(self) -> MemorySource:
        with self._connections.reading():  # the only connection: nothing is written meanwhile
            self._unchanged(self._version)
            info = self._version.info
            self._held[info.dataset_id] = held = MemorySource.of_facts(self.documents(), self.iter_chunks(), info.encoding)
        return held


def _asked(ask: Callable[[Connection, Version], _Result], version: Version, connection: Connection) -> _Result:
    return ask(connection, version)


def _sample(connection: Connection, version: Version) -> tuple[list[str], list[str]]:
    """Summaries and texts from all over the dataset."""
    d, c, sample = schema.documents, schema.chunks, sample_of(version.info.documents)
    numbers = [version.first_document_no + at for at in sample.documents]
    of_these = select(d.c.document_no, func.substr(d.c.summary, 1, SAMPLE_CHARS))
    some = connection.execute(of_these.where(d.c.dataset_id == version.info.dataset_id, d.c.document_no.in_(numbers))).fetchall()
    firsts = [number << INDEX_BITS for number, _ in some]
    places = or_(false(), *[c.c.place.between(first, first + sample.chunks - 1) for first in firsts])
    rows = connection.execute(select(func.substr(c.c.text, 1, SAMPLE_CHARS)).where(places)).fetchall() if firsts else []
    return [summary or "" for _, summary in some], [row[0] for row in rows]


def _obstacle(connection: Connection, version: Version) -> NoNeighbours | None:
    """A pair of neighbours is looked for by the table's own key; the first chunks give the example."""
    one, other = schema.chunks.alias(), schema.chunks.alias()
    pairs = select(one.c.place).join(other, other.c.place == one.c.place + 1).where(one.c.place.between(*version.places)).limit(1)
    if connection.execute(pairs).first() is not None:
        return None
    place = schema.chunks.c.place
    first = connection.execute(select(place).where(place.between(*version.places)).order_by(place).limit(LOOKED_AT)).scalars().all()
    names = document_names(connection, (number >> INDEX_BITS for number in first))
    found = no_neighbours((names.get(number >> INDEX_BITS, ""), number & INDEX_MASK) for number in first)
    is_more = found is not None and found.obstacle == "single" and version.info.chunks > version.info.documents
    return NoNeighbours("gaps") if is_more else found


def _loaded_queries(connection: Connection, version: Version, query_id: str | None = None) -> list[Query]:
    t = schema.queries
    own = select(t.c.query_id, t.c.query, t.c.payload).where(t.c.dataset_id == version.info.dataset_id)
    own = own if query_id is None else own.where(t.c.query_id == query_id)
    return [read_query(*row) for row in connection.execute(own.order_by(t.c.position))]
