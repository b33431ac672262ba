"""The moment when a person has stopped changing things, and the page has answered.

It is drawn by what waits for it, so that the run it asks for is that fragment's own. Asked for in a callback instead, the run of one
fragment would take the place of the run that a click of the same moment is owed, and the click would seem lost. For the same reason it
comes neither just after a click nor while a run goes on: where the run of one fragment follows that of another at once, Streamlit may
tell the browser that the first was interrupted, and what it no longer draws stays on the page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from ctxasm.app.ui.widgets.components import component

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
