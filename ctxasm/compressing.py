"""The compressor that the settings ask for, plugged together: by words, or by a separate model of the configured endpoint."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ctxasm.config import BASE_URL, COMPRESS_MODEL, Config
from ctxasm.model.errors import InvalidInput
from ctxasm.model.extracts import Compressor
from ctxasm.model.kept import Kept
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.llm import Endpoint

KEPT_REPLIES = 2000
_replies: Kept[str] = Kept(KEPT_REPLIES)
"""Replies of this process, whoever asked: a setting that is moved back costs no second call."""


def open_compressor(settings: AssemblySettings, config: Config, endpoint: Endpoint | None = None) -> Compressor | None:
    """The compressor of `settings.compression`, None where it is off. `endpoint` replaces the configured one, model and all.

    The configured model is the one that CTXASM_COMPRESS_MODEL names, a fast and cheap one, else the one that answers. Raises
    InvalidInput where a model is asked for and none is configured.
    """
    if settings.compression == "off":
        return None
    if settings.compression == "extractive":
        from ctxasm.stages.extracting import ExtractiveCompressor

        return ExtractiveCompressor(settings.gap_mark)
    from ctxasm.llm.compressor import ModelCompressor
    from ctxasm.llm.openai_model import stream_reply

    chosen = compress_endpoint(config, endpoint)
    return ModelCompressor(partial(stream_reply, chosen), f"{chosen.model} at {chosen.host}", settings.gap_mark, kept=_replies)


def compress_endpoint(config: Config, endpoint: Endpoint | None = None) -> Endpoint:
    """Where the compressing model lives. Raises InvalidInput where nothing names it."""
    from ctxasm.llm import Endpoint

    if endpoint is not None:
        return endpoint
    model = config.compress_model or config.llm_model
    if config.llm_base_url is None or model is None:
        raise InvalidInput(f"compression=model needs a model: set {BASE_URL[0]} and {COMPRESS_MODEL}, or choose compression=extractive")
    key, connect, first = config.llm_api_key or "", config.llm_connect_timeout, config.llm_timeout
    return Endpoint(config.llm_base_url, model, key, connect_timeout=connect, first_piece_timeout=first)
