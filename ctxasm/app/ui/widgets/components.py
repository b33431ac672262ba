"""Components whose script the page loads once: with it in every message, one changed setting would send 5 kB more."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

NAMES = ("live_range", "copy", "chunk_clicks", "rest")
"""Their scripts: `assets/NAME.js` puts the function that is called with the component under its name."""
CALL = """
export default c => {
 const run = () => window.ctxasmParts?.NAME;
 return run() ? run()(c) : void setTimeout(() => run()?.(c), 300);
}
"""
"""What is sent instead of the script; a page may draw the component just before the script is there."""


@cache
def component(name: str, html: str = '<span aria-hidden="true"></span>') -> Callable[..., Any]:
    """The component of this name."""
    import streamlit as st

    return st.components.v2.component(f"ctxasm_{name}", html=html, js=CALL.replace("NAME", name))
