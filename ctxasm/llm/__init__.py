"""Answering models: any OpenAI-compatible endpoint, the key-free extractive default, and one that misbehaves on purpose.

The only room that imports openai, and only when a question is really sent.
"""

from __future__ import annotations

from ctxasm.llm.client import OpenAIModel
from ctxasm.llm.endpoint import Endpoint
from ctxasm.llm.extractive import ExtractiveModel
from ctxasm.llm.scripted import MODES, ScriptedModel
from ctxasm.model.errors import InvalidInput, shown
from ctxasm.model.messages import AnswerModel

MODEL_NAMES = ("extractive", "openai", *(f"scripted:{mode}" for mode in MODES))
"""What `open_model` takes. The first is the default and needs no key."""

__all__ = ["MODEL_NAMES", "AnswerModel", "Endpoint", "ExtractiveModel", "OpenAIModel", "ScriptedModel", "open_model"]


def open_model(name: str = "extractive", endpoint: Endpoint | None = None) -> AnswerModel:
    """The model of this name; `openai` needs an endpoint. Raises InvalidInput for another name or a missing endpoint."""
    if name == "extractive":
        return ExtractiveModel()
    if name.startswith("scripted:") and name in MODEL_NAMES:
        return ScriptedModel(name.partition(":")[2])
    if name != "openai":
        raise InvalidInput(f"model must be one of {', '.join(MODEL_NAMES)}, got {shown(name)}")
    if endpoint is None:
        raise InvalidInput("the model openai needs an endpoint: set CTXASM_LLM_BASE_URL and CTXASM_LLM_MODEL, or choose extractive")
    return OpenAIModel(endpoint)
