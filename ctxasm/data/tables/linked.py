"""A dataset that stays in the user's own tables: read live, never written. Questions and answers live in our own store.

It has the calls of a stored dataset. What a load would have found once (overlaps, duplicate keys, token counts) is found on
the fly; the core fills in what stands as None. What neighbours share as a rule is read only where two of them share more than half,
and remembered as long as the link is held.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from time import perf_counter
from typing import Any

from ctxasm.data.tables.catalogue import is_key, own_text, own_whole
from ctxasm.data.tables.checks import Index, RowCounter, documents_in_rows, indexes, obstacle_in, served
from ctxasm.data.tables.mapping import Resolved, TableMapping, resolve
from ctxasm.data.tables.session import OwnDatabase, Parameters, Row, ask
from ctxasm.data.tables.statements import Statements
from ctxasm.model.characters import storable
from ctxasm.model.datasets import DatasetInfo, QueryEntry
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.events import NoNeighbours
from ctxasm.model.ports import Fetched, FetchedChunk, Window
from ctxasm.model.records import Answer, Chunk, CorpusLanguage, Document, Query
from ctxasm.store.statements import readable
from ctxasm.store.validation import MAX_CHUNK_INDEX, no_query
from ctxasm.text.chunk_facts import duplicate_key, has_coincidence, own_share, usual_in_dataset, with_overlaps
from ctxasm.text.language import SAMPLE, SAMPLE_CHARS, language_of_texts, sample_of

MOST_ROWS = 50_000
"""The most chunks that one read brings."""
MOST_DOCUMENTS = 100_000
"""The most documents that a list holds."""
COUNTED_DOCUMENTS = 10_000
"""Documents that are counted one by one."""
MOST_STREAMED = 2**40
COUNTED_ROWS = 100_000
"""Rows whose documents are counted where there are many."""

Questions = Callable[[], Sequence[Query]]


class LinkedDataset:
    """A mapped table as a dataset. `questions` are those that our own store keeps for it. Usable from several threads.

    Raises NotFound or InvalidInput where the tables are not as the mapping says, StoreUnavailable where they cannot be read.
    """

    def __init__(
        self,
        database: OwnDatabase,
        mapping: TableMapping,
        info: DatasetInfo,
        questions: Questions = tuple,
    ) -> None:
        self.database, self.mapping, self.info, self._questions = database, mapping, info, questions
        self._language: CorpusLanguage | None = None
        self._own_shares: dict[str, float] = {}

    @property
    def follows(self) -> bool:
        """See `Dataset`."""
        return True

    @cached_property
    def resolved(self) -> Resolved:
        """The mapping held against the tables, once."""
        return resolve(self.database, self.mapping)

    @cached_property
    def indexes(self) -> list[Index]:
        """The indexes of the table of chunks."""
        return indexes(self.database, self.resolved)

    @cached_property
    def sql(self) -> Statements:
        """The statements of this mapping."""
        found = served(self.database, self.resolved, self.indexes)
        return Statements(self.database, self.resolved, found.document or self.resolved.table.is_view)

    # Chunks and documents

    def fetch(self, windows: Sequence[Window], encoding: str) -> Fetched:
        """All chunks inside the windows, in one statement however many they are; documents take at most one more, of the same snapshot."""
        started = perf_counter()
        kind = self.sql.key_type(self.resolved.places["document_id"])
        asked = [
            w for w in readable(windows) if is_key(w.document_id, "whole" if kind == "bigint" else "uuid" if kind == "uuid" else "text")
        ]
        if not asked:
            return Fetched((), {}, 0, 0, (perf_counter() - started) * 1000)
        names = list(dict.fromkeys(window.document_id for window in asked))
        by_document = self.sql.documents
        with self.database.reading() as connection:
            rows = ask(connection, self.sql.fetch, self.fetch_parameters(asked))
            about = ask(connection, by_document, self.document_parameters(names)) if by_document is not None else []
        if len(rows) > MOST_ROWS:
            raise InvalidInput(
                f"a read must bring at most {MOST_ROWS:,} chunks, got more of table {shown(self.mapping.table)}: check the mapping"
            )
        chunks, more = self._overlapping(_chunks(rows))
        documents = {chunk.document_id: Document(chunk.document_id) for chunk in chunks} | {d.document_id: d for d in map(_document, about)}
        return Fetched(chunks, documents, 1 + more, 1 if by_document is not None else 0, (perf_counter() - started) * 1000)

    def _overlapping(self, chunks: list[FetchedChunk]) -> tuple[list[FetchedChunk], int]:
        """The chunks with their overlaps, and how many statements that took."""
        known, found = len(self._own_shares), list[FetchedChunk]()
        for name, same in groupby(chunks, key=lambda chunk: chunk.document_id):
            own = with_overlaps(list(same), own=0.0)
            if has_coincidence(own):
                if name not in self._own_shares:
                    self._own_shares[name] = own_share(self._beginnings([name], SAMPLE))
                own = with_overlaps(own, self._usual, self._own_shares[name])
            found += own
        return found, len(self._own_shares) - known + 2 * (known == 0 < len(self._own_shares))

    @cached_property
    def _usual(self) -> float:
        """What neighbours in some documents share as a rule, whichever the database finds first."""
        names = list(dict.fromkeys(chunk.document_id for chunk in self.some(SAMPLE)))
        sample = sample_of(len(names))
        return usual_in_dataset(self._beginnings([names[at] for at in sample.documents], sample.chunks))

    def _beginnings(self, names: Sequence[str], chunks: int) -> list[FetchedChunk]:
        """So many chunks of these documents, from the first on."""
        return _chunks(self.read(self.sql.fetch, self.fetch_parameters([Window(name, 0, chunks - 1) for name in names])))

    def corpus_language(self) -> CorpusLanguage:
        """That of up to SAMPLE texts, whichever the database finds first, remembered as long as the link is held.

        English where nothing tells. Raises StoreUnavailable.
        """
        if self._language is None:
            beginning = f"substr({self.sql.text}, 1, {SAMPLE_CHARS})"
            sql = f"SELECT {beginning} FROM {self.sql.source} WHERE {self.sql.usable} LIMIT {self.database.mark('limit')}"
            texts = [text for row in self.read(sql, {"limit": SAMPLE}) if (text := own_text(row[0]))]
            if not texts:  # an empty table may be filled while the link is held
                return language_of_texts(texts)
            self._language = language_of_texts(texts)
        return self._language

    def no_neighbours(self) -> NoNeighbours | None:
        """Why none of its chunks has a neighbour, by a bounded read, remembered as long as the link is held; None where one has."""
        return self._obstacle

    @cached_property
    def _obstacle(self) -> NoNeighbours | None:
        return obstacle_in(self.database, self.sql)

    def fetch_parameters(self, windows: Sequence[Window]) -> dict[str, Any]:
        """The parameters of the statement `fetch`."""
        if self.database.is_sqlite:
            return {"windows": json.dumps(windows), "limit": MOST_ROWS + 1}
        names, lows, highs = zip(*windows, strict=True)
        return {"document_ids": list(names), "lows": list(lows), "highs": list(highs), "limit": MOST_ROWS + 1}

    def document_parameters(self, names: Sequence[str]) -> dict[str, Any]:
        """The parameters of the statement `documents`."""
        return {"document_ids": json.dumps(names) if self.database.is_sqlite else list(names), "limit": len(names)}

    def documents(self) -> list[Document]:
        """The documents in the order of their keys, at most MOST_DOCUMENTS."""
        rows = self.database.rows(self.sql.document_ids, {"limit": MOST_DOCUMENTS})
        return self.described([name for row in rows if (name := own_text(row[0]))])

    def described(self, names: Sequence[str]) -> list[Document]:
        """These documents with what is known of them, in steps of a thousand."""
        by_document = self.sql.documents
        if by_document is None:
            return [Document(name) for name in names]
        about: dict[str, Document] = {}
        for at in range(0, len(names), 1000):
            rows = self.database.rows(by_document, self.document_parameters(names[at : at + 1000]))
            about |= {document.document_id: document for document in map(_document, rows)}
        return [about.get(name) or Document(name) for name in names]

    def documents_of_first(self, limit: int) -> Iterator[Document]:
        """The documents of the first `limit` chunks by document and index, streamed."""
        if self.sql.counted and self.resolved.documents is None:  # one pass: no index leads to a document's rows
            yield from documents_in_rows(self.database, self.sql, limit)
            return
        for batch in self.database.stream(self.sql.first_ids, {"limit": limit}):
            yield from self.described([name for row in batch if (name := own_text(row[0]))])

    def count_documents(self, rows: int) -> int:
        """How many documents there are: exact up to COUNTED_DOCUMENTS, from there on by the share of the first rows."""
        found = len(self.database.rows(self.sql.document_ids, {"limit": COUNTED_DOCUMENTS}))
        if found < COUNTED_DOCUMENTS or self.resolved.documents is not None:
            return found
        read = self.database.rows(self.sql.counted_ids, {"limit": COUNTED_ROWS})[0]
        return max(found, round(rows * int(read[1]) / max(1, int(read[0]))))

    def some(self, number: int) -> list[FetchedChunk]:
        """Some chunks, whichever the database finds first."""
        return _chunks(self.database.rows(self.sql.some, {"limit": number}))

    def document_chunks(self, document_id: str) -> list[FetchedChunk]:
        """All chunks of one document by index; empty for an unknown one."""
        return list(self.fetch([Window(document_id, 0, MAX_CHUNK_INDEX)], "").chunks)

    def find_text(self, phrase: str, limit: int = 200) -> list[FetchedChunk]:
        """The first `limit` chunks whose text contains `phrase` in any case, by document and index. A blank phrase finds none."""
        if not phrase.strip() or not storable(phrase) or limit < 1:
            return []
        literal = phrase.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        wanted = phrase.lower() if self.database.is_sqlite else f"%{literal}%"
        return _chunks(self.database.rows(self.sql.find_text, {"phrase": wanted, "limit": min(limit, MOST_ROWS)}))

    def iter_chunks(self) -> Iterator[FetchedChunk]:
        """All chunks by document and index, streamed out of one snapshot."""
        return self.stream(MOST_STREAMED)

    def iter_records(self) -> Iterator[Chunk]:
        """The same as records, as they would be loaded."""
        return (Chunk(*chunk[:8]) for chunk in self.iter_chunks())

    def stream(self, limit: int, counter: RowCounter | None = None) -> Iterator[FetchedChunk]:
        """The first `limit` chunks by document and index, streamed. Of several with one index the same stays as in a fetch.

        `counter` numbers the rows that have no chunk_index, and then knows what it found.
        """
        rows: Iterator[Row] = (row for batch in self.database.stream(self.sql.chunks, {"limit": limit}) for row in batch)
        rows = (counter or RowCounter()).counted(rows) if self.sql.counted else rows
        for _, same in groupby(filter(None, map(_chunk, rows)), key=lambda chunk: (chunk.document_id, chunk.chunk_index)):
            yield min(same, key=lambda chunk: chunk.text)

    def read(self, sql: str, parameters: Parameters) -> list[Row]:
        """The rows of one statement."""
        return self.database.rows(sql, parameters)

    # Questions, out of our own store

    def query_list(self) -> list[QueryEntry]:
        """The saved queries, without what was retrieved for them."""
        return [QueryEntry(query.query_id, query.query, len(query.retrieved)) for query in self._questions()]

    def queries(self) -> list[Query]:
        """The saved queries."""
        return list(self._questions())

    def query(self, query_id: str) -> Query:
        """One query. Raises NotFound naming those that exist."""
        known = {query.query_id: query for query in self._questions()}
        if query_id not in known:
            raise no_query(query_id, self.info.name, list(known))
        return known[query_id]

    def answers(self) -> list[Answer]:
        """None: a table of chunks holds no recorded answers."""
        return []


def _chunk(row: Row) -> FetchedChunk | None:
    """A row of chunk columns; None for one that is no chunk (its text is not even a text, its index no whole number)."""
    document_id, index, text, start, end, page, section, line = row
    own_id, own_index, own = own_text(document_id), own_whole(index), own_text(text)
    if not own_id or own_index is None or own is None or not 0 <= own_index <= MAX_CHUNK_INDEX:
        return None
    offsets = own_whole(start), own_whole(end)
    return FetchedChunk(
        own_id, own_index, own, *offsets, own_whole(page), own_text(section), own_whole(line), duplicate_key=duplicate_key(own)
    )


def _chunks(rows: Iterable[Row]) -> list[FetchedChunk]:
    """The chunks of rows by document and index. Of several with one index the first by text stays: the same at every read."""
    found: dict[tuple[str, int], FetchedChunk] = {}
    for chunk in filter(None, map(_chunk, rows)):
        before = found.setdefault((chunk.document_id, chunk.chunk_index), chunk)
        if chunk.text < before.text:
            found[chunk.document_id, chunk.chunk_index] = chunk
    return [found[key] for key in sorted(found)]


def _document(row: Row) -> Document:
    return Document(*(own_text(value) for value in row))  # type: ignore[arg-type]
