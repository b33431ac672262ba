"""The way to Show me, from the page that people land on."""

from __future__ import annotations

import streamlit as st

from ctxasm.app.ui.frame.session import session
from ctxasm.app.workbench import SAMPLE
from ctxasm.config import shipped


def offer_show_me() -> None:
    """A link to the steps, for whoever looks at the sample."""
    info = session.info
    if info is not None and info.name == SAMPLE:
        st.page_link(shipped("pages") / "show_me.py", label="Show me in five steps", icon=":material/play_circle:")
