"""Inspect: what every stage did to every chunk, live."""

import streamlit as st

from ctxasm.ui.advice import advice_panel
from ctxasm.ui.before_after import settle, show_before_after
from ctxasm.ui.scenes import current_assembly, current_scene
from ctxasm.ui.state import stamp_of
from ctxasm.ui.views.budget_bar import show_budget_bar
from ctxasm.ui.views.closer import show_closer
from ctxasm.ui.views.context_text import show_ledger
from ctxasm.ui.views.stages import show_stages_and_text
from ctxasm.ui.views.title import show_query_title

scene = current_scene("Inspect")
if scene is not None:
    assembly = current_assembly(scene)
    if assembly is not None:
        settle(scene, assembly)
    show_query_title("Inspect", scene, assembly, stamp_of(scene))
    show_budget_bar(scene)
    if assembly is not None:
        show_before_after(scene, assembly, stamp_of(scene))
    below_the_bar = st.container()
    if assembly is not None:
        show_stages_and_text(scene, assembly, stamp_of(scene))
        with below_the_bar:
            advice_panel(scene, assembly)
        show_closer(scene, assembly)
        show_ledger(assembly)
