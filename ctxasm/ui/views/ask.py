"""Ask: the prompt in zones, the streamed answer, its markers resolved to sources."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from ctxasm.model.language import language_of
from ctxasm.model.results import Assembly
from ctxasm.prompts import build_messages, prompt_zones
from ctxasm.ui import desk
from ctxasm.ui.answers import Told, answer_html, sources_html, verdict_html, zones_html
from ctxasm.ui.models import Choice, pick_model
from ctxasm.ui.state import Scene, stamp_of
from ctxasm.ui.views.title import show_empty, show_trouble

REDRAW = 0.08
"""Seconds between two drawings of an answer that is coming in."""


def show_prompt(assembly: Assembly) -> None:
    """What goes to the model, in zones and in full."""
    language = language_of(assembly.query.query)
    messages = build_messages(assembly, language=language)
    st.html(zones_html(prompt_zones(assembly, messages, desk.workbench().counter(assembly.encoding), language)))
    with st.expander("Messages as they are sent", key="messages"):
        for message in messages:
            st.caption(message.role)
            st.code(message.content, language=None, wrap_lines=True, height=min(420, 90 + len(message.content) // 4))


def show_ask(scene: Scene, assembly: Assembly) -> None:
    """Choose a model, ask, read the answer as it comes; what had arrived is never lost."""
    choice = pick_model()
    asks, stops, _ = st.columns([2, 2, 3], gap="small", vertical_alignment="center")
    asks.button("Ask", key="ask", type="primary", on_click=_begin, disabled=choice.model is None, width="stretch", shortcut="Ctrl+Enter")
    stop = stops.empty()
    if choice.problem:
        show_trouble("This model cannot be asked yet", choice.problem, "The extractive answer needs neither a model nor a key.")
    page = (st.empty(), st.empty(), st.empty())
    stamp = stamp_of(scene)
    if st.session_state.pop("_asking", False) and choice.model is not None:
        stop.button("Stop answering", key="stop", on_click=_stopped, width="stretch")
        _stream(assembly, choice, stamp, page)
        stop.empty()
    _settle(page, assembly, stamp)


def _begin() -> None:
    st.session_state["_asking"] = True
    st.session_state["_told"] = None


def _stopped() -> None:
    told = st.session_state.get("_told")
    if told is not None and not told.done:
        st.session_state["_told"] = dataclasses.replace(told, done=True, note="Stopped on request.")


def _stream(assembly: Assembly, choice: Choice, stamp: str, page: tuple[Any, Any, Any]) -> None:
    """Draw pieces as they come. The state is kept before each drawing, because any click ends this run at once."""
    from ctxasm.asking import AnswerResult, Marked, Piece, ask

    assert choice.model is not None
    told = Told(stamp, choice.model.name, choice.model.is_language_model)
    _keep(told)
    tick = _ticker(page[1])
    decided, drawn = 0, 0.0
    for event in ask(assembly, choice.model, temperature=choice.temperature, max_tokens=choice.max_tokens, cancel=tick):
        match event:
            case Piece(text, decided):
                told = dataclasses.replace(told, text=told.text + text)
            case Marked(markers):
                told = dataclasses.replace(told, markers=told.markers + markers)
            case AnswerResult():
                told = _finished(told, event)
        _keep(told)
        if time.monotonic() - drawn > REDRAW:
            page[0].html(answer_html(told, decided))
            drawn = time.monotonic()


def _keep(told: Told) -> None:
    st.session_state["_told"] = told


def _finished(told: Told, result: Any) -> Told:
    return dataclasses.replace(
        told,
        text=result.text,
        markers=result.markers,
        done=True,
        complete=result.complete,
        note=result.note,
        error=result.error,
        elapsed_ms=result.elapsed_ms,
        first_piece_ms=result.first_piece_ms,
        called=result.called,
    )


def _ticker(place: Any) -> Callable[[], bool]:
    """Called often while a model is waited for: shows the seconds, and so lets a click on Stop end the run."""
    began = time.monotonic()
    last = [0.0]

    def tick() -> bool:
        now = time.monotonic()
        if now - last[0] > 0.2:
            last[0] = now
            place.caption(f"waiting for the model · {now - began:.0f} s")
        return False

    return tick


def _settle(page: tuple[Any, Any, Any], assembly: Assembly, stamp: str) -> None:
    """The answer of this scene, whole or as far as it came; without one, the sources that it may cite."""
    told: Told | None = st.session_state.get("_told")
    if told is not None and told.stamp != stamp:
        with page[0]:
            show_empty("The settings changed since the last answer", "Ask again: the context is another one now.")
        told = None
    elif told is None:
        with page[0]:
            show_empty("No answer yet", "Press Ask. The default model quotes the context and needs no key.")
    else:
        if not told.done:
            told = dataclasses.replace(told, done=True, note="The page changed while the answer came in.")
            _keep(told)
        page[0].html(answer_html(told))
        page[1].html(verdict_html(told))
    if assembly.citations:
        page[2].html(sources_html(assembly.citations, assembly.trace.documents, told))
