"""How the columns of a user's table are read: guessed, changed box by box, kept under a name."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk
from ctxasm.ui.awaiting import awaited
from ctxasm.ui.load_tables import preview_html
from ctxasm.ui.pictures import boxed
from ctxasm.ui.plain import plain
from ctxasm.ui.table_choices import (
    LABELS,
    chunk_fields,
    lacking,
    needed,
    places_in,
    sample_rows,
    with_document_field,
    with_documents,
    with_field,
)
from ctxasm.ui.views.loading.field_boxes import Boxes, field_boxes
from ctxasm.ui.views.title import show_problem

if TYPE_CHECKING:
    from ctxasm.store.own.catalogue import Sample, TableInfo
    from ctxasm.store.own.mapping import TableMapping

NO_TABLE = "none: titles stand in the table of chunks"


def mapping_controls(connection: str, table: TableInfo) -> TableMapping:
    """The boxes of a table, and what they say. Raises CtxasmError where the table cannot be read."""
    from ctxasm.connecting import guess_mapping

    workbench, place = desk.workbench(), (connection, table.schema, table.name)
    wanted = (*place, st.session_state.get("_tables_turn", 0))
    guessed = awaited("guessed", wanted, lambda report, cancelled: guess_mapping(workbench, connection, table.name, table.schema))
    mapping: TableMapping = _kept().get(place, guessed)
    sample = _sample("sample", *place)
    first, later = chunk_fields(mapping)
    boxes = Boxes(
        mapping.fields, places_in(sample), needed(mapping), _key("chunks", place),
        lambda field, key: _pick(place, mapping, field, st.session_state.get(key) or None), labels=LABELS,
    )  # fmt: skip
    with st.container(border=True, key="table_mapping"):
        field_boxes(first, later, boxes)
        _documents(connection, place, mapping)
        if words := lacking(mapping):
            st.html(boxed(f'<p class="cx-need" role="alert">{escape(words)}</p>'))
        _named(connection, place, mapping)
    with st.expander("First rows of the table", key="table_sample"):
        used = {column: field for field, column in mapping.fields.items()}
        st.html(boxed(preview_html(sample.columns, sample_rows(sample), used, "First rows of the table")))
    return mapping


def _pick(place: tuple[Any, ...], mapping: TableMapping, field: str, column: str | None) -> None:
    _keep(place, with_field(mapping, field, column))
    if field in ("chunk_index", "order_by"):  # one takes the place of the other: its box must not show the old pick
        st.session_state["_table_turn"] = st.session_state.get("_table_turn", 0) + 1


def _documents(connection: str, place: tuple[Any, ...], mapping: TableMapping) -> None:
    """A second table with a row for each document."""
    own = mapping.documents
    names = [NO_TABLE, *(table.name for table in _tables_known(connection) if table.name != mapping.table)]
    if own is not None and own.table not in names:
        names.append(own.table)
    key = f"{_key('documents', place)}/table"
    st.selectbox(
        "Table of documents",
        names,
        index=names.index(own.table) if own is not None else 0,
        key=key,
        on_change=_other_documents,
        args=(connection, place, mapping, key),
    )
    if own is not None:
        sample = _sample("documents_sample", connection, own.schema, own.table)
        boxes = Boxes(
            own.fields, places_in(sample), ("document_id",), f"{_key('documents', place)}/{own.table}",
            lambda field, key: _keep(place, with_document_field(mapping, field, st.session_state.get(key) or None)),
        )  # fmt: skip
        field_boxes(("document_id", "title", "source"), ("summary", "date"), boxes)


def _tables_known(connection: str) -> list[TableInfo]:
    kept = st.session_state.get("_awaited_tables")
    return list(kept[1].result()) if kept is not None and kept[0][0] == connection else []


def _other_documents(connection: str, place: tuple[Any, ...], mapping: TableMapping, key: str) -> None:
    from ctxasm.store.own.mapping import DocumentsTable

    name = st.session_state[key]
    schema = next((table.schema for table in _tables_known(connection) if table.name == name), None)
    _keep(place, with_documents(mapping, None if name == NO_TABLE else DocumentsTable(name, {}, schema)))


def _sample(name: str, connection: str, schema: str | None, table: str) -> Sample:
    from ctxasm.connecting import sample

    workbench, wanted = desk.workbench(), (connection, schema, table, st.session_state.get("_tables_turn", 0))
    found: Sample = awaited(name, wanted, lambda report, cancelled: sample(workbench, connection, table, schema))
    return found


def _named(connection: str, place: tuple[Any, ...], mapping: TableMapping) -> None:
    """Keep the mapping under a name, or take one that was kept."""
    from ctxasm.connecting import mappings

    kept = {name: saved.mapping for name, saved in mappings(desk.workbench()).items() if saved.connection == connection}
    with st.container(horizontal=True, gap="small"):
        if place in _kept():
            st.button("Back to the guess", key="table_guess", on_click=_take, args=(place, None))
        with st.popover("Saved mappings", icon=":material/bookmark:"):
            name = st.text_input("Name", key="mapping_name", max_chars=100, placeholder=mapping.table)
            st.button("Save this mapping", key="save_mapping", on_click=_save, args=(name.strip() or mapping.table, connection, mapping))
            for at, (saved, other) in enumerate(kept.items()):
                if other.table == place[2]:
                    st.button(f"Use {plain(saved)}", key=f"use_mapping_{at}", on_click=_take, args=(place, other))
    if problem := st.session_state.get("_mapping_problem"):
        show_problem(problem)


def _save(name: str, connection: str, mapping: TableMapping) -> None:
    from ctxasm.connecting import save_mapping

    try:
        save_mapping(desk.workbench(), name, connection, mapping)
    except CtxasmError as error:
        st.session_state["_mapping_problem"] = str(error)
    else:
        st.session_state["_mapping_problem"] = None


def _kept() -> dict[tuple[Any, ...], Any]:
    found: dict[tuple[Any, ...], Any] = st.session_state.get("_table_mappings", {})
    return found


def _keep(place: tuple[Any, ...], mapping: TableMapping) -> None:
    st.session_state["_table_mappings"] = {**_kept(), place: mapping}


def _take(place: tuple[Any, ...], mapping: TableMapping | None) -> None:
    """Another mapping as a whole, None: the guess; the boxes start anew."""
    st.session_state["_table_mappings"] = {key: value for key, value in _kept().items() if key != place}
    if mapping is not None:
        _keep(place, mapping)
    st.session_state["_table_turn"] = st.session_state.get("_table_turn", 0) + 1


def _key(what: str, place: tuple[Any, ...]) -> str:
    return f"_{what}/{st.session_state.get('_table_turn', 0)}/{'/'.join(str(part) for part in place)}"
