"""The keys of the pages, and Ctrl+Enter before its button; what they press is in `assets/shortcuts.js`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

ASSETS = Path(__file__).parents[1] / "assets"


@cache
def script() -> str:
    """The script in its element. It is a file of ours: no text of a source may ever be in it."""
    return f"<script>{(ASSETS / 'shortcuts.js').read_text(encoding='utf-8')}</script>"


def listen_for_keys() -> None:
    """Listen for the keys on every page, once for each browser."""
    import streamlit as st

    st.html(script(), unsafe_allow_javascript=True)
