"""What a session knows for its zones: turns typed for a query, its own table of models, how Ask will ask, who summarised.

All of it lives in the session's memory: earlier turns may be private, and are never part of a link.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Hashable, Sequence

import streamlit as st

from ctxasm.model.errors import CtxasmError
from ctxasm.model.language import Language
from ctxasm.model.records import Query, Turn
from ctxasm.model.settings import AssemblySettings
from ctxasm.prompts import GROUNDED, PromptChoice
from ctxasm.zones.windows import Windows

LANGUAGES: dict[str, Language | None] = {"of the question": None, "Dutch": "nl", "English": "en"}
"""The languages of a prompt, as Ask offers them."""
MOST_TYPED = 200
"""Queries whose typed turns are kept, the one typed last longest."""


def typed_turns(dataset: str, query_id: str) -> tuple[Turn, ...] | None:
    """The turns typed for a query, None where it has its own."""
    found: tuple[Turn, ...] | None = st.session_state.get("_typed_turns", {}).get((dataset, query_id))
    return found


def keep_turns(dataset: str, query_id: str, turns: Sequence[Turn] | None) -> None:
    """Keep turns for a query in place of its own; None gives it its own again."""
    kept = dict(st.session_state.get("_typed_turns", {}))
    kept.pop((dataset, query_id), None)
    if turns is not None:
        kept[dataset, query_id] = tuple(turns)
    st.session_state["_typed_turns"] = dict(list(kept.items())[-MOST_TYPED:])


def with_typed_turns(dataset: str, query: Query) -> Query:
    """The query with the turns that were typed for it."""
    turns = typed_turns(dataset, query.query_id)
    return query if turns is None else dataclasses.replace(query, history=turns)


def asked_choice() -> PromptChoice:
    """How Ask will ask, as its widgets say on any page; the default where they say something that cannot be sent."""
    said = st.session_state
    try:
        return PromptChoice(
            said.get("prompt_style", GROUNDED.style),
            bool(said.get("answer_first", False)),
            str(said.get("prompt_extra") or "").strip(),
            LANGUAGES.get(str(said.get("prompt_language"))),
        )
    except CtxasmError:
        return GROUNDED


def edited_windows() -> Windows | None:
    """The table of models of this session, None where it is the server's."""
    found: Windows | None = st.session_state.get("_windows")
    return found


def keep_windows(windows: Windows | None) -> None:
    """Use a table of models in this session; None goes back to the server's."""
    st.session_state["_windows"] = windows
    st.session_state["_windows_edits"] = st.session_state.get("_windows_edits", 0) + 1


def told_by() -> str | None:
    """The model whose summaries of older turns are used."""
    found: str | None = st.session_state.get("_told_by")
    return found


def keep_teller(name: str) -> None:
    """Use the summaries of the model of this name from now on."""
    st.session_state["_told_by"] = name
    st.session_state["_told"] = st.session_state.get("_told", 0) + 1


def zones_key(settings: AssemblySettings) -> Hashable:
    """What besides query and settings decides the zones; equal keys give the same assembly."""
    if settings.budget_mode == "fixed" and not settings.model_name and settings.model_window is None:
        return (told_by(), st.session_state.get("_told", 0))
    return (asked_choice(), st.session_state.get("_windows_edits", 0), told_by(), st.session_state.get("_told", 0))


def zones_stamp(query: Query, settings: AssemblySettings) -> str:
    """What of it can change the messages of a scene, as an end to its stamp; "" for a scene without history or window."""
    parts: list[object] = [[(turn.role, turn.content) for turn in query.history], st.session_state.get("_told", 0)] if query.history else []
    parts += [zones_key(settings)] if settings.budget_mode == "window" else []
    return f"#{hashlib.sha256(repr(parts).encode('utf-8', 'replace')).hexdigest()[:8]}" if parts else ""
