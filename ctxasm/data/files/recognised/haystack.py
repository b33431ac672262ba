"""Haystack: Documents as `to_dict()` writes them, and what a pipeline returned, by component.

Of several components with documents the one that judged last counts: a ranker, else a joiner, else the last retriever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.clients import collect, mostly, said, take_hits
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Shape
from ctxasm.data.files.recognised.forms import haystack_document, read_passage
from ctxasm.data.files.recognised.lists import read_answer, read_list, read_question
from ctxasm.data.files.recognised.passages import Object, Passage
from ctxasm.data.files.rows import Rows

FORMS = (haystack_document,)
TAKE = take_hits(FORMS)


def recognise(rows: Rows) -> bool:
    """Whether most rows are Documents, or what a pipeline returned with Documents."""
    return mostly(rows, _is_one)


def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """The Documents as chunks, what pipelines returned as retrievals and answers."""
    draft = Draft(tables)
    for table in range(len(tables)):
        collect(draft, table, FORMS, _take)
    return draft.lines()


def _is_one(row: Object) -> bool:
    return read_passage(row, FORMS) is not None or bool(_components(row)) or read_list(row, FORMS) is not None


def _outputs(values: Object) -> dict[str, Object]:
    """The outputs by component, also under a key of their own (`{"query": …, "result": {…}}`)."""
    found = {name: inner for name, value in values.items() if isinstance(inner := parsed(value), Mapping)}
    for name in ("result", "results", "output", "outputs", "response"):
        if isinstance(below := found.get(name), Mapping) and any(isinstance(inner, Mapping) for inner in below.values()):
            return {name: inner for name, inner in below.items() if isinstance(inner, Mapping)}
    return found


def _components(values: Object) -> dict[str, list[Passage]]:
    """The documents by component, the one that counts last."""
    found: dict[str, list[Passage]] = {}
    for name, output in _outputs(values).items():
        own = _answered(output)
        documents = read_list(own.get("documents"), FORMS)
        if documents is not None:
            found[name] = documents
    return dict(sorted(found.items(), key=lambda item: _standing(item[0])))


def _standing(name: str) -> int:
    bare = name.lower()
    return 2 if "rank" in bare else 1 if "join" in bare or "answer" in bare else 0


def _answered(output: Object) -> Object:
    """The fields of a generated answer, where a component made one, beside its outputs."""
    answers = parsed(output.get("answers"))
    one = answers[0] if isinstance(answers, list) and answers else None
    if not isinstance(one, Mapping):
        return output
    # Written by `to_dict()`, or by a pipeline that keeps the type beside the fields.
    fields = next((inner for name in ("init_parameters", "data") if isinstance(inner := one.get(name), Mapping)), one)
    return {**fields, **output}


def _take(draft: Draft, at: Place, values: Object) -> bool:
    components = _components(values)
    if not components:
        return TAKE(draft, at, values)
    outputs = {name: _answered(output) for name, output in _outputs(values).items()}
    *others, found = components.values()
    questions = (read_question({name: output[name] for name in ("query", "question") if name in output}) for output in outputs.values())
    asked = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    texts = [text for output in outputs.values() for name in ("replies", "data") if (text := read_answer(output.get(name)))]
    question = read_question(asked) or next((question for question in questions if question), None)
    draft.ask(at, question, found, answer=texts[-1] if texts else said(draft.answers_at, values))
    for other in others:
        for passage in other:
            draft.keep(at, passage)
    return True


HAYSTACK = Shape("Haystack documents", recognise, convert_all)
