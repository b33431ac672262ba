"""What a mapping of columns is, and how it reads single cells: where a field stands in a row, and what it is as the field has it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from ctxasm.data.files.json_lines import UNREAD, LineReader
from ctxasm.data.files.problems import Problem, Problems
from ctxasm.data.files.recognised.draft import Converted, Line
from ctxasm.data.files.rows import Rows
from ctxasm.data.names import FIELD_NAMES, plain_name
from ctxasm.data.paths import EVERY, dotted, lists_of
from ctxasm.model.errors import InvalidInput, shown

HITS, MAX_LISTS = "hits", 8
EXPECTED = "expected_answer"
"""Beside a list of hits `answer` is what was answered, and this is what should have been."""
PROMPT = "prompt"
"""Beside a list of hits: what the model was sent."""
HIT_FIELDS = (
    *("hits.id", "hits.text", "hits.document_id", "hits.chunk_index", "hits.score", "hits.distance", "hits.rank"),
    *("hits.title", "hits.source", "hits.page_number", "hits.section", "hits.start", "hits.end", "hits.metadata"),
)
DOCUMENT_FIELDS = ("title", "source", "summary", "date")
FIELDS: Mapping[str, tuple[str, ...]] = {
    "chunks": ("document_id", "chunk_index", "text", "start", "end", "page_number", "section", "row_number", *DOCUMENT_FIELDS),
    "documents": ("document_id", *DOCUMENT_FIELDS),
    "queries": ("query_id", "query", "answer", "gold", "spans", "history"),
    "retrievals": (
        *("query_id", "query", "document_id", "chunk_index", "text", "score", "distance", "rank", HITS, *HIT_FIELDS, "retrieved"),
        *("page_number", "section", *DOCUMENT_FIELDS, "answer", EXPECTED, PROMPT),
        *("search_method", "bm25_matches", "best_similarity", "intent", "supplement"),
    ),
    "answers": ("query_id", "query", "answer", "answer_text_with_markers", "sources", "labels"),
}
"""The fields that a table of each kind can give. One row of `retrievals` is one hit, unless `hits` (or `retrieved`, in the form of a
bundle) holds a list of them."""
NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "chunks": (("text",),),
    "documents": (("document_id",),),
    "queries": (("query",),),
    "retrievals": (("query", "query_id", HITS), ("document_id", "text", HITS, "retrieved")),
    "answers": (("answer", "answer_text_with_markers"), ("query_id", "query")),
}
"""Of each group one must be mapped; everything else can be derived or left out."""
REFERENCES = ("reference_answer", "ground_truth", "expected_answer", "gold_answer", "reference")
NAMES: Mapping[str, tuple[str, ...]] = {
    **FIELD_NAMES,
    "query_id": ("query_id", "qid", "question_id", "q_id", "queryid", "topic_id"),
    "query": ("query", "question", "query_text", "question_text", "user_query", "user_input", "search_query", "prompt", "vraag"),
    "answer": ("answer", *REFERENCES, "response", "antwoord"),
    "score": (
        *("score", "similarity", "similarity_score", "relevance_score", "relevance", "cosine_similarity", "rerank_score"),
        *("bm25_score", "bm25", "vector_score", "search_score"),
    ),
    "distance": ("distance", "cosine_distance", "vector_distance", "l2_distance", "dist"),
    "rank": ("rank", "hit_rank", "position", "order", "rang"),
    "retrieved": ("retrieved",),
}
"""By what names tables call each field; a field that is not here is found under its own name only."""


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """`columns` by field. `reasons` say why each was guessed, for the user; a mapping typed by a user has none.

    With `guess_rest` the other fields are guessed, and the kind where it is ""; a field whose column is "" is left out.
    `unfit` are columns whose names say a field that their values cannot be.
    """

    kind: str
    columns: Mapping[str, str]
    reasons: Mapping[str, str] = field(default_factory=dict)
    guess_rest: bool = False
    unfit: Mapping[str, str] = field(default_factory=dict)

    def check(self, rows: Rows) -> None:
        """Raise InvalidInput where the mapping is none, or names a column that the table does not have."""
        if self.kind == "" and (unknown := [name for name in self.columns if not any(name in fields for fields in FIELDS.values())]):
            every = dict.fromkeys(name for fields in FIELDS.values() for name in fields)
            raise InvalidInput(f"{shown(unknown[0])} is no field: map one of {', '.join(every)}")
        if self.kind == "":
            given = ", ".join(self.columns)
            raise InvalidInput(f"{rows.file} has no kind that the mapping of {given} fits: say it, one of {', '.join(FIELDS)}")
        if self.kind not in FIELDS:
            raise InvalidInput(f"the kind of {rows.file} must be one of {', '.join(FIELDS)}, got {shown(self.kind)}")
        for name, column in self.columns.items():
            if name not in FIELDS[self.kind] or not column:
                raise InvalidInput(f"{self.kind} have no field {shown(name)}: map one of {', '.join(FIELDS[self.kind])}")
            if name in HIT_FIELDS and EVERY not in column:
                continue
            top, *below = lists_of(column)
            if len(below) > MAX_LISTS or (EVERY in column and HITS not in self.columns):
                told = "the path to a list of hits must be mapped" if HITS not in self.columns else f"a path goes through {MAX_LISTS} lists"
                raise InvalidInput(f"{name} of {rows.file} is at {shown(column)}, but {told}, as in hits=results{EVERY}")
            if column not in rows.columns and not any(
                part in rows.columns for part in (top, *(top[:at] for at, letter in enumerate(top) if letter == "."))
            ):
                listed = ", ".join(map(shown, rows.columns[:20])) + (" …" if len(rows.columns) > 20 else "")
                raise InvalidInput(f"{rows.file} has no column {shown(column)} for {name}: it has {listed or 'none'}")
        for group in NEEDED[self.kind]:
            if not any(name in self.columns for name in group):
                raise InvalidInput(f"{rows.file} as {self.kind} needs a column for {' or '.join(group)}: map one, as in {group[0]}=COLUMN")


ROWS, ITEMS, KEYS, VALUES, DEPTH = 20, 8, 60, 4_000, 12
"""What is looked at: rows, items of a list, keys of an object, values of a row, levels."""
OTHERS = frozenset(
    map(
        plain_name,
        (
            *("gold", "spans", "history", "messages", "tool_calls", "prompts", "labels", "annotations", "highlights", "choices", "tests"),
            *(
                "reference_contexts",
                "ground_truth_contexts",
                "reference_context_ids",
                "aggregations",
                "child_runs",
                "observations",
                "events",
            ),
        ),
    )
)
"""Lists that are no hits."""


@dataclass(slots=True)
class Seen:
    """What stands at each path of some rows, and the lengths of the lists at each path, in the order of the walk."""

    values: dict[str, list[Any]] = field(default_factory=dict)
    lengths: dict[str, list[int]] = field(default_factory=dict)
    left: int = VALUES

    def walk(self, value: Any, path: str, depth: int = DEPTH) -> None:
        """Take in a value and all below it."""
        value = parsed(value) if isinstance(value, str) and path else value
        self.left -= 1
        if self.left < 0 or depth < 0 or is_vector(path.rpartition(".")[2], value):
            return
        if path:
            self.values.setdefault(path, []).append(value)
        if isinstance(value, list) or (path and _is_keyed(value)):
            self.lengths.setdefault(f"{path}{EVERY}", []).append(len(value))
            for item in islice(value if isinstance(value, list) else value.values(), ITEMS):
                self.walk(item, f"{path}{EVERY}", depth - 1)
        elif isinstance(value, Mapping):
            for name, inner in islice(value.items(), KEYS):
                if isinstance(name, str) and EVERY not in name and "->" not in name:
                    self.walk(inner, f"{path}.{name}" if path else name, depth - 1)

    def below(self, path: str) -> dict[str, list[Any]]:
        """What stands inside the objects at a path, by the paths from there, down to the next list."""
        return {
            name[len(path) + 1 :]: own
            for name, own in self.values.items()
            if name.startswith(f"{path}.") and EVERY not in name[len(path) :]
        }


def seen_in(rows: Rows) -> Seen:
    """What the first rows hold."""
    seen = Seen()
    for _, row in islice(rows.rows, ROWS):
        seen.left = VALUES
        seen.walk(row, "")
    return seen


class Paths(NamedTuple):
    """The paths of some rows: all, those to lists, and those from a hit, or to lists beside the hits."""

    every: tuple[str, ...]
    lists: tuple[str, ...]
    inner: tuple[str, ...]


NO_PATHS = Paths((), (), ())


def paths_in(rows: Rows, hits: str = "") -> Paths:
    """Where something stands in the first rows, and in the hits of the list `hits`."""
    seen = seen_in(rows)
    path = hits if hits.endswith(EVERY) else f"{hits}{EVERY}"
    beside = [other for other, lengths in seen.lengths.items() if lengths == seen.lengths.get(path)]
    return Paths(tuple(shallow(seen.values)), tuple(shallow(seen.lengths)), (*shallow(seen.below(path)), *beside))


def lists_in(rows: Rows, used: Iterable[str]) -> list[str]:
    """The paths to lists of objects that nobody used, outermost only."""
    seen, taken = seen_in(rows), tuple(used)
    found = [path for path in seen.lengths if path.count(EVERY) == 1 and not path.startswith(taken)]
    kept = [path for path in found if plain_name(name_of(path)) not in OTHERS]
    return [path for path in kept if most(seen.values.get(path, ()), lambda item: isinstance(item, (Mapping, list)))]


def _is_keyed(value: Any) -> bool:
    """Whether an object is a list of objects by their names: all of one form, with a text or a number in each."""
    if not isinstance(value, Mapping) or len(value) < 2:
        return False
    first, *others = islice(value.values(), ITEMS)
    if not isinstance(first, Mapping) or not all(isinstance(other, Mapping) and other.keys() == first.keys() for other in others):
        return False
    return any(isinstance(inner, str) and " " in inner for inner in first.values())


def name_of(path: str, every: bool = False) -> Any:
    """The last key of a path, or every one."""
    parts = path.replace(EVERY, "").split(".")
    return parts if every else parts[-1]


def shallow(places: Iterable[str]) -> list[str]:
    """Paths, those of few steps first."""
    return sorted(places, key=lambda path: path.count(".") + path.count(EVERY))


def most(values: Sequence[Any], fits: Callable[[Any], bool]) -> bool:
    """Whether at least half of the values that are there fit."""
    known = [value for value in values if value is not None and value != ""]
    return bool(known) and 2 * sum(fits(value) for value in known) >= len(known)


ABSENT = object()
WHOLES = ("chunk_index", "start", "end", "page_number", "row_number", "rank", "bm25_matches")
REALS = ("score", "distance", "best_similarity")
JSON_FIELDS = ("gold", "spans", "history", "retrieved", "sources", "labels")
MAX_DIGITS = 18
LEAST_VECTOR = 16
plain = plain_name

METADATA = frozenset(map(plain_name, ("metadata", "meta", "cmetadata", "chunk_metadata", "meta_data", "metadatas")))
VECTORS = frozenset(plain_name(name) for field in ("embedding", "tsvector") for name in FIELD_NAMES[field])
CELL_KEYS = frozenset(("apikey", "xapikey", "authorization", "accesstoken", "secretkey", "password"))
_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")
_REAL = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d{1,4})?")


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """The value at a column or path, ABSENT where there is none; JSON in a text cell is looked into."""
    return _present(row[path]) if path in row else _below(row, dotted(path))


def each_at(row: Any, path: str) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The values at a path with `[*]`, each with its place in those lists; one with the place () where the path has none."""
    if isinstance(row, Mapping) and path in row:
        yield (), _present(row[path])
    else:
        yield from _each(row, lists_of(path))


