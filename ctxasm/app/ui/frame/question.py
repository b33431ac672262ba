"""A question of one's own: typed, searched for in the dataset, and then the query that every page is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from ctxasm.app.ui.frame import awaited_work, server, typed_questions
from ctxasm.app.ui.frame.awaited_work import awaited
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.setting_widgets import note_below
from ctxasm.app.ui.frame.title import show_problem
from ctxasm.app.ui.words.words import too_long
from ctxasm.llm.embedding.local import EMBEDDERS
from ctxasm.model.errors import CtxasmError
from ctxasm.model.search import INDEXED_TEXTS, LANGUAGES, METHODS, MOST_HITS, SearchOptions
from ctxasm.search.embedders import ENDPOINT
from ctxasm.search.reranking import RERANKERS

if TYPE_CHECKING:
    from ctxasm.model.datasets import DatasetInfo
    from ctxasm.model.records import Query

DEFAULT = SearchOptions()
METHOD_HELP = (
    "**hybrid**: BM25 and vectors, fused by reciprocal rank (k = 60); the vectors of wordllama weigh 0.1 of BM25, those of "
    "multilingual-e5-small 0.7, others as much. **bm25**: words. **vector**: meaning, by the embedder."
)
TEXT_HELP = (
    "What is indexed of a chunk. **raw**: its text. **title**: title, section and text. **enriched**: situating context and "
    "questions before the text, where the dataset is enriched. What is shown and sent is always the stored text."
)
SEARCH = "search"


def question_controls(info: DatasetInfo) -> SearchOptions:
    """The box for a question and how it is searched for; runs the search that waits. For the sidebar, on every page.

    All but the box itself is seen from the moment that the box is used: the style sheet sees to it.
    """
    with st.container(key="own_question", gap="xsmall"):
        question_box("question", label_visibility="collapsed")
        options = _options(info)
    if (question := typed_questions.waiting()) is not None:
        _search(info, question, options)
    if problem := session.question_problem:
        show_problem(problem)
    return options


def question_box(key: str, label_visibility: Literal["visible", "collapsed"] = "visible") -> None:
    """A box for a question, searched for with Enter or the button; may stand on a page more than once under different keys."""
    with st.form(f"{key}_form", border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Ask your own question",
            key=f"_{key}",
            placeholder="What do you want to know?" if label_visibility == "visible" else "Ask your own question",
            autocomplete="off",
            label_visibility=label_visibility,
        )
        st.form_submit_button(":material/search:", key=f"search_{key}", on_click=_asked, args=(key,), width=44, help="Search")


def _asked(key: str) -> None:
    question = " ".join(str(session.value_of(f"_{key}") or "").split())
    if not question:
        session.question_problem = "Type a question first."
    elif problem := too_long("A question", question, typed_questions.LONGEST):
        session.question_problem = problem
    else:
        typed_questions.ask_for(question)


def _options(info: DatasetInfo) -> SearchOptions:
    """The options in the bound widgets: part of the link."""
    label = f"{session.search_method} · {session.search_limit}"
    popover = st.popover(label, key="search_options", type="tertiary", on_change="rerun")
    with popover:
        method = _segments("Method", METHODS, DEFAULT.method, Session.search_method.key, METHOD_HELP)
        text = _segments("Indexed text", INDEXED_TEXTS, DEFAULT.text, Session.search_text.key, TEXT_HELP)
        limit = st.number_input("Found chunks", 1, MOST_HITS, DEFAULT.limit, 5, key=Session.search_limit.key, bind="query-params")
        language = _segments(
            "Language of the words", LANGUAGES, DEFAULT.language, Session.search_language.key, "How BM25 cuts words to their stems."
        )
        embedder = _picked(
            "Embedder", ("default", *EMBEDDERS, ENDPOINT), Session.search_embedder.key, "What turns texts and questions into vectors."
        )
        reranker = _picked(
            "Reranker", ("none", *RERANKERS), Session.search_reranker.key, "Judges question and text of the best chunks together."
        )
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
    from ctxasm.search.searching import methods

    for way in (way for way in methods(server.workbench(), info.name) if not way.available):
        note_below(str(way), pull=0)


def _search(info: DatasetInfo, question: str, options: SearchOptions) -> None:
    """Search, and make what was found the query of the session."""
    from ctxasm.search.searching import search

    workbench = server.workbench()
    try:
        query = awaited(
            SEARCH,
            (info.dataset_id, question, options),
            lambda report, cancelled: search(workbench, question, info.name, options, report, cancelled),
            "Cancel the search",
        )
        # A search by several methods may find nothing because none of them could read.
        problem = "" if query.retrieved else server.unreadable(info)
        is_kept = same_search(server.saved_query(info, query.query_id), query)
    except CtxasmError as error:
        problem = str(error)
    if problem:
        session.question_problem = problem
    else:
        if is_kept:
            typed_questions.forget_unsaved(info, query.query_id)
        else:
            typed_questions.keep_unsaved(info, query)
        session.query_id, session.question_problem = query.query_id, None
        session.searched = True
    give_up()


def same_search(saved: Query | None, found: Query) -> bool:
    """Whether a search found again what is saved: the same hits, by the same method."""
    return saved is not None and (saved.search_method, saved.retrieved) == (found.search_method, found.retrieved)


def give_up() -> None:
    """The question that is searched for is not wanted any more (a callback)."""
    typed_questions.stop_waiting()
    awaited_work.give_up(SEARCH)


def saved_controls(info: DatasetInfo, query_id: str) -> None:
    """Save the typed question that is shown, or delete it from the query set."""
    if query_id in typed_questions.unsaved(info):
        label, key, click, help = "Save", "save_question", _save, "Save with the dataset's questions"
    elif server.is_saved(info, query_id):
        label, key, click, help = "Unsave", "delete_question", _delete, "Delete from the dataset's questions"
    else:
        return
    st.button(label, key=key, on_click=click, args=(info, query_id), help=help)


def _save(info: DatasetInfo, query_id: str) -> None:
    from ctxasm.search.searching import save_query

    try:
        saved = save_query(server.workbench(), info.name, typed_questions.unsaved(info)[query_id])
    except CtxasmError as error:
        session.question_problem = str(error)
        return
    typed_questions.forget_unsaved(info, query_id)
    server.forget_queries()
    session.query_id = saved.query_id


def _delete(info: DatasetInfo, query_id: str) -> None:
    """Take a saved question out of the set; what was found stays in this session, so that a slip can be undone."""
    workbench = server.workbench()
    try:
        query = workbench.query(info.name, query_id)
        workbench.store.delete_query(info.name, query_id)
    except CtxasmError as error:
        session.question_problem = str(error)
        return
    server.forget_queries()
    typed_questions.keep_unsaved(info, query)
