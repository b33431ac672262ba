"""Langfuse: traces with their observations, or observations alone, from its API, its SDK or its export.

A retriever is an observation of that type, or a span whose name says so or whose output is a list of passages of a known client;
generations give the answers. Inputs and outputs may be JSON in a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.clients import mostly
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Shape
from ctxasm.data.files.recognised.forms import ANY_FORM, FORMS
from ctxasm.data.files.recognised.lists import read_answer, read_list, read_question
from ctxasm.data.files.recognised.messages import read_messages
from ctxasm.data.files.recognised.openinference import attributes_of, found_in, read_documents
from ctxasm.data.files.recognised.passages import Object, Passage, first, is_nothing, named, objects
from ctxasm.data.files.recognised.traces import OF_TRACE, SpanKind, TraceSpan, take_traces
from ctxasm.data.files.rows import Rows

TYPES = ("SPAN", "GENERATION", "EVENT", "RETRIEVER", "CHAIN", "AGENT", "TOOL", "EMBEDDING", "EVALUATOR", "GUARDRAIL")
TRACE, PARENT, START = ("traceId", "trace_id"), ("parentObservationId", "parent_observation_id"), ("startTime", "start_time", "timestamp")
TRACE_KEYS = {"sessionId", "session_id", "userId", "user_id", "htmlPath", "html_path", "projectId", "project_id", "bookmarked", "release"}


def recognise(rows: Rows) -> bool:
    """Whether most rows are traces or observations."""
    return mostly(rows, lambda row: _is_observation(row) or _is_trace(row))


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each trace as a question with its hits and its answer."""
    draft = Draft(tables)
    spans = [
        span
        for table, rows in enumerate(tables)
        for number, row in rows.rows
        for span in _spans(draft, Place(table, number), row, rows.outer)
    ]
    take_traces(draft, spans)
    return draft.lines()


def _is_observation(row: Object) -> bool:
    return str(row.get("type")).upper() in TYPES and bool({*TRACE, *START} & row.keys()) and "id" in row


def _is_trace(row: Object) -> bool:
    """A trace by its own keys, or by the observations in it: its API leaves out what was not set."""
    is_one = bool(TRACE_KEYS & row.keys()) and bool({"input", "output", "observations"} & row.keys())
    holds = any(str(inner.get("type")).upper() in TYPES for inner in objects(row.get("observations")))
    return "id" in row and "type" not in row and (is_one or holds)


def _spans(draft: Draft, at: Place, row: Object, outer: Object | None) -> Iterator[TraceSpan]:
    if _is_observation(row):
        yield _observation(draft, at, row, named((outer or {}).get("id")))
        return
    if not _is_trace(row):
        draft.note(at.table, "rows that are no trace and no observation were left out (rows: {})")
        return
    trace_id = named(row.get("id")) or f"row {at.row}"
    root = f"{OF_TRACE}{trace_id}"
    yield TraceSpan(at, trace_id, root, None, "other", "", read_question(row.get("input")), None, read_answer(row.get("output")))
    for inner in objects(row.get("observations")):
        yield _observation(draft, at, inner, trace_id)


def _observation(draft: Draft, at: Place, row: Object, trace_id: str | None) -> TraceSpan:
    kind = _kind(row)
    found = _found(draft, at, row, kind)
    known = _text(row, TRACE) or trace_id or f"row {at.row}"
    is_asked = kind in ("retriever", "reranker", "other")
    model = named(row.get("model")) or named(row.get("providedModelName"))
    return TraceSpan(
        at,
        known,
        _text(row, ("id",)),
        _text(row, PARENT) or f"{OF_TRACE}{known}",
        kind,
        _text(row, START) or "",
        read_question(row.get("input")) if is_asked else None,
        found,
        read_answer(row.get("output")) if found is None else None,
        model,
        read_messages(row.get("input")) if kind == "llm" else (),
    )


def _kind(row: Object) -> SpanKind:
    kind, name = str(row.get("type")).upper(), str(row.get("name")).lower()
    if "rerank" in name and kind != "GENERATION":
        return "reranker"
    if kind == "RETRIEVER" or (kind == "SPAN" and ("retriev" in name or "vector" in name)):
        return "retriever"
    return "llm" if kind == "GENERATION" else "other"


def _found(draft: Draft, at: Place, row: Object, kind: SpanKind) -> tuple[Passage, ...] | None:
    """The passages that an observation returned; None where it is no retrieval."""
    output: Any = parsed(row.get("output"))
    if kind == "llm":
        return None
    found = read_list(output, FORMS if kind == "other" else ANY_FORM)
    if found is not None:
        return tuple(found)
    attributes = _attributes(row)
    raw = found_in(attributes, "reranker.output_documents") or found_in(attributes, "retrieval.documents")
    if raw is not None:
        return read_documents(draft, at, raw)
    if kind == "other":
        return None
    if not is_nothing(row.get("output")) and output not in ([], {}):
        draft.note(at.table, "what a retriever returned could not be read as passages (observations: {})")
    return ()


def _attributes(row: Object) -> dict[str, Any]:
    """The OpenInference attributes that Langfuse keeps when it was sent them over OpenTelemetry."""
    metadata = parsed(row.get("metadata"))
    return attributes_of(metadata) if isinstance(metadata, Mapping) else {}


def _text(row: Object, names: tuple[str, ...]) -> str | None:
    found = first(row, names)
    return str(found[1]) if found else None


LANGFUSE = Shape("Langfuse traces", recognise, convert_all)
