"""Traces of OpenInference, GenAI, Langfuse and LangSmith: from their spans to questions with their hits and answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.clients import mostly
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Shape, Spoken
from ctxasm.data.files.recognised.lists import (
    ANY_FORM,
    FORMS,
    genai_document,
    openinference_document,
    read_answer,
    read_list,
    read_question,
)
from ctxasm.data.files.recognised.messages import prompt_text, read_messages
from ctxasm.data.files.recognised.passages import (
    MAX_LEVELS,
    Object,
    Passage,
    first,
    is_finite,
    is_nothing,
    named,
    nested,
    objects,
    passage,
    whole,
)
from ctxasm.data.files.rows import Rows
from ctxasm.model.records import Turn
from ctxasm.text.sent_prompts import own_passages

SpanKind = Literal["retriever", "reranker", "llm", "other"]
OF_TRACE = "trace "
"""How the name begins that a trace itself has among its spans, where it is none of them."""
JOINED = "several retrievals of one question in a trace were joined (questions: {})"
UNPLACED = "answers of traces with several questions, where none is the question of the trace, were left out (traces: {})"


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """A step of a trace. `found` are the passages it returned, None where it is no retrieval; `sent` is what a model was asked."""

    at: Place
    trace_id: str
    span_id: str | None
    parent_id: str | None
    kind: SpanKind
    start: str
    question: str | None = None
    found: tuple[Passage, ...] | None = None
    answer: str | None = None
    model: str | None = None
    sent: tuple[Turn, ...] = ()


@dataclass(slots=True)
class _Retrieval:
    at: Place
    question: str | None
    found: list[Passage]


def take_traces(draft: Draft, spans: Iterable[TraceSpan]) -> None:
    """Take in the questions of all traces, in the order in which the traces appear."""
    traces: dict[str, list[TraceSpan]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    for trace_id, own in traces.items():
        _take_trace(draft, trace_id, sorted(own, key=lambda span: span.start))


def _take_trace(draft: Draft, trace_id: str, spans: Sequence[TraceSpan]) -> None:
    if any(span.kind in ("retriever", "reranker") for span in spans):
        # What only looks like a retrieval (a step that hands on what was found) is none where there is a real one.
        spans = [replace(span, found=None) if span.kind == "other" else span for span in spans]
    by_id = {span.span_id: span for span in spans if span.span_id}
    searching = [span for span in spans if span.found is not None and not _is_inside(span, by_id)]
    root = next((span for span in spans if span.parent_id not in by_id), None)
    retrievals = _retrievals(draft, searching, root.question if root else None)
    speaking = [span for span in spans if span.kind == "llm" and span.answer and not _is_inside(span, by_id)]
    last = speaking[-1] if speaking else root if root and root.kind != "retriever" and root.answer else None
    if not searching and last is not None and last.sent:
        own = draft.passages_of(last.at.table, last.sent)
        if own.found:
            retrievals = [_Retrieval(last.at, own.question or (root.question if root else None), list(own.found))]
    answered = _answered(retrievals, root) if last else None
    if last and answered is None and retrievals:
        draft.note(last.at.table, UNPLACED)
    for number, retrieval in enumerate(retrievals, 1):
        answer = last if last and retrieval is answered else None
        draft.ask(
            retrieval.at,
            retrieval.question,
            retrieval.found,
            query_id=trace_id if len(retrievals) == 1 else f"{trace_id}:{number}",
            answer=answer.answer if answer else None,
            spoken=_spoken(answer) if answer else None,
        )


def _spoken(span: TraceSpan) -> Spoken:
    made_up = span.span_id == f"{OF_TRACE}{span.trace_id}"
    return Spoken(span.sent, span.model, span.trace_id, None if made_up else span.span_id)


def _is_inside(span: TraceSpan, by_id: dict[str, TraceSpan]) -> bool:
    """Whether a step that searches is above this one."""
    seen: set[str] = set()
    above = span.parent_id
    while above in by_id and above not in seen:
        seen.add(above)
        if by_id[above].found is not None:
            return True
        above = by_id[above].parent_id
    return False


def _retrievals(draft: Draft, searching: Sequence[TraceSpan], asked: str | None) -> list[_Retrieval]:
    found: list[_Retrieval] = []
    for span in searching:
        question = span.question or (asked if len(searching) == 1 else None)
        passages = list(span.found or ())
        same = [retrieval for retrieval in found if question is None or retrieval.question in (question, None)]
        if span.kind == "reranker" and same:
            for retrieval in same:
                for passage in retrieval.found:
                    draft.keep(retrieval.at, passage)
            before = {_name(passage): passage for retrieval in same for passage in retrieval.found}
            same[-1].found = [_with_earlier(passage, before.get(_name(passage))) for passage in passages]
            same[-1].question = same[-1].question or question
            found = [retrieval for retrieval in found if retrieval not in same[:-1]]
        elif same and question is not None:
            draft.note(span.at.table, JOINED)
            same[-1].found += passages
        else:
            found.append(_Retrieval(span.at, question, passages))
    return found


def _name(passage: Passage) -> Any:
    return passage.passage_id or str(passage.text)


def _with_earlier(passage: Passage, earlier: Passage | None) -> Passage:
    """A reranked passage with what the retriever knew of it: its place, and its score."""
    judged = replace(passage, measure="rerank") if passage.measure == "score" else passage
    if earlier is None:
        return judged
    scores = {"retrieval": earlier.score, **judged.scores} if is_finite(earlier.score) else judged.scores
    if not judged.metadata:
        return replace(earlier, score=judged.score, measure=judged.measure, scores=scores)
    return replace(judged, scores=scores)


def _answered(retrievals: Sequence[_Retrieval], root: TraceSpan | None) -> _Retrieval | None:
    """The question that the answer of the trace is for."""
    if len(retrievals) == 1:
        return retrievals[0]
    asked = root.question.strip() if root and root.question else None
    return next((retrieval for retrieval in retrievals if asked and (retrieval.question or "").strip() == asked), None)


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


TYPES = ("SPAN", "GENERATION", "EVENT", "RETRIEVER", "CHAIN", "AGENT", "TOOL", "EMBEDDING", "EVALUATOR", "GUARDRAIL")
LANGFUSE_TRACE, PARENT, START = (
    ("traceId", "trace_id"),
    ("parentObservationId", "parent_observation_id"),
    ("startTime", "start_time", "timestamp"),
)
TRACE_KEYS = {"sessionId", "session_id", "userId", "user_id", "htmlPath", "html_path", "projectId", "project_id", "bookmarked", "release"}


def langfuse_recognise(rows: Rows) -> bool:
    """Whether most rows are traces or observations."""
    return mostly(rows, lambda row: _is_observation(row) or _is_trace(row))


def langfuse_convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each trace as a question with its hits and its answer."""
    draft = Draft(tables)
    spans = [
        span
        for table, rows in enumerate(tables)
        for number, row in rows.rows
        for span in _langfuse_spans(draft, Place(table, number), row, rows.outer)
    ]
    take_traces(draft, spans)
    return draft.lines()


