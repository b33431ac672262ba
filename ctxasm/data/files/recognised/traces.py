"""From the spans of traces to questions with their hits and answers, whichever tool recorded them.

One retrieval may be told by several spans: a retriever inside a retriever (an ensemble, a compressor) is part of the outer one;
a reranker's output replaces what the retrievers of the same question found, and keeps their scores beside its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxasm.data.files.recognised.draft import Draft, Place, Spoken
from ctxasm.data.files.recognised.passages import Passage, is_finite
from ctxasm.model.records import Turn

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
