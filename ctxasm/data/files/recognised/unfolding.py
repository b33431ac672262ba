"""A JSON value whose form only a shape knows, as the rows that the shape reads.

Most files need none of this: a list of objects is its rows. Here are the others: pairs of a passage and a score, questions
as keys, and objects that must stay whole because what they hold belongs together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxasm.data.files.recognised.clients import are_messages
from ctxasm.data.files.recognised.lists import ANY_FORM, FORMS, read_list, read_passage, read_question
from ctxasm.data.files.recognised.traces import is_run

WHOLE = ("docstore/data", "resourceSpans", "resource_spans")
"""Keys of objects that are one row."""
ANSWERS = ("answer", "result", "response", "output")


def unfolded(value: Any) -> list[dict[str, Any]] | None:
    """The rows of a JSON value of a known form, or None where it is laid out like any other."""
    if isinstance(value, list):
        return _of_list(value)
    if not isinstance(value, dict):
        return None
    if (
        any(name in value for name in WHOLE)
        or _is_exchange(value)
        or _is_trace(value)
        or is_run(value)
        or read_passage(value, FORMS) is not None
    ):
        return [value]
    if _are_questions(value):
        return [{"query": question, "documents": found} for question, found in value.items()]
    if any(isinstance(inner, list) and read_list(inner, FORMS) for inner in value.values()):
        # Without a question or an answer it is a list of what is stored, with something around it.
        return [value] if read_question(value) is not None or any(isinstance(value.get(name), str) for name in ANSWERS) else None
    return [value] if any(isinstance(inner, dict) and read_list(inner, FORMS) for inner in value.values()) else None


def _of_list(value: list[Any]) -> list[dict[str, Any]] | None:
    if are_messages(value):
        return [{"messages": value}]
    if not value or not all(isinstance(item, list) for item in value):
        return None
    if all(len(item) == 2 and read_passage(item, FORMS) is not None for item in value):
        return [{"document": item[0], "score": item[1]} for item in value]
    if all(item and read_list(item, FORMS) is not None for item in value):
        return [{"documents": item} for item in value]
    return None


def _is_trace(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("observations"), list) and "id" in value


def _is_exchange(value: Mapping[str, Any]) -> bool:
    """Whether it is what a model was sent, perhaps as a request beside its reply."""
    request = value.get("request")
    return are_messages(value.get("messages")) or (isinstance(request, Mapping) and are_messages(request.get("messages")))


def _are_questions(value: Mapping[str, Any]) -> bool:
    """Whether every key is a question with its list of passages, which may be empty."""
    if value.keys() & {"documents", "source_documents", "source_nodes", "nodes", "context"}:
        return False
    lists = [inner for inner in value.values() if isinstance(inner, list)]
    forms = ANY_FORM if all(" " in str(question).strip() for question in value) else FORMS
    return len(lists) == len(value) and any(lists) and all(not inner or read_list(inner, forms) for inner in lists)
