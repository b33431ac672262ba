"""The drawer of details: the life of a chunk, find, evidence, the shared start, time, export. Only the open one runs."""

from __future__ import annotations

import streamlit as st

from ctxasm.app.ui.frame import state
from ctxasm.app.ui.frame.drawer import DETAILS, EVIDENCE, drawer
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.inspect.elapsed import latencies, latency_html
from ctxasm.app.ui.inspect.evidence import expected, show_evidence
from ctxasm.app.ui.inspect.export import show_export
from ctxasm.app.ui.inspect.find import show_find
from ctxasm.app.ui.inspect.life import show_life
from ctxasm.app.ui.inspect.order import cache_prefix_panel
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.model.results import Assembly, Key

LIFE = "Chunk"
TABS = (LIFE, "Find", EVIDENCE, "Same start", "Time", "Export")


def follow_chunk(key: Key) -> None:
    """Open the drawer at the life of this chunk (a callback)."""
    state.pick_chunk(key)
    session.closer, session.drawer = LIFE, DETAILS


def show_closer(scene: Scene, assembly: Assembly) -> None:
    """What else the trace can answer, where the drawer stands open."""
    if session.drawer != DETAILS:
        return
    with drawer("Details"):
        st.segmented_control(
            "Details", TABS, default=LIFE, required=True, key=Session.closer.key, persist_state="session", label_visibility="collapsed"
        )
        match session.closer:
            case "Find":
                show_find(scene, assembly, expected(scene, assembly))
            case "Evidence":
                show_evidence(scene, assembly)
            case "Same start":
                cache_prefix_panel(scene)
            case "Time":
                st.html(boxed(latency_html(latencies(assembly), assembly), "ctx-latency"))
            case "Export":
                show_export(assembly)
            case _:
                show_life(scene, assembly, expected(scene, assembly))
