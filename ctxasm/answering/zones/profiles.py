"""The bookend guide's starting zones and its three profiles, as settings.

The guide gives each zone a size of its own; together they are 50,000 tokens of a larger window. Here the context is what
the other zones leave, so a profile shares out a window of 50,000: the context zone then is the guide's own figure. The
guide says of its profiles only which zone grows and which shrinks; what the history gives up, the context gains.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class ZoneProfile(NamedTuple):
    """Settings, what they are for, and the guide's words or figures that they stand for."""

    changes: Mapping[str, Any]
    help: str
    figures: str


def _profile(history: int, help: str, figures: str, **more: Any) -> ZoneProfile:
    changes = {
        "budget_mode": "window",
        "model_window": 50_000,
        "system_tokens": 4_000,
        "question_tokens": 1_000,
        "history_tokens": history,
        "answer_tokens": 4_000,
        "overhead_tokens": 0,
        "safety_margin": 0.02,
        **more,
    }
    return ZoneProfile(MappingProxyType(changes), help, figures)


ZONE_PROFILES: Mapping[str, ZoneProfile] = MappingProxyType(
    {
        "starting_zones": _profile(
            8_000,
            "The bookend guide's zones: of 50,000 tokens 32,000 are left for the context.",
            "system 4,000, retrieved 32,000, conversation 8,000, query 1,000, generation 4,000, buffer 1,000",
        ),
        "analytical_zones": _profile(
            2_000,
            "High-context analysis: less history, 38,000 tokens left for the context.",
            "high-context analytical queries: increase retrieved, reduce conversation (8,000 to 2,000)",
        ),
        "support_chat_zones": _profile(
            20_000,
            "Customer support chat: 20,000 tokens of history, which is summarised after 20 turns, and 20,000 of context.",
            "customer support chat: increase conversation (8,000 to 20,000), reduce retrieved; compressed after N turns",
            history_summarise_after=20,
        ),
        "single_turn_zones": _profile(
            0,
            "A single question: no history is sent, 40,000 tokens left for the context.",
            "single-turn Q&A: conversation 0",
        ),
    }
)
"""The guide's zones by name; `changes` are settings that `AssemblySettings.replace` takes."""