def _each(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    found = _below(value, parts[0])
    if len(parts) == 1:
        yield (), found
        return
    inner = parsed(found) if isinstance(found, str) else found
    listed = inner if isinstance(inner, list) else list(inner.values()) if isinstance(inner, Mapping) else ()
    for at, item in enumerate(listed):
        for place, innermost in _each(item, parts[1:]):
            yield (at, *place), innermost


def _below(value: Any, path: str) -> Any:
    """The value at a dotted path below a value, the value itself for no path."""
    rest = path
    while rest:
        if isinstance(value, str):
            value = parsed(value)
        if isinstance(value, Mapping):
            if rest in value:
                return _present(value[rest])
            at = next((end for end, letter in enumerate(rest) if letter == "." and rest[:end] in value), None)
            if at is None:
                return ABSENT
            value, rest = value[rest[:at]], rest[at + 1 :]
        elif isinstance(value, list) and (index := rest.partition(".")[0]).isdecimal() and int(index[:9]) < len(value):
            value, rest = value[int(index[:9])], rest.partition(".")[2]
        else:
            return ABSENT
    return _present(value)


def _present(value: Any) -> Any:
    return ABSENT if value is None or value == "" else value


def parsed(text: str) -> Any:
    """The JSON object or list in a text cell, by the same rules as a JSON file's, else the text."""
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]"):
        value = LineReader(Problems(())).whole("", text)
        return text if value is UNREAD else value
    return text


