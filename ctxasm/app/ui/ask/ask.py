"""Ask: the streamed answer, checked when it is whole, beside the context that it cites."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from ctxasm.app.ui.ask.prompt import Asking, asking_controls, show_prompt
from ctxasm.app.ui.ask.reader import reader_data, show_reader
from ctxasm.app.ui.ask.stream import settle, stop, stream
from ctxasm.app.ui.frame.conversation import offer_summary, show_turns
from ctxasm.app.ui.frame.models import Picked, pick_models
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import KEPT_ATTEMPTS, Attempt, Scene
from ctxasm.app.ui.frame.state import stamp_of
from ctxasm.app.ui.frame.title import show_empty, show_trouble
from ctxasm.citations.checked import checked_dict
from ctxasm.model.results import Assembly

NO_ANSWER = ("No answer yet", "Press Ask. The default model quotes the context and needs no key.")
CHANGED = ("The settings changed since the last answer", "Ask again: the context is another one now.")
BUTTON_WIDTH = 168


def show_ask(scene: Scene, assembly: Assembly) -> None:
    """Choose, ask, read the answer as it comes, then click through what it stands on; what had arrived is never lost."""
    session.runs = session.runs + 1
    picked = pick_models()
    offer_summary(scene, assembly, picked)
    asking = asking_controls(assembly)
    show_turns(assembly)
    _show_reserve(assembly, asking)
    problem = picked.problem or asking.problem
    if picked.untyped:
        show_empty("No endpoint yet", f"{problem} The extractive answer needs neither a model nor a key.")
    elif problem:
        show_trouble("This model cannot be asked yet", problem, "The extractive answer needs neither a model nor a key.")
    with st.container(horizontal=True, gap="small"):
        _ask_button("Ask", "ask", again=False, disabled=bool(problem), type="primary", shortcut="Ctrl+Enter")
        beside, download = st.empty(), st.empty()
    place, stamp = st.empty(), stamp_of(scene)
    if session.take(Session.asking) and not problem:
        beside.button("Stop answering", key="stop", on_click=_stopped, width=BUTTON_WIDTH)
        earlier = _kept()[:-1]
        for attempt in stream(assembly, picked.models, asking, stamp, place):
            # Kept before each drawing, because any click ends this run at once.
            session.attempts = (*earlier, attempt)
        beside.empty()
    attempts = _settled(assembly, stamp, picked, place)
    if attempts and not problem:
        with beside:
            _ask_button("Regenerate", "regenerate", again=True, help="Ask again, and keep this answer to flip back to.")
    _download(download, attempts)
    with place.container():
        hint = CHANGED if _kept() and not attempts else NO_ANSWER
        show_reader(reader_data(assembly, attempts, hint), session.runs)
    show_prompt(assembly, asking)


def _show_reserve(assembly: Assembly, asking: Asking) -> None:
    """Say where the longest answer is longer than what the window's zones reserve for it."""
    reserved = assembly.zones.tokens_of("answer") if assembly.zones is not None else asking.max_tokens
    if asking.max_tokens > reserved:
        st.caption(
            f":orange[◆] An answer may take {asking.max_tokens} tokens; its zone reserves {reserved}. Raise answer_tokens to as many."
        )


def _ask_button(label: str, key: str, *, again: bool, **look: Any) -> None:
    st.button(label, key=key, on_click=_begin, args=(again,), width=BUTTON_WIDTH, **look)


def _kept() -> tuple[Attempt, ...]:
    return session.attempts


def _begin(again: bool) -> None:
    session.asking = True
    session.attempts = (*_kept(), ())[-KEPT_ATTEMPTS:] if again else ((),)


def _stopped() -> None:
    session.attempts = tuple(stop(attempt) for attempt in _kept())


def _settled(assembly: Assembly, stamp: str, picked: Picked, place: Any) -> tuple[Attempt, ...]:
    """The answers of this scene, checked; none where the settings changed since."""
    if any(told.stamp != stamp for attempt in _kept() for told in attempt):
        return ()
    # Only the newest is checked anew by another scorer: earlier ones keep the check they had, and say whose it is.
    *earlier, newest = [attempt for attempt in _kept() if attempt] or [()]
    settled = (*earlier, settle(newest, assembly, picked, place)) if newest else ()
    session.attempts = settled
    return settled


def _download(place: Any, attempts: Sequence[Attempt]) -> None:
    """The check of the newest answer as JSON; of two models, a list."""
    checks = [checked_dict(told.check) | {"model": told.model} for told in (attempts[-1] if attempts else ()) if told.check]
    if checks:
        text = json.dumps(checks[0] if len(checks) == 1 else checks, ensure_ascii=False, indent=2)
        place.download_button(
            "Check as JSON", text, "check.json", "application/json", key="check_json", on_click="ignore", width=BUTTON_WIDTH
        )
