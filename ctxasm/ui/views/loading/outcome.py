"""A load is begun as a job that outlives the run of the page; what it came to is kept by the session until the next one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NoReturn

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk
from ctxasm.ui.awaiting import give_up
from ctxasm.ui.jobs import Job, Work
from ctxasm.ui.plain import plain

IMPORT = "import "
"""How the keys of imports begin."""
PATIENCE_S = 2.5
"""Seconds that a click waits for its load, so that a short one needs no progress bar."""


def begin(key: str, title: str, dataset: str, work: Work, wanted: Hashable = None) -> None:
    """Begin a load; a short one is waited for. `wanted` tells work of one key apart. A callback must not call this: it draws."""
    st.session_state["_report"] = None
    try:
        job = desk.jobs().start(key, title, dataset, work, wanted)
    except CtxasmError as error:
        refuse(error)
    own: list[Job] = st.session_state.get("_own_jobs", [])
    st.session_state["_own_jobs"] = own if job in own else [*own, job]
    with st.spinner(f"{plain(title)} …", show_time=True):
        job.wait(PATIENCE_S)
    settle()
    st.rerun()


def refuse(error: CtxasmError) -> NoReturn:
    """Report why nothing was begun."""
    st.session_state["_report"] = error
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
    info = getattr(getattr(report, "load", report), "info", None)
    loaded(None if info is None else info.name)
    if info is not None and job.key.startswith(IMPORT):
        # They are a dataset now; what is mapped next are other files.
        st.session_state["_files"], st.session_state["_mappings"] = (), {}
        for name in ("preview", "valid_part"):
            give_up(name)


def loaded(name: str | None) -> None:
    """The data changed: forget what was read of it, and go to the dataset `name`."""
    st.session_state["_loads"] = st.session_state.get("_loads", 0) + 1
    desk.forget_queries()
    if name is not None:
        st.session_state["_asked_for"] = {"data": name}
        st.session_state.pop("q", None)
