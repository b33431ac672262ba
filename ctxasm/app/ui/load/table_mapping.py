"""How the columns of a user's table are read: guessed, changed box by box, kept under a name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.layout import show_problem, within
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.work import wait_for
from ctxasm.app.ui.load.jobs import LONGEST_NAME
from ctxasm.app.ui.load.mapping import Boxes, KeptMappings, field_boxes, paths_of, show_lacking
from ctxasm.app.ui.load.row_tables import preview_html
from ctxasm.app.ui.markup import boxed
from ctxasm.app.ui.words import plain
from ctxasm.data.paths import Path
from ctxasm.data.tables.catalogue import Sample, TableInfo
from ctxasm.data.tables.mapping import DOCUMENT_FIELDS, FIELDS, OF_DOCUMENT, REQUIRED, DocumentsTable, TableMapping, with_place
from ctxasm.model.errors import CtxasmError, NotFound

KEPT: KeptMappings[tuple[Any, ...], TableMapping] = KeptMappings("table_mappings", "table_mappings_generation")
TABLES_READ = "tables"
"""The work that reads which tables a connection has."""
NO_TABLE = "none: titles stand in the table of chunks"
LABELS = {"order_by": "no chunk_index: count rows by"}


def places_in(sample: Sample) -> tuple[str, ...]:
    """The columns, and the paths into those whose values are JSON objects, as far as the sample shows them."""
    return paths_of(sample.columns, sample_rows(sample), lambda column, keys: str(Path(column, keys)))


def chunk_fields(mapping: TableMapping) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of the table of chunks that are shown at once, and those behind a click."""
    own = FIELDS if mapping.documents is None else tuple(field for field in FIELDS if field not in OF_DOCUMENT)
    leading = (*REQUIRED, *(() if mapping.fields.get("chunk_index") else ("order_by",)))
    first = (*leading, *(field for field in own if field not in leading and field in mapping.fields))
    return first, tuple(field for field in own if field not in first)


def with_field(mapping: TableMapping, field: str, place: str | None) -> TableMapping:
    """The mapping with another place for a field of the table of chunks; None for no place. chunk_index or order_by: one of them."""
    fields = with_place(mapping.fields, field, place)
    return replace(mapping, fields={name: fields[name] for name in FIELDS if name in fields})


def with_document_field(mapping: TableMapping, field: str, place: str | None) -> TableMapping:
    """The mapping with another place for a field of the table of documents."""
    own = mapping.documents
    if own is None:
        return mapping
    fields = {name: old for name, old in own.fields.items() if name != field} | ({field: place} if place else {})
    return replace(mapping, documents=replace(own, fields={name: fields[name] for name in DOCUMENT_FIELDS if name in fields}))


def with_documents(mapping: TableMapping, own: DocumentsTable | None) -> TableMapping:
    """The mapping with another table of documents; what that has is read there."""
    if own is None:
        return replace(mapping, documents=None)
    fields = {name: place for name, place in mapping.fields.items() if name not in OF_DOCUMENT}
    return replace(mapping, fields=fields, documents=own)


def needed(mapping: TableMapping) -> tuple[str, ...]:
    """The fields that this mapping cannot do without."""
    return tuple(field for field in REQUIRED if field != "chunk_index" or not mapping.counted)


def lacking(mapping: TableMapping) -> str:
    """What a mapping still needs, as a sentence; empty where it can be tried."""
    if mapping.missing:
        counted = ", or what its rows are counted by" if "chunk_index" in mapping.missing else ""
        return f"Choose a column for {' and '.join(mapping.missing)}{counted}."
    if mapping.documents is not None and not mapping.documents.fields.get("document_id"):
        return f"Choose the column of {mapping.documents.table} that holds the document_id."
    return ""


def sample_rows(sample: Sample) -> Sequence[tuple[int, dict[str, Any]]]:
    """The rows of a sample as a preview takes them."""
    return [(at, dict(zip(sample.columns, row, strict=True))) for at, row in enumerate(sample.rows, 1)]


