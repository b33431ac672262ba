"""Long work of a page: it runs in a thread, is drawn while it runs, can be cancelled, and is not lost by a click."""

from __future__ import annotations

from collections.abc import Hashable
from html import escape
from typing import Any

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.jobs import Job, Work
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.markup import boxed
from ctxasm.app.ui.words import plain, progress_words, seconds_words

UNSEEN_S, REDRAWN_S = 0.4, 0.25
"""Seconds that work takes without a word; and between two drawings of how far longer work is."""


def wait_for(name: str, wanted: Hashable, work: Work, cancel_label: str = "") -> Any:
    """What `work` returns for what is `wanted`; raises what it raises. Draws how far it is, and a way to cancel it."""
    job = start_work(name, wanted, work)
    bar, stop = st.empty(), st.empty()
    if not job.wait(UNSEEN_S) and cancel_label:
        stop.button(cancel_label, key=f"cancel_{name}", on_click=cancel_work, args=(name,), width="stretch")
    while not job.wait(REDRAWN_S):
        bar.progress(job.progress.share if job.progress else 0.0, plain(progress_words(job.progress, job.elapsed_s)))
    bar.empty()
    stop.empty()
    return job.result()


def cancel_work(name: str) -> None:
    """Cancel the work of this name, and forget what it came to."""
    if name in session.background:
        session.background[name][1].cancel()
        session.background = {other: work for other, work in session.background.items() if other != name}


def find_work(name: str, wanted: Hashable) -> Job | None:
    """The work of this name for what is `wanted`, running or not; None where there is none."""
    kept = session.background.get(name)
    return kept[1] if kept is not None and kept[0] == wanted else None


def start_work(name: str, wanted: Hashable, work: Work) -> Job:
    """The same, started where there is none; work of this name for anything else is cancelled."""
    if (job := find_work(name, wanted)) is not None:
        return job
    cancel_work(name)
    job = Job(name, name, "").start(work)
    session.background = {**session.background, name: (wanted, job)}
    return job


PATIENCE_S = 2.5
"""Seconds that a click waits for its load, so that a short one needs no progress bar."""
PANEL_REDRAWN_S = 0.7
"""Seconds between two looks at jobs that run."""


def begin_job(key: str, title: str, dataset: str, work: Work, wanted: Hashable, doing: str) -> None:
    """Start it, and wait for short work. Raises InvalidInput where it cannot start. A callback must not call this: it draws."""
    job = server.jobs().start(key, title, dataset, work, wanted)
    with st.spinner(f"{doing} …", show_time=True):
        job.wait(PATIENCE_S)


def job_of(key: str) -> Job | None:
    """The work of this key, running or not."""
    return next((job for job in server.jobs().seen() if job.key == key), None)


def take_ended(key: str) -> Job | None:
    """The work of this key where it has ended: once, then it is not seen again."""
    job = job_of(key)
    if job is None or job.running:
        return None
    server.jobs().dismiss(job)
    return job


def show_job(key: str) -> bool:
    """Draw the work of this key, where there is some."""
    job = job_of(key)
    if job is not None:
        fragment(_running, run_every=PANEL_REDRAWN_S, key="running_job")(job)
    return job is not None


def _running(job: Job) -> None:
    if not job.running:
        st.rerun()
    job_card(job)


def _words(job: Job) -> str:
    if job.running:
        return f'<p class="cx-mute">{escape(progress_words(job.progress, job.elapsed_s))}</p>'
    if job.error is not None:
        return f'<p class="cx-need">{escape(([*str(job.error).splitlines(), type(job.error).__name__])[0])}</p>'
    return f'<p class="cx-mute">ended after {seconds_words(job.elapsed_s)}, in another tab</p>'


def job_card(job: Job) -> None:
    """A job: how far it is, and a way to cancel it; one that ended can be dismissed."""
    with st.container(border=True, key=f"job_{abs(hash(job.key))}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(boxed(f'<div class="cx-job" role="status" data-job="{escape(job.key)}"><b>{escape(job.title)}</b>{_words(job)}</div>'))
            if job.running:
                label = "Cancelling …" if job.cancelled else "Cancel"
                st.button(label, key=f"cancel_{job.key}", on_click=job.cancel, disabled=job.cancelled)
            else:
                st.button("Dismiss", key=f"dismiss_{job.key}", on_click=server.jobs().dismiss, args=(job,))
        if job.running:
            st.progress(job.progress.share if job.progress else 0.0)
