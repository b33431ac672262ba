"""Header figures and budget bar: the one part of a page that runs alone while the limit is dragged."""

from __future__ import annotations

import dataclasses

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk, state
from ctxasm.ui.bars import budget_html
from ctxasm.ui.before_after import fresh_chunks
from ctxasm.ui.state import Scene
from ctxasm.ui.views.title import show_trouble


@fragment(key="budget")
def show_budget_bar(scene: Scene) -> None:
    """Draw header and bar for the scene, with the limit under the dragging hand while there is one."""
    st.session_state["_budget_shown"] = True
    dragged = dataclasses.replace(scene, settings=state.under_the_hand(scene.settings))
    try:
        assembly = state.assemble_scene(desk.workbench(), dragged)
    except CtxasmError as error:
        show_trouble("This query cannot be assembled", str(error), "Other queries and settings still work.")
        return
    st.html(budget_html(assembly, state.stamp_of(dragged), fresh_chunks(assembly)))
