"""Choosing the models that answer and the scorer that checks them.

A key lives in the secrets, the environment or this session's memory, nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from ctxasm.app.parts import endpoint_at
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.address import EXTRACTIVE, OPENAI, first_model
from ctxasm.app.ui.frame.browser import on_this_machine
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.config import Config
from ctxasm.model.errors import CtxasmError

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
            key=Session.model.key,
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
        key=Session.scorer_name.key,
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
            "Base URL", key=Session.llm_base_url.key, placeholder=config.llm_base_url or "https://host/v1", persist_state="session"
        ).strip()
        models = [_model_name(config, at) for at in range(count)]
        key = st.text_input("API key", key=Session.llm_key.key, type="password", persist_state="session", autocomplete="off").strip()
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
