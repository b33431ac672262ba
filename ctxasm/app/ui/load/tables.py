"""A team's own tables: a connection of the server, one of its tables, what its mapping finds there, and a link or a copy.

Nothing there is written.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.layout import show_empty, show_trouble, within
from ctxasm.app.ui.frame.session import LoadRequest, session
from ctxasm.app.ui.frame.work import wait_for
from ctxasm.app.ui.load.jobs import LONGEST_NAME, begin, begin_load
from ctxasm.app.ui.load.row_tables import preview_html
from ctxasm.app.ui.load.table_mapping import TABLES_READ, lacking, mapping_controls
from ctxasm.app.ui.markup import boxed
from ctxasm.app.ui.words import number
from ctxasm.data.tables.catalogue import TableInfo
from ctxasm.data.tables.mapping import TableMapping
from ctxasm.model.errors import CtxasmError
from ctxasm.model.neighbours import NUMBERED

if TYPE_CHECKING:
    from ctxasm.data.tables.checks import Finding, MappingCheck
    from ctxasm.data.tables.connecting import ConnectionInfo
    from ctxasm.model.ports import FetchedChunk

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
                    lambda name, over: (
                        lambda report, cancelled: copy_table(workbench, connection, copied, name, most, report, cancelled, over)
                    ),
                    (connection, repr(copied), most),
                ),
                name,
            )
