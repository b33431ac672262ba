"""Choosing the models that answer and the scorer that checks them.

A key lives in the secrets, the environment or this session's memory, nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from ctxasm.answering.history import earlier_turns, parse_history, write_history
from ctxasm.app.parts import endpoint_at
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import EXTRACTIVE, OPENAI, first_model
from ctxasm.app.ui.frame.browser import on_this_machine
from ctxasm.app.ui.frame.jobs import ticker
from ctxasm.app.ui.frame.layout import show_problem
from ctxasm.app.ui.frame.session import Scene, session
from ctxasm.app.ui.frame.typed_questions import asked_choice, keep_summary_model, keep_turns, typed_turns
from ctxasm.config import Config
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.messages import AnswerModel
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly, SentHistory

if TYPE_CHECKING:
    from ctxasm.llm import Endpoint
    from ctxasm.model.messages import AnswerModel


NO_SECOND = "none"
LEXICAL, JUDGE, RECHECK = "lexical", "llm", "lexical+llm"
SCORERS = {
    LEXICAL: "words and figures, strict (lexical)",
    "lexical-usual": "words and figures, as people accept (lexical-usual)",
    "embedding": "likeness (embedding)",
    "nli": "inference (nli)",
    JUDGE: "a language model (llm)",
    "lexical+nli": "words, then inference (lexical+nli)",
    RECHECK: "words, then a language model (lexical+llm)",
}


class NotTyped(CtxasmError):
    """Fields of the endpoint are still empty: nothing is wrong, and nothing can be asked."""


class Picked(NamedTuple):
    """The models that shall answer, one or two, and the scorer that checks them.

    `problem` says why a model cannot be asked; `untyped`: only because fields of the endpoint are still empty.
    `judge` is the endpoint of the scorer llm, as typed or configured.
    """

    models: tuple[AnswerModel, ...]
    scorer: str = LEXICAL
    judge: Endpoint | None = None
    problem: str = ""
    untyped: bool = False


def pick_models() -> Picked:
    """Draw the pickers, and the endpoint's own fields where one is asked, and return what they say.

    Where an endpoint is configured it answers, as by command, until another model is picked: the address and the session keep that.
    """
    from ctxasm.llm import MODEL_NAMES

    if session.model is None:
        session.model = first_model()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        first = st.selectbox(
            "Model",
            MODEL_NAMES,
            key="model",
            format_func=model_label,
            persist_state="session",
            width=325,
        )
        second = st.selectbox(
            "Second model, side by side",
            (NO_SECOND, *MODEL_NAMES),
            key="second_model",
            format_func=model_label,
            persist_state="session",
            width=325,
            help="Both answer from the same context, one after the other; each answer is checked by itself.",
        )
        scorer = _pick_scorer()
    names = [first] if second == NO_SECOND else [first, second]
    asked = names.count(OPENAI)
    try:
        endpoints = _endpoints(server.workbench().config, max(1, asked)) if asked or scorer in (JUDGE, RECHECK) else []
        judge = endpoints[0] if scorer in (JUDGE, RECHECK) else None
        return Picked(tuple(_opened(name, endpoints) for name in names), scorer, judge)
    except CtxasmError as error:
        if asked:
            return Picked((), scorer, None, str(error), isinstance(error, NotTyped))
        # An endpoint that only the scorer needs stands in nobody's way: the check says what it lacks.
        return Picked(tuple(_opened(name, []) for name in names), scorer)


def _pick_scorer() -> str:
    return st.selectbox(
        "Checked by",
        server.workbench().scorer_names(),
        key="scorer_name",
        format_func=lambda name: SCORERS.get(name, name),
        persist_state="session",
        width=215,
        help="**lexical**: words, numbers, names and negations; strict: of claims made to deceive 2 in 100 come out "
        "as supported. **lexical-usual**: finds more of what people accept, 12 in 100 come out so. "
        "**embedding**: closeness of meaning, by a local model. "
        "**nli**: entailment, by a local model of your own. **llm**: a language model judges, over the endpoint. "
        "**lexical+…**: it is asked only about claims that words do not find.",
    )


def model_label(name: str) -> str:
    """The name of a model in the picker, honest about what it is."""
    if name == NO_SECOND:
        return "None"
    if name == EXTRACTIVE:
        return "Extractive · no language model"
    if name == OPENAI:
        return "OpenAI-compatible endpoint"
    return f"Scripted · {name.partition(':')[2].replace('_', ' ')} · misbehaves on purpose"


def _opened(name: str, endpoints: list[Endpoint]) -> AnswerModel:
    from ctxasm.llm import open_model

    return open_model(name, endpoints.pop(0) if name == OPENAI else None)


def typed_endpoint(config: Config) -> Endpoint:
    """Draw the endpoint's own fields and return what they say. Raises CtxasmError where that is no endpoint."""
    return _endpoints(config, 1)[0]


def _endpoints(config: Config, count: int) -> list[Endpoint]:
    """The endpoint as configured, or as typed for this session, once per model. A configured key never goes to a typed address."""
    configured = bool(config.llm_base_url and config.llm_model)
    with st.expander("Endpoint", expanded=not configured, key="endpoint"):
        st.caption(
            "Kept in the memory of this session only: not in the link, not on disk, not in a log."
            + (" Empty fields use what the server has configured." if configured else "")
        )
        base = st.text_input(
            "Base URL", key="llm_base_url", placeholder=config.llm_base_url or "https://host/v1", persist_state="session"
        ).strip()
        models = [_model_name(config, at) for at in range(count)]
        key = st.text_input("API key", key="llm_key", type="password", persist_state="session", autocomplete="off").strip()
    names = [model or config.llm_model or "" for model in models]
    address = base or config.llm_base_url
    missing = ["base URL"] * (not address) + ["model name"] * (not all(names))
    if not address:
        raise NotTyped(_type_first(missing))
    # What is typed is checked at once; an empty name stands for one still to come.
    here = on_this_machine()
    endpoints = [endpoint_at(config, address, name or "untyped", key, here) for name in names]
    if missing:
        raise NotTyped(_type_first(missing))
    return endpoints


def _type_first(missing: list[str]) -> str:
    return f"Type its {' and its '.join(missing)}."


def _model_name(config: Config, at: int) -> str:
    label, key = ("Second model's name", "_llm_model_2") if at else ("Model name", "_llm_model")
    return st.text_input(label, key=key, placeholder=config.llm_model or "", persist_state="session").strip()


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
        if st.session_state.get(key) is None:
            st.session_state[key] = write_history(query.history)
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
        st.file_uploader("Load turns", LOADED, key="turns_file", on_change=_loaded, args=(key, dataset, query.query_id), max_upload_size=4)
        if own is not None:
            st.button("The question's own turns", key="own_turns", on_click=_own, args=(key, dataset, query.query_id), width="stretch")


def _typed(key: str, dataset: str, query_id: str) -> None:
    _take(st.session_state[key], dataset, query_id)


def _loaded(key: str, dataset: str, query_id: str) -> None:
    file = session.turns_file
    if file is not None and _take(file.getvalue().decode("utf-8", "replace"), dataset, query_id):
        st.session_state[key] = write_history(typed_turns(dataset, query_id) or ())


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
    st.session_state.pop(key, None)
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
