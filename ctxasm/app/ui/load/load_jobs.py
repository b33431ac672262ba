"""A load is a job that outlives the run of the page: begun, shown while it goes on, and what it came to kept until the next one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NoReturn

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import job_panel, server
from ctxasm.app.ui.frame.awaited_work import give_up
from ctxasm.app.ui.frame.compare_view import COMPARE
from ctxasm.app.ui.frame.job_panel import REDRAWN_S, job_card
from ctxasm.app.ui.frame.jobs import Job, Work
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import SENT, LoadRequest, TakenName
from ctxasm.app.ui.load.taken_name import forget_choices
from ctxasm.app.ui.words.words import plain
from ctxasm.data.load_conflicts import NameTaken, Over
from ctxasm.model.errors import CtxasmError

IMPORT, EXPLAIN = "import", "explain"
"""How the keys of imports begin, and those of traces that are loaded to explain their answer."""


def begin(key: str, title: str, dataset: str, work: Work, wanted: Hashable = None) -> None:
    """Begin a load; a short one is waited for. `wanted` tells work of one key apart. A callback must not call this: it draws."""
    session.report = None
    try:
        job = server.jobs().start(key, title, dataset, work, wanted)
    except CtxasmError as error:
        refuse(error)
    own = session.own_jobs
    session.own_jobs = own if job in own else [*own, job]
    with st.spinner(f"{plain(title)} …", show_time=True):
        job.wait(job_panel.PATIENCE_S)
    settle()
    st.rerun()


def begin_load(request: LoadRequest, name: str, over: Over = "new") -> None:
    """Begin a load under a name; where that is taken, what should become of it is asked when it ends."""
    key = f"{request.does} {name}"
    session.requests = {**session.requests, key: request}
    begin(key, f"{request.doing} {name}", name, request.work(name, over), (request.wanted, over))


def refuse(error: CtxasmError) -> NoReturn:
    """Report why nothing was begun."""
    session.report = error
    st.rerun()


def settle() -> bool:
    """Take over what this session's jobs came to since the last run, and go to the dataset that a load brought."""
    own = session.own_jobs
    ended = [job for job in own if not job.running]
    session.own_jobs = [job for job in own if job.running]
    for job in ended:
        server.jobs().dismiss(job)
        keep_outcome(job)
    return bool(ended)


def keep_outcome(job: Job) -> None:
    """What a job came to, as what the page reports."""
    request = session.requests.get(job.key)
    if isinstance(job.error, NameTaken) and request is not None:
        session.report = TakenName(request, job.error)
        return
    if isinstance(job.error, CtxasmError):
        session.report = job.error
        return
    report = job.result()
    session.report = getattr(report, "load", report) if job.key.startswith(f"{EXPLAIN} ") else report
    info = getattr(getattr(report, "load", report), "info", None)
    loaded(None if info is None else info.name, getattr(report, "query_id", None))
    if job.key.startswith(f"{EXPLAIN} "):
        session.pinned, session.going = SENT, COMPARE
    if info is not None and job.key.startswith(f"{IMPORT} "):
        # They are a dataset now; what is mapped next are other files.
        session.files, session.mappings = (), {}
        for name in ("preview", "valid_part"):
            give_up(name)


def loaded(name: str | None, query_id: str | None = None) -> None:
    """The data changed: forget what was read of it, and go to the dataset `name`, there to `query_id` where one is given."""
    session.loads = session.loads + 1
    server.forget_queries()
    forget_choices()
    if name is not None:
        session.asked_for = {Session.dataset_name.key: name, **({Session.query_id.key: query_id} if query_id else {})}
        del session.query_id


def show_running() -> None:
    """A card for each job; only this part of the page runs again while they go on."""
    jobs = server.jobs().seen()
    if jobs:
        running = any(job.running for job in jobs)
        fragment(_cards, run_every=REDRAWN_S if running else None, key="running_jobs")([job for job in jobs if job.running])


def _cards(begun: list[Job]) -> None:
    if any(not job.running for job in begun):
        # One of those that ran has ended: the datasets, the report and the other ways in change with it.
        st.rerun()
    own = session.own_jobs
    for job in server.jobs().seen():
        if job.running or job not in own:
            job_card(job)
