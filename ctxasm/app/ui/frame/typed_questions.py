"""What was typed in this session and is not saved: questions, with what a search found for each, and earlier turns; and how Ask will ask.

Earlier turns may be private: they live in the session's memory, and are never part of a link.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Hashable, Mapping, Sequence

from ctxasm.answering.prompts import GROUNDED, PromptChoice
from ctxasm.app.ui.frame.session import ASK, session
from ctxasm.model.datasets import DatasetInfo, QueryEntry
from ctxasm.model.errors import CtxasmError
from ctxasm.model.records import Query, Turn
from ctxasm.model.settings import AssemblySettings
from ctxasm.text.language import Language

MOST_UNSAVED = 20
"""Typed questions that a session keeps, the one typed last longest."""
LONGEST = 1000
"""Characters of a typed question: it is part of a link."""
PREFIX = "typed-"
"""How the id of a typed question begins."""


def _all() -> Mapping[tuple[int, str], Query]:
    return session.unsaved


def unsaved(info: DatasetInfo) -> Mapping[str, Query]:
    """The typed questions of a dataset version by id, the newest first: after a new load they would show what is gone."""
    own = {query_id: query for (dataset_id, query_id), query in _all().items() if dataset_id == info.dataset_id}
    return dict(reversed(own.items()))


def is_unsaved(query_id: str) -> bool:
    """Whether a query of the dataset that is shown was typed and not saved."""
    info = session.info
    return info is not None and query_id in unsaved(info)


def keep_unsaved(info: DatasetInfo, query: Query) -> None:
    """Keep what a search found."""
    kept = {key: value for key, value in _all().items() if key != (info.dataset_id, query.query_id)}
    kept[info.dataset_id, query.query_id] = query
    session.unsaved = dict(list(kept.items())[-MOST_UNSAVED:])


def forget_unsaved(info: DatasetInfo, query_id: str) -> None:
    """Let go of a question: it is saved now, or nobody wants it."""
    session.unsaved = {key: value for key, value in _all().items() if key != (info.dataset_id, query_id)}


def entries(info: DatasetInfo) -> list[QueryEntry]:
    """The typed questions as lines of a query picker."""
    return [QueryEntry(query_id, query.query, len(query.retrieved)) for query_id, query in unsaved(info).items()]


def waiting() -> str | None:
    """The question that is to be searched for in this run."""
    return session.asked_for.get(ASK)


def ask_for(question: str) -> None:
    """Search for a question in the next run (a callback)."""
    session.asked_for = {**session.asked_for, ASK: question}
    session.question_problem = None


def stop_waiting() -> None:
    """The question was searched for, or is not wanted any more."""
    session.asked_for = {key: value for key, value in session.asked_for.items() if key != ASK}


def is_typed(query_id: str) -> bool:
    """Whether this is the id of a question that was typed once, saved or not."""
    return query_id.startswith(PREFIX)


def fusion_of(query: Query) -> str:
    """How the search for a typed question fused words and meaning; empty where it did not."""
    fusion = query.metadata.get("fusion") if is_typed(query.query_id) else None
    weight = fusion.get("vector") if isinstance(fusion, Mapping) else None
    return f"vectors weigh {weight:g} of BM25" if isinstance(weight, (int, float)) else ""


def notes_of(query: Query) -> tuple[str, ...]:
    """What the search for a typed question had to say."""
    notes = query.metadata.get("notes") if is_typed(query.query_id) else None
    return tuple(str(note) for note in notes) if isinstance(notes, (list, tuple)) else ()


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
