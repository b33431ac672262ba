"""The stage pictures, a tab each; only the open one runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import streamlit as st

from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_empty
from ctxasm.app.ui.inspect.budget import show_budget
from ctxasm.app.ui.inspect.compress import show_compress
from ctxasm.app.ui.inspect.context_text import show_context_text
from ctxasm.app.ui.inspect.deduplicate import show_deduplicate
from ctxasm.app.ui.inspect.expand import show_expand
from ctxasm.app.ui.inspect.group import show_group
from ctxasm.app.ui.inspect.order import show_order
from ctxasm.app.ui.inspect.prefixes import show_prefixes
from ctxasm.model.results import Assembly

PAUSE = 0.04
"""Seconds that the browser gets to draw bar and text before the rest of the page arrives: it would else draw all of it first."""
STAGES: Mapping[str, Callable[[Scene, Assembly], None]] = {
    "Expand": lambda _, assembly: show_expand(assembly),
    "Deduplicate": lambda _, assembly: show_deduplicate(assembly),
    "Group": lambda _, assembly: show_group(assembly),
    "Compress": lambda _, assembly: show_compress(assembly),
    "Budget": lambda _, assembly: show_budget(assembly),
    "Order": show_order,
    "Prefixes & citations": lambda _, assembly: show_prefixes(assembly),
}


def show_stages_and_text(scene: Scene, assembly: Assembly, stamp: str) -> None:
    """The stages stand above the text and are drawn after it: the text is what must follow a setting at once."""
    above = st.container()
    show_context_text(assembly, stamp)
    time.sleep(PAUSE)
    with above:
        show_stages(scene, assembly)


def show_stages(scene: Scene, assembly: Assembly) -> None:
    """One tab per stage."""
    tabs = st.tabs(list(STAGES), key="stage", on_change="rerun")
    for tab, show in zip(tabs, STAGES.values(), strict=True):
        if tab.open:
            with tab:
                if assembly.trace.fates:
                    show(scene, assembly)
                else:
                    show_empty(
                        "Retrieval returned nothing for this query",
                        "Zero hits are a valid assembly: empty text, no citations, no model call. Choose another query.",
                    )