def field_value(name: str, value: Any) -> Any:
    """`value` as the field `name` has it where that can be told, else as it is."""
    if name in WHOLES:
        return _whole(value)
    if name in REALS:
        return _real(value)
    if name in JSON_FIELDS:
        return parsed(value) if isinstance(value, str) else value
    return _text(value)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**MAX_DIGITS:
        return int(value)
    if isinstance(value, str):
        bare = value.strip()
        if not bare:
            return ABSENT
        if _WHOLE.fullmatch(bare) and len(bare) <= MAX_DIGITS:
            return int(bare.partition(".")[0])
    return value


def _real(value: Any) -> Any:
    if isinstance(value, str):
        bare = value.strip()
        if not bare:
            return ABSENT
        if _REAL.fullmatch(bare):
            number = float(bare.replace(",", "."))  # the decimal comma of a spreadsheet
            return number if abs(number) != float("inf") else value
    return value


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return str(value) if abs(value) < 10**MAX_DIGITS else value
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else str(value)
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return " > ".join(value)  # a path of headings
    return value


def is_vector(name: str, value: Any) -> bool:
    """Whether a cell holds an embedding or a text index, which no record needs."""
    if isinstance(value, list):
        return len(value) >= LEAST_VECTOR and all(type(number) in (int, float) for number in value)
    return isinstance(value, str) and plain(name) in VECTORS and (value[:1] == "[" or "':" in value[:1000])


