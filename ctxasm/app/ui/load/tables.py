"""Tables of the user's own: how their columns are understood, and linking or copying one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.layout import show_empty, show_problem, show_trouble, within
from ctxasm.app.ui.frame.session import LoadRequest, session
from ctxasm.app.ui.frame.work import wait_for
from ctxasm.app.ui.load.jobs import LONGEST_NAME, begin, begin_load, preview_html
from ctxasm.app.ui.load.mapping import Boxes, KeptMappings, field_boxes, paths_of, show_lacking
from ctxasm.app.ui.markup import boxed
from ctxasm.app.ui.words import number, plain
from ctxasm.data.paths import Path
from ctxasm.data.tables.catalogue import Sample, TableInfo
from ctxasm.data.tables.mapping import DOCUMENT_FIELDS, FIELDS, OF_DOCUMENT, REQUIRED, DocumentsTable, TableMapping, with_place
from ctxasm.model.errors import CtxasmError, NotFound
from ctxasm.model.events import NUMBERED

if TYPE_CHECKING:
    from ctxasm.data.tables.checks import Finding, MappingCheck
    from ctxasm.data.tables.connecting import ConnectionInfo
    from ctxasm.model.ports import FetchedChunk


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


NOTE = "PostgreSQL or SQLite, in read-only transactions with a time limit. Saved questions stay in the store of ctxasm."
EXAMPLE = """# .streamlit/secrets.toml
[connections.docs]
url = "postgresql://reader:PASSWORD@host/name"

# or in the environment
# CTXASM_CONNECTION_DOCS=sqlite:////data/chunks.db"""
LOOKS = {"problem": "warn", "warning": "warn", "note": ""}
SHOWN = ("document_id", "chunk_index", "text", "page_number", "section")
COPY_ONLY = (
    "It has no chunk_index, by which a link looks chunks up, so its rows can only be copied: those of each document are counted then. "
    "Map a column of whole numbers from 0 in each document to chunk_index to link it."
)
LINK_NOTE = "Linked, every question reads the table as it is then. A copy is a dataset of its own, and stays as it is."


def table_label(table: TableInfo) -> str:
    """`public.chunks · about 12,000 rows`."""
    name = f"{table.schema}.{table.name}" if table.schema else table.name
    if table.rows is None:
        return f"{name} · {table.kind}"
    about = "" if table.exact else "at least " if table.more else "about "
    return f"{name} · {about}{number(table.rows)} rows{' · view' if table.kind == 'view' else ''}"


def _finding(finding: Finding) -> str:
    return f'<li class="{LOOKS[finding.kind]}"><b>{finding.kind}</b> {escape(finding.sentence)}</li>'


def show_tables() -> None:
    """Choose a connection and a table, map its columns, look at what is found, link it or copy rows of it."""
    from ctxasm.data.tables.connecting import connections

    st.html(boxed(f'<p class="cx-note">{NOTE}</p>'))
    known = connections(server.workbench().config)
    if not known:
        show_empty("No connection is configured", "Name one as below, and start the server again.")
        st.code(EXAMPLE, language="toml", wrap_lines=True)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        connection = _pick_connection(known)
        table = _pick_table(connection) if connection is not None else None
    if connection is not None and table is not None:
        _show_table(connection.name, table)


def _pick_connection(known: list[ConnectionInfo]) -> ConnectionInfo | None:
    names = [connection.name for connection in known]
    if session.connection not in names:
        del session.connection
    name = st.selectbox("Connection", names, key="connection", persist_state="session", width=240)
    picked = known[names.index(name)]
    if picked.problem:
        show_trouble("This connection cannot be used", picked.problem, "Change it, and start the server again.")
        return None
    return picked


def _pick_table(connection: ConnectionInfo) -> TableInfo | None:
    from ctxasm.data.tables.connecting import tables

    workbench, turn = server.workbench(), session.tables_generation
    try:
        found: list[TableInfo] = wait_for(
            TABLES_READ, (connection.name, turn), lambda report, cancelled: tables(workbench, connection.name)
        )
    except CtxasmError as error:
        show_trouble("The tables cannot be read", str(error), "What is linked and loaded already is untouched.")
        st.button("Try again", key="tables_again", on_click=_read_again)
        return None
    if not found:
        show_empty("No table here", "This user may read no table or view of that database.")
        return None
    at: int = st.selectbox(
        "Table", range(len(found)), format_func=lambda at: table_label(found[at]), key=f"_table/{connection.name}/{turn}", width=420
    )
    st.button("Read again", key="tables_again", on_click=_read_again, icon=":material/refresh:", help="Read the list of tables again")
    return found[at]


def _read_again() -> None:
    session.tables_generation = session.tables_generation + 1


