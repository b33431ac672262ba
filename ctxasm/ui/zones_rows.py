"""The zones of a model's window as a picture: where each begins and ends. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ctxasm.model.zoning import Conversation, Zone, Zones
from ctxasm.zones.words import conversation_line

LEAST = 0.7
"""The narrowest that a zone with tokens is drawn, in percent of the window."""


class Stretch(NamedTuple):
    """A zone on the strip: `start` and `width` in percent of the strip."""

    zone: Zone
    start: float
    width: float


def zone_stretches(zones: Zones) -> tuple[Stretch, ...]:
    """Every zone with tokens, side by side over the whole strip: in proportion, but never too narrow to be seen.

    Zones that exceed the window together are drawn in proportion to each other.
    """
    held = [zone for zone in zones.zones if zone.tokens]
    total = max(1, sum(zone.tokens for zone in held))
    least = min(LEAST, 100 / max(1, len(held)))
    spare = 100 - least * len(held)
    found, start = [], 0.0
    for zone in held:
        width = least + spare * zone.tokens / total
        found.append(Stretch(zone, start, width))
        start += width
    return tuple(found)


def window_end(stretches: Sequence[Stretch], window: int) -> float:
    """Where a window of this many tokens ends on the strip, in percent: 100 unless the zones exceed it."""
    held = 0
    for stretch in stretches:
        if held + stretch.zone.tokens > window:
            return stretch.start + stretch.width * (window - held) / stretch.zone.tokens
        held += stretch.zone.tokens
    return 100.0


class TurnRow(NamedTuple):
    """An earlier turn and what became of it."""

    role: str
    content: str
    state: str


def turn_rows(conversation: Conversation, given: Sequence[tuple[str, str]]) -> tuple[TurnRow, ...]:
    """The given turns (role, content), oldest first: in the summary, left out, or sent."""
    told, left = conversation.summarised, conversation.summarised + conversation.trimmed
    states = ["told in the summary"] * told + ["left out"] * (left - told) + ["sent"] * (conversation.given - left)
    return tuple(TurnRow(role, content, state) for (role, content), state in zip(given, states, strict=False))


def notes(zones: Zones | None, conversation: Conversation | None) -> tuple[str, ...]:
    """What there is to say below the zones: what became of the earlier turns, then what does not fit together."""
    told = conversation_line(conversation) if conversation is not None else ""
    return (*([told] if told else []), *(zones.hints if zones is not None else ()))
