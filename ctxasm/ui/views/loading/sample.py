"""The data that ships: one click, no network."""

from __future__ import annotations

import streamlit as st

from ctxasm.ui import desk
from ctxasm.ui.pictures import boxed
from ctxasm.ui.views.loading.outcome import begin
from ctxasm.workbench import SAMPLE

ABOUT = (
    "A fictional Dutch hospital: brochures and web pages, questions in Dutch and English with recorded hybrid retrieval and gold evidence. "
    "It is loaded where a store is empty; load it again when it was deleted."
)


def show_sample() -> None:
    """Load the sample."""
    st.html(boxed(f'<p class="cx-note">{ABOUT}</p>'))
    if st.button("Load the sample", key="load_sample", type="primary", icon=":material/database:"):
        workbench = desk.workbench()
        begin("load sample", "Loading the sample", SAMPLE, lambda report, cancelled: workbench.load_sample())
