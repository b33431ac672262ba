"""Exports of LangChain, LlamaIndex, Haystack and Ragas, and logs of prompts: stored passages, hits, or questions with their hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from ctxasm.data.files.answer_places import answer_at, answer_places
from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Shape, Spoken
from ctxasm.data.files.recognised.lists import (
    ANY_FORM,
    Form,
    found_nothing,
    haystack_document,
    is_whole_document,
    langchain_document,
    llamaindex_node,
    read_answer,
    read_list,
    read_passage,
    read_question,
)
from ctxasm.data.files.recognised.messages import PROMPT_NAMES, prompt_text, read_messages
from ctxasm.data.files.recognised.passages import Object, Passage, content_id, first, is_nothing, named, objects, short_id
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.seen import seen_in
from ctxasm.data.names import LIST_NAMES, QUESTION_NAMES, word_set, words_of
from ctxasm.data.paths import EVERY
from ctxasm.model.records import Turn
from ctxasm.text.sent_prompts import own_passages

OTHER_LISTS = word_set("documents docs nodes contexts context sources results chunks passages retrieved reference")
"""Words of paths to what is no answer."""
LOOKED_AT = 50
"""Rows by which a shape is told."""
MOST_HITS = 500
"""A longer list of scored passages is a corpus whose metadata happens to have a score."""
ID_NAMES = ("query_id", "id", "qid", "run_id", "trace_id")
TEXT_KEYS = ("page_content", "pageContent", "content", "text")


def mostly(rows: Rows, is_one: Callable[[Object], bool]) -> bool:
    """Whether at least half of the first rows are of a kind. A damaged row among them is reported later, by its number."""
    seen = [is_one(row) for _, row in islice(rows.rows, LOOKED_AT)]
    return bool(seen) and 2 * sum(seen) >= len(seen)


def collect(draft: Draft, table: int, forms: tuple[Form, ...], take: Callable[[Draft, Place, Object], bool]) -> None:
    """Take in one table. `take` takes in a row that is no passage, and says whether it could."""
    alone: list[tuple[Place, Passage]] = []
    draft.answers_at = answer_paths(draft.tables[table])
    for row, values in draft.tables[table].rows:
        at = Place(table, row)
        if (passage := read_passage(values, forms)) is not None:
            alone.append((at, passage))
        elif not take(draft, at, values):
            draft.unreadable(at, next((values[key] for key in TEXT_KEYS if key in values and not isinstance(values[key], str)), None))
    list_alone(draft, alone)


def answer_paths(rows: Rows) -> tuple[str, ...]:
    """Where the answers of rows may stand, the surest path first."""
    seen = seen_in(rows).values
    values = {path: own for path, own in seen.items() if EVERY not in path or not OTHER_LISTS & set(words_of(path))}
    taken = [path for path in QUESTION_NAMES if path in values]
    return tuple(place.path for place in answer_places(values, taken) if place.sure > 2 or EVERY not in place.path)


def said(paths: Sequence[str], row: Object) -> str | None:
    """The first answer that stands at one of these paths of a row."""
    return next((text for path in paths if (text := answer_at(row, path)) is not None), None)


def list_alone(draft: Draft, alone: Sequence[tuple[Place, Passage]]) -> None:
    """Passages that stand by themselves: with scores they are the hits of one question, without they are what is stored."""
    are_hits = 0 < len(alone) <= MOST_HITS and any(not is_nothing(passage.score) for _, passage in alone)
    for at, passage in alone:
        draft.keep(at, passage, is_listed=not are_hits)
    if are_hits:
        draft.ask(alone[0][0], None, [passage for _, passage in alone])


def take_hits(forms: tuple[Form, ...]) -> Callable[[Draft, Place, Object], bool]:
    """Takes in a row that holds hits in these forms, perhaps with their question and its answer."""

    def take(draft: Draft, at: Place, values: Object) -> bool:
        found = [] if found_nothing(values) else read_list(values, forms)
        if found is not None:
            query_id = next((str(values[name]) for name in ID_NAMES if not is_nothing(values.get(name))), None)
            draft.ask(
                at,
                read_question(values),
                found,
                query_id=query_id,
                answer=_answer(values) or said(draft.answers_at, values),
                spoken=_spoken(values, found),
            )
        return found is not None

    return take


def _spoken(values: Object, found: Sequence[Passage]) -> Spoken | None:
    """The prompt that was sent: one of several messages, or that shows a passage; else what is called so is the question alone."""
    for name in PROMPT_NAMES:
        sent = read_messages(values.get(name))
        text = prompt_text(sent)
        if len(sent) > 1 or any(isinstance(one.text, str) and one.text.strip() and one.text.strip() in text for one in found):
            return Spoken(sent, *(named(values.get(key)) for key in ("model", "trace_id", "span_id")))
    return None


def _answer(values: Object) -> str | None:
    for name in ("answer", "result", "response", "output"):
        inner: Any = parsed(values.get(name))
        if isinstance(inner, (str, Mapping)) and (answer := read_answer(inner)) is not None:
            return answer
    return None


def client_shape(
    name: str,
    form: Form,
    is_other: Callable[[Object], bool] = lambda row: False,
    take_other: Callable[[Draft, Place, Object], bool] = lambda draft, at, row: False,
) -> Shape:
    """The shape of exports whose rows are passages in a form, hold a list of them, or are something else that `take_other` takes in."""
    forms = (form,)
    hits = take_hits(forms)

    def recognise(rows: Rows) -> bool:
        return mostly(rows, lambda row: is_other(row) or read_passage(row, forms) is not None or read_list(row, forms) is not None)

    def convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
        draft = Draft(tables)
        for table in range(len(tables)):
            collect(draft, table, forms, lambda draft, at, row: take_other(draft, at, row) or hits(draft, at, row))
        return draft.lines()

    return Shape(name, recognise, convert_all)


LANGCHAIN = client_shape("LangChain documents", langchain_document)
DOCSTORE = "docstore/data"
CHILD = ("5", "CHILD")


def _is_docstore(row: Object) -> bool:
    return isinstance(row.get(DOCSTORE), Mapping)


def _take_docstore(draft: Draft, at: Place, row: Object) -> bool:
    if _is_docstore(row):
        _stored(draft, at, row[DOCSTORE])
    return _is_docstore(row)


def _stored(draft: Draft, at: Place, entries: Object) -> None:
    """The leaves of a docstore: nodes with neither children nor, being whole documents, nodes cut from them."""
    nodes = {name: node for name, entry in entries.items() if (node := llamaindex_node(entry)) is not None}
    cut = {node.document_id for node in nodes.values()}
    for name, entry in entries.items():
        node = nodes.get(name)
        if node is None:
            draft.unreadable(at)
        elif is_whole_document(entry) and (node.passage_id or name) in cut:
            draft.note(at.table, "whole documents beside their nodes were left out: the nodes are the chunks (documents: {})")
        elif _has_children(entry):
            draft.note(at.table, "parent nodes were left out: their children are the chunks (nodes: {})")
        else:
            is_document = is_whole_document(entry)
            draft.keep(at, replace(node, document_id=node.passage_id) if is_document else node, is_listed=True)


def _has_children(entry: object) -> bool:
    node = entry.get("__data__", entry) if isinstance(entry, Mapping) else None
    related = node.get("relationships") if isinstance(node, Mapping) else None
    return isinstance(related, Mapping) and bool(first(related, CHILD))


LLAMAINDEX = client_shape("LlamaIndex nodes", llamaindex_node, _is_docstore, _take_docstore)


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
        documents = read_list(own.get("documents"), (haystack_document,))
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


def _take_pipeline(draft: Draft, at: Place, values: Object) -> bool:
    components = _components(values)
    if not components:
        return False
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


HAYSTACK = client_shape("Haystack documents", haystack_document, lambda row: bool(_components(row)), _take_pipeline)


QUESTION = ("user_input", "question", "query")
RETRIEVED = ("retrieved_contexts", "contexts")
EVIDENCE = ("reference_contexts", "ground_truth_contexts")
RESPONSE = ("response", "answer")
REFERENCE = ("reference", "ground_truth", "ground_truths")
IDS = {"retrieved_contexts": "retrieved_context_ids", "reference_contexts": "reference_context_ids"}
ROLES = {"human": "user", "ai": "assistant", "system": "system", "user": "user", "assistant": "assistant"}


def ragas_recognise(rows: Rows) -> bool:
    """Whether most rows are a question with lists of context texts."""
    return mostly(rows, _ragas_is_one)


def ragas_convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each sample as a query with its contexts as hits, its reference contexts as gold, its response as an answer."""
    draft = Draft(tables)
    names = {text: document for rows in tables for _, row in rows.rows for text, document in _identified(row)}
    for table, rows in enumerate(tables):
        draft.answers_at = answer_paths(rows)
        for number, row in rows.rows:
            _ragas_take(draft, Place(table, number), row, names)
    return draft.lines()


