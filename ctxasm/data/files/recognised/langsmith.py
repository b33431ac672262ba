"""LangSmith: runs as its client or its export writes them, alone, as the rows of a file, or with their `child_runs`.

Runs of the type `retriever` give the hits, `inputs` the question, the last model of the trace (else its root) the answer.
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
from ctxasm.data.files.recognised.passages import MAX_LEVELS, Object, is_nothing, named, objects
from ctxasm.data.files.recognised.traces import SpanKind, TraceSpan, take_traces
from ctxasm.data.files.rows import Rows

KINDS: dict[str, SpanKind] = {"retriever": "retriever", "llm": "llm", "chat_model": "llm"}


def is_run(row: Object) -> bool:
    """Whether an object is a run."""
    return isinstance(row.get("run_type"), str) and bool({"inputs", "outputs"} & row.keys())


def recognise(rows: Rows) -> bool:
    """Whether most rows are runs."""
    return mostly(rows, is_run)


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each trace as a question with its hits and its answer."""
    draft = Draft(tables)
    runs = (run for table, rows in enumerate(tables) for number, row in rows.rows for run in _runs(draft, Place(table, number), row))
    take_traces(draft, runs)
    return draft.lines()


def _runs(draft: Draft, at: Place, row: Object, above: TraceSpan | None = None, level: int = 0) -> Iterator[TraceSpan]:
    if not is_run(row):
        draft.note(at.table, "rows that are no run were left out (rows: {})")
        return
    kind: SpanKind = "reranker" if "rerank" in str(row.get("name")).lower() else KINDS.get(str(row.get("run_type")), "other")
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


LANGSMITH = Shape("LangSmith runs", recognise, convert_all)
