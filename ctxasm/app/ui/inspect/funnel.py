"""The funnel as it is drawn: its steps choose the picture below it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxasm.app.funnel import Step
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.words import number

KEY = "funnel"


def show_funnel(found: Sequence[Step]) -> Step:
    """Draw the steps; return the chosen one."""
    named = {step.name: step for step in found}
    chosen = session.step if session.step in named else "widened"
    if st.session_state.get(KEY) != chosen:
        st.session_state[KEY] = chosen
    st.segmented_control(
        "Steps of the assembly",
        list(named),
        key=KEY,
        required=True,
        format_func=lambda name: _label(named[name]) if name in named else str(name),
        on_change=_choose,
        label_visibility="collapsed",
        width="stretch",
    )
    return named[chosen]


def _label(step: Step) -> str:
    unit = " tokens" if step.name == "found" else ""
    return f"{step.label} **{step.value}** :gray[{number(step.tokens)}{unit}{evidence_mark(step)}]"


def evidence_mark(step: Step) -> str:
    """A filled sign where all labelled evidence is whole so far, an empty one where not; how much is left, where a step loses some."""
    if not step.labelled:
        return ""
    if step.kept == step.labelled:
        return " ●"
    return f" ○\u202f{step.kept}/{step.labelled}" if step.lost else " ○"


def _choose() -> None:
    session.step = st.session_state[KEY]
