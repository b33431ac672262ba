"""A flat table of hits (query, document, chunk, text, score in each row) -> chunks, queries and retrievals at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ctxasm.data.files.bundle import HitShape, explained
from ctxasm.data.files.cells import (
    DOCUMENT_FIELDS,
    EXPECTED,
    HITS,
    RESPONSE,
    Applied,
    ColumnMapping,
    DocumentLines,
    Picked,
    document_ids,
    left_out_note,
    picked,
    query_id_of,
)
from ctxasm.data.files.hits import hit_retrievals
from ctxasm.data.files.problems import NO_VALUE, Problem
from ctxasm.data.files.recognised.draft import Converted, Line
from ctxasm.data.files.recognised.passages import APPEARANCE, Passage, passage, place
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.seen import lists_in
from ctxasm.data.names import FIELD_NAMES, plain_name
from ctxasm.model.amounts import counted
from ctxasm.model.characters import normalised
from ctxasm.model.errors import shown

Similarity = Callable[[Picked, int], Any]
UNQUOTED = ", written without quotes"
OF_QUERY = ("search_method", "bm25_matches", "best_similarity", "intent", "supplement")
OF_CHUNK = ("document_id", "chunk_index", "text", "page_number", "section")


def flat_retrievals(mapping: ColumnMapping, rows: Rows) -> Applied:
    """The lines of a flat table. A row whose hit is none is a problem and gives nothing.

    Scores: a distance becomes a similarity, a rank without a score 1 / rank, and without either the order of the rows ranks.
    """
    table = _Flat(mapping, rows)
    for number, row in rows.rows:
        table.take(number, row)
    return Applied(table.converted(), tuple(table.problems), table.hit_rows)


class _Flat:
    def __init__(self, mapping: ColumnMapping, rows: Rows) -> None:
        self._mapping, self._rows = mapping, rows
        self._name_document, self._notes = document_ids(mapping, rows)
        self._similarity, said = similarity_of(mapping, rows)
        self._notes += [f"{rows.file}: {said}"] if said else []
        self._has_text, self._has_index = "text" in mapping.columns, "chunk_index" in mapping.columns
        if not self._has_index:
            self._notes.append(f"{rows.file}: no column gives chunk_index, so it counts the different texts of each document")
        self._left_out: set[str] = set()
        self._documents = DocumentLines()
        self._chunks: dict[tuple[Any, ...], tuple[int, dict[str, Any]]] = {}
        self._indexes: dict[str, dict[Any, int]] = {}
        self._queries: dict[Any, tuple[int, dict[str, Any]]] = {}
        self._answers: dict[str, tuple[int, dict[str, Any]]] = {}
        self._retrievals: dict[str, tuple[int, dict[str, Any]]] = {}
        self.problems: list[Problem] = []
        self.hit_rows: dict[int, list[int]] = {}

    def take(self, number: int, row: Any) -> None:
        found = picked(self._mapping, row, self._left_out)
        document_id = self._name_document(number, found)
        if document_id is not None:
            found["document_id"] = document_id
        if not self._has_index:
            known = self._indexes.setdefault(str(document_id), {})
            found["chunk_index"] = known.setdefault(normalised(str(found.get("text"))), len(known))
        named = query_id_of(found)
        query_id = named.get("query_id")
        known_hits = self._retrievals.get(query_id, (0, {"retrieved": []}))[1]["retrieved"] if isinstance(query_id, str) else []
        hit = self._hit(found, len(known_hits) + 1)
        if wrong := list(_wrong(hit, query_id)):
            self._refuse(number, wrong)
            return
        self._take_query(number, str(query_id), found)
        first, retrieval = self._retrievals.setdefault(str(query_id), (number, {"query_id": query_id, "retrieved": []}))
        retrieval["retrieved"].append(hit)
        self.hit_rows.setdefault(first, []).append(number)
        for name, value in found.only(*OF_QUERY).items():
            retrieval.setdefault(name, value)
        if self._has_text:
            self._take_chunk(number, found)

    def _refuse(self, number: int, wrong: list[tuple[str, str, object]]) -> None:
        for field, message, came in wrong:
            value = None if came is NO_VALUE else shown(came)
            words = message.removesuffix(UNQUOTED)
            self.problems.append(Problem(self._rows.file, number, self._label(field), words, value, self._rows.unit))

    def _label(self, field: str) -> str:
        column = self._mapping.columns.get(field)
        return field if column in (None, field) else f"{field} ({column})"

    def _hit(self, found: Picked, position: int) -> dict[str, Any]:
        hit = found.only("document_id", "chunk_index", "rank")
        if (score := self._similarity(found, position)) is not None:
            hit["score"] = score
        return hit

    def _take_query(self, number: int, query_id: str, found: Picked) -> None:
        if "query" in self._mapping.columns:
            line = {"query_id": query_id, **found.only("query", "answer")}
            self._queries.setdefault((query_id, str(found.get("query"))), (number, line))
        if RESPONSE in found:
            self._answers.setdefault(query_id, (number, {"query_id": query_id, "answer": found[RESPONSE]}))

    def _take_chunk(self, number: int, found: Picked) -> None:
        self._documents.take(number, found["document_id"], found)
        line = {**found.only(*OF_CHUNK), "metadata": found.get("metadata", {})}
        key = (found["document_id"], found["chunk_index"], normalised(str(found.get("text"))))
        _, known = self._chunks.setdefault(key, (number, line))
        if known is not line:  # what differs from hit to hit is of the hit, not of the chunk
            both = known["metadata"].items()
            known["metadata"] = {name: value for name, value in both if line["metadata"].get(name) == value}

    def converted(self) -> Converted:
        given = self._has_text and any(name in self._mapping.columns for name in DOCUMENT_FIELDS)
        return Converted(
            documents=self._documents.lines() if given else (),
            chunks=tuple(self._chunks.values()),
            queries=tuple(self._queries.values()),
            retrievals=tuple(self._retrievals.values()),
            answers=tuple(self._answers.values()),
            notes=(*self._notes, *self._documents.notes(self._rows.file), *left_out_note(self._rows.file, self._left_out)),
        )


def _wrong(hit: dict[str, Any], query_id: Any) -> Iterator[tuple[str, str, object]]:
    if not isinstance(query_id, str):
        yield "query_id", "is missing" if query_id is None else "must be a text", NO_VALUE if query_id is None else query_id
    try:
        HitShape.model_validate(hit)
    except ValidationError as error:
        yield from explained(error)


def similarity_of(mapping: ColumnMapping, rows: Rows) -> tuple[Similarity, str]:
    """What gives the score of a row at a position (from 1) of its query, higher is better, and the sentence that says how."""
    if "score" in mapping.columns:
        return lambda found, _: found.get("score"), ""
    if "distance" in mapping.columns:
        return _of_distance(mapping, rows)
    if "rank" in mapping.columns:
        return lambda found, _: _reciprocal(found.get("rank")), "no column gives a score, so it is 1 / rank"
    said = "no column gives a score or a rank, so the rows of a query are taken as ranked, and the score is 1 / rank"
    return lambda _, position: 1 / position, said


def _reciprocal(rank: Any) -> Any:
    return 1 / rank if isinstance(rank, int) and rank > 0 else None if rank is None else 0.0


def _of_distance(mapping: ColumnMapping, rows: Rows) -> tuple[Similarity, str]:
    only = ColumnMapping(mapping.kind, {"distance": mapping.columns["distance"]})
    found = [picked(only, row, set()).get("distance") for _, row in rows.rows]
    distances = [value for value in found if isinstance(value, (int, float)) and not isinstance(value, bool)]
    lowest, highest = min(distances, default=0), max(distances, default=0)
    if lowest < 0:
        turn, formula = _negative, "score = −distance, as for a negative inner product"
    elif highest <= 2:
        turn, formula = _from_one, "score = 1 − distance, the cosine similarity of a cosine distance"
    else:
        turn, formula = _inverse, "score = 1 / (1 + distance)"

    def similarity(row: Picked, _: int) -> Any:
        distance = row.get("distance")
        return turn(distance) if type(distance) in (int, float) else distance

    return similarity, f"{shown(mapping.columns['distance'])} is a distance (lower is better): {formula}"


def _negative(distance: Any) -> Any:
    return -distance


def _from_one(distance: Any) -> Any:
    return 1 - distance


def _inverse(distance: Any) -> Any:
    return 1 / (1 + distance)


SCORES = frozenset(plain_name(f"{name}{ending}") for field in ("score", "distance") for name in FIELD_NAMES[field] for ending in ("", "s"))
"""Names of columns that only hits have."""
MOST_LISTS = 5
"""Lists that a note names."""


def apply(mapping: ColumnMapping, rows: Rows) -> Applied:
    """The lines that `rows` hold by `mapping`, and what is wrong with single cells that no line can hold.

    Raises InvalidInput where the mapping names a field or a column that is not there.
    """
    mapping.check(rows)
    found = _KINDS[mapping.kind](mapping, rows)
    said = [f"{rows.file}: {shown(path)} is no {field}, by its values, and becomes metadata" for field, path in mapping.unfit.items()]
    return found._replace(lines=replace(found.lines, notes=(*said, *found.lines.notes))) if said else found


def _chunks(mapping: ColumnMapping, rows: Rows) -> Applied:
    name_document, notes = document_ids(mapping, rows)
    documents = DocumentLines()
    lines: list[Line] = []
    left_out: set[str] = set()
    derived = "chunk_index" not in mapping.columns
    for number, row in rows.rows:
        found = picked(mapping, row, left_out)
        document_id = name_document(number, found)
        line = found.without(*DOCUMENT_FIELDS)
        if document_id is not None:
            line["document_id"] = document_id
            documents.take(number, document_id, found)
        lines.append((number, line))
    if derived:
        notes += _count_chunks(rows.file, lines)
    if scores := [name for name in rows.columns if plain_name(name) in SCORES and name not in mapping.columns.values()]:
        told = "is a score, but nothing is a question, so the rows are chunks and not hits; map a question, as in query=COLUMN"
        notes.append(f"{rows.file}: {shown(scores[0])} {told}")
    given = any(name in mapping.columns for name in DOCUMENT_FIELDS)
    notes += documents.notes(rows.file) if given else []
    notes += left_out_note(rows.file, left_out)
    return Applied(Converted(documents=documents.lines() if given else (), chunks=tuple(lines), notes=tuple(notes)))


def _count_chunks(file: str, lines: Sequence[Line]) -> list[str]:
    """Give each line a chunk_index by what tells the order in its document: offsets, the text that chunks share, else that of the rows."""
    documents: dict[Any, list[dict[str, Any]]] = {}
    for _, line in lines:
        documents.setdefault(name if isinstance(name := line.get("document_id"), str) else None, []).append(line)
    by: dict[str, int] = {}
    for own in documents.values():
        placed = place([_in_document(line) for line in own], is_whole=True)
        for line, index in zip(own, placed.indexes, strict=True):
            line["chunk_index"] = index
        if placed.by and placed.by != APPEARANCE:
            by[placed.by] = by.get(placed.by, 0) + 1
    told = f"{file}: no column gives chunk_index, so it counts the rows of each document in their order"
    other = [f"of {counted(count, 'document')} by {how}" for how, count in by.items()]
    return [f"{told}, and {', '.join(other)}" if other else told]


def _in_document(line: Mapping[str, Any]) -> Passage:
    """A line as far as it tells its place; numbers in its metadata are not taken for one, as no column was."""
    where: dict[str, Any] = {"page": line.get("page_number"), "start": line.get("start"), "end": line.get("end"), "numbers": {}}
    return passage(line.get("text"), line.get("metadata"), **where)


def _plain(kind: str, finish: Callable[[Picked], dict[str, Any]]) -> Callable[[ColumnMapping, Rows], Applied]:
    """One line a row, as it is."""

    def lines(mapping: ColumnMapping, rows: Rows) -> Applied:
        left_out: set[str] = set()
        found = tuple((number, finish(picked(mapping, row, left_out))) for number, row in rows.rows)
        notes = left_out_note(rows.file, left_out)
        if kind != "documents" and "query_id" not in mapping.columns:
            notes.append(f"{rows.file}: no column gives query_id, so it is made from the words of the query")
        if kind == "queries" and (lists := lists_in(rows, mapping.columns.values())):
            named = ", ".join(map(shown, lists[:MOST_LISTS]))
            notes.append(f"{rows.file}: no hits are loaded; if they are in {named}, map them, as in hits={lists[0]}")
        return Applied(Converted(**{kind: found}, notes=tuple(notes)))

    return lines


def _answers(mapping: ColumnMapping, rows: Rows) -> Applied:
    """What was answered, and the questions where the rows hold them."""
    made = _plain("answers", _query)(mapping, rows)
    if "query" not in mapping.columns:
        return made
    questions: dict[str, Line] = {}
    for number, line in made.lines.answers:
        if isinstance(line.get("query"), str) and isinstance(name := line.get("query_id"), str):
            reference = {"answer": line[EXPECTED]} if EXPECTED in line else {}
            questions.setdefault(name, (number, {"query_id": name, "query": line["query"], **reference}))
    kept = tuple((number, {name: value for name, value in line.items() if name != EXPECTED}) for number, line in made.lines.answers)
    return made._replace(lines=replace(made.lines, answers=kept, queries=tuple(questions.values())))


def _query(found: Picked) -> dict[str, Any]:
    return {**query_id_of(found), **found.without()}


def _retrievals(mapping: ColumnMapping, rows: Rows) -> Applied:
    if HITS in mapping.columns:
        return hit_retrievals(mapping, rows)
    if "retrieved" not in mapping.columns:
        return flat_retrievals(mapping, rows)
    left_out: set[str] = set()
    retrievals, queries = [], []
    for number, row in rows.rows:
        found = picked(mapping, row, left_out)
        named = query_id_of(found)
        retrievals.append((number, {**named, **found.without("query", "answer")}))
        if "query" in mapping.columns:
            queries.append((number, {**named, **found.only("query_id", "query", "answer")}))
    notes = tuple(left_out_note(rows.file, left_out))
    return Applied(Converted(queries=tuple(queries), retrievals=tuple(retrievals), notes=notes))


_KINDS: Mapping[str, Callable[[ColumnMapping, Rows], Applied]] = {
    "chunks": _chunks,
    "documents": _plain("documents", lambda found: found.without()),
    "queries": _plain("queries", _query),
    "retrievals": _retrievals,
    "answers": _answers,
}
