"""Work that a page waits for and that a click must not lose: it goes on in a thread, and the next run waits for it again.

What it came to is kept under its name for as long as the same is wanted.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import streamlit as st

from ctxasm.app.ui.frame.jobs import Job, Work
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.words.words import plain, progress_words

UNSEEN_S, REDRAWN_S = 0.4, 0.25
"""Seconds that work takes without a word; and between two drawings of how far longer work is."""


def awaited(name: str, wanted: Hashable, work: Work, cancel_label: str = "") -> Any:
    """What `work` returns for what is `wanted`; raises what it raises. Draws how far it is, and a way to cancel it."""
    job = begun(name, wanted, work)
    bar, stop = st.empty(), st.empty()
    if not job.wait(UNSEEN_S) and cancel_label:
        stop.button(cancel_label, key=f"cancel_{name}", on_click=give_up, args=(name,), width="stretch")
    while not job.wait(REDRAWN_S):
        bar.progress(job.progress.share if job.progress else 0.0, plain(progress_words(job.progress, job.elapsed_s)))
    bar.empty()
    stop.empty()
    return job.result()


def give_up(name: str) -> None:
    """Work of this name is not wanted any more, or what it came to is not."""
    kept = session.awaited.get(name)
    if kept is not None:
        session.awaited = {other: work for other, work in session.awaited.items() if other != name}
        kept[1].cancel()


def known(name: str, wanted: Hashable) -> Job | None:
    """The work of this name where it is for what is `wanted`, ended or not."""
    kept = session.awaited.get(name)
    return kept[1] if kept is not None and kept[0] == wanted else None


def begun(name: str, wanted: Hashable, work: Work) -> Job:
    """The same, begun where it is not; work of this name for anything else is given up."""
    if (job := known(name, wanted)) is not None:
        return job
    give_up(name)
    job = Job(name, name, "").start(work)
    session.awaited = {**session.awaited, name: (wanted, job)}
    return job