def is_key(name: str) -> bool:
    """Whether something of this name opens an account: a log of requests may hold it, and what is loaded is kept and exported."""
    return plain(name) in CELL_KEYS


def metadata_of(row: Mapping[str, Any], used: frozenset[str], left_out: set[str]) -> dict[str, Any]:
    """What the mapping did not use, in one object; columns of vectors are left out and named in `left_out`."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name in used or value is None or value == "":
            continue
        if is_vector(name, value):
            left_out.add(name)
            continue
        inner = parsed(value) if isinstance(value, str) and plain(name) in METADATA else value
        if isinstance(inner, dict) and plain(name) in METADATA:
            for key, own in _without(inner, f"{name}.", used).items():
                found.setdefault(key, own)
        elif name in found:
            found[f"{name} (column)"] = value
        elif isinstance(value, dict):
            if (left := _without(value, f"{name}.", used)) or not value:
                found[name] = left
        else:
            found[name] = value
    return found


def _without(value: Mapping[str, Any], path: str, used: frozenset[str]) -> dict[str, Any]:
    """An object without what the mapping took out of it, and without objects of which nothing is left."""
    if not any(name.startswith(path) for name in used):
        return dict(value)
    left = {
        key: _without(inner, f"{path}{key}.", used) if isinstance(inner, dict) else inner
        for key, inner in value.items()
        if f"{path}{key}" not in used
    }
    return {key: inner for key, inner in left.items() if inner != {} or value[key] == {}}


class Applied(NamedTuple):
    """What a mapping makes of a table: lines, problems of cells that no line can hold, and where hits came from.

    `hit_rows` are, by the row of a line of retrievals, the rows of its hits; empty where a row holds all of them.
    """

    lines: Converted
    problems: tuple[Problem, ...] = ()
    hit_rows: Mapping[int, Sequence[int]] = {}


class Picked(dict[str, Any]):
    """The fields of one row, by their names in a bundle; `metadata` holds the rest of it."""

    def without(self, *names: str) -> dict[str, Any]:
        """All fields but these."""
        return {name: value for name, value in self.items() if name not in names}

    def only(self, *names: str) -> dict[str, Any]:
        """Of these fields those that are there."""
        return {name: self[name] for name in names if name in self}


def picked(mapping: ColumnMapping, row: Mapping[str, Any], left_out: set[str]) -> Picked:
    """The fields of a row. An absent value is an absent field."""
    found = Picked()
    for name, path in mapping.columns.items():
        value = value_at(row, path)
        if value is not ABSENT and (value := field_value(name, value)) is not ABSENT:
            found[name] = value
    if rest := metadata_of(row, frozenset(mapping.columns.values()), left_out):
        found["metadata"] = rest
    return found


def document_ids(mapping: ColumnMapping, rows: Rows) -> tuple[Callable[[int, Picked], Any], list[str]]:
    """What names the document of a row (None: nothing does), and the note that says so where no column is mapped to it."""
    if "document_id" in mapping.columns:
        return lambda _, found: found.get("document_id"), []
    for name in ("source", "title"):
        if column := mapping.columns.get(name):
            note = f"{rows.file}: no column gives document_id, so rows with the same {shown(column)} are one document"
            return lambda _, found, name=name: found.get(name), [note]
    note = f"{rows.file}: no column gives document_id, source or title, so every row is a document of its own"
    return lambda number, _: f"{rows.file} {rows.unit} {number}", [note]


def query_id_of(found: Picked) -> dict[str, Any]:
    """The query_id of a row, made from the query's own words where none is given: the same words are the same query."""
    if "query_id" in found or not isinstance(found.get("query"), str):
        return found.only("query_id")
    digest = hashlib.sha256(found["query"].encode("utf-8", "replace")).hexdigest()
    return {"query_id": f"q-{digest[:10]}"}


