"""Questions that were typed in this session and are not saved: what a search found for each, and the question that waits for one."""

from __future__ import annotations

from collections.abc import Mapping

from ctxasm.app.ui.frame.session import ASK, session
from ctxasm.model.datasets import DatasetInfo, QueryEntry
from ctxasm.model.records import Query

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
