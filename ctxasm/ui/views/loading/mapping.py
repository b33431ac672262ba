"""The mapping editor: for each field of a record, the column that it comes from, and why that was guessed."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.bundle.mapping_form import FIELDS, ColumnMapping
from ctxasm.ui.mapping_choices import KIND_WORDS, as_kind, chosen, fields_of, is_needed, lacking, paths_of
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.field_boxes import Boxes, field_boxes

if TYPE_CHECKING:
    from ctxasm.bundle.importing import FilePreview


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
    boxes = Boxes(
        mapping.columns,
        paths_of(file.columns, file.rows),
        [field for field in FIELDS[mapping.kind] if is_needed(mapping.kind, field)],
        f"_map/{turn}/{at}/{mapping.kind}",
        lambda field, key: _keep(file.file, chosen(mapping, {field: st.session_state.get(key) or None})),
        mapping.reasons,
    )
    field_boxes(*fields_of(mapping), boxes)
    if words := lacking(mapping):
        st.html(boxed(f'<p class="cx-need" role="alert">{escape(words)}</p>'))
    if file.file in st.session_state.get("_mappings", {}):
        st.button("Back to the guess", key=f"guess_again_{at}", on_click=_forget, args=(file.file,))


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
