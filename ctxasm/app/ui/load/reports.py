"""What the last load said: what came in, or every reason why it did not."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from ctxasm.model.errors import CtxasmError, InvalidBundle
from ctxasm.ui.following import bring_into_view
from ctxasm.ui.load_tables import notes_html, problems_csv, problems_html
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.enriched import show_enriched, show_made
from ctxasm.ui.views.loading.ingested import show_ingested
from ctxasm.ui.views.title import show_trouble
from ctxasm.ui.words import plural


def show_outcome() -> None:
    """What the last load said, scrolled to when it is new."""
    report: Any = st.session_state.get("_report")
    if report is None:
        return
    if st.session_state.get("_reported") is not report:
        st.session_state["_reported"], st.session_state["_reports"] = report, st.session_state.get("_reports", 0) + 1
    with st.container(key="outcome"):
        _show(report)
    bring_into_view("outcome", st.session_state["_reports"])


def _show(report: Any) -> None:
    if isinstance(report, InvalidBundle):
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
    st.download_button("All of them as CSV", lambda: problems_csv(problems), "problems.csv", "text/csv", key=key, on_click="ignore")


def _show_loaded(report: Any) -> None:
    state = "" if getattr(report, "changed", True) else " (already loaded, nothing changed)"
    st.html(
        boxed(
            f'<div class="cx-panel ok" role="status" id="ctx-report"><h3>Loaded{state}</h3><p>{escape(report.summary)}</p>'
            f"{notes_html(report.notes)}</div>"
        )
    )
