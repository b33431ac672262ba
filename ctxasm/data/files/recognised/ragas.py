"""Ragas: evaluation datasets and test sets, under today's names (`user_input`, `retrieved_contexts`) and the older ones.

Contexts have no identifiers (unless `retrieved_context_ids` stands beside them), so each distinct text is a document of its own,
named by its content; a reference context that was retrieved is then the same chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.clients import answer_paths, mostly, said
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Shape
from ctxasm.data.files.recognised.lists import read_question
from ctxasm.data.files.recognised.passages import Object, Passage, content_id, first, is_nothing, named, short_id
from ctxasm.data.files.rows import Rows

QUESTION = ("user_input", "question", "query")
RETRIEVED = ("retrieved_contexts", "contexts")
EVIDENCE = ("reference_contexts", "ground_truth_contexts")
RESPONSE = ("response", "answer")
REFERENCE = ("reference", "ground_truth", "ground_truths")
IDS = {"retrieved_contexts": "retrieved_context_ids", "reference_contexts": "reference_context_ids"}
ROLES = {"human": "user", "ai": "assistant", "system": "system", "user": "user", "assistant": "assistant"}


def recognise(rows: Rows) -> bool:
    """Whether most rows are a question with lists of context texts."""
    return mostly(rows, _is_one)


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each sample as a query with its contexts as hits, its reference contexts as gold, its response as an answer."""
    draft = Draft(tables)
    names = {text: document for rows in tables for _, row in rows.rows for text, document in _identified(row)}
    for table, rows in enumerate(tables):
        draft.answers_at = answer_paths(rows)
        for number, row in rows.rows:
            _take(draft, Place(table, number), row, names)
    return draft.lines()


def _is_one(row: Object) -> bool:
    lists = [value for name in (*RETRIEVED, *EVIDENCE) if isinstance(value := parsed(row.get(name)), list)]
    return first(row, QUESTION) is not None and any(all(isinstance(text, str) for text in texts) for texts in lists)


def _take(draft: Draft, at: Place, row: Object, names: Mapping[str, str]) -> None:
    asked = first(row, QUESTION)
    turns = parsed(asked[1]) if asked else None
    question = read_question(turns)
    if question is None:
        draft.pass_on(at, "queries", {"query_id": f"row {at.row}", "query": None})
        return
    response, reference = first(row, RESPONSE), first(row, REFERENCE)
    answer = response[1] if response else _last_answer(turns) or said(draft.answers_at, row)
    draft.ask(
        at,
        question,
        _contexts(row, RETRIEVED, names),
        gold=_contexts(row, EVIDENCE, names),
        query_id=named(row.get("query_id")),
        answer=answer,
        history=_history(turns),
        reference=_only(reference[1]) if reference else None,
    )


def _contexts(row: Object, columns: Sequence[str], names: Mapping[str, str]) -> list[Passage]:
    found = first(row, columns)
    texts = parsed(found[1]) if found else []
    listed = texts if isinstance(texts, list) else [texts]
    return [Passage(text, document_id=names.get(text) if isinstance(text, str) else None) for text in listed]


def _identified(row: Object) -> list[tuple[str, str]]:
    """The texts of a row with the identifiers that stand beside them."""
    pairs = []
    for texts_name, ids_name in IDS.items():
        texts, ids = parsed(row.get(texts_name)), parsed(row.get(ids_name))
        if isinstance(texts, list) and isinstance(ids, list) and len(texts) == len(ids):
            pairs += [
                (text, short_id(name) or content_id(text))
                for text, value in zip(texts, ids, strict=True)
                if isinstance(text, str) and (name := named(value)) is not None
            ]
    return pairs


def _history(turns: Any) -> list[dict[str, Any]] | None:
    """The messages before the last question of a conversation."""
    messages = [m for m in turns if isinstance(m, Mapping)] if isinstance(turns, list) else []
    asked = [at for at, message in enumerate(messages) if _role(message) == "user"]
    before = messages[: asked[-1]] if asked else []
    kept = [{"role": role, "content": m["content"]} for m in before if (role := _role(m)) and isinstance(m.get("content"), str)]
    return kept or None


def _last_answer(turns: Any) -> Any:
    last = turns[-1] if isinstance(turns, list) and turns else None
    return last.get("content") if isinstance(last, Mapping) and _role(last) == "assistant" else None


def _role(message: Object) -> str | None:
    return ROLES.get(str(message.get("type", message.get("role"))))


def _only(value: Any) -> Any:
    """The older column of several ground truths holds a list: its first is the reference."""
    found = parsed(value)
    return next((item for item in found if not is_nothing(item)), None) if isinstance(found, list) else value


RAGAS = Shape("Ragas dataset", recognise, convert_all)
