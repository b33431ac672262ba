"""What runs in the browser on every page: keys, clicks, one step of the back button for a page, linked panes, components."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ctxasm.app.ui.widgets import components

ASSETS = Path(__file__).parents[1] / "assets"
NAMES = (*(f"{name}.js" for name in components.NAMES), "shortcuts.js", "address.js", "clicks.js", "linked_panes.js")


@cache
def script() -> str:
    """The scripts in one element. They are files of ours: no text of a source may ever be in them."""
    return f"<script>{''.join((ASSETS / name).read_text(encoding='utf-8') for name in NAMES)}</script>"


def run_page_scripts() -> None:
    """Run them, once for each browser: before the address is written, and outside of what a changed setting draws."""
    import streamlit as st

    st.html(script(), unsafe_allow_javascript=True)
