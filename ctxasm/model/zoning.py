"""How a model's window is shared out, and what of the earlier turns is sent: the records of the zones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ctxasm.model.records import Turn

ZoneName = Literal["system", "question", "history", "context", "answer", "overhead", "margin", "free"]
ZONE_NAMES: tuple[ZoneName, ...] = ("system", "history", "context", "question", "overhead", "margin", "answer", "free")
"""Every zone, in the order in which they stand in a window: what is sent, what is kept free, what comes back."""


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of the window. `how`: counted as it is sent, reserved by a setting, or left by the others."""

    name: ZoneName
    tokens: int
    how: Literal["counted", "reserved", "left"]


@dataclass(frozen=True, slots=True)
class Zones:
    """A model's window, shared out. The zones add up to `window + over` exactly.

    `over` is 0 where the context is what the others leave (budget_mode=window); with a fixed limit it is by how much all
    zones exceed the window. `hints` are sentences on what does not fit together.
    """

    model: str
    window: int
    zones: tuple[Zone, ...]
    over: int = 0
    hints: tuple[str, ...] = ()

    @property
    def context(self) -> int:
        """Tokens of the context zone."""
        return self.tokens_of("context")

    def tokens_of(self, name: ZoneName) -> int:
        """Tokens of one zone, 0 where there is none."""
        return sum(zone.tokens for zone in self.zones if zone.name == name)


@dataclass(frozen=True, slots=True)
class SentHistory:
    """What of the earlier turns is sent, oldest first, and `tokens` of it.

    Of `given` turns the first `summarised` are told in `summary` (sent as a pair of turns before the others), the first
    `trimmed` are left out; both count from the oldest. `note` says why a summary could not be had, or what else was done.
    """

    turns: tuple[Turn, ...]
    tokens: int
    given: int
    trimmed: int = 0
    trimmed_tokens: int = 0
    summarised: int = 0
    summary: str = ""
    note: str = ""
