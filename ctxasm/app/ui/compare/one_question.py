"""One question under A and B: two bars on one axis, and below only what differs."""

from __future__ import annotations

from html import escape

import streamlit as st

from ctxasm.app.ui.compare.answers import show_answers_to_one
from ctxasm.app.ui.compare.differences import bars_html, chunk_rows, chunks_html, figures_html, texts_html
from ctxasm.app.ui.compare.sides import sides_of
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.scenes import show_failure
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.inspect.budget_bar import budget_bar
from ctxasm.app.ui.inspect.change import compare
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.model.errors import CtxasmError
from ctxasm.model.settings import AssemblySettings


def show_one_question(scene: Scene, pinned: AssemblySettings) -> None:
    """Draw it."""
    workbench, labelled = server.workbench(), scene.query.is_labelled
    try:
        a, b = sides = sides_of(scene, pinned)
    except CtxasmError as error:
        show_failure("This question cannot be assembled both ways", error, scene)
        return
    states = (workbench.evidence(a, scene.dataset), workbench.evidence(b, scene.dataset)) if labelled else ((), ())
    compared = compare(a, b, states)
    st.html(bars_html(budget_bar(a), budget_bar(b), state.stamp_of(scene)))
    st.html(figures_html(compared.deltas) or boxed("", "ctx-figures"))
    show_answers_to_one(scene, sides)
    st.html(chunks_html(chunk_rows(a, b)) or boxed(f'<p class="cx-note">{escape(compared.says)}</p>', "ctx-chunks"))
    st.html(texts_html(a.text, b.text, "Contexts", "ctx-contexts"))
