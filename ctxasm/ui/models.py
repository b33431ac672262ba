"""Choosing the model that answers. A key lives in the secrets, the environment or this session's memory, nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from ctxasm.config import Config
from ctxasm.model.errors import CtxasmError
from ctxasm.ui import desk

if TYPE_CHECKING:
    from ctxasm.llm import Endpoint
    from ctxasm.model.messages import AnswerModel

EXTRACTIVE, OPENAI = "extractive", "openai"


class Choice(NamedTuple):
    """The model, or the sentence that says why there is none; and how it shall answer."""

    model: AnswerModel | None
    problem: str
    temperature: float
    max_tokens: int


def pick_model() -> Choice:
    """Draw the model controls and return what they say."""
    from ctxasm.llm import MODEL_NAMES

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox("Model", MODEL_NAMES, key="model", format_func=model_label, persist_state="session", width=380)
        temperature = st.number_input(
            "Temperature", 0.0, 2.0, 0.0, 0.1, key="temperature", persist_state="session", width=130, help="Only a language model heeds it."
        )
        longest = st.number_input("Max answer tokens", 16, 8192, 512, 32, key="max_answer_tokens", persist_state="session", width=160)
    try:
        return Choice(_opened(name), "", temperature, longest)
    except CtxasmError as error:
        return Choice(None, str(error), temperature, longest)


def model_label(name: str) -> str:
    """The name of a model in the picker, honest about what it is."""
    if name == EXTRACTIVE:
        return "Extractive · no language model"
    if name == OPENAI:
        return "OpenAI-compatible endpoint"
    return f"Scripted · {name.partition(':')[2].replace('_', ' ')} · misbehaves on purpose"


def _opened(name: str) -> AnswerModel:
    from ctxasm.llm import open_model

    return open_model(name, _endpoint(desk.workbench().config) if name == OPENAI else None)


def _endpoint(config: Config) -> Endpoint:
    """The endpoint as configured, or as typed for this session. A configured key never goes to an address that was typed."""
    from ctxasm.llm import Endpoint

    configured = bool(config.llm_base_url and config.llm_model)
    with st.expander("Endpoint", expanded=not configured, key="endpoint"):
        st.caption(
            "Kept in the memory of this session only: not in the link, not on disk, not in a log."
            + (" Empty fields use what the server has configured." if configured else "")
        )
        base = st.text_input(
            "Base URL", key="_llm_base_url", placeholder=config.llm_base_url or "https://host/v1", persist_state="session"
        ).strip()
        model = st.text_input("Model name", key="_llm_model", placeholder=config.llm_model or "", persist_state="session").strip()
        key = st.text_input("API key", key="_llm_key", type="password", persist_state="session", autocomplete="off").strip()
    own_address = bool(base) and base != config.llm_base_url
    return Endpoint(
        base or config.llm_base_url or "",
        model or config.llm_model or "",
        key or ("" if own_address else config.llm_api_key or ""),
        connect_timeout=config.llm_connect_timeout,
        first_piece_timeout=config.llm_timeout,
        piece_timeout=min(30.0, config.llm_timeout),
    )
