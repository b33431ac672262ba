"""The scene of this run for a page; draws the reason where there is none."""

from __future__ import annotations

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.model.results import Assembly
from ctxasm.ui import desk, state
from ctxasm.ui.state import Scene
from ctxasm.ui.views.question import question_box
from ctxasm.ui.views.title import show_empty, show_title, show_trouble


def current_scene(page: str) -> Scene | None:
    """What the frame chose, or None after saying why there is nothing and what to do."""
    trouble = st.session_state.get("_trouble")
    scene: Scene | None = st.session_state.get("_scene")
    if trouble:
        show_title(page, "Something is in the way")
        show_trouble(
            "The data cannot be read", trouble, "Nothing was changed. Reload this page when it is fixed; the Load page stays open to you."
        )
    elif scene is None and (info := st.session_state.get("_info")) is not None and (why := desk.unreadable(info)):
        show_title(page, "Something is in the way")
        show_trouble(
            f"Dataset {info.name} cannot be read", why, "Nothing was changed. Other datasets still work; ask again when it is fixed."
        )
        question_box("question_here")
    elif scene is None and st.session_state.get("_info") is not None:
        show_title(page, "No query to assemble")
        show_empty("This dataset has no queries yet", "Ask a question of your own: it is searched for in the dataset, and can be saved.")
        question_box("question_here")
    elif scene is None:
        show_title(page, "No query to assemble")
        show_empty("Load a dataset with queries", "Open Load: take the sample with one click, or upload a bundle of your own.")
    return None if trouble else scene


def current_assembly(scene: Scene, explain: bool = False) -> Assembly | None:
    """The assembly of the scene; None where it cannot be had, said here if `explain` (else the budget bar says it)."""
    try:
        return state.assemble_scene(desk.workbench(), scene)
    except CtxasmError as error:
        if explain:
            show_trouble("This query cannot be assembled", str(error), "Other queries and settings still work.")
        return None


def show_page_trouble() -> bool:
    """Say that the store cannot be used, where that is so."""
    try:
        desk.workbench().datasets()
    except CtxasmError as error:
        show_trouble("The data cannot be read", str(error), "Nothing was changed. Reload this page when it is fixed.")
        return True
    return False
