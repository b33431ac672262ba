"""Zones and what became of the earlier turns in words, for the command line and the pages alike."""

from __future__ import annotations

from ctxasm.model.amounts import counted
from ctxasm.model.zoning import Conversation, Zones


def zones_line(zones: Zones) -> str:
    """Every zone that holds something, on one line; they add up to the window, or exceed it by what the line says."""
    parts = " + ".join(f"{zone.name} {zone.tokens:,}" for zone in zones.zones if zone.tokens)
    over = f", {zones.over:,} over" if zones.over else ""
    return f"window of {zones.window:,} tokens{over}: {parts}"


def conversation_line(conversation: Conversation) -> str:
    """What was left out or told in a summary, "" where every turn is sent."""
    parts = []
    if conversation.summarised:
        parts.append(f"the {_turns(conversation.summarised, 'oldest ')} told in a summary")
    if conversation.trimmed:
        parts.append(f"{_turns(conversation.trimmed)} ({conversation.trimmed_tokens:,} tokens) left out, oldest first")
    if not parts:
        return conversation.note
    line = f"History: of {_turns(conversation.given, 'earlier ')} {' and '.join(parts)}; {conversation.tokens:,} tokens are sent."
    return f"{line} {conversation.note}".strip()


def _turns(count: int, kind: str = "") -> str:
    return counted(count, f"{kind}turn")
