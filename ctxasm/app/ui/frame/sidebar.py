"""A question of one's own: typed, searched for in the dataset, and then the query that every page is about."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from ctxasm.app.ui.frame import server, state, typed_questions, work
from ctxasm.app.ui.frame.address import is_about_a_question
from ctxasm.app.ui.frame.layout import show_empty, show_problem, show_title, show_trouble
from ctxasm.app.ui.frame.session import Scene, Session, session
from ctxasm.app.ui.frame.settings_panel import note_below
from ctxasm.app.ui.frame.work import awaited
from ctxasm.app.ui.words.words import too_long
from ctxasm.llm.embedding.local import EMBEDDERS
from ctxasm.model.errors import CtxasmError, NotFound, StoreUnavailable
from ctxasm.model.results import Assembly
from ctxasm.model.search import INDEXED_TEXTS, LANGUAGES, METHODS, MOST_HITS, SearchOptions
from ctxasm.retrieval.indexes import ENDPOINT
from ctxasm.retrieval.reranking import RERANKERS

if TYPE_CHECKING:
    from ctxasm.model.datasets import DatasetInfo, QueryEntry
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
    from ctxasm.retrieval.searching import methods

    for way in (way for way in methods(server.workbench(), info.name) if not way.available):
        note_below(str(way), pull=0)


def _search(info: DatasetInfo, question: str, options: SearchOptions) -> None:
    """Search, and make what was found the query of the session."""
    from ctxasm.retrieval.searching import search

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
    work.give_up(SEARCH)


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
    from ctxasm.retrieval.searching import save_query

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
    _take_asked_for(Session.query_id.key, ids, labels, "question")
    if session.query_id not in labels:
        session.query_id = ids[0]
    if is_hidden:
        hidden = session.query_id = str(session.query_id)  # what no widget draws is forgotten unless it is kept anew
        return hidden
    state.send_again(Session.query_id.key, labels.values())
    query_id: str = st.selectbox(
        "Question", ids, key=Session.query_id.key, format_func=lambda key: labels.get(key, str(key)), on_change=give_up
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _step_buttons(ids, query_id, "query")
        saved_controls(info, query_id)
        st.html(f'<div class="cx cx-side cx-mute" data-query="{escape(query_id)}">{ids.index(query_id) + 1} of {len(ids)}</div>')
    return query_id


def _step_buttons(ids: list[str], query_id: str, key: str) -> None:
    at = ids.index(query_id)
    for sign, name, to in (("←", "previous", at - 1), ("→", "next", at + 1)):
        is_there = 0 <= to < len(ids)
        args = (ids[to] if is_there else query_id,)
        help = f"{name.capitalize()} question"
        st.button(sign, key=f"{name}_{key}", on_click=_go_to, args=args, disabled=not is_there, help=help, width=44)


def offer_steps(info: DatasetInfo, query_id: str) -> None:
    """The way to the questions before and after, for a page whose sidebar is folded away; the style sheet hides it beside the sidebar."""
    ids = [entry.query_id for entry in server.query_list(info)]
    if query_id in ids:
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key="question_steps"):
            _step_buttons(ids, query_id, "question")
            st.html(f'<div class="cx cx-side cx-mute">{ids.index(query_id) + 1} of {len(ids)}</div>')


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


def current_scene(page: str) -> Scene | None:
    """What the frame chose, or None after saying why there is nothing and what to do."""
    trouble = session.trouble
    scene: Scene | None = session.scene
    if trouble:
        show_title(page, "Something is in the way")
        show_trouble(
            "The data cannot be read", trouble, "Nothing was changed. Reload this page when it is fixed; the Load page stays open to you."
        )
    elif scene is None and (info := session.info) is not None and (why := server.unreadable(info)):
        show_title(page, "Something is in the way")
        show_trouble(
            f"Dataset {info.name} cannot be read", why, "Nothing was changed. Other datasets still work; ask again when it is fixed."
        )
        question_box("question_here")
    elif scene is None and session.info is not None:
        show_title(page, "No question yet")
        show_empty("This dataset has no questions yet", "Ask one of your own: it is searched for in the dataset, and can be saved.")
        question_box("question_here")
    elif scene is None:
        show_title(page, "No question yet")
        show_empty("Load a dataset with questions", "Open Load: take the sample with one click, or upload a bundle of your own.")
    if trouble or scene is None or session.info is None:
        return None
    if is_about_a_question(page.lower()):
        offer_steps(session.info, scene.query.query_id)
    return scene


def current_assembly(scene: Scene, explain: bool = False) -> Assembly | None:
    """The assembly of the scene; None where it cannot be had, said here if `explain` (else the budget bar says it)."""
    try:
        return state.assemble_scene(server.workbench(), scene)
    except CtxasmError as error:
        if explain:
            show_failure("The context of this question cannot be assembled", error, scene)
        return None


def show_failure(heading: str, error: CtxasmError, scene: Scene) -> None:
    """What could not be done with the scene, and what still works: not the same where its dataset is gone or the store is."""
    still = "Other questions and settings still work."
    if isinstance(error, StoreUnavailable):
        still = "Nothing was changed. Reload this page when it is fixed."
    elif isinstance(error, NotFound) and all(info.name != scene.dataset for info in server.datasets()):
        still = "Nothing of this dataset can be shown any more. Reload this page for another one, or load it again."
    show_trouble(heading, str(error), still)


def show_page_trouble() -> bool:
    """Say that the store cannot be used, where that is so."""
    try:
        server.workbench().datasets()
    except CtxasmError as error:
        show_trouble("The data cannot be read", str(error), "Nothing was changed. Reload this page when it is fixed.")
        return True
    return False