def _is_observation(row: Object) -> bool:
    return str(row.get("type")).upper() in TYPES and bool({*LANGFUSE_TRACE, *START} & row.keys()) and "id" in row


def _is_trace(row: Object) -> bool:
    """A trace by its own keys, or by the observations in it: its API leaves out what was not set."""
    is_one = bool(TRACE_KEYS & row.keys()) and bool({"input", "output", "observations"} & row.keys())
    holds = any(str(inner.get("type")).upper() in TYPES for inner in objects(row.get("observations")))
    return "id" in row and "type" not in row and (is_one or holds)


def _langfuse_spans(draft: Draft, at: Place, row: Object, outer: Object | None) -> Iterator[TraceSpan]:
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
    kind = _langfuse_kind(row)
    found = _found(draft, at, row, kind)
    known = _text(row, LANGFUSE_TRACE) or trace_id or f"row {at.row}"
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


def _langfuse_kind(row: Object) -> SpanKind:
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
    attributes = _langfuse_attributes(row)
    raw = found_in(attributes, "reranker.output_documents") or found_in(attributes, "retrieval.documents")
    if raw is not None:
        return read_documents(draft, at, raw)
    if kind == "other":
        return None
    if not is_nothing(row.get("output")) and output not in ([], {}):
        draft.note(at.table, "what a retriever returned could not be read as passages (observations: {})")
    return ()


def _langfuse_attributes(row: Object) -> dict[str, Any]:
    """The OpenInference attributes that Langfuse keeps when it was sent them over OpenTelemetry."""
    metadata = parsed(row.get("metadata"))
    return attributes_of(metadata) if isinstance(metadata, Mapping) else {}


def _text(row: Object, names: tuple[str, ...]) -> str | None:
    found = first(row, names)
    return str(found[1]) if found else None


LANGFUSE = Shape("Langfuse traces", langfuse_recognise, langfuse_convert_all)


LANGSMITH_KINDS: dict[str, SpanKind] = {"retriever": "retriever", "llm": "llm", "chat_model": "llm"}


def is_run(row: Object) -> bool:
    """Whether an object is a run."""
    return isinstance(row.get("run_type"), str) and bool({"inputs", "outputs"} & row.keys())


def langsmith_recognise(rows: Rows) -> bool:
    """Whether most rows are runs."""
    return mostly(rows, is_run)


def langsmith_convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each trace as a question with its hits and its answer."""
    draft = Draft(tables)
    runs = (run for table, rows in enumerate(tables) for number, row in rows.rows for run in _runs(draft, Place(table, number), row))
    take_traces(draft, runs)
    return draft.lines()


def _runs(draft: Draft, at: Place, row: Object, above: TraceSpan | None = None, level: int = 0) -> Iterator[TraceSpan]:
    if not is_run(row):
        draft.note(at.table, "rows that are no run were left out (rows: {})")
        return
    kind: SpanKind = "reranker" if "rerank" in str(row.get("name")).lower() else LANGSMITH_KINDS.get(str(row.get("run_type")), "other")
    outputs: Any = parsed(row.get("outputs"))
    found = None if kind == "llm" else read_list(outputs, ANY_FORM if kind in ("retriever", "reranker") else FORMS)
    if found is None and kind == "retriever":
        found = []
        if not is_nothing(row.get("outputs")) and outputs not in ({}, {"documents": []}):
            draft.note(at.table, "what a retriever returned could not be read as passages (runs: {})")
    own = named(row.get("id")) or named(row.get("run_id"))
    run = TraceSpan(
        at,
        named(row.get("trace_id")) or (above.trace_id if above else own or f"row {at.row}"),
        own,
        named(row.get("parent_run_id")) or (above.span_id if above else None),
        kind,
        str(row.get("start_time") or ""),
        None if kind == "llm" else read_question(row.get("inputs")),
        None if found is None else tuple(found),
        None if kind in ("retriever", "reranker") else read_answer(outputs),
        _model(row),
        read_messages(row.get("inputs")) if kind == "llm" else (),
    )
    yield run
    for inner in objects(row.get("child_runs")) if level < MAX_LEVELS else ():
        yield from _runs(draft, at, inner, run, level + 1)


def _model(row: Object) -> str | None:
    extra = parsed(row.get("extra"))
    metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
    return named(metadata.get("ls_model_name")) if isinstance(metadata, Mapping) else None


LANGSMITH = Shape("LangSmith runs", langsmith_recognise, langsmith_convert_all)
