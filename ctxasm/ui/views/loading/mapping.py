"""The mapping editor: for each field of a record, the column that it comes from, and why that was guessed."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.bundle.mapping_form import FIELDS, ColumnMapping
from ctxasm.ui.load_tables import cut
from ctxasm.ui.mapping_choices import KIND_WORDS, as_kind, chosen, fields_of, is_needed, lacking, paths_of
from ctxasm.ui.pictures import boxed

if TYPE_CHECKING:
    from ctxasm.bundle.importing import FilePreview

IN_A_ROW = 3


def mapping_editor(file: FilePreview, mapping: ColumnMapping | None, at: int) -> None:
    """Choose what the rows are and which column gives which field; a change takes effect at once."""
    mapping = mapping or as_kind(None, "chunks", file.columns)
    turn = st.session_state.get("_map_turn", 0)
    kinds = list(FIELDS)
    st.selectbox(
        "What a row is",
        kinds,
        index=kinds.index(mapping.kind),
        format_func=lambda kind: KIND_WORDS.get(kind, kind),
        key=f"_map/{turn}/{at}/kind",
        on_change=_change_kind,
        args=(file, mapping, f"_map/{turn}/{at}/kind"),
    )
    first, later = fields_of(mapping)
    paths = paths_of(file.columns, file.rows)
    _fields(file, mapping, first, paths, f"_map/{turn}/{at}")
    if later:
        with st.expander(f"{len(later)} more fields", key=f"more_fields_{at}"):
            _fields(file, mapping, later, paths, f"_map/{turn}/{at}")
    if words := lacking(mapping):
        st.html(boxed(f'<p class="cx-need" role="alert">{escape(words)}</p>'))
    if file.file in st.session_state.get("_mappings", {}):
        st.button("Back to the guess", key=f"guess_again_{at}", on_click=_forget, args=(file.file,))


def _fields(file: FilePreview, mapping: ColumnMapping, fields: tuple[str, ...], paths: tuple[str, ...], prefix: str) -> None:
    for start in range(0, len(fields), IN_A_ROW):
        for place, field in zip(st.columns(IN_A_ROW, gap="small"), fields[start : start + IN_A_ROW], strict=False):
            with place:
                _field(file, mapping, field, paths, prefix)


def _field(file: FilePreview, mapping: ColumnMapping, field: str, paths: tuple[str, ...], prefix: str) -> None:
    column = mapping.columns.get(field)
    options = [*paths, *([column] if column is not None and column not in paths else [])]
    key = f"{prefix}/{mapping.kind}/{field}"
    st.selectbox(
        f"{field} *" if is_needed(mapping.kind, field) else field,
        options,
        index=None if column is None else options.index(column),
        format_func=lambda path: cut(str(path), 60),
        placeholder="no column",
        accept_new_options=True,
        key=key,
        on_change=_pick,
        args=(file, mapping, field, key),
    )
    reason = mapping.reasons.get(field, "")
    if reason:
        st.html(boxed(f'<p class="cx-why">{escape(cut(reason, 90))}</p>'))


def _pick(file: FilePreview, mapping: ColumnMapping, field: str, key: str) -> None:
    _keep(file.file, chosen(mapping, {field: st.session_state.get(key) or None}))


def _change_kind(file: FilePreview, mapping: ColumnMapping, key: str) -> None:
    _keep(file.file, as_kind(mapping, st.session_state[key], file.columns))


def _keep(name: str, mapping: ColumnMapping) -> None:
    kept: dict[str, Any] = st.session_state.get("_mappings", {})
    st.session_state["_mappings"] = {**kept, name: mapping}


def _forget(name: str) -> None:
    """Back to what was guessed; the boxes start anew, so that none shows what was picked."""
    kept: dict[str, Any] = st.session_state.get("_mappings", {})
    st.session_state["_mappings"] = {key: value for key, value in kept.items() if key != name}
    st.session_state["_map_turn"] = st.session_state.get("_map_turn", 0) + 1
