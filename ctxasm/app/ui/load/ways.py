"""The ways in, a tab each; only the open one runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session_records import LoadRequest
from ctxasm.app.ui.load.documents import show_documents
from ctxasm.app.ui.load.files import show_files
from ctxasm.app.ui.load.load_jobs import begin_load, settle, show_running
from ctxasm.app.ui.load.reports import show_outcome
from ctxasm.app.ui.load.tables import show_tables
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.workbench import SAMPLE, SAMPLE_NL

ABOUT = "An invented hospital: its pages, questions with what search found, and where the answers stand (gold evidence)."
IN_LANGUAGES = {SAMPLE: "Load the sample", SAMPLE_NL: "Load it in Dutch"}


def show_sample() -> None:
    """Load the sample, in English or in Dutch."""
    st.html(boxed(f'<p class="cx-note">{ABOUT}</p>'))
    with st.container(horizontal=True):
        for dataset, label in IN_LANGUAGES.items():
            kind: Literal["primary", "secondary"] = "primary" if dataset == SAMPLE else "secondary"
            if st.button(label, key=f"load_{dataset}", type=kind, icon=":material/database:"):
                _begin_sample(dataset)


def _begin_sample(dataset: str) -> None:
    workbench = server.workbench()
    again = LoadRequest(
        "load", "Loading", lambda name, over: lambda report, cancelled: workbench.load_sample(over, name), only_replaces=True
    )
    begin_load(again, dataset)


WAY = "way"
"""In the address: the open tab."""
DOCUMENTS = "Documents"
WAYS: Mapping[str, Callable[[], None]] = {
    "Files & paste": show_files,
    DOCUMENTS: show_documents,
    "Your tables": show_tables,
    "Sample": show_sample,
}


def show_ways() -> None:
    """Every way to bring data in, what is being brought in, and what the last load said."""
    if settle():
        # The frame was drawn for the dataset before.
        st.rerun()
    ways = st.tabs(list(WAYS), key=WAY, on_change="rerun", bind="query-params")
    for way, show in zip(ways, WAYS.values(), strict=True):
        if way.open:
            with way:
                show()
    show_running()
    show_outcome()
