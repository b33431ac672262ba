"""What no single line can show: that hits, gold evidence and answers point at something that the bundle holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ctxasm.bundle.kinds import Retrieval
from ctxasm.bundle.problems import Problems
from ctxasm.bundle.tables import Table
from ctxasm.model.errors import shown
from ctxasm.model.records import Answer, Chunk, Document, Query, Span


@dataclass(frozen=True, slots=True)
class Tables:
    """The five files of one bundle."""

    documents: Table[Document]
    chunks: Table[Chunk]
    queries: Table[Query]
    retrievals: Table[Retrieval]
    answers: Table[Answer]


def check_references(tables: Tables, problems: Problems) -> None:
    """Report every reference that leads nowhere. What a missing file would have held is not judged."""
    check_chunks(tables, problems, set())
    lengths: dict[str, int | None] = {}
    extend_lengths(lengths, tables.chunks.records.values())
    check_evidence(tables, problems, lengths)
    check_retrievals(tables, problems)
    check_answers(tables, problems)


def check_chunks(tables: Tables, problems: Problems, unknown: set[str]) -> None:
    """Report chunks of documents that are missing, each document once: it is then `unknown`."""
    if tables.documents.present:
        for key, chunk in tables.chunks.records.items():
            if not tables.documents.may_hold(chunk.document_id) and chunk.document_id not in unknown:
                unknown.add(chunk.document_id)
                problems.add(
                    tables.chunks.file,
                    tables.chunks.lines[key],
                    "document_id",
                    "must name a document of documents.jsonl",
                    chunk.document_id,
                )


def check_evidence(tables: Tables, problems: Problems, lengths: Mapping[str, int | None]) -> None:
    """Report gold chunks and spans that lead nowhere; `lengths` are those of the documents (`extend_lengths`)."""
    if not tables.chunks.present:
        return
    whole = not tables.chunks.has_failures  # else a document or its end may be on a line that failed
    for key, query in tables.queries.records.items():
        line = tables.queries.lines[key]
        for position, gold in enumerate(query.gold):
            if not tables.chunks.may_hold(gold.document_id, gold.chunk_index):
                came = f"{gold.document_id} {gold.chunk_index}"
                problems.add(tables.queries.file, line, f"gold[{position}]", "must name a chunk of chunks.jsonl", came)
        for path, span in _places(query.spans):
            if not whole:
                break
            if not (tables.documents.may_hold(span.document_id) or span.document_id in lengths):
                problems.add(tables.queries.file, line, f"{path}.document_id", "must name a document of this bundle", span.document_id)
            elif (length := lengths.get(span.document_id)) is not None and span.end > length:
                problems.add(tables.queries.file, line, f"{path}.end", f"must be inside the document ({length} characters)", span.end)


def _places(spans: Iterable[Span]) -> Iterable[tuple[str, Span]]:
    for position, span in enumerate(spans):
        yield f"spans[{position}]", span
        for other, place in enumerate(span.also):
            yield f"spans[{position}].also[{other}]", place


def extend_lengths(lengths: dict[str, int | None], chunks: Iterable[Chunk]) -> None:
    """Characters of each document as far as its chunks reach; None where a chunk does not say where it stands."""
    for chunk in chunks:
        known = lengths.get(chunk.document_id, 0)
        lengths[chunk.document_id] = None if known is None or chunk.end is None else max(known, chunk.end)


def check_answers(tables: Tables, problems: Problems) -> None:
    """Report answers to no query."""
    if tables.queries.present:
        for (number,), answer in tables.answers.records.items():
            if not tables.queries.may_hold(answer.query_id):
                problems.add(tables.answers.file, number, "query_id", "must name a query of queries.jsonl", answer.query_id)


def check_retrievals(tables: Tables, problems: Problems) -> None:
    """Report retrievals of no query, and hits on no chunk."""
    for key, retrieval in tables.retrievals.records.items():
        line = tables.retrievals.lines[key]
        if not tables.queries.may_hold(retrieval.query_id):
            problems.add(tables.retrievals.file, line, "query_id", "must name a query of queries.jsonl", retrieval.query_id)
        for position, hit in enumerate(retrieval.retrieved):
            if tables.chunks.present and not tables.chunks.may_hold(hit.document_id, hit.chunk_index):
                came = f"{hit.document_id} {hit.chunk_index}"
                problems.add(tables.retrievals.file, line, f"retrieved[{position}]", "must name a chunk of chunks.jsonl", came)


def joined_queries(tables: Tables) -> tuple[Query, ...]:
    """Every query with what retrieval returned for it; a query without a line in retrievals.jsonl has no hits."""
    return tuple(joined(query, tables.retrievals.records.get(key)) for key, query in tables.queries.records.items())


def joined(query: Query, retrieval: Retrieval | None) -> Query:
    """A query with what retrieval returned for it."""
    if retrieval is None:
        return query
    return replace(
        query,
        retrieved=retrieval.retrieved,
        search_method=retrieval.search_method,
        bm25_matches=retrieval.bm25_matches,
        best_similarity=retrieval.best_similarity,
        intent=retrieval.intent,
        supplement=retrieval.supplement,
        metadata={**retrieval.metadata, **query.metadata} or query.metadata,
    )


def documents_of(tables: Tables) -> tuple[Document, ...]:
    """The documents, in file order; without documents.jsonl those that the chunks imply."""
    if tables.documents.present:
        return tuple(tables.documents.records.values())
    return tuple(Document(name) for name in dict.fromkeys(chunk.document_id for chunk in tables.chunks.records.values()))


def notes_of(tables: Tables) -> list[str]:
    """What a user should know of a bundle that is fine."""
    odd = [chunk for chunk in tables.chunks.records.values() if is_odd(chunk)]
    return notes_with(tables, len(odd), odd[0] if odd else None, bool(tables.retrievals.records))


def is_odd(chunk: Chunk) -> bool:
    """Whether the offsets of a chunk cannot be those of its text."""
    return chunk.start is not None and chunk.end is not None and chunk.end - chunk.start != len(chunk.text)


def notes_with(tables: Tables, odd: int, first_odd: Chunk | None, has_retrievals: bool) -> list[str]:
    """The notes on tables, with the number of odd chunks and the first of them."""
    tables_of_records = (tables.documents, tables.chunks, tables.queries, tables.retrievals)
    notes = [f"{table.file}: {table.repeated} repeated lines were merged" for table in tables_of_records if table.repeated]
    if first_odd is not None:
        first = f"the first is {shown(first_odd.document_id)} {first_odd.chunk_index}"
        notes.append(f"{tables.chunks.file}: {odd} chunks whose end - start is not the length of their text ({first}); offsets not trusted")
    if tables.chunks.present and not tables.documents.present:
        notes.append("documents.jsonl is absent: documents are taken from the chunks, without title or summary")
    if has_retrievals and not tables.chunks.present:
        notes.append("chunks.jsonl is absent: the chunks that retrieval returned could not be checked and cannot be assembled")
    return notes
