"""A closer look: the life of a chunk, find text, evidence, latency, export. Only the open tab runs."""

from __future__ import annotations

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.pictures import boxed, latency_html
from ctxasm.ui.stage_rows import latencies
from ctxasm.ui.state import Scene
from ctxasm.ui.views.evidence import show_evidence
from ctxasm.ui.views.export import show_export
from ctxasm.ui.views.find import show_find
from ctxasm.ui.views.life import show_life

TABS = ("Life of a chunk", "Find text", "Gold evidence", "Latency", "Export")


def show_closer(scene: Scene, assembly: Assembly) -> None:
    """What else the trace can answer."""
    life, find, gold, latency, export = st.tabs(list(TABS), key="closer", on_change="rerun")
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
