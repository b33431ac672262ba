"""Spans of OpenInference or of OpenTelemetry's GenAI conventions: flat attributes, nested ones, OTLP, or a table of columns.

`retrieval.documents` of retriever spans and `reranker.output_documents` of rerankers give the hits, `input.value` the question,
the last model of the trace the answer. In GenAI spans these are `gen_ai.retrieval.documents` (of which only a name and a score must be
there), `gen_ai.retrieval.query.text` and `gen_ai.output.messages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Shape
from ctxasm.data.files.recognised.forms import genai_document, openinference_document
from ctxasm.data.files.recognised.lists import read_answer, read_question
from ctxasm.data.files.recognised.messages import prompt_text, read_messages
from ctxasm.data.files.recognised.passages import Object, Passage, first, named, nested, objects
from ctxasm.data.files.recognised.span_documents import is_documents_table, spans_of
from ctxasm.data.files.recognised.traces import SpanKind, TraceSpan, take_traces
from ctxasm.data.files.rows import Rows
from ctxasm.model.records import Turn
from ctxasm.text.sent_prompts import own_passages

KINDS: dict[str, SpanKind] = {"RETRIEVER": "retriever", "RERANKER": "reranker", "LLM": "llm"}
OPERATIONS: dict[str, SpanKind] = {
    **dict.fromkeys(("chat", "text_completion", "generate_content"), "llm"),
    **dict.fromkeys(("retrieval", "retrieve"), "retriever"),
    **dict.fromkeys(("rerank", "reranking"), "reranker"),
}
"""What a GenAI span does, by its `gen_ai.operation.name`."""
LISTS = ("reranker.output_documents", "retrieval.documents", "gen_ai.retrieval.documents")
LOOKED_AT = 2_000
"""Rows among which a retriever must stand: a trace has a few dozen."""
OTLP = (("resourceSpans", "scopeSpans", "spans"), ("resource_spans", "scope_spans", "spans"))
OTLP_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value", "double_value", "bool_value")


def recognise(rows: Rows) -> bool:
    """Whether some row is a span that retrieves or reranks, or a model that was sent passages."""
    if is_documents_table(rows):
        return True
    looked_at = (span for _, values in islice(rows.rows, LOOKED_AT) for span in _spans(values))
    return any(_searches(attributes, span) for span in looked_at if (attributes := attributes_of(span)))


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each trace as a question with its hits and its answer."""
    draft = Draft(tables)
    spans: list[TraceSpan] = []
    for table, rows in enumerate(tables):
        if is_documents_table(rows):
            spans += spans_of(table, rows)
        else:
            spans += [span_of(draft, Place(table, number), row) for number, values in rows.rows for row in _spans(values)]
    take_traces(draft, spans)
    return draft.lines()


def attributes_of(row: Object) -> dict[str, Any]:
    """The attributes of a span as nested objects, wherever the row has them; empty where it is no span."""
    found = _attributes(row)
    for event in objects(row.get("events")):  # where GenAI spans may keep what was said
        inside = _attributes(event).get("gen_ai")
        if isinstance(inside, Mapping):
            found["gen_ai"] = {**inside, **(own if isinstance(own := found.get("gen_ai"), Mapping) else {})}
    return found


def _attributes(row: Object) -> dict[str, Any]:
    given = parsed(row.get("attributes"))
    if isinstance(given, list):
        return nested({str(pair.get("key")): _otlp_value(pair.get("value")) for pair in objects(given)})
    if isinstance(given, Mapping):
        return nested(given)
    prefix = "attributes."
    flat = {name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)}
    if not flat and any(name.startswith(("retrieval.documents", "reranker.output_documents", "gen_ai.")) for name in row):
        flat = dict(row)
    return nested({name: value for name, value in flat.items() if value is not None})


def found_in(attributes: Object, name: str) -> list[Any] | None:
    """The documents of a retriever or reranker span, as they are written."""
    inner = parsed(_below(attributes, *name.split(".")))
    return [nested(item) if isinstance(item, Mapping) else item for item in inner] if isinstance(inner, list) else None


