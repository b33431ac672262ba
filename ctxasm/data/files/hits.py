"""Where a row holds its list of hits, and what stands where in a hit: guessed by structure first, by names and values second.

A few rows are walked to any depth into a table of paths: what stands at `response.hits.hits[*]._source.text`, and how long the lists
on the way are. A list of hits is one whose items have a text, or a name beside a score; or lists side by side of one length.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from ctxasm.data.files.answer_places import AnswerPlace, answer_at, answer_places, is_expected, is_prose, shared_lists
from ctxasm.data.files.cells import EXPECTED, HIT_FIELDS, HITS, PROMPT, Applied, ColumnMapping, field_value
from ctxasm.data.files.literals import parsed
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.recognised.draft import Converted, Draft, Place, Spoken
from ctxasm.data.files.recognised.lists import plain_text, read_answer, read_question
from ctxasm.data.files.recognised.messages import read_messages
from ctxasm.data.files.recognised.passages import Passage, named, number, passage, whole
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.seen import ABSENT, ITEMS, OTHERS, Seen, each_at, is_key, is_vector, most, name_of, seen_in, shallow, value_at
from ctxasm.data.names import (
    DOCUMENT_NAMES,
    FIELD_NAMES,
    HIT_NAMES,
    LIST_NAMES,
    LIST_WORDS,
    REFERENCES,
    SCORE_WORDS,
    SOURCE_NAMES,
    TITLE_NAMES,
    by_names,
    plain_name,
    words_of,
)
from ctxasm.data.paths import EVERY, dotted, lists_of
from ctxasm.model.errors import shown
from ctxasm.text.sent_prompts import asked_in

LONG_TEXT, MOST_QUESTION = 25, 4_000
CITES = re.compile(r"\[(?:\w{1,12}[:\s-]?)?\d{1,3}\]|【\d")
"""A mark that cites a source."""
MARKS = re.compile(r"</?(?:em|mark|strong|b|highlight|hlt?)>", re.I)
"""Tags by which a search marks what it found."""
LISTS = frozenset(
    map(plain_name, (*LIST_NAMES, "items", "rows", "objects", "neighbours", "snippets", "texts", "search_results", "children"))
)
AROUND_HITS = frozenset(map(plain_name, ("choices", "messages", "history")))
"""Lists that are no hits, but may hold them."""
OF_METRICS = frozenset(("metric", "metrics", "evaluation", "evaluations", "eval", "evals", "assertion", "assertions"))
"""Words of the names of lists whose scores judge an answer."""
OF_SOURCES = frozenset((*SOURCE_NAMES, *TITLE_NAMES, *DOCUMENT_NAMES))


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
    texts = [value for value in seen.values.get(_text_path(columns), ()) if isinstance(value, str)]
    for name, path in _around(outside, columns, texts):
        columns[name], reasons[name] = path, f"{shown(name_of(path))} is a usual name of it"
    if "query" not in columns and (asks := _only_question(outside)) is not None:
        columns["query"], reasons["query"] = asks, "the only texts that ask"
    if "answer" not in columns and (place := _answer_of(seen, columns, texts)) is not None:
        columns["answer"] = place.path
        reasons["answer"] = "its name says so" if place.sure > 1 else "the longest text beside the question and the hits"
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
    hits = found.columns[HITS]
    query, answer = found.columns.get("query", ""), found.columns.get("answer", "")
    lists = lists_of(query)[:-1] if query else lists_of(answer)[: shared_lists(answer, hits)]
    if len(lists) == 1 and hits.startswith(f"{lists[0]}{EVERY}."):
        return lists[0]
    return "" if query or answer or found.columns.keys() & {"hits.score", "hits.distance", "hits.rank"} else None


def _best(seen: Seen, given: Mapping[str, str]) -> _List | None:
    if said := given.get(HITS):
        path = said if said.endswith(EVERY) else f"{said}{EVERY}"
        return _list_at(seen, path) or _List(path, {}, 0)
    found = [one for path in seen.lengths if plain_name(name_of(path)) not in OTHERS and (one := _list_at(seen, path)) is not None]
    paths = [one.path for one in found]
    texts = {f"{one.path}.{own}{EVERY}" for one in found if (own := one.fields.get("hits.text"))}
    paths = [path for path in paths if path not in texts or not most(seen.values[path], lambda item: isinstance(item, str))]
    found = [  # what holds lists of hits is no hit
        one for one in found if one.path in paths and not any(other.startswith(f"{one.path}.") for other in paths)
    ]
    texts_of = {one.path: _texts_of(one, seen) for one in found}
    found = [one for one in found if not any(_is_part(texts_of[one.path], other) for other in texts_of.values())]
    return max(found, key=_likely, default=None)


def _likely(found: _List) -> tuple[Any, ...]:
    """How likely a list is the one that was used: what was reranked, then what was retrieved and not what should have been."""
    path = found.path.lower()
    return found.sure, "rerank" in path, "retriev" in path, -path.count(EVERY), -path.count(".")


def _texts_of(found: _List, seen: Seen) -> set[str]:
    own = found.fields.get("hits.text")
    values = seen.values.get(f"{found.path}.{own}" if own else found.path, ())
    return {text for value in values if (text := plain_text(value)) is not None and text.strip()}


def _is_part(cited: set[str], given: set[str]) -> bool:
    """Whether one list only repeats some of the passages of another, as what was cited repeats what was given."""
    return bool(cited) and cited < given


def _list_at(seen: Seen, path: str) -> _List | None:
    items = [item for item in seen.values.get(path, ()) if item is not None]
    usual = 2 * (plain_name(name_of(path)) in LISTS or bool(LIST_WORDS & set(words_of(name_of(path)))))
    *above, own = map(plain_name, name_of(path, every=True))
    if own in OTHERS or OF_METRICS & set(words_of(name_of(path))) or any(part in OTHERS - AROUND_HITS for part in above):
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
    fields = _fields_of(_without_said(seen.below(path), seen.values[path]), seen, path)
    scored = bool(fields.keys() & {"hits.score", "hits.distance", "hits.rank"})
    is_named = bool(fields.keys() & {"hits.id", "hits.document_id"}) or any(
        plain_name(name_of(inner)) in OF_SOURCES and most(own, _is_short) for inner, own in seen.below(path).items()
    )
    if "hits.text" in fields and (scored or is_named or usual):
        return _List(path, fields, 4 + 2 * scored + is_named + usual)
    return _List(path, fields, 2 + usual) if scored and is_named else None


def _without_said(inside: dict[str, list[Any]], items: Sequence[Any]) -> dict[str, list[Any]]:
    """What stands in the passages of a message alone, where they stand between what is said."""
    said = [item for item in items if _is_block(item)]
    named = [item for item in items if isinstance(item, Mapping) and "content" in item and item.keys() & {"title", "source"}]
    if not said or not named:
        return inside
    keys = {key for item in named for key in item}
    return {path: own for path, own in inside.items() if path.partition(".")[0] in keys}


def _is_block(item: Any) -> bool:
    """Whether it is a text of a message."""
    return isinstance(item, Mapping) and item.get("type") == "text" and "text" in item


def _fields_of(inside: Mapping[str, list[Any]], seen: Seen, path: str) -> dict[str, str]:
    """The fields of a hit among the paths inside it."""
    fields: dict[str, str] = {}
    places = [(name.rpartition(".")[2] if name not in inside or "." not in name else _key(name, inside), name) for name in shallow(inside)]

    def take(name: str, known: Iterable[str], fits: Callable[[Any], bool]) -> None:
        if name not in fields:
            free = ((key, place) for key, place in places if place not in fields.values() and most(inside[place], fits))
            if (found := next(by_names(known, free), None)) is not None:
                fields[name] = found

    take(
        "hits.text",
        (*FIELD_NAMES["text"], *HIT_NAMES["text"]),
        lambda value: (text := plain_text(value)) is not None and bool(text.strip()),
    )
    if (named := fields.get("hits.text")) and (long := _longest(inside)) is not None and not _reads_at_all(inside[named]):
        fields["hits.text"] = long  # what is called a text is the mark of a citation
    if "hits.text" not in fields and (long := _longest(inside)) is not None:
        fields["hits.text"] = long
    if "hits.text" not in fields and (listed := _listed_text(seen, path)) is not None:
        fields["hits.text"] = listed
    take("hits.score", (*FIELD_NAMES["score"], *HIT_NAMES["score"]), _is_number)
    take("hits.distance", (*FIELD_NAMES["distance"], *HIT_NAMES["distance"]), _is_number)
    if {"hits.score", "hits.distance"} <= fields.keys():
        fields.pop("hits.distance")
    if not fields.keys() & {"hits.score", "hits.distance"}:
        worded = next((place for key, place in places if SCORE_WORDS & set(words_of(key)) and most(inside[place], _is_number)), None)
        fields |= {"hits.score": worded} if worded is not None else {}
    take("hits.rank", ("rank", "hit_rank", "rang"), lambda value: type(field_value("rank", value)) is int)
    take("hits.document_id", ("document_id", "doc_id", "documentid", "docid", "ref_doc_id", "source_id", "parent_id", "file_id"), _is_short)
    take("hits.chunk_index", FIELD_NAMES["chunk_index"][:10], lambda value: type(field_value("chunk_index", value)) is int)
    take("hits.id", HIT_NAMES["id"], _is_short)
    if "hits.text" in fields and not fields.keys() & {"hits.score", "hits.distance", "hits.rank"}:
        numbers = [place for _, place in places if most(inside[place], lambda value: type(value) in (int, float))]
        falls = [place for place in numbers if _falls(inside[place], seen.lengths[path])]
        fields |= {"hits.score": falls[0]} if len(falls) == 1 else {}
    return fields


def _of_texts(path: str, items: Sequence[Any], seen: Seen, usual: int) -> _List | None:
    """Texts, or names, alone or with lists of the same lengths beside them."""
    above = path
    while above.endswith(EVERY):
        above = above.removesuffix(EVERY)
    depth, stem = (len(path) - len(above)) // len(EVERY), above.rpartition(".")[0]
    beside = [
        (name_of(other), other)
        for other, lengths in seen.lengths.items()
        if other != path
        and other.endswith(EVERY * depth)
        and lengths == seen.lengths[path]
        and (name := other.removesuffix(EVERY * depth)).rpartition(".")[0] == stem
        and not name.endswith(EVERY)
    ]
    fields: dict[str, str] = {}
    for name, known, fits in (
        ("hits.score", (*FIELD_NAMES["score"], *HIT_NAMES["score"]), _is_number),
        ("hits.distance", (*FIELD_NAMES["distance"], *HIT_NAMES["distance"]), _is_number),
        ("hits.metadata", HIT_NAMES["metadata"], lambda value: isinstance(value, Mapping)),
        ("hits.id", HIT_NAMES["id"], _is_short),
    ):
        fitting = ((key, place) for key, place in beside if place not in fields.values() and most(seen.values.get(place, ()), fits))
        if (found := next(by_names(known, fitting), None)) is not None:
            fields[name] = found
    name = plain_name(name_of(path))
    texts = _reads(items, LONG_TEXT) and name not in map(plain_name, HIT_NAMES["id"])
    if texts and (usual or fields or _reads(items, 2 * LONG_TEXT)):
        return _List(path, fields, 1 + usual + 2 * len(fields.keys() & {"hits.score", "hits.distance"}) + len(fields))
    return None


def _around(outside: Mapping[str, list[Any]], columns: Mapping[str, str], texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The fields that stand around the hits: the question, its name, what should be answered, and the prompt."""
    known: tuple[tuple[str, Iterable[str], Callable[[Any], bool]], ...] = (
        ("query", (*FIELD_NAMES["query"], *HIT_NAMES["query"]), _asks),
        ("query_id", FIELD_NAMES["query_id"], _is_short),
        (EXPECTED, (*REFERENCES, "expected_output", "ideal_answer"), lambda value: isinstance(value, str)),
        (PROMPT, HIT_NAMES[PROMPT], lambda value: isinstance(value, (str, list))),
    )
    taken = set(columns.values())
    for name, names, fits in known:
        places = [(name_of(path), path) for path in shallow(outside) if path not in taken and most(outside[path], fits)]
        if name == "query":
            places = [
                place for place in places if len(values := outside[place[1]]) < 3 or len(set(map(str, values))) > 1
            ]  # a template asks nothing
            places.sort(key=lambda place: quotes(outside[place[1]], texts))
        if name == EXPECTED:
            places += [(REFERENCES[0], path) for _, path in places if is_expected(path)]
        if name not in columns and (found := next(by_names(names, places), None)) is not None:
            taken.add(found)
            yield name, found
            if name == "query" and (quotes(outside[found], texts) or most(outside[found], lambda value: isinstance(value, list))):
                yield PROMPT, found  # which shows its passages, and somewhere the question
    if "query_id" not in columns and (own := next((path for path in ("id", "_id", "trace_id", "run_id") if path in outside), None)):
        values = outside[own]
        if own not in taken and most(values, _is_short) and len(set(map(str, values))) == len(values):
            yield "query_id", own


