"""Boxes that say from which column each field comes; used for files and for tables alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import streamlit as st

from ctxasm.app.ui.frame.session import FILE_MAPPING, session
from ctxasm.app.ui.markup import boxed
from ctxasm.app.ui.words import cut
from ctxasm.data.files.cells import EXPECTED, FIELDS, HIT_FIELDS, HITS, NEEDED, PROMPT, ColumnMapping
from ctxasm.data.files.guess import BY_NAME, OF_FLAT
from ctxasm.data.files.rows import Rows
from ctxasm.data.files.seen import NO_PATHS, paths_in
from ctxasm.data.names import FIELD_NAMES, by_names, opened_json, places_inside

if TYPE_CHECKING:
    from ctxasm.data.files.importing import FilePreview


IN_A_ROW = 3
P = TypeVar("P")
M = TypeVar("M")
NONE = ""
"""What a box holds where no column is chosen."""


class KeptMappings(Generic[P, M]):
    """What a user chose instead of the guess, by file or table, kept in the session."""

    def __init__(self, mappings: str, turn: str) -> None:
        self._mappings, self._turn = mappings, turn

    @property
    def all(self) -> Mapping[P, M]:
        """The chosen mappings."""
        mappings: Mapping[P, M] = getattr(session, self._mappings)
        return mappings

    @property
    def turn(self) -> int:
        """Part of the keys of all boxes: in another turn they start anew, so that none shows an old pick."""
        return int(getattr(session, self._turn))

    def keep(self, place: P, mapping: M) -> None:
        """Use this mapping from now on."""
        setattr(session, self._mappings, {**self.all, place: mapping})

    def forget(self, place: P) -> None:
        """Back to what was guessed."""
        setattr(session, self._mappings, {key: value for key, value in self.all.items() if key != place})
        self.start_anew()

    def start_anew(self) -> None:
        """Let every box show what its mapping says."""
        setattr(session, self._turn, self.turn + 1)


def show_lacking(words: str) -> None:
    """What a mapping still needs, where it needs something."""
    if words:
        st.html(boxed(f'<p class="cx-need" role="alert">{escape(words)}</p>'))


class Boxes(NamedTuple):
    """What the boxes offer (`paths`, for some fields `own_paths`) and hold: `columns` by field, `reasons` why each was guessed,
    `labels` those that are not called by their field. `pick` is told the field and the key.

    `key` begins the keys of the boxes; other columns must come with another key, so that no box shows an old pick.
    """

    columns: Mapping[str, str]
    paths: Sequence[str]
    needed: Collection[str]
    key: str
    pick: Callable[[str, str], None]
    reasons: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    own_paths: Mapping[str, Sequence[str]] = {}


def field_boxes(first: Sequence[str], later: Sequence[str], boxes: Boxes) -> None:
    """A box for each field; the later ones behind a click."""
    _rows(first, boxes)
    if later:
        with st.expander(f"{len(later)} more fields", key=f"{boxes.key}/more"):
            _rows(later, boxes)


def _rows(fields: Sequence[str], boxes: Boxes) -> None:
    for start in range(0, len(fields), IN_A_ROW):
        for place, field in zip(st.columns(IN_A_ROW, gap="small"), fields[start : start + IN_A_ROW], strict=False):
            with place:
                _box(field, boxes)


def _box(field: str, boxes: Boxes) -> None:
    column = boxes.columns.get(field)
    paths = boxes.own_paths.get(field, boxes.paths)
    options = [NONE, *paths, *([column] if column is not None and column not in paths else [])]
    key = f"{boxes.key}/{field}"
    st.selectbox(
        f"{field} *" if field in boxes.needed else boxes.labels.get(field, field),
        options,
        index=0 if column is None else options.index(column),
        format_func=lambda path: cut(str(path), 60) or "no column",
        accept_new_options=True,
        key=key,
        on_change=boxes.pick,
        args=(field, key),
    )
    if reason := boxes.reasons.get(field, ""):
        st.html(boxed(f'<p class="cx-why">{escape(cut(reason, 90))}</p>'))


KEPT: KeptMappings[str, ColumnMapping] = KeptMappings("mappings", "mappings_generation")
LEADING: Mapping[str, tuple[str, ...]] = {
    "chunks": ("text", "document_id", "chunk_index", "title", "source", "page_number"),
    "documents": ("document_id", "title", "source", "summary"),
    "queries": ("query", "query_id", "answer"),
    "retrievals": ("query", "query_id", HITS, "document_id", "chunk_index", "text", "score"),
    "answers": ("query", "query_id", "answer"),
}
LEADING_OF_HITS = ("query", HITS, "hits.text", "hits.id", "hits.score", "hits.distance", "answer")
"""Those of rows that hold a list of hits each.

Fields that an editor shows at once; others join them where they are mapped."""
KIND_WORDS = {
    "chunks": "chunks: a row is a piece of a document",
    "documents": "documents: a row is a document's title, source, summary",
    "queries": "queries: a row is a question",
    "retrievals": "retrievals: a row is a found chunk of a question, or a question with a list of them",
    "answers": "answers: a row is a recorded answer",
}
MOST_PATHS = 300
MAX_DEPTH = 3


def fields_of(mapping: ColumnMapping) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields that are shown at once, and those behind a click."""
    first, offered = leading_of(mapping), offered_of(mapping)
    leading = [field for field in FIELDS[mapping.kind] if field in first or field in mapping.columns]
    leading.sort(key=lambda field: first.index(field) if field in first else 99)
    return tuple(leading), tuple(field for field in offered if field not in leading)


