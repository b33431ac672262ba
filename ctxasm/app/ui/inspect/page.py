"""The page, from head to foot: title, budget bar, what changed, the stages beside the text, and a closer look."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame.controls import show_controls
from ctxasm.app.ui.frame.scenes import current_assembly
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.setting_widgets import PAGE
from ctxasm.app.ui.frame.state import stamp_of
from ctxasm.app.ui.frame.title import show_query_title
from ctxasm.app.ui.inspect.advice import advice_panel
from ctxasm.app.ui.inspect.before_after import settle, show_before_after
from ctxasm.app.ui.inspect.budget_bar import show_budget_bar
from ctxasm.app.ui.inspect.closer import show_closer
from ctxasm.app.ui.inspect.context_text import show_ledger
from ctxasm.app.ui.inspect.stages import show_stages_and_text


@fragment(key=PAGE)
def show_inspect(scene: Scene) -> None:
    """Everything that Inspect draws of a query; a changed setting runs this and nothing of the frame."""
    del session.live
    scene = replace(scene, settings=session.now)
    show_controls(scene)
    assembly = current_assembly(scene)
    if assembly is not None:
        settle(scene, assembly)
    show_query_title("Inspect", scene, assembly, stamp_of(scene))
    show_budget_bar(scene)
    if assembly is None:
        return
    show_before_after(scene, assembly, stamp_of(scene))
    below_the_bar = st.container()
    show_stages_and_text(scene, assembly, stamp_of(scene))
    with below_the_bar:
        advice_panel(scene, assembly)
    show_closer(scene, assembly)
    show_ledger(assembly)
