"""Whether the run of a page has been asked to end: a click on Stop, or on anything else, while a model is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx


def asked_to_end() -> Callable[[], bool]:
    """A function that any thread may call: whether this run is to stop, or to give way to a newer one.

    Streamlit tells only the page's own thread, and only when that draws; so its state is looked at. Without a running page,
    or should that state be called otherwise one day, never.
    """
    context = get_script_run_ctx(suppress_warning=True)
    requests = getattr(context, "script_requests", None)

    def ended() -> bool:
        state = getattr(requests, "_state", None)
        return getattr(state, "value", "CONTINUE") != "CONTINUE"

    return ended


def ticker(place: Any, doing: str, paused: Callable[[], None] = lambda: None) -> Callable[[], bool]:
    """Called often while a model is waited for: shows the seconds, and so lets a click on Stop end the run."""
    began = time.monotonic()
    last = [0.0]

    def tick() -> bool:
        now = time.monotonic()
        if now - last[0] > 0.2 and get_script_run_ctx(suppress_warning=True) is not None:
            last[0] = now
            paused()
            place.caption(f"{doing} · {now - began:.0f} s")
        return False

    return tick
