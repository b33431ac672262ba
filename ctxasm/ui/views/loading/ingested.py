"""What the reading of documents came to: what is loaded, what is kept of cancelled work, and every file that was left out."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.ui.load_tables import notes_html
from ctxasm.ui.pictures import boxed, table_html
from ctxasm.ui.views.loading.documents import Ingest, read
from ctxasm.ui.words import number, plural

if TYPE_CHECKING:
    from ctxasm.ingesting import IngestReport

MOST_FILES = 500


def show_ingested(report: IngestReport) -> None:
    """The report of documents."""
    look, heading = _heading(report)
    notes = notes_html(report.notes[:50]) if report.load is not None else ""
    st.html(
        boxed(f'<div class="cx-panel {look}" role="status" id="ctx-report"><h3>{heading}</h3><p>{escape(report.summary)}</p>{notes}</div>')
    )
    if report.cancelled:
        _go_on(report)
    if report.problems:
        _show_files(report)
    ingest: Ingest | None = st.session_state.get("_ingest")
    if report.broken and ingest is not None and st.button("Try the broken files again", key="read_again", icon=":material/refresh:"):
        read(ingest, retry=True)


def _heading(report: IngestReport) -> tuple[str, str]:
    if report.cancelled:
        return "warn", "Cancelled"
    if report.load is None:
        return "warn", "Nothing was loaded"
    if report.broken:
        return "warn", f"Loaded without {plural(len(report.broken), 'broken file')}"
    return "ok", "Loaded" if report.load.changed else "Loaded (already there, nothing changed)"


def _go_on(report: IngestReport) -> None:
    """What was read is kept: read the rest, or load what there is."""
    ingest: Ingest | None = st.session_state.get("_ingest")
    if ingest is None:
        return
    done = report.read + report.reused
    with st.container(horizontal=True, gap="small"):
        if st.button(f"Go on with the other {number(report.waiting)}", key="go_on", type="primary", icon=":material/play_arrow:"):
            read(ingest)
        if done and st.button(f"Load the {plural(done, 'document')} that are read", key="take_part"):
            read(ingest, part=True)


def _show_files(report: IngestReport) -> None:
    rows = [
        (escape(problem.file), '<span class="cx-need">broken</span>' if problem.broken else "left out", escape(problem.reason))
        for problem in sorted(report.problems, key=lambda problem: not problem.broken)[:MOST_FILES]
    ]
    more = len(report.problems) - len(rows)
    rest = f'<p class="cx-note">… and {number(more)} more.</p>' if more > 0 else ""
    table = table_html(("file", "", "why"), rows, caption=f"{plural(len(report.problems), 'file')} not loaded")
    st.html(boxed(f'<div class="cx-scroll cx-problems">{table}</div>{rest}', "ctx-files"))
