"""Components whose script the page loads once: with it in every message, one changed setting would send 5 kB more."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, TypedDict

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


WIDTH = 150
"""Of the range in pixels."""
HTML = '<div class="wrap"><input id="range" type="range" aria-label="Max tokens, dragged"><output id="shown" hidden></output></div>'


class RangeData(TypedDict):
    """What the script of the range reads."""

    value: int
    min: int
    max: int
    step: int


class RangeState(Protocol):
    """What the callbacks find under the key of the range."""

    live: int
    settled: int | None


def live_range(value: int, low: int, high: int, step: int, key: str, on_live: Callable[[], None], on_settled: Callable[[], None]) -> None:
    """Draw the range at `value`. The callbacks find a `RangeState` under `key`."""
    data: RangeData = {"value": value, "min": low, "max": high, "step": step}
    component("live_range", HTML)(
        data=data,
        default={"live": value},
        key=key,
        on_live_change=on_live,
        on_settled_change=on_settled,
        width=WIDTH,
        height="content",
    )


REST_MS = 500
"""Milliseconds without another change after which the page is at rest."""


class RestData(TypedDict):
    """What the script reads: what is drawn, a change of which begins the wait again, and how long it is."""

    stamp: str
    rest_ms: int


def await_rest(key: str, stamp: str, on_rest: Callable[[], None]) -> None:
    """Call `on_rest` once, and run the fragment that drew this, when `stamp` has stood for `REST_MS`."""
    data: RestData = {"stamp": stamp, "rest_ms": REST_MS}
    component("rest")(key=key, data=data, on_rest_change=on_rest, height=1)