def quotes(values: Sequence[Any], texts: Sequence[str]) -> bool:
    """Whether most values hold one of the texts of hits: they are prompts, and no questions."""
    return most(values, lambda value: isinstance(value, str) and any(len(text) >= LONG_TEXT and text in value for text in texts))


def _text_path(columns: Mapping[str, str]) -> str:
    own = columns.get("hits.text", "")
    return own if EVERY in own else f"{columns[HITS]}.{own}" if own else columns[HITS]


def _answer_of(seen: Seen, columns: Mapping[str, str], texts: Sequence[str]) -> AnswerPlace | None:
    """Where the answer stands beside the hits, None where nothing reads like one."""
    hits, query = columns[HITS], columns.get("query", "")
    outer = lists_of(query)[:-1]
    every = {path: own for path, own in seen.values.items() if path != hits and not path.startswith((f"{hits}.", f"{hits}["))}
    every = {
        path: own
        for path, own in every.items()
        if not outer or _fits_around(path, columns, seen) or lists_of(path)[: len(outer)] == tuple(outer)
    }
    taken = [path for name, path in columns.items() if name not in HIT_FIELDS]
    found = next(iter(answer_places(every, taken, texts)), None)
    if found is None or query or found.sure > 2:
        return found
    around, inside, _ = found.path.rpartition(EVERY)
    if inside and hits.startswith(f"{around}{EVERY}."):  # what is cited stands in the parts of the answer
        return found
    if found.sure < 2:
        return None
    said = [value for value in seen.values[found.path] if isinstance(value, str)]
    listed = (own for path, own in seen.values.items() if EVERY in path and not path.startswith(hits))
    pieces = [value for own in listed for value in own if isinstance(value, str) and len(value) > 9]
    is_cited = any(CITES.search(text) or any(piece != text and piece in text for piece in pieces) for text in said)
    return found if is_cited or columns.keys() & {"hits.score", "hits.distance", "hits.rank"} else None


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
        roles = [item.get("role") for item in value if isinstance(item, Mapping)]
        return len(roles) == len(value) and None not in roles and "user" in roles and read_question(value) is not None
    return isinstance(value, str) and 0 < len(value.strip()) <= MOST_QUESTION