def _show_table(connection: str, table: TableInfo) -> None:
    try:
        mapping: Any = mapping_controls(connection, table)
        if lacking(mapping):
            return
        found = show_checks(connection, mapping)
    except CtxasmError as error:
        show_trouble("This table cannot be read so", str(error), "Change the mapping above; nothing was linked.")
        return
    link_controls(connection, mapping, found.obstacle is not None and found.obstacle.obstacle in NUMBERED)


def show_checks(connection: str, mapping: TableMapping) -> MappingCheck:
    """The findings and, on demand, chunks, SQL and plan. Raises CtxasmError where the mapping does not fit the table."""
    from ctxasm.data.tables.connecting import check_mapping, preview, statements

    workbench, wanted = server.workbench(), (connection, repr(mapping), session.tables_generation)
    found: MappingCheck = wait_for("table_check", wanted, lambda report, cancelled: check_mapping(workbench, connection, mapping))
    _show_found(found)
    chunks: list[FetchedChunk] = wait_for("table_chunks", wanted, lambda report, cancelled: preview(workbench, connection, mapping))
    with st.expander(f"First {len(chunks)} chunks as they are read", key="table_chunks"):
        rows = [(at, {field: getattr(chunk, field) for field in SHOWN}) for at, chunk in enumerate(chunks, 1)]
        st.html(boxed(preview_html(SHOWN, rows, {}, "First chunks")))
    sql = st.expander("The SQL that will run, with its parameters", key="table_sql", on_change="rerun")
    if sql.open:
        with sql:
            written: dict[str, str] = wait_for("table_sql", wanted, lambda report, cancelled: statements(workbench, connection, mapping))
            for name, statement in written.items():
                st.caption(name)
                st.code(statement, language="sql", wrap_lines=True)
            _explain(connection, mapping)
    return found


def _show_found(found: MappingCheck) -> None:
    looked = "all" if found.whole else "the first"
    about = "" if found.estimate is None or found.whole else f" of about {number(found.estimate)}"
    head = f"{number(found.usable_rows)} of {looked} {number(found.rows)} rows{about} are chunks"
    dot = '<span class="cx-dot"></span>' if found.usable and not found.problems else '<span class="cx-dot warn"></span>'
    st.html(
        boxed(
            f'<div class="cx-count" id="ctx-table-check" role="status" data-usable="{found.usable_rows}">'
            f'<h2 class="cx-h">{dot}{head}</h2></div><ul class="cx-findings">{"".join(map(_finding, found.findings))}</ul>'
        )
    )
    for finding in found.findings:
        if finding.remedy:
            st.code(finding.remedy, language="sql", wrap_lines=True)


def _explain(connection: str, mapping: TableMapping) -> None:
    from ctxasm.data.tables.connecting import explain

    workbench, wanted = server.workbench(), (connection, repr(mapping), session.tables_generation)
    if st.button("Explain", key="table_explain", help="The plan of the database for the neighbours of three chunks: planned, not run"):
        session.explained = wanted
    if session.explained == wanted:
        plan: str = wait_for("table_plan", wanted, lambda report, cancelled: explain(workbench, connection, mapping))
        st.code(plan, language=None, wrap_lines=True)


def link_controls(connection: str, mapping: TableMapping, has_gaps: bool = False) -> None:
    """The name, and the two ways. Where no index follows another, a copy may number the chunks by their order."""
    from ctxasm.data.tables.connecting import COPY_ROWS, copy_table, link
    from ctxasm.data.tables.mapping import numbered_by_order

    workbench = server.workbench()
    st.html(boxed(f'<p class="cx-note">{COPY_ONLY if mapping.counted else LINK_NOTE}</p>'))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        typed = st.text_input("Dataset name", key="linked_name", placeholder=mapping.table, persist_state="session", width=260)
        bare = within("A name", typed, LONGEST_NAME)
        if bare is None:
            return
        name = bare or mapping.table
        if not mapping.counted and st.button("Link the table", key="load_linked", type="primary", icon=":material/link:"):
            begin(
                f"link {name}",
                f"Linking {name}",
                name,
                lambda report, cancelled: link(workbench, connection, mapping, name, "new"),
                (connection, repr(mapping)),
            )
        most = int(st.number_input("Rows to copy", 1, 10_000_000, COPY_ROWS, 1000, key="copy_rows", persist_state="session", width=160))
        by_order = has_gaps and st.checkbox("Number by order", key="copy_by_order", help="A copy counts 0, 1, 2 … in each document")
        copied = numbered_by_order(mapping) if by_order else mapping
        if st.button("Copy the rows", key="load_copy", icon=":material/content_copy:"):
            begin_load(
                LoadRequest(
                    "copy",
                    "Copying",
                    lambda name, over, report, cancelled: copy_table(workbench, connection, copied, name, most, report, cancelled, over),
                    (connection, repr(copied), most),
                ),
                name,
            )
