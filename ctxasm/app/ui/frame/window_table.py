"""The table of model windows: what this session knows, to be edited, and taken home as TOML."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ctxasm.answering.zones.windows import Windows, window_of, windows_from_values, windows_to_toml
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.title import show_problem
from ctxasm.app.ui.frame.zones_state import edited_windows, keep_windows
from ctxasm.app.ui.words.words import number, plain
from ctxasm.model.errors import CtxasmError
from ctxasm.model.settings import ENCODINGS, AssemblySettings


def window_table_controls(settings: AssemblySettings) -> None:
    """What the table says of the settings' model, and the way to the table."""
    if settings.budget_mode == "fixed" and not settings.model_name and edited_windows() is None:
        return
    try:
        entry = window_of(settings.model_name, _windows())
    except CtxasmError as error:
        show_problem(str(error))
        return
    known = f"{plain(entry.name)}: {number(entry.window)} tokens" if entry else "not in the table"
    st.button("Model windows …", key="model_windows", on_click=_open, width="stretch", help=f"The table of models. This one: {known}.")
    if session.take(Session.windows_open):
        st.dialog("Model windows", width="large")(_table)()


def _open() -> None:
    session.windows_open = True


def _windows() -> Windows:
    own = edited_windows()
    return server.workbench().zones.windows if own is None else own


def _table() -> None:
    """The table in a dialog: rows may be changed, added and deleted; nothing is used before it is taken over."""
    st.caption("Used in this session only. Download it and name the file in CTXASM_MODEL_WINDOWS to keep it.")
    rows: Any = st.data_editor(
        [{"model": e.name, "window": e.window, "encoding": e.encoding, "note": e.note} for e in _windows().values()],
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        height=360,
        column_config={
            "model": st.column_config.TextColumn("Model", required=True),
            "window": st.column_config.NumberColumn("Window (tokens)", min_value=1, step=1, required=True),
            "encoding": st.column_config.SelectboxColumn("Encoding", options=list(ENCODINGS)),
            "note": st.column_config.TextColumn("Note"),
        },
        key=f"_windows_rows_{session.windows_edits}",
    )
    try:
        windows = windows_of_rows(rows)
    except CtxasmError as error:
        show_problem(str(error))
        return
    with st.container(horizontal=True, gap="small"):
        if st.button("Use in this session", key="use_windows", type="primary"):
            keep_windows(windows)
            st.rerun()
        st.download_button("Download TOML", windows_to_toml(windows), "model_windows.toml", "application/toml", on_click="ignore")
        if edited_windows() is not None and st.button("Back to the server's table", key="own_windows"):
            keep_windows(None)
            st.rerun()


def windows_of_rows(rows: Any) -> Windows:
    """The table of edited rows; a row without a model is left out. Raises InvalidInput naming what is wrong."""
    values: dict[str, dict[str, Any]] = {}
    for row in rows:
        if not (name := str(row.get("model") or "").strip()):
            continue
        window = row.get("window")
        window = int(window) if isinstance(window, float) and window.is_integer() else window
        values[name] = {"window": window, "encoding": row.get("encoding") or None, "note": row.get("note") or ""}
    return windows_from_values(values, "the edited table")
