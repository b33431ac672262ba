"""An answer while it comes in, beside the context; and what is made of it when it has: ended, and checked."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from ctxasm.app.ui.ask.answer_pieces import Chip, Stretch, answer_pieces
from ctxasm.app.ui.ask.context_cards import context_cards, sources_html
from ctxasm.app.ui.ask.prompt import asked_how
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.models import LEXICAL, Picked
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Asking, Attempt, KeptAnswer
from ctxasm.app.ui.frame.stopping import ticker
from ctxasm.model.errors import CtxasmError
from ctxasm.model.results import Assembly
from ctxasm.text.formats import expects_markers

if TYPE_CHECKING:
    from ctxasm.llm import Endpoint
    from ctxasm.model.messages import AnswerModel
    from ctxasm.model.support import Scorer

BROKEN_OFF = "The page was stopped, or changed, while the answer came in."
REDRAW = 0.08
"""Seconds between two drawings of an answer that is coming in."""


class _Live:
    """An answer on the page: drawn now and then while it comes, and whatever is left as soon as it pauses."""

    def __init__(self, told: KeptAnswer, text: Any, place: int) -> None:
        self._told, self._text, self._place = told, text, place
        self._decided, self._drawn, self._pending = 0, 0.0, False

    def take(self, told: KeptAnswer, decided: int) -> None:
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


def _stream_one(assembly: Assembly, model: AnswerModel, asking: Asking, text: Any, clock: Any, place: int) -> Iterator[KeptAnswer]:
    from ctxasm.answering.asking import AnswerResult, Marked, Piece, ask

    told = KeptAnswer(model.name, model.is_language_model, asked=asked_how(asking), marked=expects_markers(assembly.settings))
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


def stopped(attempt: Attempt) -> Attempt:
    """The attempt as a click on Stop leaves it."""
    return tuple(told if told.done else replace(told, done=True, note="Stopped on request.") for told in attempt)


def answer_html(told: KeptAnswer, decided: int | None = None, place: int = 1) -> str:
    """An answer that comes in, up to `decided` characters (default: all), each marker as a chip. `place` counts side by side."""
    pieces = "".join(_piece(piece) for piece in answer_pieces(told.text, told.markers, end=decided))
    name = f"ctx-answer-{place}" if place > 1 else "ctx-answer"
    return (
        f'<div class="cx"><p class="cx-told">{escape(told.model)}</p>'
        f'<div class="cx-answer" id="{name}" dir="auto" aria-busy="true" data-done="false">{pieces}</div></div>'
    )


def _piece(piece: Stretch | Chip) -> str:
    if isinstance(piece, Stretch):
        return escape(piece.text)
    if piece.known:
        return f'<span class="cx-chip" data-marker="{piece.number}">{piece.number}</span>'
    what = f"[{piece.number}] unknown" if piece.number is not None else f"{piece.label} unreadable"
    return f'<span class="cx-unknown" data-unknown="{"" if piece.number is None else piece.number}">{escape(what)}</span>'


def stream(assembly: Assembly, models: Sequence[AnswerModel], asking: Asking, place: Any) -> Iterator[Attempt]:
    """Draw each model's answer as it comes, one model after the other; yields the attempt as far as it is, before each drawing."""
    with place.container():
        answers, context = st.columns(2, gap="small")
        panes = [(answers.empty(), answers.empty()) for _ in models]
        context.html(sources_html(context_cards(assembly)))
    attempt: Attempt = ()
    for model, (text, clock) in zip(models, panes, strict=True):
        before = attempt
        for told in _stream_one(assembly, model, asking, text, clock, len(before) + 1):
            attempt = (*before, told)
            yield attempt


def settle(attempt: Attempt, assembly: Assembly, picked: Picked, place: Any) -> Attempt:
    """The attempt with every answer ended and checked by the picked scorer; a check that was made is kept."""
    ended = [told if told.done else replace(told, done=True, note=BROKEN_OFF) for told in attempt]
    return tuple(_checked(told, assembly, picked, place) for told in ended)


def _checked(told: KeptAnswer, assembly: Assembly, picked: Picked, place: Any) -> KeptAnswer:
    name = picked.scorer
    if told.scorer == name or not told.called or not told.text.strip():
        return told
    workbench = server.workbench()
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
    kept = session.scorer
    if kept is None or kept[0] != (name, judge):
        kept = (name, judge), server.workbench().open_scorer(name, judge)
        session.scorer = kept
    return kept[1]
