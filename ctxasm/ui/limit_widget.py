"""Max tokens: a number box that is bound to the URL, and a range under it that moves the page while it is dragged."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.model.settings import spec_of
from ctxasm.model.specs import Spec
from ctxasm.ui.live_range import live_range
from ctxasm.ui.setting_widgets import Look

STEP = 100
"""Tokens that one step of the range is worth."""


def limit_widget(spec: Spec, look: Look) -> None:
    """The box, and the range where the limit is this number at all."""
    low, high = int(spec.low or 1), int(spec.high or 16000)
    st.number_input(look.marked(spec), low, high, spec.default, STEP, **look.bound(spec))
    st.session_state.pop("_settled", None)
    if spec.name not in look.idle:
        _hand(low, high)


@fragment(key="max_tokens_hand")
def _hand(low: int, high: int) -> None:
    """The range under the hand; a fragment, so that the page is not told of a new run with every step."""
    live_range(st.session_state[spec_of("max_tokens").url], low, high, STEP, "max_tokens_range", _drag, _release)


def _drag() -> None:
    """While dragged: only the fragment of the budget bar runs, where there is one."""
    live = int(st.session_state["max_tokens_range"].live)
    if live == st.session_state.get("_released_at"):
        return
    st.session_state["_live"], st.session_state["_released_at"] = live, None
    if st.session_state.get("_budget_shown"):
        st.rerun("budget")


def _release() -> None:
    """Let go: everything runs, and outweighs a step that was sent just before."""
    settled = st.session_state["max_tokens_range"].settled
    if settled is not None:
        # Not into the number box here: the run of this callback ends before the box is drawn, and it would not be told.
        st.session_state["_settled"] = int(settled)
        # The last step of the drag may still be on its way; it is over now, and must not be drawn after the release.
        st.session_state["_released_at"] = int(st.session_state["max_tokens_range"].live)
        st.rerun()