def mapping_controls(connection: str, table: TableInfo) -> TableMapping:
    """The boxes of a table, and what they say. Raises CtxasmError where the table cannot be read."""
    from ctxasm.data.tables.connecting import guess_mapping

    workbench, place = server.workbench(), (connection, table.schema, table.name)
    wanted = (*place, session.tables_generation)
    guessed = wait_for("guessed", wanted, lambda report, cancelled: guess_mapping(workbench, connection, table.name, table.schema))
    mapping: TableMapping = KEPT.all.get(place, guessed)
    sample = _sample("sample", *place)
    first, later = chunk_fields(mapping)
    boxes = Boxes(
        mapping.fields, places_in(sample), needed(mapping), _key("chunks", place),
        lambda field, key: _pick(place, mapping, field, st.session_state.get(key) or None), labels=LABELS,
    )  # fmt: skip
    with st.container(border=True, key="table_mapping"):
        field_boxes(first, later, boxes)
        _documents(connection, place, mapping)
        show_lacking(lacking(mapping))
        _named(connection, place, mapping)
    with st.expander("First rows of the table", key="table_sample"):
        used = {column: field for field, column in mapping.fields.items()}
        st.html(boxed(preview_html(sample.columns, sample_rows(sample), used, "First rows of the table")))
    return mapping


def _pick(place: tuple[Any, ...], mapping: TableMapping, field: str, column: str | None) -> None:
    KEPT.keep(place, with_field(mapping, field, column))
    if field in ("chunk_index", "order_by"):  # one takes the place of the other: its box must not show the old pick
        KEPT.start_anew()


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
            lambda field, key: KEPT.keep(place, with_document_field(mapping, field, st.session_state.get(key) or None)),
        )  # fmt: skip
        field_boxes(("document_id", "title", "source"), ("summary", "date"), boxes)


def _tables_known(connection: str) -> list[TableInfo]:
    kept = session.background.get(TABLES_READ)
    return list(kept[1].result()) if kept is not None and kept[0][0] == connection else []


def _other_documents(connection: str, place: tuple[Any, ...], mapping: TableMapping, key: str) -> None:
    from ctxasm.data.tables.mapping import DocumentsTable

    name = st.session_state[key]
    schema = next((table.schema for table in _tables_known(connection) if table.name == name), None)
    KEPT.keep(place, with_documents(mapping, None if name == NO_TABLE else DocumentsTable(name, {}, schema)))


def _sample(name: str, connection: str, schema: str | None, table: str) -> Sample:
    from ctxasm.data.tables.connecting import sample

    workbench, wanted = server.workbench(), (connection, schema, table, session.tables_generation)
    found: Sample = wait_for(name, wanted, lambda report, cancelled: sample(workbench, connection, table, schema))
    return found


def _named(connection: str, place: tuple[Any, ...], mapping: TableMapping) -> None:
    """Keep the mapping under a name, or take one that was kept."""
    from ctxasm.data.tables.connecting import mappings

    kept = {name: saved.mapping for name, saved in mappings(server.workbench()).items() if saved.connection == connection}
    with st.container(horizontal=True, gap="small"):
        if place in KEPT.all:
            st.button("Back to the guess", key="table_guess", on_click=_take, args=(place, None))
        with st.popover("Saved mappings", icon=":material/bookmark:"):
            name = within("A name", st.text_input("Name", key="mapping_name", placeholder=mapping.table), LONGEST_NAME)
            saving = (name or mapping.table, connection, mapping)
            st.button("Save this mapping", key="save_mapping", on_click=_save, args=saving, disabled=name is None)
            for at, (saved, other) in enumerate(kept.items()):
                if other.table == place[2]:
                    with st.container(horizontal=True, gap="small"):
                        st.button(f"Use {plain(saved)}", key=f"use_mapping_{at}", on_click=_take, args=(place, other))
                        help = f"Forget the mapping {plain(saved)}; links made with it stay"
                        st.button("Forget", key=f"forget_mapping_{at}", help=help, on_click=_forget, args=(saved,))
    if problem := session.mapping_problem:
        show_problem(problem)


def _save(name: str, connection: str, mapping: TableMapping) -> None:
    from ctxasm.data.tables.connecting import save_mapping

    try:
        save_mapping(server.workbench(), name, connection, mapping)
    except CtxasmError as error:
        session.mapping_problem = str(error)
    else:
        session.mapping_problem = None


def _forget(name: str) -> None:
    from ctxasm.data.tables.connecting import forget_mapping

    with suppress(NotFound):  # forgotten in another tab
        forget_mapping(server.workbench(), name)


def _take(place: tuple[Any, ...], mapping: TableMapping | None) -> None:
    """Another mapping as a whole, None: the guess."""
    KEPT.forget(place)
    if mapping is not None:
        KEPT.keep(place, mapping)


def _key(what: str, place: tuple[Any, ...]) -> str:
    return f"_{what}/{KEPT.turn}/{'/'.join(str(part) for part in place)}"
