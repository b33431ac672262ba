"""What comes to a store after a load: saved queries, summaries, kept texts. The same rules for memory, SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxasm.model.errors import InvalidInput, NotFound, shown
from ctxasm.model.records import Document, Query, check_query
from ctxasm.store.records import written_query
from ctxasm.store.validation import check_text

MAX_SHELF_BYTES = 1000
MAX_KEY_BYTES = 1500
MAX_SAVED_BYTES = 2500
"""Of a key in all: PostgreSQL indexes at most 2,704 bytes."""
MADE_BY = "summary_made_by"
"""The field of a document's metadata that says who wrote its summary."""


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


def check_saved(dataset: str, query: Query) -> str:
    """All of a query but its id and text, as JSON. Raises InvalidInput for one that cannot be saved."""
    check_text(dataset, "dataset name", name=True)
    check_query(query)
    check_text(query.query, f"query {shown(query.query_id)}: query")
    check_text(query.query_id, "query_id", name=True)
    if (size := len(dataset.encode()) + len(query.query_id.encode())) > MAX_SAVED_BYTES:
        raise InvalidInput(f"query_id and dataset name must be at most {MAX_SAVED_BYTES} bytes together, got {size}: shorten the id")
    return written_query(query)


def taken_by_a_load(query_id: str, dataset: str) -> InvalidInput:
    """The error for the id of a question that came with the dataset."""
    return InvalidInput(f"query_id must not be that of a loaded query, got {shown(query_id)} of dataset {shown(dataset)}: take another id")


def no_saved_query(query_id: str, dataset: str, saved: Sequence[str]) -> NotFound:
    """The error for deleting a question that nobody saved; those that came with the dataset stay."""
    known = f"saved are {', '.join(shown(name) for name in saved[:10])}" if saved else "none was saved"
    return NotFound(f"dataset {shown(dataset)} holds no saved query {shown(query_id)}: {known}")


def check_summaries(summaries: Mapping[str, str | None], made_by: str) -> None:
    """Refuse what no store keeps. Raises InvalidInput."""
    check_text(made_by, "made_by", name=True)
    for document_id, summary in summaries.items():
        if summary is not None:
            check_text(summary, f"the summary of document {shown(document_id)}")


def summarised(document: Document, summary: str | None, made_by: str) -> Document | None:
    """The document with its new summary (None: without); None where it stays as it is, having its own or exactly this one."""
    writer = document.metadata.get(MADE_BY)
    if (document.summary and writer != made_by) or document.summary == summary:
        return None
    metadata = {key: value for key, value in document.metadata.items() if key != MADE_BY}
    if summary is not None:
        metadata[MADE_BY] = made_by
    return Document(document.document_id, document.title, document.source, summary, document.date, metadata)