def leading_of(mapping: ColumnMapping) -> tuple[str, ...]:
    """The fields that are shown of any mapping like this one."""
    return LEADING_OF_HITS if HITS in mapping.columns else LEADING[mapping.kind]


def offered_of(mapping: ColumnMapping) -> tuple[str, ...]:
    """The fields that say something: those of a hit go with a list of hits, those of a flat row without one."""
    if mapping.kind != "retrievals":
        return FIELDS[mapping.kind]
    idle = OF_FLAT if HITS in mapping.columns else (*HIT_FIELDS, EXPECTED, PROMPT)
    return tuple(field for field in FIELDS[mapping.kind] if field not in idle or field in mapping.columns)


def is_needed(kind: str, field: str) -> bool:
    """Whether a field is one of those of which one must be mapped."""
    return any(field in group for group in NEEDED[kind])


def lacking(mapping: ColumnMapping) -> str:
    """What a mapping still needs, as a sentence; empty where it can be used."""
    groups = [group for group in NEEDED[mapping.kind] if not any(field in mapping.columns for field in group)]
    return f"Choose a column for {' and for '.join(' or '.join(group) for group in groups)}." if groups else ""


def paths_of(
    columns: Sequence[str],
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    written: Callable[[str, tuple[str, ...]], str] = lambda column, keys: ".".join((column, *keys)),
) -> tuple[str, ...]:
    """The columns, and the paths inside those that hold objects (also as text), as far as the first rows show them."""
    paths = dict.fromkeys(columns)
    for _, row in rows:
        for column, value in row.items():
            paths.update((written(column, keys), None) for keys, _ in places_inside(column, opened_json(value), MAX_DEPTH))
    return tuple(islice(paths, max(MOST_PATHS, len(columns))))


def as_kind(mapping: ColumnMapping | None, kind: str, columns: Sequence[str]) -> ColumnMapping:
    """A mapping turned into one of another kind: what both kinds have stays, what is left goes by the names of columns."""
    kept = {field: column for field, column in (mapping.columns if mapping else {}).items() if field in FIELDS[kind]}
    for field in FIELDS[kind]:
        free = ((column.rpartition(".")[2], column) for column in columns if column not in kept.values())
        column = next(by_names(FIELD_NAMES.get(field, (field,)), free), None)
        if field not in kept and column is not None:
            kept[field] = column
    return ColumnMapping(kind, {field: kept[field] for field in FIELDS[kind] if field in kept})


def chosen(mapping: ColumnMapping, picked: Mapping[str, str | None]) -> ColumnMapping:
    """A mapping with what was picked for each field; a reason stays with the column that it was given for.

    Of another list of hits what stands in a hit is guessed anew.
    """
    is_list = HITS in picked and picked[HITS] != mapping.columns.get(HITS)
    picked = {**picked, **dict.fromkeys(HIT_FIELDS)} if is_list else picked
    columns = {field: column for field in FIELDS[mapping.kind] if (column := picked.get(field, mapping.columns.get(field)))}
    reasons = {field: reason for field, reason in mapping.reasons.items() if columns.get(field) == mapping.columns.get(field)}
    kept = {field: reason for field, reason in reasons.items() if field in columns}
    return ColumnMapping(mapping.kind, columns, kept, guess_rest=is_list and HITS in columns)


def mapping_editor(file: FilePreview, mapping: ColumnMapping | None, at: int) -> None:
    """Choose what the rows are and which column gives which field; a change takes effect at once."""
    mapping = mapping or as_kind(None, "chunks", file.columns)
    turn = KEPT.turn
    kinds = list(FIELDS)
    st.selectbox(
        "What a row is",
        kinds,
        index=kinds.index(mapping.kind),
        format_func=lambda kind: KIND_WORDS.get(kind, kind),
        key=f"{FILE_MAPPING}{turn}/{at}/kind",
        on_change=_change_kind,
        args=(file, mapping, f"{FILE_MAPPING}{turn}/{at}/kind"),
    )
    of_hits = (
        paths_in(Rows(file.file, file.columns, file.rows), mapping.columns.get(HITS, "")) if mapping.kind == "retrievals" else NO_PATHS
    )
    flat = paths_of(file.columns, file.rows)
    boxes = Boxes(
        mapping.columns,
        tuple(islice(dict.fromkeys((*flat, *of_hits.every)), max(MOST_PATHS, len(flat)))),
        [field for field in FIELDS[mapping.kind] if is_needed(mapping.kind, field)],
        f"{FILE_MAPPING}{turn}/{at}/{mapping.kind}/{mapping.columns.get(HITS, '')}",
        lambda field, key: KEPT.keep(file.file, chosen(mapping, {field: st.session_state.get(key) or None})),
        {field: reason for field, reason in mapping.reasons.items() if reason != BY_NAME},
        own_paths={HITS: of_hits.lists, **dict.fromkeys(HIT_FIELDS, of_hits.inner)},
    )
    field_boxes(*fields_of(mapping), boxes)
    show_lacking(lacking(mapping))
    if file.file in KEPT.all:
        st.button("Back to the guess", key=f"guess_again_{at}", on_click=KEPT.forget, args=(file.file,))


def _change_kind(file: FilePreview, mapping: ColumnMapping, key: str) -> None:
    KEPT.keep(file.file, as_kind(mapping, st.session_state[key], file.columns))