def _ragas_is_one(row: Object) -> bool:
    lists = [value for name in (*RETRIEVED, *EVIDENCE) if isinstance(value := parsed(row.get(name)), list)]
    return first(row, QUESTION) is not None and any(all(isinstance(text, str) for text in texts) for texts in lists)


def _ragas_take(draft: Draft, at: Place, row: Object, names: Mapping[str, str]) -> None:
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


RAGAS = Shape("Ragas dataset", ragas_recognise, ragas_convert_all)


PROMPTS = (*PROMPT_NAMES, "request", "input")
ANSWERS = ("answer", "response", "completion", "reply", "output", "result", "choices")
QUESTIONS = ("question", "query", "user_input")
REFERENCES = ("reference_answer", "ground_truth", "expected_answer", "reference", "expected_output")


class _Said(NamedTuple):
    sent: tuple[Turn, ...]
    answer: str


def prompts_recognise(rows: Rows) -> bool:
    """Whether most rows are a prompt that shows passages, with its answer, and no list of hits beside."""
    return mostly(rows, _prompts_is_one)


def prompts_convert_all(tables: Sequence[Rows]) -> tuple[Converted, ...]:
    """Each prompt as a question with its passages for hits, and its answer."""
    draft = Draft(tables)
    for table, rows in enumerate(tables):
        for number, row in rows.rows:
            _prompts_take(draft, Place(table, number), row)
    return draft.lines()