def _reads(values: Sequence[Any], least: int) -> bool:
    texts = [value for value in values if isinstance(value, str)]
    return (
        bool(texts)
        and sum(map(len, texts)) >= least * len(texts)
        and 2 * sum(" " in text or not text.isascii() for text in texts) >= len(texts)
    )


def _reads_at_all(values: Sequence[Any]) -> bool:
    texts = [text for value in values if (text := plain_text(value)) is not None]
    return any(is_prose(text) or " " in text.strip() for text in texts)


def reads_like_passages(rows: Rows, mapping: ColumnMapping) -> bool:
    """Whether the texts of hits are as long as passages are."""
    texts = seen_in(rows).values.get(_text_path(mapping.columns), ())
    return _reads(texts, LONG_TEXT)


def _longest(inside: Mapping[str, list[Any]]) -> str | None:
    fitting = {path: own for path, own in inside.items() if most(own, lambda value: isinstance(value, str)) and _reads(own, LONG_TEXT)}
    return max(
        fitting, key=lambda path: sum(len(value) for value in fitting[path] if isinstance(value, str)) / len(fitting[path]), default=None
    )


def _listed_text(seen: Seen, path: str) -> str | None:
    """Where the objects at a path hold texts in a list of their own, as a highlight of a search does."""
    below = {
        name.removesuffix(EVERY)[len(path) + 1 :]: own
        for name, own in seen.values.items()
        if name.startswith(f"{path}.") and name.endswith(EVERY) and EVERY not in name[len(path) : -len(EVERY)]
    }
    return _longest({name: own for name, own in below.items() if "highlight" in name or "snippet" in name or "caption" in name})


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


