"""Lists of passages in whatever a retriever was recorded to return: bare, under a key, in columns, or as JSON in a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.forms import ANY_FORM, Form, read_passage
from ctxasm.data.files.recognised.passages import Object, Passage, passage

LIST_NAMES = (
    *("documents", "source_documents", "source_nodes", "nodes", "retrieved_documents", "reranked_documents", "context", "contexts"),
    *("retrieved_contexts", "results", "matches", "points", "hits", "chunks", "passages", "data", "output", "outputs", "result"),
    *("docs", "value", "retriever", "sources"),
)
QUESTION_NAMES = ("query", "question", "user_input", "input", "search_query", "query_str", "query_text", "text", "prompt", "messages")
MAX_LEVELS = 4


def read_list(value: object, forms: tuple[Form, ...] = ANY_FORM, level: int = 0) -> list[Passage] | None:
    """The passages of a list in its order, or None where there is none. A list may also hold the texts alone."""
    found = parsed(value)
    if level > MAX_LEVELS:
        return None
    if isinstance(found, list):
        if found and forms is ANY_FORM and all(isinstance(item, str) and item.strip() for item in found):
            return [passage(item, {}) for item in found]
        read = [read_passage(parsed(item), forms) for item in found]
        known = sum(item is not None for item in read)
        if known and 2 * known >= len(read):
            # One that cannot be read stays, without a text: its line says so when it is checked.
            return [item or Passage(None) for item in read]
        return read_list(found[0], forms, level + 1) if len(found) == 1 else None
    if not isinstance(found, Mapping):
        return None
    if forms is ANY_FORM and (columns := _columns(found)) is not None:
        return columns
    for name in LIST_NAMES:
        if name in found and (inner := read_list(found[name], forms, level + 1)) is not None:
            return inner
    return None


def found_nothing(row: Object) -> bool:
    """Whether a row says that nothing was found: a question beside an empty list under a usual name."""
    return any(row.get(name) == [] for name in LIST_NAMES) and any(isinstance(row.get(name), str) for name in QUESTION_NAMES)


def read_question(value: object, level: int = 0) -> str | None:
    """The question in what a retriever was given: a text, or an object that holds one under a usual name."""
    found = parsed(value)
    if isinstance(found, str):
        return found if found.strip() else None
    if level > MAX_LEVELS:
        return None
    if isinstance(found, list):
        return read_question(_last_of_user(found), level + 1)
    if isinstance(found, Mapping):
        for name in QUESTION_NAMES:
            if name in found and (inner := read_question(found[name], level + 1)) is not None:
                return inner
        parts = found.get("args", found.get("content", found.get("parts")))
        return read_question(parts, level + 1) if parts is not None else None
    return None


def read_answer(value: object, level: int = 0) -> str | None:
    """The answer in what a model returned: a text, a message, or an object that holds one under a usual name."""
    found = parsed(value)
    if isinstance(found, str):
        return found if found.strip() else None
    if level > 2 * MAX_LEVELS:
        return None
    if isinstance(found, list):
        return read_answer(found[-1], level + 1) if found else None
    if isinstance(found, Mapping):
        names = ("answer", "result", "response", "output", "content", "text", "message", "choices", "generations", "replies")
        kwargs = found.get("kwargs")
        inner: Object = {**found, **kwargs} if isinstance(kwargs, Mapping) else found
        for name in (*names, "parts", "output_text", "messages", "llm", "generator"):
            if name in inner and (answer := read_answer(inner[name], level + 1)) is not None:
                return answer
    return None


def _last_of_user(messages: list[Any]) -> object:
    users = [m for m in messages if isinstance(m, Mapping) and m.get("role", m.get("type")) in ("user", "human")]
    return users[-1] if users else messages[-1] if messages else None


def _columns(found: Object) -> list[Passage] | None:
    """Chroma's answer: lists side by side, one inner list a question."""
    columns = {name: found.get(name) for name in ("ids", "documents", "metadatas", "distances")}
    inner = {name: c[0] for name, c in columns.items() if isinstance(c, list) and len(c) == 1 and isinstance(c[0], list)}
    texts = inner.get("documents")
    if texts is None or "ids" not in inner or not all(isinstance(text, str) for text in texts):
        return None
    rows = []
    for at, text in enumerate(texts):
        own = {name: column[at] for name, column in inner.items() if at < len(column)}
        metadata = own.get("metadatas")
        distance = {"distance": own["distances"]} if "distances" in own else {}
        rows.append(passage(text, {**(metadata if isinstance(metadata, Mapping) else {}), **distance}, own.get("ids")))
    return rows
