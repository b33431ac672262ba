"""The way to Show me, and the question that it is about."""

from __future__ import annotations

import streamlit as st

from ctxasm.app.ui.frame.session import session
from ctxasm.app.workbench import SAMPLE
from ctxasm.config import shipped

SHOW_ME = "show-me"
"""The path of the page."""
QUERY = "child-operation-cold"
"""The question of the sample that it is about, chosen by `sample_data/gains.py`: its evidence is in the context with assembly only."""
STEPS = "Show me in five steps"
"""What the page is called where it is offered on another one."""


def offer_show_me() -> None:
    """A link to the steps, for whoever looks at the sample; the style sheet hides it where the same link stands in the sidebar."""
    info = session.info
    if info is not None and info.name == SAMPLE:
        with st.container(key="show_me"):
            st.page_link(shipped("pages") / "show_me.py", label=STEPS, icon=":material/play_circle:")
