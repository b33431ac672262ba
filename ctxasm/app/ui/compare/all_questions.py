"""All questions of the dataset under A and B: who wins, how sure that is, and a table that opens each."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.app.ui.compare.question_table import counts_html, filters, listed, table
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.awaited_work import awaited
from ctxasm.app.ui.frame.compare_view import EVERY
from ctxasm.app.ui.frame.gold import show_no_gold
from ctxasm.app.ui.frame.links import compare_address, hear_clicks
from ctxasm.app.ui.frame.recorded_answers import data_key
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_problem
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.tuning.compare import Comparison

AT_ONCE = 300
"""Questions up to which nobody has to ask for it: a second or two."""
SET = "compare_set"


def show_all_questions(scene: Scene, pinned: AssemblySettings) -> None:
    """Count them, or offer to where that takes long or costs calls; then draw what came of it."""
    found = compared_set(scene.dataset, pinned, session.now)
    if found is None:
        return
    for query_id, why in list(found.swept.failures.items())[:1]:
        show_problem(f"{counted(len(found.swept.failures), 'question')} could not be assembled, {query_id} among them: {why}")
    st.html(counts_html(found))
    if not found.labelled:
        show_no_gold()
    named = filters(found)
    session.compare_filter = session.compare_filter if session.compare_filter in named else EVERY
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        only = st.segmented_control(
            "List", list(named), key=Session.compare_filter.key, format_func=named.__getitem__, required=True, label_visibility="collapsed"
        )
        text = json.dumps(found.to_dict(), ensure_ascii=False)
        st.download_button("JSON", text, "comparison.json", "application/json", key="comparison_json", on_click="ignore")
    shown = only or EVERY
    st.html(table(listed(found, shown), question_words(), partial(compare_address, pinned, session.now), shown))
    hear_clicks(Session.question_clicks)


def question_words() -> dict[str, str]:
    """The questions of the dataset by id."""
    info = session.info
    return {entry.query_id: entry.query for entry in server.query_list(info)} if info is not None else {}


def compared_set(dataset: str, a: AssemblySettings, b: AssemblySettings) -> Comparison | None:
    """The comparison; None where it waits to be asked for, or cannot be had, which is said."""
    from ctxasm.app.tuned import compared

    info, workbench = session.info, server.workbench()
    wanted = (data_key(dataset), a, b)
    count = server.stored_queries(info) if info else 0
    calls = any(each.enabled and each.compression == "model" for each in (a, b))
    if (count > AT_ONCE or calls) and session.compare_started != wanted:
        cost = " A model shortens chunks: that costs calls." if calls else ""
        st.button(
            f"Compare {counted(count, 'question')}", key="start_compare", on_click=_start, args=(wanted,), type="primary", help=cost or None
        )
        return None
    try:
        found: Comparison = awaited(
            SET,
            wanted,
            lambda report, cancelled: compared(workbench, a, b, dataset, report=report, cancelled=cancelled),
            "Cancel" if count > AT_ONCE else "",
        )
    except CtxasmError as error:
        show_problem(str(error))
        return None
    return found


def _start(wanted: Hashable) -> None:
    session.compare_started = wanted
