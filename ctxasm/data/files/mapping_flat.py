"""A flat table of hits (query, document, chunk, text, score in each row) -> chunks, queries and retrievals at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from ctxasm.data.files.mapping_form import DOCUMENT_FIELDS, ColumnMapping
from ctxasm.data.files.mapping_lines import Applied, DocumentLines, Picked, document_ids, left_out_note, picked, query_id_of
from ctxasm.data.files.problems import NO_VALUE, Problem
from ctxasm.data.files.recognised.converted import Converted
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.shapes import HitShape, explained
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
