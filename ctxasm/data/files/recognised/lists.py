"""Passages in the forms of clients, alone and in lists, and the question and answer beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.recognised.passages import Object, Passage, first, named, passage, whole
from ctxasm.data.names import ID_NAMES, INNER_NAMES, LIST_NAMES, QUESTION_NAMES, TEXT_NAMES

SOURCE, PREVIOUS, NEXT = ("1", "SOURCE"), ("2", "PREVIOUS"), ("3", "NEXT")
"""The keys of LlamaIndex's relationships, by value and by name."""


def langchain_document(value: object) -> Passage | None:
    """A LangChain Document: `dumpd` (lc, type, id, kwargs), `model_dump()`, or the JavaScript spelling."""
    if not isinstance(value, Mapping):
        return None
    if "lc" in value:
        path, inner = value.get("id"), value.get("kwargs")
        is_document = value.get("type") == "constructor" and isinstance(path, list) and path[-1:] == ["Document"]
        if not is_document or not isinstance(inner, Mapping):
            return None
        return passage(inner.get("page_content"), inner.get("metadata"), inner.get("id"))
    name = next((name for name in ("page_content", "pageContent") if name in value), None)
    if name is None:
        return None
    own = {name, "metadata", "id", "type", "score"}
    return passage(value[name], _with_beside(value, own, value.get("metadata")), value.get("id"), value.get("score"))


def _with_beside(value: Object, own: set[str], metadata: object) -> Object:
    """The metadata, and the fields that somebody wrote beside it."""
    inner = parsed(metadata)
    beside = {name: item for name, item in value.items() if name not in own}
    return {**beside, **inner} if isinstance(inner, Mapping) else beside


def llamaindex_node(value: object) -> Passage | None:
    """A LlamaIndex NodeWithScore or node; also as a docstore keeps it (`__data__`)."""
    if not isinstance(value, Mapping):
        return None
    if "node" in value:
        inner = llamaindex_node(value["node"])
        return replace(inner, score=value.get("score")) if inner else None
    node = value.get("__data__", value)
    if not isinstance(node, Mapping) or not ({"id_", "relationships"} & node.keys()) or not _is_node(node):
        return None
    related = node.get("relationships")
    related = related if isinstance(related, Mapping) else {}
    metadata = node.get("metadata", node.get("extra_info"))
    made = passage(
        _node_text(node),
        metadata,
        node.get("id_"),
        document_id=_related(related, SOURCE) or named(node.get("ref_doc_id")),
        start=whole(node.get("start_char_idx")),
        end=whole(node.get("end_char_idx")),
        previous=_related(related, PREVIOUS),
        following=_related(related, NEXT),
    )
    # A node without a score was added by a postprocessor, not found; a score in the metadata would be of another retrieval.
    return replace(made, score=None, title=made.title or made.source)


def is_whole_document(value: object) -> bool:
    """Whether this is a LlamaIndex Document, the text that nodes were cut from, rather than a node."""
    inner = value.get("__data__", value) if isinstance(value, Mapping) else None
    return isinstance(inner, Mapping) and inner.get("class_name") == "Document" and not inner.get("relationships")


def haystack_document(value: object) -> Passage | None:
    """A Haystack Document: `to_dict()` (metadata among its fields) or `to_dict(flatten=False)` (metadata under meta)."""
    if not isinstance(value, Mapping):
        return None
    wrapped: Any = value.get("data")
    if isinstance(wrapped, Mapping) and str(value.get("type")).endswith("Document"):
        value = wrapped
    if "content" not in value or not ({"meta", "blob", "sparse_embedding", "content_type"} & value.keys()):
        return None
    own = {"id", "content", "blob", "dataframe", "score", "embedding", "sparse_embedding", "meta", "content_type", "id_hash_keys"}
    return passage(value["content"], _with_beside(value, own, value.get("meta")), value.get("id"), value.get("score"))


def openinference_document(value: object) -> Passage | None:
    """A document of an OpenInference span: `document.content`, `.id`, `.score`, `.metadata` (an object, or JSON in a text)."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("document")
    if not isinstance(inner, Mapping):
        inner = {name.removeprefix("document."): item for name, item in value.items() if str(name).startswith("document.")}
    if "content" not in inner:
        return None
    metadata = parsed(inner.get("metadata"))
    return passage(inner["content"], metadata, inner.get("id"), inner.get("score"))


def genai_document(value: object) -> Passage | None:
    """A document of a GenAI span: a text where it was recorded, else a name whose chunk stands elsewhere."""
    if not isinstance(value, Mapping) or not ({"id", "content"} & value.keys()):
        return None
    if (known := plain_passage(value)) is not None:
        return known
    name = named(value.get("id"))
    return replace(passage(None, _with_beside(value, {"id", "score"}, None), name, value.get("score"), name), refers=True) if name else None


def plain_passage(value: object) -> Passage | None:
    """An object with a text, and the answers of vector databases: the fields under payload, metadata or _source."""
    if not isinstance(value, Mapping):
        return None
    inner: Object = next((value[name] for name in INNER_NAMES if isinstance(value.get(name), Mapping)), {})
    found = first(value, TEXT_NAMES) or first(inner, TEXT_NAMES)
    text = plain_text(found[1]) if found else None
    if text is None:
        return None
    beside = {name: item for name, item in value.items() if name not in (*TEXT_NAMES, *INNER_NAMES, *ID_NAMES)}
    metadata = {**beside, **{name: item for name, item in inner.items() if not found or name != found[0]}}
    named_id = first(value, ID_NAMES)
    return passage(text, metadata, named_id[1] if named_id else None, value.get("score", value.get("_score")))


Form = Callable[[object], Passage | None]
FORMS: tuple[Form, ...] = (langchain_document, llamaindex_node, haystack_document, openinference_document)
ANY_FORM: tuple[Form, ...] = (*FORMS, plain_passage)


def read_passage(value: object, forms: tuple[Form, ...] = ANY_FORM) -> Passage | None:
    """A passage in any of these forms, also as a pair [passage, score]; None for anything else."""
    if isinstance(value, list) and len(value) == 2 and not isinstance(value[0], (str, list)) and not isinstance(value[1], Mapping):
        found = read_passage(value[0], forms)
        return replace(found, score=value[1], measure="pair") if found else None
    if isinstance(value, Mapping) and value.keys() == {"document", "score"}:
        return read_passage([value["document"], value["score"]], forms)
    return next((found for form in forms if (found := form(value)) is not None), None)


def _is_node(node: Object) -> bool:
    return bool({"text", "text_resource", "class_name", "start_char_idx"} & node.keys())


def _node_text(node: Object) -> Any:
    resource = node.get("text_resource")
    return node["text"] if "text" in node else resource.get("text") if isinstance(resource, Mapping) else None


def _related(related: Object, names: tuple[str, ...]) -> str | None:
    found = first(related, names)
    return named(found[1].get("node_id")) if found and isinstance(found[1], Mapping) else None


def plain_text(value: object) -> str | None:
    """A text, `{"text": …}`, or a list of such parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return plain_text(value.get("text"))
    if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        parts = [plain_text(part.get("text")) for part in value]
        return "\n".join(part for part in parts if part) or None
    return None


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
