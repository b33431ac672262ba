"""The one drawer beside a page: it covers no more than the side of it, so that the page can be watched while a setting moves.

A dialog would dim the page and hold it still; this is a container of the page that the style sheet puts at the side.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.words.words import plain

DETAILS = "details"
"""The drawer of details on Inspect."""
EVIDENCE = "Evidence"
"""What of them says which passages a question expects."""


def open_drawer(name: str) -> None:
    """Open the drawer of this name, or close it where it is the one that stands open (a callback)."""
    session.drawer = None if session.drawer == name else name


def close_drawer() -> None:
    """Close what stands open (a callback)."""
    session.drawer = None


@contextmanager
def drawer(heading: str) -> Iterator[None]:
    """Draw into the drawer, under its heading and the button that closes it."""
    with st.container(key="drawer", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", key="drawer_head"):
            st.markdown(f"**{plain(heading)}**")
            st.button("Close", key="close_drawer", on_click=close_drawer, icon=":material/close:", shortcut="Escape", type="tertiary")
        yield
