"""The blind review: two contexts side by side without their names, a choice, and the names at the end."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Literal

import streamlit as st

from ctxasm.app.ui.compare.all_questions import compared_set
from ctxasm.app.ui.compare.blind import Choice, chosen, is_a_left, shuffled, verdict
from ctxasm.app.ui.compare.differences import chip, settings_html
from ctxasm.app.ui.compare.sides import sides_of
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_empty, show_problem
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.widgets.word_diff import word_diff
from ctxasm.app.ui.words.words import plural
from ctxasm.model.errors import CtxasmError
from ctxasm.model.settings import AssemblySettings

Button = Literal["left", "same", "right"]
BUTTONS: dict[Button, str] = {"left": "← Left", "same": "No difference", "right": "Right →"}
SAID = {"A": "A", "B": "B", "same": "neither"}


def show_blind_review(scene: Scene, pinned: AssemblySettings) -> None:
    """The next question that nobody has judged; at the end, or on request, who was who."""
    found = compared_set(scene.dataset, pinned, session.now)
    if found is None:
        return
    about = (scene.dataset, session.loads, pinned, session.now, session.blind_seed)
    order = shuffled([each.query_id for each in found.questions if each.a != each.b], session.blind_seed)
    if not order:
        show_empty("Nothing to choose between", "No question has more or fewer tokens or evidence under B than under A.")
        return
    done = _choices(about)
    left = [query_id for query_id in order if query_id not in done]
    if not left or session.value_of("blind_reveal"):
        _unblinded(about, pinned, len(order))
        return
    asked = replace(scene, query=server.workbench().query(scene.dataset, left[0]))
    try:
        a, b = sides_of(asked, pinned)
    except CtxasmError as error:
        show_problem(f"{left[0]}: {error}")
        return
    st.html(boxed(f'<p class="cx-decision" dir="auto" id="ctx-asked">{escape(asked.query.query)}</p>'))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="blind_choice"):
        for side, label in BUTTONS.items():
            st.button(label, key=f"blind_{side}", on_click=_choose, args=(about, left[0], side))
        st.html(boxed(f'<span class="cx-note" role="status" id="ctx-judged">{len(done)} of {plural(len(order), "question")} judged</span>'))
        st.button("Who is who", key="blind_reveal", disabled=not done, type="tertiary")
    one, other = (a.text, b.text) if is_a_left(left[0], session.blind_seed) else (b.text, a.text)
    st.html(contexts_html(one, other))


def contexts_html(left: str, right: str) -> str:
    """Both texts whole, the words that only one of them has marked; neither says whose it is."""
    stretches = word_diff(left, right)

    def side(name: str, at: Literal[1, 2]) -> str:
        body = "".join(
            f"<mark>{escape(each[at])}</mark>" if each.kind == "changed" and each[at] else escape(each[at]) for each in stretches
        )
        return f'<div class="cx-quote" tabindex="0" role="region" aria-label="{name}" dir="auto"><h3>{name}</h3>{body}</div>'

    return boxed(f'<div class="cx-sides cx-blind">{side("Left", 1)}{side("Right", 2)}</div>', "ctx-blind")


def _choices(about: tuple[object, ...]) -> dict[str, Choice]:
    return dict(session.judged.get(about, {}))  # type: ignore[arg-type]


def _choose(about: tuple[object, ...], query_id: str, side: Button) -> None:
    session.judged = {**session.judged, about: {**_choices(about), query_id: chosen(query_id, session.blind_seed, side)}}


def _unblinded(about: tuple[object, ...], pinned: AssemblySettings, count: int) -> None:
    choices = _choices(about)
    st.html(boxed(f'<p class="cx-decision" role="status" id="ctx-unblinded">{escape(verdict(choices).sentence)}</p>'))
    st.html(settings_html(pinned, session.now))
    info = session.info
    words = {entry.query_id: entry.query for entry in server.query_list(info)} if info is not None else {}
    rows = [(escape(words.get(query_id, query_id)), chip(who) if who != "same" else SAID[who]) for query_id, who in choices.items()]
    st.html(
        boxed(
            table_html(("Question", "preferred"), rows, caption=f"{len(choices)} of {count} judged, seed {session.blind_seed}"),
            "ctx-judgements",
        )
    )
    with st.container(horizontal=True, gap="small"):
        if len(choices) < count:
            st.button("Go on", key="blind_go_on")
        st.button("Start again, shuffled anew", key="blind_again", on_click=_again)


def _again() -> None:
    session.blind_seed = session.blind_seed + 1
