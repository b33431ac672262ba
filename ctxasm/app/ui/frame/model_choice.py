"""Which model answers on Ask and Compare: kept by the session, and part of the address where it is not the one that answers first."""

from __future__ import annotations

from collections.abc import Mapping

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import Session, session

MODEL = Session.model.key
"""The URL parameter."""
EXTRACTIVE, OPENAI = "extractive", "openai"


def first_model() -> str:
    """The model that answers until another is picked, as by command: the configured endpoint, else the key-free one."""
    return OPENAI if server.workbench().config.has_endpoint else EXTRACTIVE


def model_address() -> dict[str, str]:
    """What of an address names the model that was picked."""
    picked = session.model
    return {MODEL: picked} if picked is not None and picked != first_model() else {}


def take_model(parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Pick the model that an address names, if it names one; a sentence where there is none of that name."""
    from ctxasm.llm import MODEL_NAMES

    named = parameters.get(MODEL)
    if named in MODEL_NAMES:
        session.model = named
    return () if named is None or named in MODEL_NAMES else (f"{MODEL} must be one of {', '.join(MODEL_NAMES)}, got {named[:60]!r}",)
