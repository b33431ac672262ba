"""What no single line can show: that hits, gold evidence and answers point at something, and what a joined dataset says otherwise.

Something is what the bundle holds, or the dataset that it joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from ctxasm.data.files.kinds import Retrieval
from ctxasm.data.files.problems import Problems
from ctxasm.data.files.recognised.lists import LIST_NAMES
from ctxasm.data.files.tables import Table
from ctxasm.data.files.unread import unread_note
from ctxasm.model.amounts import counted
from ctxasm.model.datasets import OwnedDataset
from ctxasm.model.errors import shown
from ctxasm.model.records import Answer, Chunk, Document, GoldChunk, Query, Span
from ctxasm.store.joining import Difference, differences

L = TypeVar("L", GoldChunk, Span)

RETRIEVAL_FIELDS = tuple(name for name in Retrieval._fields if name not in ("query_id", "metadata"))


@dataclass(frozen=True, slots=True)
class Tables:
    """The five files of one bundle. `stored` is the dataset that it joins, None where it makes one of its own."""

    documents: Table[Document]
    chunks: Table[Chunk]
    queries: Table[Query]
    retrievals: Table[Retrieval]
    answers: Table[Answer]
    stored: OwnedDataset | None = None

    @property
    def has_chunks(self) -> bool:
        """Whether it is known which chunks there are."""
        return self.chunks.present or (self.stored is not None and self.stored.info.chunks > 0)

    @property
    def has_queries(self) -> bool:
        """Whether it is known which queries there are."""
        return self.queries.present or (self.stored is not None and self.stored.info.queries > 0)

    def of(self, table: Table[Chunk] | Table[Query] | Table[Document]) -> str:
        """Where a name must be, for the end of a sentence."""
        if self.stored is None:
            return table.file
        dataset = f"the dataset {shown(self.stored.info.name)}"
        return f"{table.file} or of {dataset}" if table.present else dataset


class Asked(NamedTuple):
    """A query with what retrieval returned for it, and the lines of both."""

    query: Query
    line: int | None
    retrieval: Retrieval | None
    retrieval_line: int | None


def check_references(tables: Tables, problems: Problems) -> None:
    """Report every reference that leads nowhere, and what is stored otherwise. What a missing file would have held is not judged."""
    check_documents(tables, problems)
    check_chunks(tables, problems, set())
    lengths: dict[str, int | None] = {}
    extend_lengths(lengths, tables.chunks.records.values())
    check_evidence(tables, problems, lengths)
    check_retrievals(tables, problems)
    check_asked(tables, problems, asked_queries(tables))
    check_answers(tables, problems)


def check_documents(tables: Tables, problems: Problems) -> None:
    """Report documents that are stored otherwise."""
    records = tables.documents.records
    if tables.stored is not None and records:
        stored = tables.stored.documents_named([document.document_id for document in records.values()])
        for key, document in records.items():
            if (was := stored.get(document.document_id)) is not None:
                _report(problems, tables.documents.file, tables.documents.lines[key], differences(was, document))


def check_chunks(tables: Tables, problems: Problems, unknown: set[str]) -> None:
    """Report chunks that are stored otherwise, and of documents that are missing, each document once: it is then `unknown`."""
    records = tables.chunks.records
    if tables.stored is not None and records:
        names = list(dict.fromkeys(chunk.document_id for chunk in records.values()))
        tables.documents.held |= {(name,) for name in tables.stored.documents_named(names)}
        stored = tables.stored.chunks_at([(chunk.document_id, chunk.chunk_index) for chunk in records.values()])
        for key, chunk in records.items():
            if (was := stored.get((chunk.document_id, chunk.chunk_index))) is not None:
                _report(problems, tables.chunks.file, tables.chunks.lines[key], differences(was, chunk))
    if tables.documents.present:
        for key, chunk in records.items():
            if not tables.documents.may_hold(chunk.document_id) and chunk.document_id not in unknown:
                unknown.add(chunk.document_id)
                message = f"must name a document of {tables.of(tables.documents)}"
                problems.add(tables.chunks.file, tables.chunks.lines[key], "document_id", message, chunk.document_id)


def check_evidence(tables: Tables, problems: Problems, lengths: Mapping[str, int | None]) -> None:
    """Report gold chunks and spans that lead nowhere; `lengths` are those of the documents (`extend_lengths`)."""
    if not tables.has_chunks:
        return
    queries = tables.queries.records
    whole = not tables.chunks.has_failures  # else a document or its end may be on a line that failed
    if tables.stored is not None:
        _hold_chunks(tables, [key for query in queries.values() for gold in query.gold for key in gold.chunks])
        named = list(dict.fromkeys(span.document_id for query in queries.values() for _, span in _places("spans", query.spans)))
        lengths = _longest(lengths, tables.stored.document_lengths(named))
        tables.documents.held |= {(name,) for name in named if name in lengths}
    for key, query in queries.items():
        line = tables.queries.lines[key]
        for path, place in _places("gold", query.gold):
            if not tables.chunks.may_hold(place.document_id, place.chunk_index):
                came = f"{place.document_id} {place.chunk_index}"
                problems.add(tables.queries.file, line, path, f"must name a chunk of {tables.of(tables.chunks)}", came)
        for path, span in _places("spans", query.spans):
            if not whole:
                break
            if not (tables.documents.may_hold(span.document_id) or span.document_id in lengths):
                where = "this bundle" if tables.stored is None else tables.of(tables.documents)
                problems.add(tables.queries.file, line, f"{path}.document_id", f"must name a document of {where}", span.document_id)
            elif (length := lengths.get(span.document_id)) is not None and span.end > length:
                problems.add(tables.queries.file, line, f"{path}.end", f"must be inside the document ({length} characters)", span.end)


def _longest(own: Mapping[str, int | None], stored: Mapping[str, int | None]) -> dict[str, int | None]:
    """The lengths of documents of which some chunks are stored and some come now."""
    found = dict(own)
    for name, length in stored.items():
        more = own.get(name, 0)
        found[name] = None if length is None or more is None else max(length, more) or None
    return found


def _places(field: str, labels: Iterable[L]) -> Iterable[tuple[str, L]]:
    """The places of labels that should be there, with where each stands in its line; what is said to be lost is not looked for."""
    for position, label in enumerate(labels):
        for other, place in enumerate(label.places):
            if not place.lost:
                yield f"{field}[{position}]" + (f".also[{other - 1}]" if other else ""), place


def extend_lengths(lengths: dict[str, int | None], chunks: Iterable[Chunk]) -> None:
    """Characters of each document as far as its chunks reach; None where a chunk does not say where it stands."""
    for chunk in chunks:
        known = lengths.get(chunk.document_id, 0)
        lengths[chunk.document_id] = None if known is None or chunk.end is None else max(known, chunk.end)


def check_answers(tables: Tables, problems: Problems) -> None:
    """Report answers to no query."""
    _hold_queries(tables, [answer.query_id for answer in tables.answers.records.values()])
    if tables.has_queries:
        for (number,), answer in tables.answers.records.items():
            if not tables.queries.may_hold(answer.query_id):
                message = f"must name a query of {tables.of(tables.queries)}"
                problems.add(tables.answers.file, number, "query_id", message, answer.query_id)


def check_retrievals(tables: Tables, problems: Problems) -> None:
    """Report retrievals of no query, and hits on no chunk."""
    records = tables.retrievals.records
    _hold_queries(tables, [retrieval.query_id for retrieval in records.values()])
    _hold_chunks(tables, [(hit.document_id, hit.chunk_index) for retrieval in records.values() for hit in retrieval.retrieved])
    for key, retrieval in records.items():
        line = tables.retrievals.lines[key]
        if not tables.queries.may_hold(retrieval.query_id):
            message = f"must name a query of {tables.of(tables.queries)}"
            problems.add(tables.retrievals.file, line, "query_id", message, retrieval.query_id)
        for position, hit in enumerate(retrieval.retrieved):
            if tables.has_chunks and not tables.chunks.may_hold(hit.document_id, hit.chunk_index):
                came, message = f"{hit.document_id} {hit.chunk_index}", f"must name a chunk of {tables.of(tables.chunks)}"
                problems.add(tables.retrievals.file, line, f"retrieved[{position}]", message, came)


def check_asked(tables: Tables, problems: Problems, asked: Sequence[Asked]) -> None:
    """Report what queries and retrievals say otherwise than what is stored."""
    stored = {} if tables.stored is None else tables.stored.queries_named([one.query.query_id for one in asked])
    for query, line, retrieval, retrieval_line in asked:
        if (was := stored.get(query.query_id)) is None:
            continue
        for difference in differences(was, query):
            said = retrieval is not None and difference.field in (*RETRIEVAL_FIELDS, *retrieval.metadata)
            if line is None or (said and retrieval_line is not None):
                _report(problems, tables.retrievals.file, retrieval_line, [difference])
            else:
                _report(problems, tables.queries.file, line, [difference])


def _report(problems: Problems, file: str, line: int | None, found: Iterable[Difference]) -> None:
    for difference in found:
        problems.add(file, line, difference.field, f"{difference.sentence} in the dataset", difference.came)


def _hold_chunks(tables: Tables, keys: Iterable[tuple[str, int]]) -> None:
    if tables.stored is not None and (unknown := [key for key in dict.fromkeys(keys) if not tables.chunks.may_hold(*key)]):
        tables.chunks.held |= tables.stored.held_chunks(unknown)


def _hold_queries(tables: Tables, query_ids: Iterable[str]) -> None:
    if tables.stored is not None and (unknown := [name for name in dict.fromkeys(query_ids) if not tables.queries.may_hold(name)]):
        tables.queries.held |= {(name,) for name in tables.stored.queries_named(unknown)}


def asked_queries(tables: Tables) -> list[Asked]:
    """Every query with what retrieval returned for it; one without a line in retrievals.jsonl has no hits.

    A line of retrievals.jsonl for a query that is only stored brings its hits to that.
    """
    queries, retrievals = tables.queries, tables.retrievals
    found = [
        Asked(joined(query, retrievals.records.get(key)), queries.lines[key], retrievals.records.get(key), retrievals.lines.get(key))
        for key, query in queries.records.items()
    ]
    return found + only_retrieved(tables, [key for key in retrievals.records if key not in queries.records])


def only_retrieved(tables: Tables, keys: Iterable[tuple[str, ...]]) -> list[Asked]:
    """Retrievals of queries that are only stored."""
    retrievals = tables.retrievals
    held = [key for key in keys if key in tables.queries.held]
    stored = tables.stored.queries_named([name for (name,) in held]) if tables.stored is not None and held else {}
    found = []
    for key in held:
        if (was := stored.get(key[0])) is not None:
            query = Query(was.query, query_id=was.query_id)
            found.append(Asked(joined(query, retrievals.records[key]), None, retrievals.records[key], retrievals.lines[key]))
    return found


def joined(query: Query, retrieval: Retrieval | None) -> Query:
    """A query with what retrieval returned for it."""
    if retrieval is None:
        return query
    told = {field: getattr(retrieval, field) for field in RETRIEVAL_FIELDS}
    return replace(query, **told, metadata={**retrieval.metadata, **query.metadata} or query.metadata)


def documents_of(tables: Tables) -> tuple[Document, ...]:
    """The documents, in file order; without documents.jsonl those that the chunks imply."""
    if tables.documents.present:
        return tuple(tables.documents.records.values())
    first: dict[str, Chunk] = {}
    for chunk in tables.chunks.records.values():
        first.setdefault(chunk.document_id, chunk)
    return tuple(map(implied_document, first.values()))


def implied_document(first: Chunk) -> Document:
    """The document that its first chunk implies: with the title that the line of the chunk has, where it has one."""
    title = first.metadata.get("title")
    return Document(first.document_id, title if isinstance(title, str) and title.strip() else None)


def notes_of(tables: Tables) -> list[str]:
    """What a user should know of a bundle that is fine."""
    odd = [chunk for chunk in tables.chunks.records.values() if is_odd(chunk)]
    found = tables.retrievals.records
    beside = sum(key not in found and holds_hits(query) for key, query in tables.queries.records.items())
    implied = [] if tables.documents.present else documents_of(tables)
    untitled = sum(each.title is None for each in implied)
    return notes_with(tables, len(odd), odd[0] if odd else None, bool(found), beside, untitled)


def holds_hits(query: Query) -> bool:
    """Whether a line of queries.jsonl has a field that looks like hits: they are read from retrievals.jsonl alone."""
    lists = (query.metadata.get(name) for name in ("retrieved", *LIST_NAMES))
    return any(isinstance(hits, list) and hits and isinstance(hits[0], Mapping) and "document_id" in hits[0] for hits in lists)


def is_odd(chunk: Chunk) -> bool:
    """Whether the offsets of a chunk cannot be those of its text."""
    return chunk.start is not None and chunk.end is not None and chunk.end - chunk.start != len(chunk.text)


def notes_with(tables: Tables, odd: int, first_odd: Chunk | None, has_retrievals: bool, beside: int, untitled: int) -> list[str]:
    """The notes on tables, with the number of odd chunks and the first of them, that of queries whose hits stand beside them, and of
    documents that chunks imply without a title.
    """
    tables_of_records = (tables.documents, tables.chunks, tables.queries, tables.retrievals)
    notes = [f"{table.file}: {table.repeated} repeated lines were merged" for table in tables_of_records if table.repeated]
    for table in (tables.queries, tables.retrievals):
        notes += unread_note(table.file, dict(sorted(table.unread.items())))
    if first_odd is not None:
        first = f"the first is {shown(first_odd.document_id)} {first_odd.chunk_index}"
        notes.append(f"{tables.chunks.file}: {odd} chunks whose end - start is not the length of their text ({first}); offsets not trusted")
    if untitled and tables.stored is None:
        named = "is named by its id" if untitled == 1 else "are named by their ids"
        told = f"{counted(untitled, 'document')} without a title {named}"
        notes.append(f"{told}; documents.jsonl or the lines of chunks can give titles")
    if has_retrievals and not tables.has_chunks:
        notes.append("chunks.jsonl is absent: the chunks that retrieval returned could not be checked and cannot be assembled")
    if beside:
        told = f"{tables.queries.file}: the hits in {counted(beside, 'line')} are not loaded as hits, they stay as metadata"
        notes.append(f"{told}; hits are read from `retrieved` in {tables.retrievals.file}")
    return notes
