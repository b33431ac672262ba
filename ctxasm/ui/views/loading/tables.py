"""A team's own tables: a connection of the server, one of its tables, how its columns are read; nothing there is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk
from ctxasm.ui.awaiting import awaited
from ctxasm.ui.pictures import boxed
from ctxasm.ui.table_choices import lacking, table_label
from ctxasm.ui.views.loading.table_checks import show_checks
from ctxasm.ui.views.loading.table_links import link_controls
from ctxasm.ui.views.loading.table_mapping import mapping_controls
from ctxasm.ui.views.title import show_empty, show_trouble

if TYPE_CHECKING:
    from ctxasm.connecting import ConnectionInfo
    from ctxasm.store.own.catalogue import TableInfo

NOTE = (
    "Chunks that live in PostgreSQL or in a SQLite file: read where they are, in read-only transactions with a time limit. Reviews, runs "
    "and saved questions stay in the store of ctxasm."
)
EXAMPLE = """# .streamlit/secrets.toml
[connections.docs]
url = "postgresql://reader:PASSWORD@host/name"

# or as an environment variable of the server
# CTXASM_CONNECTION_DOCS=sqlite:////data/chunks.db"""


def show_tables() -> None:
    """Choose a connection and a table, map its columns, look at what is found, link it or copy rows of it."""
    from ctxasm.connecting import connections

    st.html(boxed(f'<p class="cx-note">{NOTE}</p>'))
    known = connections(desk.workbench().config)
    if not known:
        show_empty("No connection is configured", "Name one in the secrets or the environment of the server, and start it again.")
        st.code(EXAMPLE, language="toml")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        connection = _pick_connection(known)
        table = _pick_table(connection) if connection is not None else None
    if connection is not None and table is not None:
        _show_table(connection.name, table)


def _pick_connection(known: list[ConnectionInfo]) -> ConnectionInfo | None:
    names = [connection.name for connection in known]
    if st.session_state.get("connection") not in names:
        st.session_state.pop("connection", None)
    name = st.selectbox("Connection", names, key="connection", persist_state="session", width=240)
    picked = known[names.index(name)]
    if picked.problem:
        show_trouble("This connection cannot be used", picked.problem, "Change it, and start the server again.")
        return None
    return picked


def _pick_table(connection: ConnectionInfo) -> TableInfo | None:
    from ctxasm.connecting import tables

    workbench, turn = desk.workbench(), st.session_state.get("_tables_turn", 0)
    try:
        found: list[TableInfo] = awaited("tables", (connection.name, turn), lambda report, cancelled: tables(workbench, connection.name))
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
    st.session_state["_tables_turn"] = st.session_state.get("_tables_turn", 0) + 1


def _show_table(connection: str, table: TableInfo) -> None:
    try:
        mapping: Any = mapping_controls(connection, table)
        if lacking(mapping):
            return
        show_checks(connection, mapping)
    except CtxasmError as error:
        show_trouble("This table cannot be read so", str(error), "Change the mapping above; nothing was linked.")
        return
    link_controls(connection, mapping)
