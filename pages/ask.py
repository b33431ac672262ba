"""Ask: send the assembled context to a model and read the answer, claim by claim, beside what each stands on."""

import streamlit as st

from ctxasm.app.ui.ask.page import show_ask
from ctxasm.app.ui.frame.layout import show_query_title
from ctxasm.app.ui.frame.settings_panel import show_controls, show_settings_drawer
from ctxasm.app.ui.frame.sidebar import current_assembly, current_scene
from ctxasm.app.ui.frame.state import stamp_of

scene = current_scene("Ask")
if scene is not None:
    assembly = current_assembly(scene, explain=True)
    show_query_title("Ask", scene, assembly, stamp_of(scene))
    with st.container(key="ask_controls"):
        show_controls(scene)
        show_settings_drawer()
    if assembly is not None:
        show_ask(scene, assembly)
