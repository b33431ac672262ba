"""The table of retrieved documents that Phoenix's client makes of its spans: one row a document, in order of its position."""

from __future__ import annotations

from collections.abc import Iterator

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.draft import Place
from ctxasm.data.files.recognised.lists import read_question
from ctxasm.data.files.recognised.passages import Object, Passage, first, named, passage, whole
from ctxasm.data.files.recognised.traces import TraceSpan
from ctxasm.data.files.rows import Rows

SPAN, TRACE, POSITION = ("context.span_id", "span_id"), ("context.trace_id", "trace_id"), "document_position"
TEXT = ("document", "reference")
"""Today's name of the text, and the older one."""


def is_documents_table(rows: Rows) -> bool:
    """Whether the table has the columns of that table."""
    columns = set(rows.columns)
    return POSITION in columns and bool(columns & set(TEXT)) and bool(columns & {*SPAN, *TRACE})


def spans_of(table: int, rows: Rows) -> Iterator[TraceSpan]:
    """Each retriever span with its documents; it stands at the row of its first."""
    grouped: dict[str, list[tuple[int, Object]]] = {}
    for number, row in rows.rows:
        grouped.setdefault(str((first(row, SPAN) or first(row, TRACE) or ("", f"row {number}"))[1]), []).append((number, row))
    for span_id, own in grouped.items():
        own.sort(key=lambda item: (whole(item[1].get(POSITION)) or 0, item[0]))
        number, head = min(own, key=lambda item: item[0])
        trace = first(head, TRACE)
        found = tuple(_document(row) for _, row in own)
        asked = read_question(head.get("input"))
        yield TraceSpan(Place(table, number), (named(trace[1]) if trace else None) or span_id, span_id, None, "retriever", "", asked, found)


def _document(row: Object) -> Passage:
    text = first(row, TEXT)
    return passage(text[1] if text else None, parsed(row.get("document_metadata")), score=row.get("document_score"))
