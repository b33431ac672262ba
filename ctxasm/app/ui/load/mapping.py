"""What a mapping editor offers: fields, the columns each can come from, what is still missing. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from ctxasm.bundle.mapping_form import FIELDS, NAMES, NEEDED, ColumnMapping
from ctxasm.model.field_names import plain_name

LEADING: Mapping[str, tuple[str, ...]] = {
    "chunks": ("text", "document_id", "chunk_index", "title", "source", "page_number"),
    "documents": ("document_id", "title", "source", "summary"),
    "queries": ("query", "query_id", "answer"),
    "retrievals": ("query", "query_id", "document_id", "chunk_index", "text", "score"),
    "answers": ("query", "query_id", "answer"),
}
"""Fields that an editor shows at once; others join them where they are mapped."""
KIND_WORDS = {
    "chunks": "chunks: a row is a piece of a document",
    "documents": "documents: a row is a document's title, source, summary",
    "queries": "queries: a row is a question",
    "retrievals": "retrievals: a row is a hit of a question",
    "answers": "answers: a row is a recorded answer",
}
MOST_PATHS = 200
MAX_DEPTH = 3


def fields_of(mapping: ColumnMapping) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields that are shown at once, and those behind a click."""
    leading = [field for field in FIELDS[mapping.kind] if field in LEADING[mapping.kind] or field in mapping.columns]
    leading.sort(key=lambda field: LEADING[mapping.kind].index(field) if field in LEADING[mapping.kind] else 99)
    return tuple(leading), tuple(field for field in FIELDS[mapping.kind] if field not in leading)


def is_needed(kind: str, field: str) -> bool:
    """Whether a field is one of those of which one must be mapped."""
    return any(field in group for group in NEEDED[kind])


def lacking(mapping: ColumnMapping) -> str:
    """What a mapping still needs, as a sentence; empty where it can be used."""
    groups = [group for group in NEEDED[mapping.kind] if not any(field in mapping.columns for field in group)]
    return f"Choose a column for {' and for '.join(' or '.join(group) for group in groups)}." if groups else ""


def paths_of(columns: Sequence[str], rows: Iterable[tuple[int, Mapping[str, Any]]]) -> tuple[str, ...]:
    """The columns, and the dotted paths inside those that hold objects, as far as the first rows show them."""
    paths = dict.fromkeys(columns)
    for _, row in rows:
        for name, value in row.items():
            paths.update(dict.fromkeys(_inner(name, value, MAX_DEPTH)))
    return tuple(islice(paths, max(MOST_PATHS, len(columns))))


def _inner(name: str, value: Any, depth: int) -> Iterable[str]:
    if depth and isinstance(value, Mapping):
        for key, inner in islice(value.items(), 50):
            yield f"{name}.{key}"
            yield from _inner(f"{name}.{key}", inner, depth - 1)


def as_kind(mapping: ColumnMapping | None, kind: str, columns: Sequence[str]) -> ColumnMapping:
    """A mapping turned into one of another kind: what both kinds have stays, what is left goes by the names of columns."""
    kept = {field: column for field, column in (mapping.columns if mapping else {}).items() if field in FIELDS[kind]}
    for field in FIELDS[kind]:
        plain = {plain_name(name) for name in NAMES.get(field, (field,))}
        column = next((c for c in columns if plain_name(c.rpartition(".")[2]) in plain and c not in kept.values()), None)
        if field not in kept and column is not None:
            kept[field] = column
    return ColumnMapping(kind, {field: kept[field] for field in FIELDS[kind] if field in kept})


def chosen(mapping: ColumnMapping, picked: Mapping[str, str | None]) -> ColumnMapping:
    """A mapping with what was picked for each field; a reason stays with the column that it was given for."""
    columns = {field: column for field in FIELDS[mapping.kind] if (column := picked.get(field, mapping.columns.get(field)))}
    reasons = {field: reason for field, reason in mapping.reasons.items() if columns.get(field) == mapping.columns.get(field)}
    return ColumnMapping(mapping.kind, columns, {field: reason for field, reason in reasons.items() if field in columns})
