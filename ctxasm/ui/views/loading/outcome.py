"""What a load came to: begun as a job that outlives the run of the page, kept by the session, shown until the next one."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from ctxasm.model.errors import CtxasmError, InvalidBundle
from ctxasm.ui import desk
from ctxasm.ui.jobs import Job, Work
from ctxasm.ui.load_tables import notes_html, problems_csv, problems_html
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.title import show_trouble
from ctxasm.ui.words import plural

PATIENCE_S = 2.5
"""Seconds that a click waits for its load, so that a short one needs no progress bar."""


def begin(key: str, title: str, dataset: str, work: Work) -> None:
    """Begin a load; a short one is waited for. A callback must not call this: it draws."""
    st.session_state["_report"] = None
    try:
        job = desk.jobs().start(key, title, dataset, work)
    except CtxasmError as error:
        st.session_state["_report"] = error
        st.rerun()
    st.session_state["_own_jobs"] = [*st.session_state.get("_own_jobs", []), job]
    with st.spinner(f"{title} …", show_time=True):
        job.wait(PATIENCE_S)
    settle()
    st.rerun()


def settle() -> bool:
    """Take over what this session's jobs came to since the last run, and go to the dataset that a load brought."""
    own: list[Job] = st.session_state.get("_own_jobs", [])
    ended = [job for job in own if not job.running]
    st.session_state["_own_jobs"] = [job for job in own if job.running]
    for job in ended:
        desk.jobs().dismiss(job)
        keep_outcome(job)
    return bool(ended)


def keep_outcome(job: Job) -> None:
    """What a job came to, as what the page reports."""
    if isinstance(job.error, CtxasmError):
        st.session_state["_report"] = job.error
        return
    st.session_state["_report"] = report = job.result()
    loaded(getattr(getattr(report, "info", None), "name", None))


def loaded(name: str | None) -> None:
    """The data changed: forget what was read of it, and go to the dataset `name`."""
    st.session_state["_loads"] = st.session_state.get("_loads", 0) + 1
    for key in ("_query_list", "_query"):
        st.session_state.pop(key, None)
    if name is not None:
        st.session_state["_asked_for"] = {"data": name}
        st.session_state.pop("q", None)


def show_outcome() -> None:
    """What the last load said."""
    report = st.session_state.get("_report")
    if isinstance(report, InvalidBundle):
        show_problems(report)
    elif isinstance(report, CtxasmError):
        show_trouble("Nothing was loaded", str(report), "What was loaded before is untouched.")
    elif report is not None:
        _show_loaded(report)


def show_problems(report: InvalidBundle) -> None:
    """All problems of a load that was refused: a table, and a CSV to work through."""
    count = len(report.problems)
    st.html(
        boxed(
            f'<div class="cx-panel warn" role="alert" id="ctx-problems"><h3>{escape(report.where)}: {plural(count, "problem")}, '
            'nothing was loaded</h3><p class="cx-mute">What was loaded before is untouched. Repair the rows below and load again.</p></div>'
            f'<div style="height:10px"></div>{problems_html(report.problems)}'
        )
    )
    problems_download(report.problems, "problems_csv")


def problems_download(problems: Any, key: str) -> None:
    """All problems as a file."""
    st.download_button(
        f"{plural(len(problems), 'problem')} as CSV", lambda: problems_csv(problems), "problems.csv", "text/csv", key=key, on_click="ignore"
    )


def _show_loaded(report: Any) -> None:
    state = "" if getattr(report, "changed", True) else " (already loaded, nothing changed)"
    st.html(
        boxed(
            f'<div class="cx-panel ok" role="status" id="ctx-report"><h3>Loaded{state}</h3><p>{escape(report.summary)}</p>'
            f"{notes_html(report.notes)}</div>"
        )
    )