SPEAKERS = ("user", "assistant")
MOST_TOLD, MAX_KEPT, MAX_FLAT = 8, 1_000, 3
"""Paths that a sentence names; characters of a text that is kept as metadata; levels of objects that are laid flat."""
AROUND = ("query", "query_id", "answer", EXPECTED, PROMPT)
OF_PASSAGE = ("title", "source", "section", "date")
Values = Mapping[str, Any]
At = tuple[int, ...]


@dataclass(slots=True)
class _Found:
    """A question of a row, and its hits in order."""

    question: Any
    query_id: str | None
    answer: Any
    expected: Any
    sent: Any
    hits: list[Passage]


def hit_retrievals(mapping: ColumnMapping, rows: Rows) -> Applied:
    """The lines of rows that hold lists of hits. Each hit has a text, or names a chunk that stands elsewhere.

    A row without hits is a question without hits, which a note counts. Where no row has any, or a path leads nowhere in every row,
    that is a problem.
    """
    reader = _Reader(mapping, rows)
    if lost := reader.lost():
        return Applied(Converted(), (lost,))
    draft, without, repeats, problems = Draft([rows]), 0, 0, list[Problem]()
    for row_number, row in rows.rows:
        for found in reader.read(row):
            without += not found.hits
            repeats += any(found.question is not None and hit.text == found.question for hit in found.hits)
            draft.ask(
                Place(0, row_number),
                _asked(found),
                found.hits,
                query_id=found.query_id,
                answer=read_answer(found.answer),
                reference=read_answer(found.expected),
                spoken=_spoken(found.sent, row),
                history=_history(row),
                metadata=reader.beside(row) or None,
            )
    if rows.rows and not reader.hits:
        told = reader.told(reader.examples())
        problems.append(Problem(rows.file, None, HITS, f"no row has a hit at {shown(mapping.columns[HITS])}{told}"))
    elif 2 * repeats > reader.asked:
        told = "is the text of its own hits: map another, as in query=PATH"
        problems.append(Problem(rows.file, None, "query", f"{shown(mapping.columns['query'])} {told}"))
    elif without:
        path = shown(mapping.columns[HITS])
        draft.note(0, f"{rows.file}: questions without a hit at {path}: {{}}", without)
    if "query" not in mapping.columns and "query_id" not in mapping.columns:
        texts = f"; its texts are at {', '.join(outside)}" if (outside := reader.texts_outside()) else ""
        draft.note(0, f"{rows.file}: nothing in it is known as a question: map one, as in query=PATH{texts}")
    if "answer" not in mapping.columns and (outside := reader.prose_outside()):
        draft.note(0, f"{rows.file}: nothing in it is known as an answer: map one, as in answer=PATH; it may be {', '.join(outside)}")
    return Applied(draft.lines()[0], tuple(problems))


