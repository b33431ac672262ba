"""A closer look: the life of a chunk, find text, evidence, latency, export. Only the open tab runs."""

from __future__ import annotations

import streamlit as st

from ctxasm.app.ui.frame.session import Session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.inspect.elapsed import latencies, latency_html
from ctxasm.app.ui.inspect.evidence import show_evidence
from ctxasm.app.ui.inspect.export import show_export
from ctxasm.app.ui.inspect.find import show_find
from ctxasm.app.ui.inspect.life import show_life
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.model.results import Assembly

TABS = ("Life of a chunk", "Find text", "Gold evidence", "Latency", "Export")


def show_closer(scene: Scene, assembly: Assembly) -> None:
    """What else the trace can answer."""
    life, find, gold, latency, export = st.tabs(list(TABS), key=Session.closer.key, on_change="rerun")
    if life.open:
        with life:
            show_life(assembly)
    if find.open:
        with find:
            show_find(scene, assembly)
    if gold.open:
        with gold:
            show_evidence(scene, assembly)
    if latency.open:
        latency.html(boxed(latency_html(latencies(assembly), assembly), "ctx-latency"))
    if export.open:
        with export:
            show_export(assembly)
