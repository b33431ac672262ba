"""A question of one's own: typed, searched for in the dataset, and then the query that every page is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from ctxasm.meaning import EMBEDDERS, ENDPOINT
from ctxasm.model.errors import CtxasmError
from ctxasm.model.search import INDEXED_TEXTS, LANGUAGES, METHODS, MOST_HITS, SearchOptions
from ctxasm.reranking import RERANKERS
from ctxasm.ui import awaiting, desk, typed
from ctxasm.ui.awaiting import awaited
from ctxasm.ui.setting_widgets import note_below
from ctxasm.ui.views.title import show_problem

if TYPE_CHECKING:
    from ctxasm.model.records import Query
    from ctxasm.store.listing import DatasetInfo

DEFAULT = SearchOptions()
METHOD_HELP = "**hybrid**: BM25 and vectors, fused by reciprocal rank. **bm25**: words. **vector**: meaning, by the embedder."
TEXT_HELP = (
    "What is indexed of a chunk. **raw**: its text. **title**: title, section and text. **enriched**: situating context and "
    "questions before the text, where the dataset is enriched. What is shown and sent is always the stored text."
)
SEARCH = "search"


def question_controls(info: DatasetInfo) -> SearchOptions:
    """The box for a question and how it is searched for; runs the search that waits. For the sidebar, on every page."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="question_head"):
        st.html('<div class="cx cx-side cx-label" aria-hidden="true">Ask your own question</div>')
        options = _options(info)
    question_box("question", label_visibility="collapsed")
    if (question := typed.waiting()) is not None:
        _search(info, question, options)
    if problem := st.session_state.get("_question_problem"):
        show_problem(problem)
    return options


def question_box(key: str, label_visibility: Literal["visible", "collapsed"] = "visible") -> None:
    """A box for a question, searched for with Enter or the button; may stand on a page more than once under different keys."""
    with st.form(f"{key}_form", border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Ask your own question",
            key=f"_{key}",
            max_chars=typed.LONGEST,
            placeholder="What do you want to know?",
            autocomplete="off",
            label_visibility=label_visibility,
        )
        st.form_submit_button(":material/search:", key=f"search_{key}", on_click=_asked, args=(key,), width=44, help="Search")


def _asked(key: str) -> None:
    question = " ".join(str(st.session_state.get(f"_{key}") or "").split())
    if question:
        typed.ask_for(question)
    else:
        st.session_state["_question_problem"] = "Type a question first."


def _options(info: DatasetInfo) -> SearchOptions:
    """The options in the bound widgets: part of the link."""
    label = f"{st.session_state.get('qm', DEFAULT.method)} · {st.session_state.get('qn', DEFAULT.limit)}"
    popover = st.popover(label, key="search_options", type="tertiary", on_change="rerun")
    with popover:
        method = _segments("Method", METHODS, DEFAULT.method, "qm", METHOD_HELP)
        text = _segments("Indexed text", INDEXED_TEXTS, DEFAULT.text, "qx", TEXT_HELP)
        limit = st.number_input("Hits", 1, MOST_HITS, DEFAULT.limit, 5, key="qn", bind="query-params")
        language = _segments("Language of the words", LANGUAGES, DEFAULT.language, "ql", "How BM25 cuts words to their stems.")
        embedder = _picked("Embedder", ("default", *EMBEDDERS, ENDPOINT), "qe", "What turns texts and questions into vectors.")
        reranker = _picked("Reranker", ("none", *RERANKERS), "qr", "Judges question and text of the best hits together.")
        if popover.open:
            _limits(info)
    return SearchOptions(method, text, int(limit), language, DEFAULT.fusion_k, embedder, reranker)


def _picked(label: str, names: tuple[str, ...], key: str, help: str) -> str | None:
    """The name that is picked, None for the first."""
    name: str = st.selectbox(label, names, key=key, bind="query-params", help=help)
    return None if name == names[0] else name


def _segments(label: str, options: tuple[str, ...], default: str, key: str, help: str) -> Any:
    return st.segmented_control(label, options, default=default, required=True, key=key, help=help, bind="query-params", width="stretch")


def _limits(info: DatasetInfo) -> None:
    """What cannot be had for this dataset, and why."""
    from ctxasm.searching import methods

    for way in (way for way in methods(desk.workbench(), info.name) if not way.available):
        note_below(str(way), pull=0)


def _search(info: DatasetInfo, question: str, options: SearchOptions) -> None:
    """Search, and make what was found the query of the session."""
    from ctxasm.searching import search

    workbench = desk.workbench()
    try:
        query = awaited(
            SEARCH,
            (info.dataset_id, question, options),
            lambda report, cancelled: search(workbench, question, info.name, options, report, cancelled),
            "Cancel the search",
        )
        # A search by several methods may find nothing because none of them could read.
        problem = "" if query.retrieved else desk.unreadable(info)
        is_kept = same_search(desk.saved_query(info, query.query_id), query)
    except CtxasmError as error:
        problem = str(error)
    if problem:
        st.session_state["_question_problem"] = problem
    else:
        if is_kept:
            typed.forget_unsaved(info, query.query_id)
        else:
            typed.keep_unsaved(info, query)
        st.session_state["q"], st.session_state["_question_problem"] = query.query_id, None
        st.session_state["_searched"] = True
        st.session_state["_searches"] = st.session_state.get("_searches", 0) + 1
    give_up()


def same_search(saved: Query | None, found: Query) -> bool:
    """Whether a search found again what is saved: the same hits, by the same method."""
    return saved is not None and (saved.search_method, saved.retrieved) == (found.search_method, found.retrieved)


def give_up() -> None:
    """The question that is searched for is not wanted any more (a callback)."""
    typed.stop_waiting()
    awaiting.give_up(SEARCH)


def saved_controls(info: DatasetInfo, query_id: str) -> None:
    """Save the typed question that is shown, or delete it from the query set."""
    if query_id in typed.unsaved(info):
        label, key, click, help = "Save", "save_question", _save, "Save to the query set"
    elif desk.is_saved(info, query_id):
        label, key, click, help = "Unsave", "delete_question", _delete, "Delete from the query set"
    else:
        return
    st.button(label, key=key, on_click=click, args=(info, query_id), help=help)


def _save(info: DatasetInfo, query_id: str) -> None:
    from ctxasm.searching import save_query

    try:
        saved = save_query(desk.workbench(), info.name, typed.unsaved(info)[query_id])
    except CtxasmError as error:
        st.session_state["_question_problem"] = str(error)
        return
    typed.forget_unsaved(info, query_id)
    desk.forget_queries()
    st.session_state["q"] = saved.query_id


def _delete(info: DatasetInfo, query_id: str) -> None:
    """Take a saved question out of the set; what was found stays in this session, so that a slip can be undone."""
    workbench = desk.workbench()
    try:
        query = workbench.query(info.name, query_id)
        workbench.store.delete_query(info.name, query_id)
    except CtxasmError as error:
        st.session_state["_question_problem"] = str(error)
        return
    desk.forget_queries()
    typed.keep_unsaved(info, query)