class DocumentLines:
    """One line for each document that rows of chunks tell of; the first value of each field stays."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[int, dict[str, Any]]] = {}
        self._differ: dict[str, set[str]] = {}
        self._odd: list[Line] = []

    def take(self, number: int, document_id: Any, found: Picked) -> None:
        """Remember what a row says of its document."""
        if not isinstance(document_id, str):
            return
        _, line = self._lines.setdefault(document_id, (number, {"document_id": document_id}))
        for name, value in found.only(*DOCUMENT_FIELDS).items():
            if not isinstance(value, str):
                self._odd.append((number, {"document_id": document_id, name: value}))  # which validation names by its row
            elif line.setdefault(name, value) != value:
                self._differ.setdefault(name, set()).add(document_id)

    def lines(self) -> tuple[Line, ...]:
        """The documents, in the order of their first rows."""
        return (*self._lines.values(), *self._odd)

    def notes(self, file: str) -> Iterator[str]:
        """Where rows of one document do not agree."""
        for name, documents in self._differ.items():
            yield f"{file}: {name} differs within {len(documents):,} documents; the first of each is kept"


def left_out_note(file: str, left_out: set[str]) -> list[str]:
    """The sentence about columns that no record needs."""
    return [f"{file}: left out, because no record needs vectors: {', '.join(map(shown, sorted(left_out)))}"] if left_out else []
