"""The conversation before a question: typed or loaded, what of it is sent, and a summary of its older turns."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from ctxasm.answering.history import earlier_turns, parse_history, write_history
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.jobs import ticker
from ctxasm.app.ui.frame.layout import show_problem
from ctxasm.app.ui.frame.models import Picked
from ctxasm.app.ui.frame.session import Scene, Session, session
from ctxasm.app.ui.frame.zones_state import asked_choice, keep_summary_model, keep_turns, typed_turns
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.messages import AnswerModel
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.zoning import SentHistory

SHOWN_TURNS = 40
"""Turns listed with what became of them, the newest; the rest is counted."""
LOADED = ("txt", "json", "jsonl")


class TurnRow(NamedTuple):
    """An earlier turn and what became of it."""

    role: str
    content: str
    state: str


def conversation_controls(scene: Scene) -> None:
    """The earlier turns of the scene's query as text that may be typed over, or loaded from a file. For the sidebar."""
    dataset, query = scene.dataset, scene.query
    own = typed_turns(dataset, query.query_id)
    said = f" · {len(query.history)}" if query.history else ""
    with st.popover(f"Earlier turns{said}{' :blue[●]' if own is not None else ''}", key="conversation", width="stretch"):
        key = f"_turns/{dataset}/{query.query_id}"
        if session.value_of(key) is None:
            session.put(key, write_history(query.history))
        st.text_area(
            "The conversation before this question",
            key=key,
            height=150,
            placeholder="User: …\nAssistant: …",
            help="User: or Assistant: at the start of a line opens a turn; JSON with role and content is read too. Kept in this session.",
            on_change=_typed,
            args=(key, dataset, query.query_id),
        )
        if problem := session.turns_problem:
            show_problem(problem)
        st.file_uploader(
            "Load turns", LOADED, key=Session.turns_file.key, on_change=_loaded, args=(key, dataset, query.query_id), max_upload_size=4
        )
        if own is not None:
            st.button("The question's own turns", key="own_turns", on_click=_own, args=(key, dataset, query.query_id), width="stretch")


def _typed(key: str, dataset: str, query_id: str) -> None:
    _take(session.value_of(key), dataset, query_id)


def _loaded(key: str, dataset: str, query_id: str) -> None:
    file = session.turns_file
    if file is not None and _take(file.getvalue().decode("utf-8", "replace"), dataset, query_id):
        session.put(key, write_history(typed_turns(dataset, query_id) or ()))


def _take(text: str, dataset: str, query_id: str) -> bool:
    """Keep the turns of a text; what cannot be read is said, and changes nothing."""
    try:
        keep_turns(dataset, query_id, parse_history(text))
    except CtxasmError as error:
        session.turns_problem = str(error)
        return False
    session.turns_problem = None
    return True


def _own(key: str, dataset: str, query_id: str) -> None:
    keep_turns(dataset, query_id, None)
    session.forget(key)
    session.turns_problem = None


def show_turns(assembly: Assembly) -> None:
    """Every earlier turn with what became of it, where there are any."""
    conversation = assembly.conversation
    if conversation is None or not conversation.given:
        return
    given = [(turn.role, turn.content) for turn in earlier_turns(assembly.query)]
    sent = conversation.given - conversation.trimmed - conversation.summarised
    told = f" · {conversation.summarised} in a summary" if conversation.summarised else ""
    left = f" · {conversation.trimmed} left out" if conversation.trimmed else ""
    with st.expander(f"Earlier turns · {sent} sent{told}{left}", key="turns"):
        st.html(turns_html(turn_rows(conversation, given), conversation.summary))


def turns_html(rows: tuple[TurnRow, ...], summary: str) -> str:
    """The turns as a list, oldest first; what is left out is struck through and says so."""
    hidden = len(rows) - SHOWN_TURNS
    more = f'<li class="cx-mute">{counted(hidden, "older turn")}</li>' if hidden > 0 else ""
    told = f'<li data-state="summary"><b>summary</b> <span dir="auto">{escape(summary)}</span></li>' if summary else ""
    items = "".join(_turn(row) for row in rows[-SHOWN_TURNS:])
    return f'<div class="cx" id="ctx-turns"><ul class="cx-turns">{told}{more}{items}</ul></div>'


def _turn(row: TurnRow) -> str:
    tag = "span" if row.state == "sent" else "del"
    state = "" if row.state == "sent" else f' <span class="cx-need">{row.state}</span>'
    return f'<li data-state="{row.state}"><b>{escape(row.role)}</b> <{tag} dir="auto">{escape(row.content)}</{tag}>{state}</li>'


def offer_summary(scene: Scene, assembly: Assembly, picked: Picked) -> None:
    """Where older turns wait for a summary: a button that asks the picked model for one, and can be stopped."""
    after, conversation = scene.settings.history_summarise_after, assembly.conversation
    if after is None or conversation is None or not conversation.trimmed or conversation.summarised:
        return
    model = next((model for model in picked.models if model.is_language_model), None)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        label = f"Summarise {counted(conversation.trimmed, 'older turn')}"
        asked = st.button(label, key="summarise_turns", disabled=model is None, help=None if model else "Pick a language model first.")
        place = st.empty()
    if asked and model is not None:
        place.button("Stop", key="stop_summary")
        if problem := _summarise(scene.query, scene, model):
            with place:
                show_problem(problem)
        else:
            keep_summary_model(model.name)
            st.rerun()


def _summarise(query: Query, scene: Scene, model: AnswerModel) -> str:
    """Have the older turns summarised; the reason where that failed. The summary is kept by the workbench."""
    workbench, progress = server.workbench(), st.empty()
    counter = workbench.counter(scene.settings.encoding)
    tick = ticker(progress, "summarising the older turns")
    plan = workbench.zones.plan(query, scene.settings, counter, asked_choice(), model=model, cancel=tick)
    progress.empty()
    return plan.conversation.note if plan.conversation is not None else ""


def turn_rows(conversation: SentHistory, given: Sequence[tuple[str, str]]) -> tuple[TurnRow, ...]:
    """The given turns (role, content), oldest first: in the summary, left out, or sent."""
    told, left = conversation.summarised, conversation.summarised + conversation.trimmed
    states = ["told in the summary"] * told + ["left out"] * (left - told) + ["sent"] * (conversation.given - left)
    return tuple(TurnRow(role, content, state) for (role, content), state in zip(given, states, strict=False))
