"""The ways in, a tab each; only the open one runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from ctxasm.ui.views.loading.documents import show_documents
from ctxasm.ui.views.loading.files import show_files
from ctxasm.ui.views.loading.outcome import settle
from ctxasm.ui.views.loading.reports import show_outcome
from ctxasm.ui.views.loading.running import show_running
from ctxasm.ui.views.loading.sample import show_sample
from ctxasm.ui.views.loading.tables import show_tables

WAYS: Mapping[str, Callable[[], None]] = {
    "Files & paste": show_files,
    "Documents": show_documents,
    "Your tables": show_tables,
    "Sample": show_sample,
}


def show_ways() -> None:
    """Every way to bring data in, what is being brought in, and what the last load said."""
    if settle():
        # The frame was drawn for the dataset before.
        st.rerun()
    ways = st.tabs(list(WAYS), key="way", on_change="rerun")
    for way, show in zip(ways, WAYS.values(), strict=True):
        if way.open:
            with way:
                show()
    show_running()
    show_outcome()
