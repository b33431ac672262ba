"""What a bundle must be before any store takes it. The same rules for memory, SQLite and PostgreSQL.

A bundle read from files is already validated; one built by hand may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ctxasm.model.characters import UNSTORABLE, storable
from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.model.records import Answer, Chunk, Document, Query, check_query

MAX_CHUNK_INDEX = 2**31 - 1
MAX_WHOLE = 2**63 - 1
MAX_NAME_BYTES = 2000  # PostgreSQL indexes at most 2,704 bytes of a text
MAX_SHELF_BYTES = 1000
MAX_KEY_BYTES = 1500
MADE_BY = "summary_made_by"
"""The field of a document's metadata that says who wrote its summary."""


class Intake(NamedTuple):
    """The checked records of one load: documents in order, each with its chunks ascending by index."""

    documents: tuple[tuple[Document, list[Chunk]], ...]
    queries: Sequence[Query]
    answers: Sequence[Answer]


def check_records(documents: Sequence[Document], chunks: Sequence[Chunk], queries: Sequence[Query], answers: Sequence[Answer]) -> Intake:
    """Check and group the records of a load.

    A document that only chunks name is added bare, after the listed ones. A chunk given twice with the same text counts
    once. Raises InvalidInput for anything a store cannot keep.
    """
    listed: dict[str, Document] = {}
    for document in documents:
        check_document(document)
        if listed.setdefault(document.document_id, document) is not document:
            raise document_twice(document.document_id)
    grouped: dict[str, list[Chunk]] = {document_id: [] for document_id in listed}
    for chunk in chunks:
        check_chunk(chunk)
        grouped.setdefault(chunk.document_id, []).append(chunk)
    by_document = tuple((listed.get(name) or Document(name), ascending(own)) for name, own in grouped.items())
    return Intake(by_document, tuple(checked_queries(queries)), tuple(checked_answers(answers)))


