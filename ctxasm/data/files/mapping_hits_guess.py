"""Where a row holds its list of hits, and what stands where in a hit: guessed by structure first, by names and values second.

A few rows are walked to any depth into a table of paths: what stands at `response.hits.hits[*]._source.text`, and how long the lists
on the way are. A list of hits is one whose items have a text, or a name beside a score; or lists side by side of one length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ctxasm.data.field_names import FIELD_NAMES, by_names, plain_name
from ctxasm.data.files.mapping_form import EXPECTED, HITS, NAMES, PROMPT, REFERENCES, ColumnMapping
from ctxasm.data.files.mapping_paths import ITEMS, OTHERS, Seen, most, name_of, seen_in, shallow
from ctxasm.data.files.mapping_values import ABSENT, field_value
from ctxasm.data.files.recognised.forms import plain_text
from ctxasm.data.files.recognised.lists import LIST_NAMES, read_question
from ctxasm.data.files.rows import Rows
from ctxasm.data.paths import EVERY, lists_of
from ctxasm.model.errors import shown

LONG_TEXT, MOST_QUESTION = 25, 4_000
LISTS = frozenset(
    map(plain_name, (*LIST_NAMES, "items", "rows", "objects", "neighbours", "snippets", "texts", "search_results", "children"))
)
EXTRA: Mapping[str, tuple[str, ...]] = {
    "query": ("user_question", "query_str", "queries", "questions", "query_texts", "input", "inputs", "q", "search", "messages", "ask"),
    "answer": ("answer", "response", "antwoord", "actual_output", "output", "generated_answer", "completion", "result"),
    PROMPT: ("prompt", "messages", "full_prompt", "final_prompt", "rendered_prompt", "prompt_sent", "llm_input", "model_input"),
    "text": ("texts", "chunks", "contexts", "passages", "snippets", "snippet", "content", "text", "value"),
    "id": (
        "id",
        "ids",
        "_id",
        "id_",
        "uuid",
        "chunk_id",
        "node_id",
        "point_id",
        "passage_id",
        "chunk_ids",
        "doc_ids",
        "doc_id",
        "key",
        "pk",
    ),
    "score": ("scores", "ranking_score", "certainty", "text_match", "relevancy", "weight"),
    "distance": ("distances", "nn_distance"),
    "metadata": ("metadatas", "metadata", "payloads"),
}
"""More names than a flat table is trusted with."""


@dataclass(frozen=True, slots=True)
class _List:
    """A list that may be one of hits: the paths of the fields of a hit, why, and how sure it is."""

    path: str
    fields: Mapping[str, str]
    sure: int


def guess_hits(rows: Rows, fixed: Mapping[str, str] | None = None) -> ColumnMapping | None:
    """The mapping of rows that hold lists of hits, None where they hold none. What is `fixed` stays."""
    given, seen = dict(fixed or {}), seen_in(rows)
    found = _best(seen, given)
    if found is None:
        return None
    columns = {HITS: found.path, **found.fields, **given}
    reasons = {name: f"{shown(name_of(path))} is a usual name of it" for name, path in columns.items() if path}
    reasons |= {HITS: "by its form: a list with texts, scores or names"}
    outside = {path: own for path, own in seen.values.items() if not path.startswith(columns[HITS]) and _fits_around(path, columns, seen)}
    for name, path in _around(outside, columns):
        columns[name], reasons[name] = path, f"{shown(name_of(path))} is a usual name of it"
    if "query" not in columns and (asks := _only_question(outside)) is not None:
        columns["query"], reasons["query"] = asks, "the only texts that ask"
    reasons |= dict.fromkeys(given, "as you said")
    columns = {name: path for name, path in columns.items() if path}
    order = [name for name in ("query", "query_id", HITS) if name in columns]
    ordered = {name: columns[name] for name in dict.fromkeys((*order, *columns))}
    return ColumnMapping("retrievals", ordered, {name: reasons[name] for name in ordered})


def records_at(value: Mapping[str, Any]) -> str | None:
    """Of an object, the path to the list of records that each hold a question with hits.

    "" where it is one record itself, None where it is neither.
    """
    rows = Rows("", tuple(value), [(1, value)])
    found = guess_hits(rows)
    if found is None:
        return None
    query, hits = found.columns.get("query", ""), found.columns[HITS]
    records = query.rpartition(EVERY)[0]
    if records and EVERY not in records and hits.startswith(f"{records}{EVERY}."):
        return records
    return "" if query or found.columns.keys() & {"hits.score", "hits.distance", "hits.rank"} else None


def _best(seen: Seen, given: Mapping[str, str]) -> _List | None:
    if said := given.get(HITS):
        path = said if said.endswith(EVERY) else f"{said}{EVERY}"
        return _list_at(seen, path) or _List(path, {}, 0)
    found = [one for path in seen.lengths if plain_name(name_of(path)) not in OTHERS and (one := _list_at(seen, path)) is not None]
    paths = [one.path for one in found]
    found = [one for one in found if not any(other.startswith(f"{one.path}.") for other in paths)]  # what holds lists of hits is no hit
    return max(found, key=lambda one: (one.sure, "rerank" in one.path.lower(), -one.path.count(EVERY), -one.path.count(".")), default=None)


def _list_at(seen: Seen, path: str) -> _List | None:
    items = [item for item in seen.values.get(path, ()) if item is not None]
    usual = 2 * (plain_name(name_of(path)) in LISTS)
    if any(plain_name(part) in OTHERS for part in name_of(path, every=True)):
        return None
    if most(items, lambda item: isinstance(item, Mapping) and not {"role", "content"} <= item.keys()):
        return _of_objects(path, seen, usual)
    if most(items, lambda item: isinstance(item, list) and len(item) == 2 and type(item[1]) in (int, float)):
        first = [item[0] for item in items if isinstance(item, list)]
        if most(first, lambda value: isinstance(value, str)):
            return _List(path, {"hits.text": "[0]", "hits.score": "[1]"}, 5 + usual)
        if most(first, lambda value: isinstance(value, Mapping)):
            inner = _fields_of(seen.below(f"{path}{EVERY}"), seen, path)
            return _List(path, {**{name: f"[0].{own}" for name, own in inner.items()}, "hits.score": "[1]"}, 5 + usual) if inner else None
    return _of_texts(path, items, seen, usual) if most(items, lambda item: isinstance(item, str)) else None


def _of_objects(path: str, seen: Seen, usual: int) -> _List | None:
    fields = _fields_of(seen.below(path), seen, path)
    scored = bool(fields.keys() & {"hits.score", "hits.distance", "hits.rank"})
    is_named = bool(fields.keys() & {"hits.id", "hits.document_id"})
    if "hits.text" in fields and (scored or is_named or usual):
        return _List(path, fields, 4 + 2 * scored + is_named + usual)
    return _List(path, fields, 2 + usual) if scored and is_named else None


def _fields_of(inside: Mapping[str, list[Any]], seen: Seen, path: str) -> dict[str, str]:
    """The fields of a hit among the paths inside it."""
    fields: dict[str, str] = {}
    places = [(name.rpartition(".")[2] if name not in inside or "." not in name else _key(name, inside), name) for name in shallow(inside)]

    def take(name: str, known: Iterable[str], fits: Callable[[Any], bool]) -> None:
        if name not in fields:
            free = ((key, place) for key, place in places if place not in fields.values() and most(inside[place], fits))
            if (found := next(by_names(known, free), None)) is not None:
                fields[name] = found

    take("hits.text", (*FIELD_NAMES["text"], *EXTRA["text"]), lambda value: (text := plain_text(value)) is not None and bool(text.strip()))
    if "hits.text" not in fields and (long := _longest(inside)) is not None:
        fields["hits.text"] = long
    take("hits.score", (*NAMES["score"], *EXTRA["score"]), _is_number)
    take("hits.distance", (*NAMES["distance"], *EXTRA["distance"]), _is_number)
    if {"hits.score", "hits.distance"} <= fields.keys():
        fields.pop("hits.distance")
    take("hits.rank", ("rank", "hit_rank", "rang"), lambda value: type(field_value("rank", value)) is int)
    take("hits.document_id", ("document_id", "doc_id", "documentid", "docid", "ref_doc_id", "source_id", "parent_id", "file_id"), _is_short)
    take("hits.chunk_index", FIELD_NAMES["chunk_index"][:10], lambda value: type(field_value("chunk_index", value)) is int)
    take("hits.id", EXTRA["id"], _is_short)
    if "hits.text" in fields and not fields.keys() & {"hits.score", "hits.distance", "hits.rank"}:
        numbers = [place for _, place in places if most(inside[place], lambda value: type(value) in (int, float))]
        falls = [place for place in numbers if _falls(inside[place], seen.lengths[path])]
        fields |= {"hits.score": falls[0]} if len(falls) == 1 else {}
    return fields


def _of_texts(path: str, items: Sequence[Any], seen: Seen, usual: int) -> _List | None:
    """Texts, or names, alone or with lists of the same lengths beside them."""
    parent = path.removesuffix(EVERY)
    depth = len(lists_of(path)) - 1
    above = parent[: -len(EVERY) * (depth - 1)] if depth > 1 else parent
    stem = above.rpartition(".")[0]
    beside = [
        (name_of(other), other)
        for other, lengths in seen.lengths.items()
        if other != path
        and other.endswith(EVERY * depth)
        and lengths == seen.lengths[path]
        and other.removesuffix(EVERY * depth).rpartition(".")[0] == stem
    ]
    fields: dict[str, str] = {}
    for name, known, fits in (
        ("hits.score", (*NAMES["score"], *EXTRA["score"]), _is_number),
        ("hits.distance", (*NAMES["distance"], *EXTRA["distance"]), _is_number),
        ("hits.metadata", EXTRA["metadata"], lambda value: isinstance(value, Mapping)),
        ("hits.id", EXTRA["id"], _is_short),
    ):
        fitting = ((key, place) for key, place in beside if place not in fields.values() and most(seen.values.get(place, ()), fits))
        if (found := next(by_names(known, fitting), None)) is not None:
            fields[name] = found
    name = plain_name(name_of(path))
    texts = _reads(items, LONG_TEXT) and name not in map(plain_name, EXTRA["id"])
    if texts and (usual or fields or _reads(items, 2 * LONG_TEXT)):
        return _List(path, fields, 1 + usual + 2 * len(fields.keys() & {"hits.score", "hits.distance"}) + len(fields))
    return None


def _around(outside: Mapping[str, list[Any]], columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The fields that stand around the hits: the question, its name, the answer."""
    known: tuple[tuple[str, Iterable[str], Callable[[Any], bool]], ...] = (
        ("query", (*NAMES["query"], *EXTRA["query"]), _asks),
        ("query_id", NAMES["query_id"], _is_short),
        (EXPECTED, (*REFERENCES, "expected_output", "ideal_answer"), lambda value: isinstance(value, str)),
        ("answer", EXTRA["answer"], lambda value: isinstance(value, str)),
        (PROMPT, EXTRA[PROMPT], lambda value: isinstance(value, (str, list))),
    )
    taken = set(columns.values())
    for name, names, fits in known:
        places = [(name_of(path), path) for path in shallow(outside) if path not in taken and most(outside[path], fits)]
        if name == "query":
            places = [
                place for place in places if len(values := outside[place[1]]) < 3 or len(set(map(str, values))) > 1
            ]  # a template asks nothing
        if name not in columns and (found := next(by_names(names, places), None)) is not None:
            taken.add(found)
            yield name, found
    if "query_id" not in columns and (own := next((path for path in ("id", "_id", "trace_id", "run_id") if path in outside), None)):
        values = outside[own]
        if own not in taken and most(values, _is_short) and len(set(map(str, values))) == len(values):
            yield "query_id", own


