"""Whether the run of a page has been asked to end: a click on Stop, or on anything else, while a model is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from streamlit.runtime import Runtime
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


def rerun_after_stop() -> None:
    """Where Streamlit's own Stop ends this run: have the page drawn once more, so that it shows what there is and can be used.

    Streamlit leaves a page as far as it was drawn, and a stopped run can neither draw nor touch its session: only the server's side
    can ask for the next run. A run that gives way to a newer one is stopped as well, and then nothing is to be done. Nor is it
    without a server, or should that be built otherwise one day: then the page stays as it is until it is clicked.
    """
    context = get_script_run_ctx(suppress_warning=True)
    sessions = getattr(Runtime.instance(), "_session_mgr", None) if Runtime.exists() else None
    if context is None or sessions is None:
        return
    info = sessions.get_active_session_info(context.session_id)
    own = getattr(info, "session", None)
    runner, loop, state = (getattr(own, name, None) for name in ("_scriptrunner", "_event_loop", "_client_state"))
    is_this_run = getattr(runner, "_is_in_script_thread", lambda: False)
    if own is not None and loop is not None and is_this_run():
        loop.call_soon_threadsafe(own.request_rerun, state)


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
