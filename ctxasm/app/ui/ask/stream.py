"""An answer while it comes in, beside the context; and what is made of it when it has: ended, and checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ctxasm.model.errors import CtxasmError
from ctxasm.model.formats import expects_markers
from ctxasm.model.results import Assembly
from ctxasm.ui import desk
from ctxasm.ui.answers import answer_html
from ctxasm.ui.context_cards import cards_html, context_cards
from ctxasm.ui.models import LEXICAL, Picked
from ctxasm.ui.told import Attempt, Told
from ctxasm.ui.views.ask_controls import Asking

if TYPE_CHECKING:
    from ctxasm.llm import Endpoint
    from ctxasm.model.messages import AnswerModel
    from ctxasm.model.support import Scorer

REDRAW = 0.08
"""Seconds between two drawings of an answer that is coming in."""


def stream(assembly: Assembly, models: Sequence[AnswerModel], asking: Asking, stamp: str, place: Any) -> Iterator[Attempt]:
    """Draw each model's answer as it comes, one model after the other; yields the attempt as far as it is, before each drawing."""
    with place.container():
        answers, context = st.columns(2, gap="small")
        panes = [(answers.empty(), answers.empty()) for _ in models]
        context.html(cards_html(context_cards(assembly)))
    attempt: Attempt = ()
    for model, (text, clock) in zip(models, panes, strict=True):
        before = attempt
        for told in _stream_one(assembly, model, asking, stamp, text, clock, len(before) + 1):
            attempt = (*before, told)
            yield attempt


def _stream_one(assembly: Assembly, model: AnswerModel, asking: Asking, stamp: str, text: Any, clock: Any, place: int) -> Iterator[Told]:
    from ctxasm.asking import AnswerResult, Marked, Piece, ask

    told = Told(stamp, model.name, model.is_language_model, asked=asking.label, marked=expects_markers(assembly.settings))
    yield told
    live = _Live(told, text, place)
    tick = ticker(clock, "waiting for the model", live.draw)
    decided = 0
    events = ask(assembly, model, asking.choice, temperature=asking.temperature, max_tokens=asking.max_tokens, cancel=tick)
    for event in events:
        match event:
            case Piece(piece, decided):
                told = replace(told, text=told.text + piece)
            case Marked(markers):
                told = replace(told, markers=told.markers + markers)
            case AnswerResult():
                told = told.finished(event)
        yield told
        live.take(told, decided)
    clock.empty()


class _Live:
    """An answer on the page: drawn now and then while it comes, and whatever is left as soon as it pauses."""

    def __init__(self, told: Told, text: Any, place: int) -> None:
        self._told, self._text, self._place = told, text, place
        self._decided, self._drawn, self._pending = 0, 0.0, False

    def take(self, told: Told, decided: int) -> None:
        """The answer as far as it is; `decided` characters may be shown."""
        self._told, self._decided, self._pending = told, decided, True
        if told.done or time.monotonic() - self._drawn > REDRAW:
            self.draw()

    def draw(self) -> None:
        """Draw what is not drawn yet."""
        if self._pending:
            self._pending = False
            self._text.html(answer_html(self._told, None if self._told.done else self._decided, self._place))
            self._drawn = time.monotonic()


def stop(attempt: Attempt) -> Attempt:
    """The attempt as a click on Stop leaves it."""
    return tuple(told if told.done else replace(told, done=True, note="Stopped on request.") for told in attempt)


def settle(attempt: Attempt, assembly: Assembly, picked: Picked, place: Any) -> Attempt:
    """The attempt with every answer ended and checked by the picked scorer; a check that was made is kept."""
    ended = [told if told.done else replace(told, done=True, note="The page changed while the answer came in.") for told in attempt]
    return tuple(_checked(told, assembly, picked, place) for told in ended)


def _checked(told: Told, assembly: Assembly, picked: Picked, place: Any) -> Told:
    name = picked.scorer
    if told.scorer == name or not told.called or not told.text.strip():
        return told
    workbench = desk.workbench()
    if name == LEXICAL:
        return replace(told, scorer=name, unchecked="", check=workbench.check(assembly, told.text, cut=not told.complete))
    try:
        scorer = _scorer(name, picked.judge)
        check = workbench.check(assembly, told.text, scorer, cancel=ticker(place, f"checking by {name}"), cut=not told.complete)
        return replace(told, scorer=name, unchecked="", check=check)
    except CtxasmError as error:
        return replace(told, scorer=name, unchecked=str(error), check=workbench.check(assembly, told.text, cut=not told.complete))


def _scorer(name: str, judge: Endpoint | None) -> Scorer:
    """The scorer of this session: one that asks a model keeps what it was told, so that nothing is paid for twice."""
    kept: tuple[tuple[str, Endpoint | None], Scorer] | None = st.session_state.get("_scorer")
    if kept is None or kept[0] != (name, judge):
        kept = (name, judge), desk.workbench().open_scorer(name, judge)
        st.session_state["_scorer"] = kept
    return kept[1]


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
