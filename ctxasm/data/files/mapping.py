"""A table and a mapping of its columns -> lines of a bundle, each with the row it came from.

What is absent is derived where that is safe, and said in a note: a chunk_index counts the rows of its document, a
document_id is the source or the title, a query_id comes from the question's own words. The same rules hold for every row,
so leaving a row out changes nothing but the numbers counted after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxasm.data.field_names import plain_name
from ctxasm.data.files.mapping_flat import flat_retrievals
from ctxasm.data.files.mapping_form import DOCUMENT_FIELDS, FIELDS, HITS, NAMES, ColumnMapping
from ctxasm.data.files.mapping_guess import guess
from ctxasm.data.files.mapping_hits import hit_retrievals
from ctxasm.data.files.mapping_lines import Applied, DocumentLines, Line, Picked, document_ids, left_out_note, picked, query_id_of
from ctxasm.data.files.mapping_paths import lists_in
from ctxasm.data.files.recognised.converted import Converted
from ctxasm.data.files.recognised.passages import Passage, passage
from ctxasm.data.files.recognised.placing import APPEARANCE, place
from ctxasm.data.files.rows import Rows
from ctxasm.model.amounts import counted
from ctxasm.model.errors import shown

SCORES = frozenset(plain_name(f"{name}{ending}") for field in ("score", "distance") for name in NAMES[field] for ending in ("", "s"))
"""Names of columns that only hits have."""
MOST_LISTS = 5
"""Lists that a note names."""
__all__ = ["FIELDS", "ColumnMapping", "apply", "guess"]


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
    made = passage(line.get("text"), line.get("metadata"), page=line.get("page_number"), start=line.get("start"), end=line.get("end"))
    return replace(made, numbers={})


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
    "answers": _plain("answers", _query),
}
