"""Ask: the streamed answer, checked when it is whole, beside the context that it cites; and the prompt that asks for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from ctxasm.citations.serialise import checked_dict
from ctxasm.model.language import language_of
from ctxasm.model.results import Assembly
from ctxasm.prompts import build_messages, prompt_zones
from ctxasm.ui import desk
from ctxasm.ui.answer_reader import show_reader
from ctxasm.ui.answers import zones_html
from ctxasm.ui.models import Picked, pick_models
from ctxasm.ui.reader_data import reader_data
from ctxasm.ui.state import Scene, stamp_of
from ctxasm.ui.told import KEPT_ATTEMPTS, Attempt
from ctxasm.ui.views.ask_controls import Asking, asking_controls
from ctxasm.ui.views.ask_stream import settle, stop, stream
from ctxasm.ui.views.conversation import offer_summary, show_turns
from ctxasm.ui.views.title import show_trouble

NO_ANSWER = ("No answer yet", "Press Ask. The default model quotes the context and needs no key.")
CHANGED = ("The settings changed since the last answer", "Ask again: the context is another one now.")
BUTTON_WIDTH = 168


def show_ask(scene: Scene, assembly: Assembly) -> None:
    """Choose, ask, read the answer as it comes, then click through what it stands on; what had arrived is never lost."""
    st.session_state["_runs"] = st.session_state.get("_runs", 0) + 1
    picked = pick_models()
    offer_summary(scene, assembly, picked)
    asking = asking_controls(assembly)
    show_turns(assembly)
    _show_reserve(assembly, asking)
    problem = picked.problem or asking.problem
    if problem:
        show_trouble("This model cannot be asked yet", problem, "The extractive answer needs neither a model nor a key.")
    with st.container(horizontal=True, gap="small"):
        _ask_button("Ask", "ask", again=False, disabled=bool(problem), type="primary", shortcut="Ctrl+Enter")
        beside, download = st.empty(), st.empty()
    place, stamp = st.empty(), stamp_of(scene)
    if st.session_state.pop("_asking", False) and not problem:
        beside.button("Stop answering", key="stop", on_click=_stopped, width=BUTTON_WIDTH)
        earlier = _kept()[:-1]
        for attempt in stream(assembly, picked.models, asking, stamp, place):
            # Kept before each drawing, because any click ends this run at once.
            st.session_state["_attempts"] = (*earlier, attempt)
        beside.empty()
    attempts = _settled(assembly, stamp, picked, place)
    if attempts and not problem:
        with beside:
            _ask_button("Regenerate", "regenerate", again=True, help="Ask again, and keep this answer to flip back to.")
    _download(download, attempts)
    with place.container():
        hint = CHANGED if _kept() and not attempts else NO_ANSWER
        show_reader(reader_data(assembly, attempts, hint), st.session_state["_runs"])
    _show_prompt(assembly, asking)


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
    kept: tuple[Attempt, ...] = st.session_state.get("_attempts", ())
    return kept


def _begin(again: bool) -> None:
    st.session_state["_asking"] = True
    st.session_state["_attempts"] = (*_kept(), ())[-KEPT_ATTEMPTS:] if again else ((),)


def _stopped() -> None:
    st.session_state["_attempts"] = tuple(stop(attempt) for attempt in _kept())


def _settled(assembly: Assembly, stamp: str, picked: Picked, place: Any) -> tuple[Attempt, ...]:
    """The answers of this scene, checked; none where the settings changed since."""
    if any(told.stamp != stamp for attempt in _kept() for told in attempt):
        return ()
    # Only the newest is checked anew by another scorer: earlier ones keep the check they had, and say whose it is.
    *earlier, newest = [attempt for attempt in _kept() if attempt] or [()]
    settled = (*earlier, settle(newest, assembly, picked, place)) if newest else ()
    st.session_state["_attempts"] = settled
    return settled


def _download(place: Any, attempts: Sequence[Attempt]) -> None:
    """The check of the newest answer as JSON; of two models, a list."""
    checks = [checked_dict(told.check) | {"model": told.model} for told in (attempts[-1] if attempts else ()) if told.check]
    if checks:
        text = json.dumps(checks[0] if len(checks) == 1 else checks, ensure_ascii=False, indent=2)
        place.download_button(
            "Check as JSON", text, "check.json", "application/json", key="check_json", on_click="ignore", width=BUTTON_WIDTH
        )


def _show_prompt(assembly: Assembly, asking: Asking) -> None:
    """What goes to the model, in zones and in full."""
    messages = build_messages(assembly, asking.choice)
    language = asking.choice.language or language_of(assembly.query.query)
    st.html(zones_html(prompt_zones(assembly, messages, desk.workbench().counter(assembly.encoding), language)))
    with st.expander("Messages as they are sent", key="messages"):
        for message in messages:
            st.caption(message.role)
            st.code(message.content, language=None, wrap_lines=True, height=min(420, 90 + len(message.content) // 4))