def _only_question(outside: Mapping[str, list[Any]]) -> str | None:
    found = [
        path for path, values in outside.items() if most(values, lambda value: isinstance(value, str) and value.rstrip().endswith("?"))
    ]
    return found[0] if len(found) == 1 else None


def _fits_around(path: str, columns: Mapping[str, str], seen: Seen) -> bool:
    """Whether what stands at a path can belong to the lists of hits: outside all lists, or in a list around them or beside that."""
    hits, depth = columns[HITS], path.count(EVERY)
    if path in columns.values() or depth >= hits.count(EVERY):
        return False
    if depth == 0:
        return True
    outer = EVERY.join(hits.split(EVERY)[:depth]) + EVERY
    own = EVERY.join(path.split(EVERY)[:depth]) + EVERY
    return own == outer or (depth == 1 and seen.lengths.get(own) == seen.lengths.get(outer))


def _key(path: str, inside: Mapping[str, list[Any]]) -> str:
    """The last key of a path, which may hold dots itself (`@search.score`)."""
    parent = next((path[:at] for at in range(len(path) - 1, 0, -1) if path[at] == "." and path[:at] in inside), "")
    return path[len(parent) + 1 :] if parent else path


def _is_number(value: Any) -> bool:
    return type(field_value("score", value)) in (int, float)


