"""The blind review: two contexts side by side without their names, a choice, and the names at the end."""

from __future__ import annotations

from collections.abc import Mapping
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
from ctxasm.app.ui.widgets.word_diff import shortened, word_diff
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
    # Another order of the same chunks differs in neither tokens nor evidence: then every question is looked at.
    differ = [each.query_id for each in found.questions if each.a != each.b] or [each.query_id for each in found.questions]
    order = shuffled(differ, session.blind_seed)
    asked = None if session.value_of("blind_reveal") else _next(scene, pinned, about, order)
    done = {query_id: who for query_id, who in _choices(about).items() if who != "alike"}
    if asked is None:
        if done:
            _unblinded(about, pinned, done)
        else:
            show_empty("Nothing to choose between", "Every question has the same context under A and B, to the letter.")
        return
    query_id, (a, b) = asked.query.query_id, sides_of(asked, pinned)
    st.html(boxed(f'<p class="cx-decision" dir="auto" id="ctx-asked">{escape(asked.query.query)}</p>'))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="blind_choice"):
        for side, label in BUTTONS.items():
            st.button(label, key=f"blind_{side}", on_click=_choose, args=(about, query_id, side))
        said = f"{plural(len(done), 'question')} judged, {len(order) - len(_choices(about))} to go"
        st.html(boxed(f'<span class="cx-note" role="status" id="ctx-judged">{said}</span>'))
        short = st.toggle("Only what differs", True, key="blind_short")
        st.button("Who is who", key="blind_reveal", disabled=not done, type="tertiary")
    one, other = (a.text, b.text) if is_a_left(query_id, session.blind_seed) else (b.text, a.text)
    st.html(contexts_html(one, other, short))


def _next(scene: Scene, pinned: AssemblySettings, about: tuple[object, ...], order: list[str]) -> Scene | None:
    """The first question that is still to be judged; None after the last. Those with one and the same context are passed over."""
    for query_id in order:
        if query_id in _choices(about):
            continue
        asked = replace(scene, query=server.workbench().query(scene.dataset, query_id))
        try:
            a, b = sides_of(asked, pinned)
        except CtxasmError as error:
            show_problem(f"{query_id}: {error}")
            continue
        if a.text != b.text:
            return asked
        _keep(about, query_id, "alike")
    return None


def contexts_html(left: str, right: str, short: bool) -> str:
    """Both texts, `short`: without what both say far from any difference; what only one says is marked, and neither says whose it is."""
    stretches = shortened(word_diff(left, right)) if short else word_diff(left, right)
    looks = {"same": ("", ""), "changed": ("<mark>", "</mark>"), "skipped": ('<span class="cx-seg-gap">… ', " …</span> ")}

    def side(name: str, at: Literal[1, 2]) -> str:
        body = "".join(f"{looks[each.kind][0]}{escape(each[at])}{looks[each.kind][1]}" for each in stretches if each[at])
        return f'<div class="cx-quote" tabindex="0" role="region" aria-label="{name}" dir="auto"><h3>{name}</h3>{body}</div>'

    return boxed(f'<div class="cx-sides cx-blind">{side("Left", 1)}{side("Right", 2)}</div>', "ctx-blind")


def _choices(about: tuple[object, ...]) -> dict[str, Choice]:
    return dict(session.judged.get(about, {}))


def _choose(about: tuple[object, ...], query_id: str, side: Button) -> None:
    _keep(about, query_id, chosen(query_id, session.blind_seed, side))


def _keep(about: tuple[object, ...], query_id: str, choice: Choice) -> None:
    session.judged = {**session.judged, about: {**_choices(about), query_id: choice}}


def _unblinded(about: tuple[object, ...], pinned: AssemblySettings, choices: Mapping[str, Choice]) -> None:
    st.html(boxed(f'<p class="cx-decision" role="status" id="ctx-unblinded">{escape(verdict(choices).sentence)}</p>'))
    st.html(settings_html(pinned, session.now))
    info = session.info
    words = {entry.query_id: entry.query for entry in server.query_list(info)} if info is not None else {}
    rows = [(escape(words.get(query_id, query_id)), chip(who) if who != "same" else SAID[who]) for query_id, who in choices.items()]
    caption = f"{plural(len(choices), 'question')} judged, seed {session.blind_seed}"
    st.html(boxed(table_html(("Question", "preferred"), rows, caption=caption), "ctx-judgements"))
    with st.container(horizontal=True, gap="small"):
        st.button("Go on", key="blind_go_on")
        st.button("Start again, shuffled anew", key="blind_again", on_click=_again)


def _again() -> None:
    session.blind_seed = session.blind_seed + 1
