"""The pickers of dataset and query in the sidebar, and what of the address names them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.app.ui.frame import server, state, typed_questions
from ctxasm.app.ui.frame.question import give_up, saved_controls
from ctxasm.app.ui.frame.session import Session, session

if TYPE_CHECKING:
    from ctxasm.model.datasets import DatasetInfo, QueryEntry


def pick_dataset(infos: list[DatasetInfo]) -> DatasetInfo:
    """The dataset that is chosen, or that the address asked for; where there is one, nothing is to be chosen."""
    names = [info.name for info in infos]
    _take_asked_for(Session.dataset_name.key, names, {name: name for name in names}, "data")
    if (gone := session.dataset_name) not in names:
        if gone is not None:
            state.reject(f"dataset {gone!r} is not loaded any more")
        session.dataset_name = names[0]
    state.send_again(Session.dataset_name.key, names)
    if len(infos) == 1:
        return infos[0]
    picked = st.selectbox("Dataset", names, key=Session.dataset_name.key, on_change=_forget_query)
    return infos[names.index(picked)] if picked in names else infos[0]


def _forget_query() -> None:
    give_up()
    del session.query_id


def pick_query(info: DatasetInfo, entries: list[QueryEntry], is_hidden: bool = False) -> str:
    """The id of the query that is chosen, or that the address asked for; previous and next. `is_hidden`: nothing is drawn."""
    ids = [entry.query_id for entry in entries]
    unsaved = typed_questions.unsaved(info)
    labels = {entry.query_id: _label(entry, entry.query_id not in unsaved) for entry in entries}
    _take_asked_for(Session.query_id.key, ids, labels, "query")
    if session.query_id not in labels:
        session.query_id = ids[0]
    if is_hidden:
        hidden = session.query_id = str(session.query_id)  # what no widget draws is forgotten unless it is kept anew
        return hidden
    state.send_again(Session.query_id.key, labels.values())
    query_id: str = st.selectbox(
        "Query", ids, key=Session.query_id.key, format_func=lambda key: labels.get(key, str(key)), on_change=give_up
    )
    at = ids.index(query_id)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button("←", key="previous_query", on_click=_go_to, args=(ids[at - 1],), disabled=at == 0, help="Previous query", width=44)
        st.button(
            "→",
            key="next_query",
            on_click=_go_to,
            args=(ids[(at + 1) % len(ids)],),
            disabled=at + 1 == len(ids),
            help="Next query",
            width=44,
        )
        saved_controls(info, query_id)
        st.html(f'<div class="cx cx-side cx-mute" data-query="{escape(query_id)}">{at + 1} of {len(ids)}</div>')
    return query_id


def address_of(info: DatasetInfo, query_id: str | None) -> dict[str, str]:
    """What of the address names dataset and query: an id, or the words of a question that is not saved."""
    where = {Session.dataset_name.key: info.name}
    if query_id is None:
        return where
    return where | typed_questions.address(server.query(info, query_id), server.is_stored(info, query_id))


def _go_to(query_id: str) -> None:
    give_up()
    session.query_id = query_id


def _label(entry: QueryEntry, is_stored: bool) -> str:
    text = " ".join(entry.query.split())
    name = entry.query_id if not typed_questions.is_typed(entry.query_id) else "typed" if is_stored else "not saved"
    return f"{name} · {text[:70]}{'…' if len(text) > 70 else ''}"


def _take_asked_for(key: str, known: list[str], labels: dict[str, str], noun: str) -> None:
    """The value that the first URL asked for: an id, or the label that the picker itself writes."""
    asked = session.asked_for.get(key)
    session.asked_for = {other: value for other, value in session.asked_for.items() if other != key}
    if asked is None:
        return
    by_label = {labels[name]: name for name in reversed(known)}
    # An id may itself hold what stands between the id and the words of a label.
    match = next((name for name in (asked, by_label.get(asked), asked.split(" · ")[0]) if name in known), None)
    if match is None:
        state.reject(f"{noun} must be one of the {len(known)} that are loaded, got {asked[:60]!r}")
    else:
        session.put(key, match)
