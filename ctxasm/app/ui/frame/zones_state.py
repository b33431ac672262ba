"""What a session knows for its zones: turns typed for a query, how Ask will ask, who summarised.

All of it lives in the session's memory: earlier turns may be private, and are never part of a link.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Hashable, Sequence

from ctxasm.answering.prompts import GROUNDED, PromptChoice
from ctxasm.app.ui.frame.session import session
from ctxasm.model.errors import CtxasmError
from ctxasm.model.records import Query, Turn
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.language import Language

LANGUAGES: dict[str, Language | None] = {"of the question": None, "Dutch": "nl", "English": "en"}
"""The languages of a prompt, as Ask offers them."""
MOST_TYPED = 200
"""Queries whose typed turns are kept, the one typed last longest."""


def typed_turns(dataset: str, query_id: str) -> tuple[Turn, ...] | None:
    """The turns typed for a query, None where it has its own."""
    return session.typed_turns.get((dataset, query_id))


def keep_turns(dataset: str, query_id: str, turns: Sequence[Turn] | None) -> None:
    """Keep turns for a query in place of its own; None gives it its own again."""
    kept = dict(session.typed_turns)
    kept.pop((dataset, query_id), None)
    if turns is not None:
        kept[dataset, query_id] = tuple(turns)
    session.typed_turns = dict(list(kept.items())[-MOST_TYPED:])


def with_typed_turns(dataset: str, query: Query) -> Query:
    """The query with the turns that were typed for it."""
    turns = typed_turns(dataset, query.query_id)
    return query if turns is None else dataclasses.replace(query, history=turns)


def asked_choice() -> PromptChoice:
    """How Ask will ask, as its widgets say on any page; the default where they say something that cannot be sent."""
    try:
        return PromptChoice(
            session.prompt_style,
            session.answer_first,
            (session.prompt_extra or "").strip(),
            LANGUAGES.get(session.prompt_language or ""),
        )
    except CtxasmError:
        return GROUNDED


def summary_model() -> str | None:
    """The model whose summaries of older turns are used."""
    return session.summary_model


def keep_summary_model(name: str) -> None:
    """Use the summaries of the model of this name from now on."""
    session.summary_model = name
    session.summaries = session.summaries + 1


def zones_key(settings: AssemblySettings) -> Hashable:
    """What besides query and settings decides the zones; equal keys give the same assembly."""
    if settings.budget_mode == "fixed" and not settings.model_name and settings.model_window is None:
        return (summary_model(), session.summaries)
    return (asked_choice(), summary_model(), session.summaries, session.token_ratio)


def zones_stamp(query: Query, settings: AssemblySettings) -> str:
    """What of it can change the messages of a scene, as an end to its stamp; "" for a scene without history or window."""
    parts: list[object] = [[(turn.role, turn.content) for turn in query.history], session.summaries] if query.history else []
    parts += [zones_key(settings)] if settings.budget_mode == "window" else []
    return f"#{hashlib.sha256(repr(parts).encode('utf-8', 'replace')).hexdigest()[:8]}" if parts else ""
