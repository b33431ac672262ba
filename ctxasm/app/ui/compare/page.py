"""The page: A and B in a line, and of them one question, all questions, or a blind review; or the prompt that was sent as A."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from ctxasm.app.ui.compare.answers import show_answers, show_answers_to_one
from ctxasm.app.ui.compare.as_sent import show_as_sent
from ctxasm.app.ui.compare.blind import show_blind_review
from ctxasm.app.ui.compare.differences import bars_html, chunk_rows, contexts_html, figures_html, settings_html, sides_of
from ctxasm.app.ui.compare.questions import show_all_questions
from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.address import COMPARE, View, copy_link, is_blind, keep_address, pin
from ctxasm.app.ui.frame.layout import show_title
from ctxasm.app.ui.frame.server import recorded_answers
from ctxasm.app.ui.frame.session import SENT, Pinned, Scene, session
from ctxasm.app.ui.frame.sidebar import current_scene, show_failure
from ctxasm.app.ui.inspect.budget_bar import budget_bar
from ctxasm.app.ui.inspect.change import compare
from ctxasm.app.ui.markup import boxed
from ctxasm.model.errors import CtxasmError
from ctxasm.model.presets import preset
from ctxasm.model.settings import AssemblySettings


def show_one_question(scene: Scene, pinned: AssemblySettings) -> None:
    """Draw it."""
    workbench, labelled = server.workbench(), scene.query.is_labelled
    try:
        a, b = sides = sides_of(scene, pinned)
    except CtxasmError as error:
        show_failure("This question cannot be assembled both ways", error, scene)
        return
    states = (workbench.evidence(a, scene.dataset), workbench.evidence(b, scene.dataset)) if labelled else ((), ())
    compared = compare(a, b, states)
    st.html(bars_html(budget_bar(a), budget_bar(b), state.stamp_of(scene)))
    st.html(figures_html(compared.deltas) or boxed("", "ctx-figures"))
    show_answers_to_one(scene, sides)
    st.html(contexts_html(chunk_rows(a, b), a.text, b.text, compared.says))


VIEWS: dict[View, str] = {"question": "This question", "all": "All questions", "answers": "Answers", "blind": "Blind review"}
SHOWN: dict[str, Callable[[Scene, AssemblySettings], None]] = {
    "question": show_one_question,
    "all": show_all_questions,
    "answers": show_answers,
    "blind": show_blind_review,
}
HEADINGS = {
    "all": "Does B hold more evidence than A?",
    "answers": "Are the answers under B better than those under A?",
    "blind": "Which context holds the answer better?",
}


def show_compare() -> None:
    """Everything that Compare draws."""
    scene = current_scene("Compare")
    if scene is None:
        return
    pinned, view = session.pinned, session.compare_view
    session.compare_view = view  # a widget that nobody has used yet shows what its key holds
    heading = HEADINGS.get(view, scene.query.query) if pinned != SENT else scene.query.query
    show_title("Compare", heading, stamp=state.stamp_of(scene))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compare_line"):
        if pinned != SENT:
            st.segmented_control(
                "What to compare", list(VIEWS), key="compare_view", format_func=VIEWS.__getitem__, required=True,
                label_visibility="collapsed",
            )  # fmt: skip
        is_named = not is_blind(COMPARE)
        if pinned not in (None, SENT) and is_named:
            st.button("Swap", key="swap", on_click=_swap, icon=":material/swap_horiz:", help="B becomes A, and A becomes B")
        if pinned is not None and is_named:
            with st.popover("Start with …", key="compare_pairs"):
                for name, (a, b) in pairs(scene).items():
                    st.button(name, key=f"pair_{name}", on_click=_take, args=(a, b), width="stretch")
        copy_link(scene, session.now, COMPARE)
    if pinned is None:
        _offer_pin(scene)
    elif pinned != SENT and is_named:
        st.html(settings_html(pinned, session.now))
    keep_address()
    if pinned == SENT:
        show_as_sent(scene)
    elif pinned is not None:
        SHOWN[view](scene, pinned)


def pairs(scene: Scene) -> dict[str, tuple[Pinned, AssemblySettings]]:
    """What can be compared to start with, as A and B."""
    now = session.now
    sent: dict[str, tuple[Pinned, AssemblySettings]] = {"What was sent and these settings": (SENT, now)}
    return (sent if scene.query.query_id in recorded_answers(scene.dataset) else {}) | {
        "Assembly off and on": (now.replace(enabled=False), now.replace(enabled=True)),
        "Defaults and recommended": (AssemblySettings(), preset("recommended")),
    }


def _offer_pin(scene: Scene) -> None:
    says = "Pin settings as A, then change them on Inspect: that is B."
    st.html(f'<div class="cx cx-empty" role="status"><h2>Nothing is pinned yet</h2><p>{escape(says)}</p></div>')
    with st.container(horizontal=True, horizontal_alignment="center", gap="small"):
        st.button("Pin current settings", key="pin_here", on_click=pin, args=(session.now,), icon=":material/keep:")
        for name, (a, b) in pairs(scene).items():
            st.button(name, key=f"first_{name}", on_click=_take, args=(a, b))


def _take(a: Pinned, b: AssemblySettings) -> None:
    pin(a)
    state.apply(b)


def _swap() -> None:
    if session.pinned is not None and session.pinned != SENT:
        _take(session.now, session.pinned)