def _is_short(value: Any) -> bool:
    return (isinstance(value, str) and 0 < len(value) <= 300 and "\n" not in value) or type(value) is int


def _asks(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, Mapping) and "role" in item for item in value) and read_question(value) is not None
    return isinstance(value, str) and 0 < len(value.strip()) <= MOST_QUESTION


def _reads(values: Sequence[Any], least: int) -> bool:
    texts = [value for value in values if isinstance(value, str)]
    return (
        bool(texts)
        and sum(map(len, texts)) >= least * len(texts)
        and 2 * sum(" " in text or not text.isascii() for text in texts) >= len(texts)
    )


def _longest(inside: Mapping[str, list[Any]]) -> str | None:
    fitting = {path: own for path, own in inside.items() if most(own, lambda value: isinstance(value, str)) and _reads(own, LONG_TEXT)}
    return max(
        fitting, key=lambda path: sum(len(value) for value in fitting[path] if isinstance(value, str)) / len(fitting[path]), default=None
    )


def _falls(values: Sequence[Any], lengths: Sequence[int]) -> bool:
    """Whether numbers fall within each list, and somewhere do."""
    at, fell = 0, 0
    for length in lengths:
        own = [value for value in values[at : at + min(length, ITEMS)] if type(value) in (int, float)]
        at += min(length, ITEMS)
        if any(a < b for a, b in pairwise(own)):
            return False
        fell += sum(a > b for a, b in pairwise(own))
    return fell >= 4 and ABSENT not in values
