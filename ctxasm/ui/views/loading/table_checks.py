"""What a mapping finds in a user's table: rows that cannot be used, an index that is missing, the first chunks, the SQL, its plan."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.ui import desk
from ctxasm.ui.awaiting import awaited
from ctxasm.ui.load_tables import preview_html
from ctxasm.ui.pictures import boxed
from ctxasm.ui.words import number

if TYPE_CHECKING:
    from ctxasm.model.ports import FetchedChunk
    from ctxasm.store.own.checks import MappingCheck
    from ctxasm.store.own.finding import Finding
    from ctxasm.store.own.mapping import TableMapping

LOOKS = {"problem": "warn", "warning": "warn", "note": ""}
SHOWN = ("document_id", "chunk_index", "text", "page_number", "section")


def show_checks(connection: str, mapping: TableMapping) -> None:
    """The findings and, on demand, chunks, SQL and plan. Raises CtxasmError where the mapping does not fit the table."""
    from ctxasm.connecting import check_mapping, preview, statements

    workbench, wanted = desk.workbench(), (connection, repr(mapping), st.session_state.get("_tables_turn", 0))
    found: MappingCheck = awaited("table_check", wanted, lambda report, cancelled: check_mapping(workbench, connection, mapping))
    _show_found(found)
    chunks: list[FetchedChunk] = awaited("table_chunks", wanted, lambda report, cancelled: preview(workbench, connection, mapping))
    with st.expander(f"First {len(chunks)} chunks as they are read", key="table_chunks"):
        rows = [(at, {field: getattr(chunk, field) for field in SHOWN}) for at, chunk in enumerate(chunks, 1)]
        st.html(boxed(preview_html(SHOWN, rows, {}, "First chunks")))
    sql = st.expander("The SQL that will run, with its parameters", key="table_sql", on_change="rerun")
    if sql.open:
        with sql:
            written: dict[str, str] = awaited("table_sql", wanted, lambda report, cancelled: statements(workbench, connection, mapping))
            for name, statement in written.items():
                st.caption(name)
                st.code(statement, language="sql", wrap_lines=True)
            _explain(connection, mapping)


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


def _finding(finding: Finding) -> str:
    return f'<li class="{LOOKS[finding.kind]}"><b>{finding.kind}</b> {escape(finding.sentence)}</li>'


def _explain(connection: str, mapping: TableMapping) -> None:
    from ctxasm.connecting import explain

    workbench, wanted = desk.workbench(), (connection, repr(mapping), st.session_state.get("_tables_turn", 0))
    if st.button("Explain", key="table_explain", help="The plan of the database for the neighbours of three chunks: planned, not run"):
        st.session_state["_explained"] = wanted
    if st.session_state.get("_explained") == wanted:
        plan: str = awaited("table_plan", wanted, lambda report, cancelled: explain(workbench, connection, mapping))
        st.code(plan, language=None, wrap_lines=True)