def span_of(draft: Draft, at: Place, row: Object) -> TraceSpan:
    """A row as a span. A document that cannot be read is passed on, for the validation to report."""
    attributes = attributes_of(row)
    kind = _kind(attributes, row)
    raw = next((own for name in LISTS[kind != "reranker" :] if (own := found_in(attributes, name)) is not None), None)
    found = read_documents(draft, at, raw or []) if raw is not None or kind in ("retriever", "reranker") else None
    gen_ai = _below(attributes, "gen_ai")
    asked = _below(attributes, "reranker", "query") or _below(attributes, "input", "value") or _below(gen_ai, "retrieval", "query", "text")
    message = objects(_below(attributes, "llm", "output_messages"))
    told = objects(_below(gen_ai, "output", "messages")) or objects(_below(gen_ai, "completion"))
    said = read_answer(_below(message[-1], "message", "content")) if message else read_answer(told)
    asked = asked or objects(_below(gen_ai, "input", "messages")) or objects(_below(gen_ai, "prompt")) or None
    times = first(row, ("start_time", "startTimeUnixNano", "start_time_unix_nano", "startTime"))
    return TraceSpan(
        at,
        _id(row, "trace_id", "traceId") or f"row {at.row}",
        _id(row, "span_id", "spanId"),
        _name_of(row, "parent_id", "parentId", "parent_span_id", "parentSpanId"),
        kind,
        str(times[1]).zfill(40) if times else "",
        question=read_question(asked),
        found=found,
        answer=said or read_answer(_below(attributes, "output", "value")),
        model=named(_below(attributes, "llm", "model_name")) or named(_below(gen_ai, "request", "model")),
        sent=_sent(attributes) if kind == "llm" else (),
    )


def _sent(attributes: Object) -> tuple[Turn, ...]:
    """What a model was asked, where a span of either dialect keeps it."""
    gen_ai = _below(attributes, "gen_ai")
    system = read_messages({"system": _below(gen_ai, "system_instructions") or ""})
    places = (
        _below(attributes, "llm", "input_messages"),
        _below(gen_ai, "input", "messages"),
        _below(gen_ai, "prompt"),
        _below(attributes, "llm", "prompts"),
        _below(attributes, "input", "value"),
    )
    return (*system, *next((found for place in places if place and (found := read_messages(place))), ()))


def read_documents(draft: Draft, at: Place, raw: Sequence[Any]) -> tuple[Passage, ...]:
    """The passages of a span, in order."""
    found = []
    for item in raw:
        passage = openinference_document(item) or genai_document(item)
        if passage is None:
            draft.unreadable(at)
        else:
            found.append(passage)
    return tuple(found)


def _spans(values: Object) -> Iterator[Object]:
    """The spans of a row: itself, or all that an OTLP message holds."""
    for outer, middle, inner in OTLP:
        if outer in values:
            for resource in objects(values[outer]):
                for scope in objects(resource.get(middle)):
                    yield from objects(scope.get(inner))
            return
    yield values


def _searches(attributes: Object, row: Object) -> bool:
    kind = _kind(attributes, row)
    if kind in ("retriever", "reranker") or any(found_in(attributes, name) is not None for name in LISTS):
        return True
    return kind == "llm" and bool(own_passages(prompt_text(_sent(attributes))))


def _kind(attributes: Object, row: Object) -> SpanKind:
    told = _below(attributes, "openinference", "span", "kind") or row.get("span_kind")
    does = str(_below(attributes, "gen_ai", "operation", "name")).lower()
    known = KINDS.get(str(told).upper().removeprefix("SPANKIND.")) or OPERATIONS.get(does)
    if known is None and found_in(attributes, "reranker.output_documents") is not None:
        return "reranker"
    return known or ("retriever" if any(found_in(attributes, name) is not None for name in LISTS[1:]) else "other")


def _id(row: Object, *names: str) -> str | None:
    """An identifier beside the attributes, in `context`, or in a column `context.…`."""
    context = parsed(row.get("context"))
    beside = {f"context.{name}": row.get(f"context.{name}") for name in names}
    inside = {name: context.get(name) for name in names} if isinstance(context, Mapping) else {}
    found = first({**{name: row.get(name) for name in names}, **beside, **inside}, (*names, *beside))
    return named(found[1]) if found else _name_of(row, *names)


def _name_of(row: Object, *names: str) -> str | None:
    found = first(row, names)
    return named(found[1]) if found else None


def _below(values: object, *steps: str) -> Any:
    for step in steps:
        values = values.get(step) if isinstance(values, Mapping) else None
    return values


def _otlp_value(value: object) -> Any:
    if not isinstance(value, Mapping):
        return None
    inner = first(value, OTLP_VALUES)
    if inner:
        return inner[1]
    listed, keyed = value.get("arrayValue", value.get("array_value")), value.get("kvlistValue", value.get("kvlist_value"))
    if isinstance(keyed, Mapping):
        return {str(pair.get("key")): _otlp_value(pair.get("value")) for pair in objects(keyed.get("values"))}
    return [_otlp_value(item) for item in objects(_below(listed, "values"))] if isinstance(listed, Mapping) else None


OPENINFERENCE = Shape("OpenInference or GenAI spans", recognise, convert_all)