def _asked(found: _Found) -> str | None:
    """The question; of a prompt that shows the passages what it asks."""
    text = read_question(found.question)
    if text is None or not quotes([text], [hit.text for hit in found.hits if isinstance(hit.text, str) and hit.text != text]):
        return text
    return asked_in(text)


def _history(row: Values) -> list[dict[str, str]] | None:
    """What was said before the question, where the row keeps it as messages."""
    before = [{"role": turn.role, "content": turn.content} for turn in read_messages(row.get("history") or ()) if turn.role in SPEAKERS]
    return before or None


def _spoken(prompt: Any, row: Mapping[str, Any]) -> Spoken | None:
    """The prompt that was sent, with the names of the span that stand in the row itself."""
    sent = read_messages(prompt)
    return Spoken(sent, *(named(row.get(name)) for name in ("model", "trace_id", "span_id"))) if sent else None


class _Reader:
    """Reads the questions of a row; counts the hits of all."""

    def __init__(self, mapping: ColumnMapping, rows: Rows) -> None:
        self._columns, self._rows = mapping.columns, rows
        path = mapping.columns[HITS]
        self._hits = path if path.endswith(EVERY) else f"{path}{EVERY}"
        self._used = frozenset(lists_of(column)[0].partition(".")[0] for name, column in mapping.columns.items() if name not in HIT_FIELDS)
        self._used |= {
            lists_of(mapping.columns[name])[0].partition(".")[0] for name in HIT_FIELDS if EVERY in mapping.columns.get(name, "")
        }
        self._own = {name: column for name, column in mapping.columns.items() if name in HIT_FIELDS and EVERY not in column}
        self._lists = {name: column for name, column in mapping.columns.items() if name in HIT_FIELDS and EVERY in column}
        self._seen: set[str] = set()
        asked = [_depth(mapping.columns[name]) for name in ("query", "query_id") if name in mapping.columns]
        answer = mapping.columns.get("answer")
        alone = _depth(self._hits) - 1
        self._outer = max(asked) if asked else alone if answer is None else min(alone, shared_lists(answer, self._hits))
        if not asked and answer is None and self._is_of_documents(alone):
            self._outer -= 1
        parts = lists_of(self._hits)
        self._prefixes = [EVERY.join(parts[:end]) + EVERY for end in range(alone, self._outer, -1)]
        self.hits = self.asked = 0

    def _is_of_documents(self, depth: int) -> bool:
        """Whether the list around the hits is one of documents, and not of questions: its items are named."""
        prefix = EVERY.join(lists_of(self._hits)[:depth]) + EVERY
        items = [item for row in self._sample() for _, item in each_at(row, prefix)] if depth else []
        named = [passage(None, item) for item in items if isinstance(item, Mapping)]
        return bool(named) and all(own.title or own.source for own in named)

    def lost(self) -> Problem | None:
        """What a path does that leads nowhere, or through more lists than the hits stand in."""
        hits = shown(self._columns[HITS])
        for name in AROUND:
            if name != "answer" and _depth(self._columns.get(name, "")) >= _depth(self._hits):
                told = f"{shown(self._columns[name])} must stand around the list of hits, {hits}, and not in a list of its own"
                return Problem(self._rows.file, None, name, told)
        for name, path in self._own.items():
            if not any(self._has(row, path) for row in self._sample()) and (examples := self.examples()):
                return Problem(self._rows.file, None, name, f"no hit has {shown(path)}{self.told(examples)}")
        return None

    def _sample(self) -> Iterator[Values]:
        return (row for _, row in islice(self._rows.rows, 200))

    def _has(self, row: Values, path: str) -> bool:
        return any(_inside(hit, path) is not ABSENT for _, hit in each_at(row, self._hits))

    def examples(self) -> list[str]:
        """Paths that hits have."""
        found: dict[str, None] = {}
        for row in self._sample():
            for _, hit in each_at(row, self._hits):
                if isinstance(hit := parsed(hit) if isinstance(hit, str) else hit, Mapping):
                    found |= dict.fromkeys(_leaves(hit))
        return list(found)

    def texts_outside(self) -> list[str]:
        """Paths to texts of the rows that are no hits."""
        head = lists_of(self._hits)[0]
        return list(dict.fromkeys(p for row in self._sample() for p in _leaves(row) if not p.startswith(head)))[:MOST_TOLD]

    def prose_outside(self) -> list[str]:
        """Paths to what reads like an answer beside the hits, each with an example."""
        used = {dotted(path) for path in self._columns.values()}
        head = lists_of(self._hits)[0]
        found: dict[str, str] = {}
        for row in self._sample():
            for path, value in each_path(row):
                if path not in used and path.partition(".")[0] != head.partition(".")[0] and isinstance(value, str) and is_prose(value):
                    found.setdefault(path, value)
        return [f"{shown(path)} (such as {shown(text, 60)})" for path, text in islice(found.items(), MOST_TOLD)]

    @staticmethod
    def told(paths: list[str]) -> str:
        """The end of a sentence about paths that there are."""
        more = " …" if len(paths) > MOST_TOLD else ""
        return f": a hit has {', '.join(map(shown, paths[:MOST_TOLD]))}{more}" if paths else ""

    def read(self, row: Values) -> Iterator[_Found]:
        """The questions of a row, each with its hits."""
        fields = {name: dict(each_at(row, self._columns[name])) for name in AROUND if name in self._columns and name != "answer"}
        beside = {name: dict(each_at(row, path)) for name, path in self._lists.items()}
        outer = self._outer
        answers = self._answers(row)
        around = [dict(each_at(row, prefix)) for prefix in self._prefixes]
        groups: dict[At, list[Passage]] = {
            place: [] for found in (fields.get("query", ()), fields.get("query_id", ()), answers) for place in found if len(place) == outer
        }
        for place, hit in each_at(row, self._hits):
            if hit is not ABSENT and not self._is_said(hit):
                made = self._passage(hit, {name: values.get(place, ABSENT) for name, values in beside.items()})
                for items in around:
                    made = _inside_of(made, _at(items, place))
                groups.setdefault(place[:outer], []).append(made)
        for place, hits in groups.items():
            values = {name: _at(known, place) for name, known in fields.items()}
            values["answer"] = _at(answers, place)
            if not hits and all(values.get(name) is None for name in ("query", "query_id", "answer")):
                continue
            self.hits += len(hits)
            self.asked += 1
            query_id = named(field_value("query_id", values.get("query_id")))
            name = self._name(query_id, values.get("query"))
            answer, expected, sent = (values.get(field) for field in ("answer", EXPECTED, PROMPT))
            yield _Found(values.get("query"), name, answer, expected, sent, _ranked(hits))

    def _is_said(self, hit: Any) -> bool:
        """Whether it is the text of a message that stands between the passages given with it."""
        own = self._own.get("hits.text")
        return _is_block(hit) and own is not None and _inside(hit, own) is ABSENT

    def _answers(self, row: Values) -> dict[At, Any]:
        """The answers of a row by their places in the lists around; where they stand deeper, their parts are joined."""
        path = self._columns.get("answer")
        if path is None:
            return {}
        if _depth(path) <= self._outer:
            return {place: value for place, value in each_at(row, path) if value is not ABSENT}
        parts = lists_of(path)
        prefix, rest = EVERY.join(parts[: self._outer]), EVERY.join(parts[self._outer :])
        items = each_at(row, f"{prefix}{EVERY}") if self._outer else [((), row)]
        return {place: text for place, item in items if (text := answer_at(item, rest)) is not None}

    def _name(self, query_id: str | None, question: Any) -> str | None:
        """The id of a question: its own, else of its words; asked again it is another query."""
        text = read_question(question)
        if query_id is None and text is not None:
            query_id = f"q-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:10]}"
        if query_id is None:
            return None
        again, name = 2, query_id
        while name in self._seen:
            name, again = f"{query_id} ({again})", again + 1
        self._seen.add(name)
        return name

    def _passage(self, hit: Any, beside: Values) -> Passage:
        hit = parsed(hit) if isinstance(hit, str) else hit
        values = {name: _inside(hit, path) for name, path in self._own.items()} | dict(beside)
        known = {name.removeprefix("hits."): value for name, value in values.items() if value is not ABSENT}
        text = known.get("text")
        if text is None and "hits.text" not in values and isinstance(hit, str):
            text = hit
        refers = text is None and (bool(known.keys() & {"id", "document_id"}) or "hits.text" not in values)
        metadata = _flat(hit, frozenset(self._own.values())) if isinstance(hit, Mapping) else {}
        if isinstance(given := parsed(known["metadata"]) if isinstance(known.get("metadata"), str) else known.get("metadata"), Mapping):
            metadata |= {name: value for name, value in given.items() if not is_vector(str(name), value)}
        score = field_value("score", known.get("score"))
        if isinstance(text, list) and all(isinstance(part, str) for part in text):
            text = MARKS.sub("", "\n".join(text))
        made = passage(
            plain_text(text) if text is not None else None,
            metadata,
            named(known.get("id")),
            score,
            document_id=named(known.get("document_id")),
            page=whole(known.get("page_number")),
            start=whole(known.get("start")),
            end=whole(known.get("end")),
            **{name: named(known.get(name)) for name in OF_PASSAGE if name in known},
        )
        if (distance := number(field_value("distance", known.get("distance")))) is not None and score is None:
            made = replace(made, score=distance, measure="distance")
        if refers:
            made = replace(made, refers=True, document_id=made.document_id or made.passage_id)
        if (index := whole(known.get("chunk_index"))) is not None:
            made = replace(made, numbers={"chunk_index": index, **made.numbers})
        if (rank := whole(known.get("rank"))) is not None:
            made = replace(made, rank=rank)
        return made

    def beside(self, row: Values) -> dict[str, Any]:
        """What else a row says in short, but for keys: it becomes metadata of its query."""
        return {
            name: value
            for name, value in row.items()
            if name not in self._used and value not in (None, "") and isinstance(value, (str, int, float)) and len(str(value)) <= MAX_KEPT
            if not is_key(name)
        }


