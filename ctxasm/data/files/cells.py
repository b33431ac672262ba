"""What a mapping of columns is, and how it reads single cells: where a field stands in a row, and what it is as the field has it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ctxasm.data.files.literals import parsed
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.recognised.draft import Converted, Line
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.seen import ABSENT, METADATA, is_vector, value_at
from ctxasm.data.names import plain_name
from ctxasm.data.paths import EVERY, lists_of
from ctxasm.model.errors import InvalidInput, shown

HITS, MAX_LISTS = "hits", 8
EXPECTED = "expected_answer"
"""Beside a list of hits `answer` is what was answered, and this is what should have been."""
PROMPT = "prompt"
"""Beside a list of hits: what the model was sent."""
RESPONSE = "response"
"""In a row that is one hit `answer` is what should be answered, and this is what was."""
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
        *("page_number", "section", *DOCUMENT_FIELDS, "answer", RESPONSE, EXPECTED, PROMPT),
        *("search_method", "bm25_matches", "best_similarity", "intent", "supplement"),
    ),
    "answers": ("query_id", "query", "answer", EXPECTED, "answer_text_with_markers", "sources", "labels"),
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


WHOLES = ("chunk_index", "start", "end", "page_number", "row_number", "rank", "bm25_matches")
REALS = ("score", "distance", "best_similarity")
JSON_FIELDS = ("gold", "spans", "history", "retrieved", "sources", "labels")
MAX_DIGITS = 18
_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")
_REAL = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d{1,4})?")


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


def metadata_of(row: Mapping[str, Any], used: frozenset[str], left_out: set[str]) -> dict[str, Any]:
    """What the mapping did not use, in one object; columns of vectors are left out and named in `left_out`."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name in used or value is None or value == "":
            continue
        if is_vector(name, value):
            left_out.add(name)
            continue
        inner = parsed(value) if isinstance(value, str) and plain_name(name) in METADATA else value
        if isinstance(inner, dict) and plain_name(name) in METADATA:
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
