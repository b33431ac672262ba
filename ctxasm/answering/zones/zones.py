"""Sharing out a model's window: what each zone takes, and what is left for the context.

The sum of the token-budget guide (window - system - question - answer - overhead), with the history and the margin of
the bookend guide. A reservation is taken in full, used or not; what takes more than is reserved for it takes what it
takes, so that what is sent always fits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ctxasm.model.errors import InvalidInput
from ctxasm.model.settings import AssemblySettings
from ctxasm.model.zoning import ZONE_NAMES, Zone, ZoneName, Zones

RESERVED_BY: dict[ZoneName, str] = {
    "system": "system_tokens",
    "question": "question_tokens",
    "history": "history_tokens",
    "answer": "answer_tokens",
    "overhead": "overhead_tokens",
    "margin": "safety_margin",
}
"""The setting that sizes each zone."""
_CALLED: dict[ZoneName, str] = {
    "system": "the system prompt",
    "question": "the question",
    "history": "the history",
    "answer": "the answer",
    "overhead": "the overhead",
    "margin": "the safety margin",
}


class Counted(NamedTuple):
    """Tokens of what is sent besides the context, as the message builder writes it."""

    system: int
    question: int
    history: int


def share_out(settings: AssemblySettings, window: int, counted: Counted, times: float = 1.0) -> Zones:
    """The zones of a window of `window` tokens, for a model that counts up to `times` as many tokens as are counted here.

    The margin is that of the settings, or what the difference in counting may take of what is sent, whichever is larger.
    With budget_mode=window the context is what the others leave, at least 1; raises InvalidInput naming the zone that is
    too large where nothing is left. With a fixed limit the context is `max_tokens`, and `free` or `over` is the rest.
    """
    own = [_sent("system", settings.system_tokens, counted.system), _sent("question", settings.question_tokens, counted.question)]
    own += [_sent("history", settings.history_tokens, counted.history), Zone("answer", settings.answer_tokens, "reserved")]
    own += [Zone("overhead", settings.overhead_tokens, "reserved")]
    own += [Zone("margin", max(_margin(settings, window), _difference(settings, window, own, max(times, 1.0))), "reserved")]
    left = window - sum(zone.tokens for zone in own)
    if settings.budget_mode == "window":
        if left < 1:
            raise InvalidInput(_no_room(window, own))
        return _made(settings, window, [*own, Zone("context", left, "left")])
    left -= settings.max_tokens
    rest = [Zone("free", left, "left")] if left > 0 else []
    return _made(settings, window, [*own, Zone("context", settings.max_tokens, "reserved"), *rest], over=max(0, -left))


def _sent(name: ZoneName, reserved: int | None, counted: int) -> Zone:
    return Zone(name, counted, "counted") if reserved is None or counted > reserved else Zone(name, reserved, "reserved")


def _margin(settings: AssemblySettings, window: int) -> int:
    # Up, but not for the last digit of a product: 0.07 of 100 is 7, not 8.
    return math.ceil(round(settings.safety_margin * window, 6))


def _difference(settings: AssemblySettings, window: int, own: list[Zone], times: float) -> int:
    """What a model that counts `times` as many tokens may take more for all that is sent. The answer is in its own tokens anyway."""
    kept_free = sum(zone.tokens for zone in own if zone.name in ("answer", "overhead"))
    if settings.budget_mode == "window":
        room = max(0, window - kept_free)
        return room - math.floor(round(room / times, 6))
    sent = sum(zone.tokens for zone in own) - kept_free + settings.max_tokens
    return math.ceil(round(sent * (times - 1), 6))


def _made(settings: AssemblySettings, window: int, zones: list[Zone], over: int = 0) -> Zones:
    return Zones(settings.model_name, window, tuple(sorted(zones, key=lambda zone: ZONE_NAMES.index(zone.name))), over)


def _no_room(window: int, own: list[Zone]) -> str:
    largest = max(own, key=lambda zone: zone.tokens)
    parts = ", ".join(f"{zone.name} {zone.tokens:,}" for zone in own if zone.tokens)
    others = sum(zone.tokens for zone in own) - largest.tokens
    remedy = f"lower {RESERVED_BY[largest.name]}"
    if largest.how == "counted":
        remedy = "set history_tokens or history_summarise_after" if largest.name == "history" else f"shorten {_CALLED[largest.name]}"
    least = f" below {window - others:,}" if window - others > 0 and largest.how == "reserved" and largest.name != "margin" else ""
    return (
        f"the zones must leave at least 1 token of the window of {window:,} for the context, got {parts}; the largest is "
        f"{largest.name}: {remedy}{least}, or take a model with a larger window"
    )


def outgrown(settings: AssemblySettings, zones: Zones) -> tuple[str, ...]:
    """A sentence on every zone that takes more than is reserved for it."""
    found = []
    for zone in zones.zones:
        reserved = getattr(settings, RESERVED_BY[zone.name]) if zone.name in ("system", "question", "history") else None
        if reserved is not None and zone.tokens > reserved:
            what, name = _CALLED[zone.name], RESERVED_BY[zone.name]
            found.append(f"{what[0].upper()}{what[1:]} takes {zone.tokens:,} tokens, more than {name} reserves ({reserved:,}).")
    return tuple(found)