def _inside_of(made: Passage, item: Any) -> Passage:
    """A passage with what the object that holds it says of its document."""
    if not isinstance(item, Mapping):
        return made
    own = {name: value for name, value in _flat(item, frozenset()).items() if isinstance(value, (str, int, float))}
    around = passage(None, own, next((own[name] for name in ("id", "_id") if name in own), None))
    return replace(
        made,
        document_id=made.document_id or around.document_id or around.passage_id,
        score=around.score if made.score is None else made.score,
        measure=around.measure if made.score is None else made.measure,
        **{name: getattr(made, name) or getattr(around, name) for name in ("title", "source", "date", "section")},
    )


def _depth(path: str) -> int:
    return len(lists_of(path)) - 1


def _inside(hit: Any, path: str) -> Any:
    if isinstance(hit, Mapping):
        return value_at(hit, path)
    return next((value for _, value in each_at(hit, path)), ABSENT) if isinstance(hit, list) else ABSENT


def _at(values: Mapping[At, Any], place: At) -> Any:
    """The value at a place, or around it."""
    found = next((values[place[:end]] for end in range(len(place), -1, -1) if place[:end] in values), ABSENT)
    return None if found is ABSENT else found


def _ranked(hits: list[Passage]) -> list[Passage]:
    """In the order of their ranks where each has one, else as they stand."""
    return sorted(hits, key=lambda hit: hit.rank or 0) if hits and all(hit.rank is not None for hit in hits) else hits