def check_text(value: object, field: str, *, name: bool = False, empty: bool = False) -> None:
    """Refuse what no database takes as text. `name` also limits the length, and refuses the empty text unless `empty`."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be a text, got {shown(value)}")
    if found := UNSTORABLE.search(value):
        raise InvalidInput(f"{field} must hold no NUL and no lone surrogate, got {shown(found[0])} at character {found.start()}")
    if name and (size := len(value.encode())) > MAX_NAME_BYTES:
        raise InvalidInput(f"{field} must be at most {MAX_NAME_BYTES} bytes, got {size}: shorten it")
    if name and not empty and not value:
        raise InvalidInput(f"{field} must have at least one character, got ''")


def check_dataset_name(name: str, origin: str | None = None) -> None:
    """Refuse a name that no dataset can have, and an origin that cannot be kept. Raises InvalidInput."""
    check_text(name, "dataset name", name=True)
    if not name.strip():
        raise InvalidInput(f"dataset name must have at least one visible character, got {shown(name)}")
    if origin is not None:
        check_text(origin, "origin")


def check_document(document: Document) -> None:
    """Refuse a document that no store can keep. Raises InvalidInput."""
    check_text(document.document_id, "document_id", name=True)
    for field in ("title", "source", "summary", "date"):
        if (value := getattr(document, field)) is not None:
            check_text(value, f"document {shown(document.document_id)}: {field}")
    _check_metadata(document.metadata, f"document {shown(document.document_id)}")


def check_chunk(chunk: Chunk) -> None:
    """Refuse a chunk that no store can keep. Raises InvalidInput."""
    check_text(chunk.document_id, "chunk document_id", name=True)
    check_chunk_values(chunk)


def check_chunk_values(chunk: Chunk) -> None:
    """`check_chunk`, where its document is known to be right."""
    index = chunk.chunk_index
    if type(index) is not int or not 0 <= index <= MAX_CHUNK_INDEX:
        where = shown(chunk.document_id)
        raise InvalidInput(f"chunk_index must be a whole number from 0 to {MAX_CHUNK_INDEX}, got {shown(index)} in document {where}")
    if type(chunk.text) is not str or not storable(chunk.text):
        check_text(chunk.text, f"{_named(chunk)}: text")
    for field, value in (("start", chunk.start), ("end", chunk.end), ("page_number", chunk.page_number), ("row_number", chunk.row_number)):
        if value is not None and (type(value) is not int or not -MAX_WHOLE <= value <= MAX_WHOLE):
            raise InvalidInput(f"{_named(chunk)}: {field} must be a whole number below 2**63, got {shown(value)}")
    if chunk.section is not None:
        check_text(chunk.section, f"{_named(chunk)}: section")
    if chunk.metadata:
        _check_metadata(chunk.metadata, _named(chunk))


def _check_metadata(metadata: object, where: str) -> None:
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"{where}: metadata must be a mapping, got {shown(metadata)}")


def checked_queries(queries: Iterable[Query]) -> Iterator[Query]:
    """The queries as they come. Raises InvalidInput for one that no store can keep, or an id that came before."""
    seen: set[str] = set()
    for query in queries:
        check_query(query)
        check_text(query.query, f"query {shown(query.query_id)}: query")
        check_text(query.query_id, "query_id", name=True, empty=True)
        if query.query_id in seen:
            raise InvalidInput(f"query_id must be unique, got {shown(query.query_id)} twice")
        seen.add(query.query_id)
        yield query


def checked_answers(answers: Iterable[Answer]) -> Iterator[Answer]:
    """The answers as they come. Raises InvalidInput for one that no store can keep."""
    for position, answer in enumerate(answers):
        check_text(answer.query_id, f"answers[{position}].query_id", name=True, empty=True)
        check_text(answer.answer, f"answers[{position}].answer")
        yield answer


def given_twice(document_id: str, index: int) -> InvalidInput:
    """The error for a chunk that came with two texts."""
    return InvalidInput(f"chunk {index} of document {shown(document_id)} must be given once, got it twice with different texts")


def document_twice(document_id: str) -> InvalidInput:
    """The error for a document that came twice."""
    return InvalidInput(f"document_id must be unique, got {shown(document_id)} twice")


def ascending(chunks: list[Chunk]) -> list[Chunk]:
    """The chunks of a document by index; one given twice with the same text counts once. Raises InvalidInput."""
    chunks.sort(key=lambda chunk: chunk.chunk_index)
    kept: list[Chunk] = []
    for chunk in chunks:
        if not kept or kept[-1].chunk_index != chunk.chunk_index:
            kept.append(chunk)
        elif kept[-1].text != chunk.text:
            raise given_twice(chunk.document_id, chunk.chunk_index)
    return kept


def _named(chunk: Chunk) -> str:
    return f"chunk {chunk.chunk_index} of document {shown(chunk.document_id)}"


def no_dataset(name: str | None, names: Sequence[str]) -> NotFound:
    """The error for a dataset that is not in the store; `names` are those that are."""
    if not names:
        wanted = "no dataset" if name is None else f"no dataset {shown(name)}"
        return NotFound(f"the store holds {wanted}: it is empty, load a bundle first")
    return NotFound(f"the store holds no dataset {shown(name)}: choose one of {_some(names)}")


def no_query(query_id: str, dataset: str, query_ids: Sequence[str]) -> NotFound:
    """The error for a query that is not in the dataset; `query_ids` are those that are."""
    if not query_ids:
        return NotFound(f"dataset {shown(dataset)} holds no query {shown(query_id)}: it has no queries")
    return NotFound(f"dataset {shown(dataset)} holds no query {shown(query_id)}: choose one of {_some(query_ids)}")


def _some(names: Sequence[str], limit: int = 10) -> str:
    listed = ", ".join(shown(name) for name in names[:limit])
    return listed if len(names) <= limit else f"{listed} … ({len(names)} in all)"


def check_kept(shelf: str, values: Mapping[str, str]) -> None:
    """Refuse what no shelf takes. Raises InvalidInput naming what."""
    _check_name(shelf, "the name of a shelf", MAX_SHELF_BYTES)
    for key, value in values.items():
        _check_name(key, f"a key of shelf {shown(shelf)}", MAX_KEY_BYTES)
        check_text(value, f"the value of {shown(key)} on shelf {shown(shelf)}")


def _check_name(value: str, what: str, most: int) -> None:
    check_text(value, what, name=True)
    if (size := len(value.encode())) > most:
        raise InvalidInput(f"{what} must be at most {most} bytes, got {size}: shorten it")


def check_summaries(summaries: Mapping[str, str | None], made_by: str) -> None:
    """Refuse what no store keeps. Raises InvalidInput."""
    check_text(made_by, "made_by", name=True)
    for document_id, summary in summaries.items():
        if summary is not None:
            check_text(summary, f"the summary of document {shown(document_id)}")
