"""Gold by a click: a chunk is marked as expected for the question that is shown, or unmarked; and the ways to gold where none is.

Who may open the page may do this, as saving a question: a store that can only be read says so.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxasm.app.ui.frame import server, typed_questions
from ctxasm.app.ui.frame.layout import DETAILS, EVIDENCE, show_empty, show_problem
from ctxasm.app.ui.frame.session import Scene, session, take
from ctxasm.data.labelling import label
from ctxasm.model.datasets import DatasetInfo
from ctxasm.model.errors import CtxasmError
from ctxasm.model.records import GoldBy, GoldChange
from ctxasm.model.results import Key

INSPECT = "start"
"""The name of the page whose address is the root alone."""


def signed_in() -> str:
    """The name of whoever is signed in; nothing without a sign-in."""
    return str(st.user.get("email") or st.user.get("name") or "").strip() if getattr(st.user, "is_logged_in", False) else ""


def mark(scene: Scene, keys: Sequence[Key], how: GoldChange = "add", by: GoldBy = "hand") -> None:
    """Add these chunks to what the question expects, or take them from it (a callback): then the whole page runs."""
    keep_marks(scene, keys, how, by)
    st.rerun()


def keep_marks(scene: Scene, keys: Sequence[Key], how: GoldChange = "add", by: GoldBy = "hand") -> None:
    """The same, and the page runs later. A question that was typed and is not saved is saved with it."""
    session.gold_problem = None
    info = session.info
    if info is None or info.name != scene.dataset:
        return
    try:
        _write(info, scene.query.query_id, keys, how, by)
    except CtxasmError as error:
        session.gold_problem = str(error)


def _write(info: DatasetInfo, query_id: str, keys: Sequence[Key], how: GoldChange, by: GoldBy) -> None:
    from ctxasm.retrieval.searching import save_query

    workbench = server.workbench()
    typed = typed_questions.unsaved(info).get(query_id)
    if typed is not None:
        query_id = save_query(workbench, info.name, typed).query_id
        session.query_id = query_id
    try:
        label(workbench, info.name, query_id, keys, how, by)
    finally:
        now = next((each for each in workbench.datasets() if each.name == info.name), info)
        if typed is not None:
            typed_questions.forget_unsaved(info, typed.query_id)
        _carry_over(info, now)
        server.forget_queries()


def _carry_over(before: DatasetInfo, now: DatasetInfo) -> None:
    """Labels alone make the dataset another one: what this session holds of it stays."""
    old, new = before.dataset_id, now.dataset_id
    session.unsaved = {(new if number == old else number, name): query for (number, name), query in session.unsaved.items()}
    session.answers = tuple(
        kept._replace(asked=kept.asked.of_dataset(new)) if kept.asked.data[:2] == (before.name, old) else kept for kept in session.answers
    )


def show_gold_problem() -> None:
    """Why a passage could not be marked, once."""
    if problem := take("gold_problem"):
        show_problem(problem)


def show_no_gold() -> None:
    """The ways to gold where no question of a dataset says which passages answer it."""
    show_empty(
        "No question says which passages answer it",
        "Mark the passages that a question should find, approve the ones that an answer cites, or make questions of the chunks: "
        "these share words with them, so they compare settings and do not tell how good answers are.",
    )
    with st.container(horizontal=True, horizontal_alignment="center", gap="small"):
        st.button("Mark passages", key="gold_by_hand", on_click=_open_evidence, icon=":material/ads_click:")
        st.button("Approve citations", key="gold_by_citation", on_click=go_to, args=("ask",), icon=":material/forum:")
        st.button("Make questions", key="gold_by_questions", on_click=go_to, args=("load",), icon=":material/quiz:")


def go_to(page: str) -> None:
    """Open another page (a callback)."""
    session.going = page


def _open_evidence() -> None:
    session.details_tab, session.drawer = EVIDENCE, DETAILS
    go_to(INSPECT)
