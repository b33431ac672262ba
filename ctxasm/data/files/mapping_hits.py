"""Rows that each hold a list of hits, however nested -> chunks, queries, retrievals and answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ctxasm.data.files.mapping_form import EXPECTED, HIT_FIELDS, HITS, PROMPT, ColumnMapping
from ctxasm.data.files.mapping_lines import Applied
from ctxasm.data.files.mapping_values import ABSENT, each_at, field_value, is_key, is_vector, parsed, value_at
from ctxasm.data.files.problems import Problem
from ctxasm.data.files.recognised.converted import Converted
from ctxasm.data.files.recognised.draft import Draft, Place, Spoken
from ctxasm.data.files.recognised.forms import plain_text
from ctxasm.data.files.recognised.lists import read_answer, read_question
from ctxasm.data.files.recognised.messages import read_messages
from ctxasm.data.files.recognised.passages import Passage, passage
from ctxasm.data.files.recognised.values import named, number, whole
from ctxasm.data.files.rows import Rows
from ctxasm.data.paths import EVERY, lists_of
from ctxasm.model.errors import shown

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
                read_question(found.question),
                found.hits,
                query_id=found.query_id,
                answer=read_answer(found.answer),
                reference=read_answer(found.expected),
                spoken=_spoken(found.sent, row),
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
    return Applied(draft.lines()[0], tuple(problems))


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
        self.hits = self.asked = 0

    def lost(self) -> Problem | None:
        """What a path does that leads nowhere, or through more lists than the hits stand in."""
        hits = shown(self._columns[HITS])
        for name in AROUND:
            if _depth(self._columns.get(name, "")) >= _depth(self._hits):
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

    @staticmethod
    def told(paths: list[str]) -> str:
        """The end of a sentence about paths that there are."""
        more = " …" if len(paths) > MOST_TOLD else ""
        return f": a hit has {', '.join(map(shown, paths[:MOST_TOLD]))}{more}" if paths else ""

    def read(self, row: Values) -> Iterator[_Found]:
        """The questions of a row, each with its hits."""
        fields = {name: dict(each_at(row, self._columns[name])) for name in AROUND if name in self._columns}
        beside = {name: dict(each_at(row, path)) for name, path in self._lists.items()}
        asked = [_depth(self._columns[name]) for name in ("query", "query_id") if name in self._columns]
        outer = max(asked) if asked else _depth(self._hits) - 1
        groups: dict[At, list[Passage]] = {
            place: [] for name in ("query", "query_id") for place in fields.get(name, ()) if len(place) == outer
        }
        for place, hit in each_at(row, self._hits):
            if hit is not ABSENT:
                made = self._passage(hit, {name: values.get(place, ABSENT) for name, values in beside.items()})
                groups.setdefault(place[:outer], []).append(made)
        for place, hits in groups.items():
            values = {name: _at(known, place) for name, known in fields.items()}
            if not hits and values.get("query") is None and values.get("query_id") is None:
                continue
            self.hits += len(hits)
            self.asked += 1
            query_id = named(field_value("query_id", values.get("query_id")))
            name = self._name(query_id, values.get("query"))
            answer, expected, sent = (values.get(field) for field in ("answer", EXPECTED, PROMPT))
            yield _Found(values.get("query"), name, answer, expected, sent, _ranked(hits))

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


def _leaves(value: Values, path: str = "", depth: int = MAX_FLAT) -> Iterator[str]:
    """The paths to what is no object."""
    for name, inner in islice(value.items(), 50):
        if isinstance(inner, Mapping) and depth:
            yield from _leaves(inner, f"{path}{name}.", depth - 1)
        elif isinstance(inner, str) or path or depth == MAX_FLAT:
            yield f"{path}{name}"
