"""The stage pictures, a tab each; only the open one runs."""

from __future__ import annotations

import time

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.views.budget import show_budget
from ctxasm.ui.views.context_text import show_context_text
from ctxasm.ui.views.deduplicate import show_deduplicate
from ctxasm.ui.views.expand import show_expand
from ctxasm.ui.views.group import show_group
from ctxasm.ui.views.prefixes import show_prefixes
from ctxasm.ui.views.title import show_empty

PAUSE = 0.04
"""Seconds that the browser gets to draw bar and text before the rest of the page arrives: it would else draw all of it first."""
STAGES = {
    "Expand": show_expand,
    "Deduplicate": show_deduplicate,
    "Group": show_group,
    "Budget": show_budget,
    "Prefixes & citations": show_prefixes,
}


def show_stages_and_text(assembly: Assembly, stamp: str) -> None:
    """The stages stand above the text and are drawn after it: the text is what must follow a setting at once."""
    above = st.container()
    show_context_text(assembly, stamp)
    time.sleep(PAUSE)
    with above:
        show_stages(assembly)


def show_stages(assembly: Assembly) -> None:
    """One tab per stage."""
    tabs = st.tabs(list(STAGES), key="stage", on_change="rerun")
    for tab, show in zip(tabs, STAGES.values(), strict=True):
        if tab.open:
            with tab:
                if assembly.trace.fates:
                    show(assembly)
                else:
                    show_empty(
                        "Retrieval returned nothing for this query",
                        "Zero hits are a valid assembly: empty text, no citations, no model call. Choose another query.",
                    )
