"""The long work of this server: how far each job is, and a way to end it. Redrawn by itself while something runs."""

from __future__ import annotations

from html import escape

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.ui import desk
from ctxasm.ui.jobs import Job
from ctxasm.ui.pictures import boxed
from ctxasm.ui.progress_words import progress_words, seconds_words

REDRAWN_S = 0.7
"""Seconds between two looks at jobs that run."""


def show_running() -> None:
    """A card for each job; only this part of the page runs again while they go on."""
    jobs = desk.jobs().seen()
    if jobs:
        running = any(job.running for job in jobs)
        fragment(_cards, run_every=REDRAWN_S if running else None, key="running_jobs")([job for job in jobs if job.running])


def _cards(begun: list[Job]) -> None:
    if any(not job.running for job in begun):
        # One of those that ran has ended: the datasets, the report and the other ways in change with it.
        st.rerun()
    own = st.session_state.get("_own_jobs", [])
    for job in desk.jobs().seen():
        if job.running or job not in own:
            _card(job)


def _card(job: Job) -> None:
    with st.container(border=True, key=f"job_{abs(hash(job.key))}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(boxed(f'<div class="cx-job" role="status" data-job="{escape(job.key)}"><b>{escape(job.title)}</b>{_words(job)}</div>'))
            if job.running:
                label = "Cancelling …" if job.cancelled else "Cancel"
                st.button(label, key=f"cancel_{job.key}", on_click=job.cancel, disabled=job.cancelled)
            else:
                st.button("Dismiss", key=f"dismiss_{job.key}", on_click=desk.jobs().dismiss, args=(job,))
        if job.running:
            st.progress(job.progress.share if job.progress else 0.0)


def _words(job: Job) -> str:
    if job.running:
        return f'<p class="cx-mute">{escape(progress_words(job.progress, job.elapsed_s))}</p>'
    if job.error is not None:
        return f'<p class="cx-need">{escape(([*str(job.error).splitlines(), type(job.error).__name__])[0])}</p>'
    return f'<p class="cx-mute">ended after {seconds_words(job.elapsed_s)}, in another tab</p>'
