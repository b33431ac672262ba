"""A prompt and the answer that it got, and nothing else: a request with its reply, a chat, or a log of both.

The passages are those that the prompt shows; a prompt that shows none is no such log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.clients import mostly
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Shape, Spoken
from ctxasm.data.files.recognised.forms import ANY_FORM
from ctxasm.data.files.recognised.lists import LIST_NAMES, read_answer, read_list
from ctxasm.data.files.recognised.messages import PROMPT_NAMES, prompt_text, read_messages
from ctxasm.data.files.recognised.passages import Object, is_nothing, named, objects
from ctxasm.data.files.rows import Rows
from ctxasm.model.records import Turn
from ctxasm.text.sent_prompts import own_passages

PROMPTS = (*PROMPT_NAMES, "request", "input")
ANSWERS = ("answer", "response", "completion", "reply", "output", "result", "choices")
QUESTIONS = ("question", "query", "user_input")
REFERENCES = ("reference_answer", "ground_truth", "expected_answer", "reference", "expected_output")


class _Said(NamedTuple):
    sent: tuple[Turn, ...]
    answer: str


def recognise(rows: Rows) -> bool:
    """Whether most rows are a prompt that shows passages, with its answer, and no list of hits beside."""
    return mostly(rows, _is_one)


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each prompt as a question with its passages for hits, and its answer."""
    draft = Draft(tables)
    for table, rows in enumerate(tables):
        for number, row in rows.rows:
            _take(draft, Place(table, number), row)
    return draft.lines()


def are_messages(value: object) -> bool:
    """Whether it is a list of messages of a chat."""
    found = objects(value)
    return bool(found) and all(isinstance(one.get("role"), str) and ("content" in one or "parts" in one) for one in found)


def _is_one(row: Object) -> bool:
    said = _said(row)
    if said is None or any(name in row and read_list(row[name], ANY_FORM) is not None for name in LIST_NAMES if name not in ANSWERS):
        return False
    return bool(own_passages(prompt_text(said.sent)))


def _said(row: Object) -> _Said | None:
    prompt = next((row[name] for name in PROMPTS if not is_nothing(row.get(name))), None)
    sent = read_messages({"system": row.get("system") or "", "prompt": prompt})
    answer = next((text for name in ANSWERS if name in row and (text := _answer(row[name]))), None)
    if answer is None and sent and sent[-1].role == "assistant":
        *before, last = sent
        sent, answer = tuple(before), last.content
    return _Said(sent, answer) if sent and answer else None


def _answer(value: Any) -> str | None:
    inner = parsed(value)
    return read_answer(inner) if isinstance(inner, (str, list, Mapping)) else None


def _take(draft: Draft, at: Place, row: Object) -> None:
    said = _said(row)
    own = draft.passages_of(at.table, said.sent) if said is not None else None
    if said is None or own is None or not own.found:
        draft.note(at.table, "rows without a prompt that shows its passages, or without an answer, were left out (rows: {})")
        return
    question = next((text for name in QUESTIONS if (text := named(row.get(name)))), None) or own.question
    name = next((text for key in ("query_id", "id", "trace_id") if (text := named(row.get(key)))), None)
    reference = next((text for key in REFERENCES if isinstance(text := row.get(key), str) and text.strip()), None)
    spoken = Spoken(said.sent, named(row.get("model")), named(row.get("trace_id")), named(row.get("span_id")))
    draft.ask(at, question, own.found, query_id=name, answer=said.answer, reference=reference, spoken=spoken)


PROMPTED = Shape("prompts with their answers", recognise, convert_all)