def are_messages(value: object) -> bool:
    """Whether it is a list of messages of a chat."""
    found = objects(value)
    return bool(found) and all(isinstance(one.get("role"), str) and ("content" in one or "parts" in one) for one in found)


def _prompts_is_one(row: Object) -> bool:
    said = _said(row)
    if said is None or any(name in row and read_list(row[name], ANY_FORM) is not None for name in LIST_NAMES if name not in ANSWERS):
        return False
    return bool(own_passages(prompt_text(said.sent)))


def _said(row: Object) -> _Said | None:
    prompt = next((row[name] for name in PROMPTS if not is_nothing(row.get(name))), None)
    sent = read_messages({"system": row.get("system") or "", "prompt": prompt})
    answer = next((text for name in ANSWERS if name in row and (text := _prompts_answer(row[name]))), None)
    if answer is None and sent and sent[-1].role == "assistant":
        *before, last = sent
        sent, answer = tuple(before), last.content
    return _Said(sent, answer) if sent and answer else None


def _prompts_answer(value: Any) -> str | None:
    inner = parsed(value)
    return read_answer(inner) if isinstance(inner, (str, list, Mapping)) else None


def _prompts_take(draft: Draft, at: Place, row: Object) -> None:
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


PROMPTED = Shape("prompts with their answers", prompts_recognise, prompts_convert_all)