def _flat(hit: Values, used: frozenset[str], path: str = "", depth: int = MAX_FLAT) -> dict[str, Any]:
    """What is left of a hit as one object: what stands in objects of it is laid beside the rest, unless a name is taken."""
    found: dict[str, Any] = {}
    below: list[tuple[str, Values]] = []
    for name, value in hit.items():
        if value is None or value == "" or f"{path}{name}" in used or is_vector(str(name), value) or is_key(str(name)):
            continue
        if isinstance(value, Mapping) and depth:
            below.append((f"{path}{name}.", value))
        else:
            found[str(name)] = value
    for prefix, value in below:
        for name, inner in _flat(value, used, prefix, depth - 1).items():
            found.setdefault(name, inner)
    return found


def each_path(value: Values, path: str = "", depth: int = MAX_FLAT) -> Iterator[tuple[str, Any]]:
    """The paths to what is no object, with what stands there."""
    for name, inner in islice(value.items(), 50):
        if isinstance(inner, Mapping) and depth:
            yield from each_path(inner, f"{path}{name}.", depth - 1)
        else:
            yield f"{path}{name}", inner


def _leaves(value: Values, path: str = "", depth: int = MAX_FLAT) -> Iterator[str]:
    """The paths to what is no object."""
    for name, inner in islice(value.items(), 50):
        if isinstance(inner, Mapping) and depth:
            yield from _leaves(inner, f"{path}{name}.", depth - 1)
        elif isinstance(inner, str) or path or depth == MAX_FLAT:
            yield f"{path}{name}"
