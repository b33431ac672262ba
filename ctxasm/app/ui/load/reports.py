"""What the last load said: what came in, or every reason why it did not."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from ctxasm.app.ui.frame import state
from ctxasm.app.ui.frame.browser import bring_into_view
from ctxasm.app.ui.frame.layout import show_trouble, within
from ctxasm.app.ui.frame.session import TakenName, session
from ctxasm.app.ui.load.documents import show_ingested
from ctxasm.app.ui.load.enrich import show_enriched, show_made
from ctxasm.app.ui.load.jobs import ADD, LONGEST_NAME, OTHER, REPLACE, begin_load, free_name, question_html
from ctxasm.app.ui.load.row_tables import notes_html, problems_csv, problems_html
from ctxasm.app.ui.markup import boxed
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError, InvalidBundle
from ctxasm.model.presets import PRESET_HELP, RECOMMENDED, is_recommended, other_choice


def show_outcome() -> None:
    """What the last load said, scrolled to when it is new."""
    report = session.report
    if report is None:
        return
    if session.reported is not report:
        session.reported, session.reports = report, session.reports + 1
    with st.container(key="outcome"):
        _show(report)
    bring_into_view("outcome", session.reports)


def _show(report: Any) -> None:
    if isinstance(report, TakenName):
        _show_question(report)
    elif isinstance(report, InvalidBundle):
        show_problems(report)
    elif isinstance(report, CtxasmError):
        show_trouble("Nothing was loaded", str(report), "What was loaded before is untouched.")
    elif hasattr(report, "waiting"):
        show_ingested(report)
    elif hasattr(report, "variant"):
        show_enriched(report)
    elif hasattr(report, "saved"):
        show_made(report)
    else:
        _show_loaded(report)


def _show_question(report: TakenName) -> None:
    """What would go, and the ways on."""
    request, there = report
    name = there.standing.info.name
    st.html(question_html(there.standing))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="taken_ways"):
        if not request.only_replaces and st.button(ADD, key="taken_add", icon=":material/add:"):
            begin_load(request, name, "join")
        if st.button(REPLACE, key="taken_replace", icon=":material/swap_horiz:"):
            begin_load(request, name, "replace")
        if not request.only_replaces:
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small", width="content"):
                other = within("A name", st.text_input(OTHER, free_name(name), key=f"taken_name/{name}", width=200), LONGEST_NAME)
                if st.button("Take this name", key="taken_other", disabled=not other) and other:
                    begin_load(request, other)


def show_problems(report: InvalidBundle) -> None:
    """All problems of a load that was refused: a table, and a CSV to work through."""
    count = len(report.problems)
    st.html(
        boxed(
            f'<div class="cx-panel warn" role="alert" id="ctx-problems"><h3>{escape(report.where)}: {counted(count, "problem")}, '
            'nothing was loaded</h3><p class="cx-mute">What was loaded before is untouched. Repair the rows below and load again.</p></div>'
            f'<div style="height:10px"></div>{problems_html(report.problems)}'
        )
    )
    problems_download(report.problems, "problems_csv")


def problems_download(problems: Any, key: str) -> None:
    """All problems as a file."""
    st.download_button("All of them as CSV", lambda: problems_csv(problems), "problems.csv", "text/csv", key=key, on_click="ignore")


def _show_loaded(report: Any) -> None:
    state = "" if getattr(report, "changed", True) else " (already loaded, nothing changed)"
    st.html(
        boxed(
            f'<div class="cx-panel ok" role="status" id="ctx-report"><h3>Loaded{state}</h3><p>{escape(report.summary)}</p>'
            f"{notes_html(report.notes)}</div>"
        )
    )
    show_recommended()


def show_recommended() -> None:
    """What to begin with on data of one's own, its gain and what it gives up; one click takes it, undo goes back."""
    settings = session.now
    if is_recommended(settings):
        says = "The recommended choice is in use: Inspect shows what it does to each question, and Undo there goes back."
        st.html(boxed(f'<p class="cx-note" role="status" id="ctx-recommended-taken">{says}</p>'))
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="begin_recommended"):
        st.html(boxed(f'<p class="cx-note cx-small">{escape(PRESET_HELP[RECOMMENDED])}</p>'), width="stretch")
        help = "The five stages stay as they are until you take this; undo goes back."
        st.button("Begin with recommended", key="take_recommended", on_click=state.apply, args=(other_choice(settings),), help=help)
