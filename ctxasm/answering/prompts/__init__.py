"""Prompts: three styles in two languages and two channels, composed of single rules, with the context as delimited data."""

from __future__ import annotations

from ctxasm.answering.prompts.messages import (
    GROUNDED,
    LONGEST_EXTRA,
    Part,
    PromptChoice,
    SettledChoice,
    Zone,
    ZoneName,
    build_messages,
    prompt_zones,
    user_parts,
)
from ctxasm.answering.prompts.wording import PROMPT_HELP, PROMPT_STYLES, PromptStyle, system_text
from ctxasm.text.refusals import REFUSAL

__all__ = [
    "GROUNDED",
    "LONGEST_EXTRA",
    "PROMPT_HELP",
    "PROMPT_STYLES",
    "REFUSAL",
    "Part",
    "PromptChoice",
    "PromptStyle",
    "SettledChoice",
    "Zone",
    "ZoneName",
    "build_messages",
    "prompt_zones",
    "system_text",
    "user_parts",
]
