"""Budget zones: a model's window shared out among system prompt, history, context, question, answer and what stays free."""

from __future__ import annotations

from ctxasm.answering.zones.history import Summarise, converse, earlier_turns, newest_that_fit
from ctxasm.answering.zones.history_text import parse_history, write_history
from ctxasm.answering.zones.planning import ZonePlan, plan_zones
from ctxasm.answering.zones.profiles import ZONE_PROFILES, ZoneProfile
from ctxasm.answering.zones.summarising import Summaries
from ctxasm.answering.zones.windows import (
    ModelWindow,
    Windows,
    read_windows,
    shipped_windows,
    window_of,
    windows_from_toml,
)
from ctxasm.answering.zones.zone_planner import ZonePlanner
from ctxasm.answering.zones.zones import Counted, share_out

__all__ = [
    "ZONE_PROFILES",
    "Counted",
    "ModelWindow",
    "Summaries",
    "Summarise",
    "Windows",
    "ZonePlan",
    "ZonePlanner",
    "ZoneProfile",
    "converse",
    "earlier_turns",
    "newest_that_fit",
    "parse_history",
    "plan_zones",
    "read_windows",
    "share_out",
    "shipped_windows",
    "window_of",
    "windows_from_toml",
    "write_history",
]
