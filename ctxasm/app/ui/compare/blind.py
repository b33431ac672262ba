"""The blind review: two contexts side by side without their names, shuffled by a seed; a choice, and the names at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.ui.compare.differences import chip, settings_html, sides_of
from ctxasm.app.ui.compare.questions import compared_set, question_words
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.recorded_answers import data_key
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Choice, Scene
from ctxasm.app.ui.frame.title import show_empty, show_problem
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.widgets.word_diff import shortened, word_diff
from ctxasm.citations.effects import remove
from ctxasm.citations.markers import parse_markers
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.kept import key_of
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.statistics.pairs import PairedDifference, paired_difference


def shuffled(query_ids: Sequence[str], seed: int) -> list[str]:
    """The questions in an order that only the seed decides."""
    return sorted(query_ids, key=lambda query_id: key_of("order", str(seed), query_id))


def is_a_left(query_id: str, seed: int) -> bool:
    """Whether A stands on the left: a coin that falls alike for the same seed."""
    return int(key_of("side", str(seed), query_id), 16) % 2 == 0


def chosen(query_id: str, seed: int, side: Literal["left", "right", "same"]) -> Choice:
    """Whose context a click preferred."""
    if side == "same":
        return "same"
    return "A" if is_a_left(query_id, seed) == (side == "left") else "B"


class Verdict(NamedTuple):
    """What the choices come to: `result` is by how much more often B was preferred than A."""

    a: int
    b: int
    same: int
    result: PairedDifference

    @property
    def sentence(self) -> str:
        """In words."""
        judged = self.a + self.b + self.same
        preferred = f"Of {counted(judged, 'question')} B was preferred for {self.b}, A for {self.a}, neither for {self.same}"
        return f"{preferred}: {self.result.sentence()}."


def verdict(choices: Mapping[str, Choice]) -> Verdict:
    """Count them."""
    counts = Counter(choices.values())
    differences = [1] * counts["B"] + [-1] * counts["A"] + [0] * counts["same"]
    return Verdict(counts["A"], counts["B"], counts["same"], paired_difference(differences))


Button = Literal["left", "same", "right"]
BUTTONS: dict[Button, str] = {"left": "← Left", "same": "No difference", "right": "Right →"}
SAID = {"A": "A", "B": "B", "same": "neither"}


CONTEXTS, ANSWERS = "contexts", "answers"
TextsOf = Callable[[str], tuple[str, str]]
"""What is judged of a question, under A and B. Raises CtxasmError."""


def show_blind_review(scene: Scene, pinned: AssemblySettings) -> None:
    """The next question that nobody has judged; at the end, or on request, who was who."""
    found = compared_set(scene.dataset, pinned, session.now)
    if found is None:
        return
    # Another order of the same chunks differs in neither tokens nor evidence: then every question is looked at.
    differ = [each.query_id for each in found.questions if each.a != each.b] or [each.query_id for each in found.questions]
    answers = _answers(scene, pinned)
    what = CONTEXTS
    if answers:
        what = st.segmented_control(
            "Judge", [CONTEXTS, ANSWERS], default=ANSWERS, key="blind_what", format_func=str.capitalize, required=True
        )
    texts_of = answers.__getitem__ if what == ANSWERS else _contexts_of(scene, pinned)
    about = (scene.dataset, session.loads, pinned, session.now, session.blind_seed, what)
    order = shuffled(list(answers) if what == ANSWERS else differ, session.blind_seed)
    is_early = bool(session.value_of("blind_reveal"))
    query_id = None if is_early else _next(texts_of, about, order)
    done = {query_id: who for query_id, who in _choices(about).items() if who != "alike"}
    if query_id is None:
        if done:
            _unblinded(pinned, done, is_early)
        else:
            show_empty("Nothing to choose between", f"The {what} of every question are the same under A and B, to the letter.")
        return
    a, b = texts_of(query_id)
    st.html(boxed(f'<p class="cx-decision" dir="auto" id="ctx-asked">{escape(question_words().get(query_id, query_id))}</p>'))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="blind_choice"):
        for side, label in BUTTONS.items():
            st.button(label, key=f"blind_{side}", on_click=_choose, args=(about, query_id, side))
        said = f"{counted(len(done), 'question')} judged, {len(order) - len(_choices(about))} to go"
        st.html(boxed(f'<span class="cx-note" role="status" id="ctx-judged">{said}</span>'))
        short = st.toggle("Only what differs", True, key="blind_short")
        st.button("Who is who", key="blind_reveal", disabled=not done, type="tertiary")
    one, other = (a, b) if is_a_left(query_id, session.blind_seed) else (b, a)
    st.html(contexts_html(one, other, short))


def _answers(scene: Scene, pinned: AssemblySettings) -> dict[str, tuple[str, str]]:
    """The answers under A and B by question, where all were asked for."""
    kept = session.answered
    if kept is None or (kept[1].a, kept[1].b) != (pinned, session.now):
        return {}
    if kept[0][0] != data_key(scene.dataset):
        return {}
    return {pair.query_id: (_unmarked(pair.a.answer), _unmarked(pair.b.answer)) for pair in kept[1].pairs}


def _unmarked(answer: str) -> str:
    """Without its markers: their numbers are those of another context on either side."""
    return remove(answer, parse_markers(answer)).text


def _contexts_of(scene: Scene, pinned: AssemblySettings) -> TextsOf:
    def texts_of(query_id: str) -> tuple[str, str]:
        asked = replace(scene, query=server.workbench().query(scene.dataset, query_id))
        a, b = sides_of(asked, pinned)
        return a.text, b.text

    return texts_of


def _next(texts_of: TextsOf, about: tuple[object, ...], order: list[str]) -> str | None:
    """The first question that is still to be judged; None after the last. Those whose texts are the same are passed over."""
    for query_id in order:
        if query_id in _choices(about):
            continue
        try:
            a, b = texts_of(query_id)
        except CtxasmError as error:
            show_problem(f"{query_id}: {error}")
            continue
        if a != b:
            return query_id
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


def _unblinded(pinned: AssemblySettings, choices: Mapping[str, Choice], is_early: bool) -> None:
    """Who was who; on request (`is_early`) with the way back to the questions that are still to be judged."""
    st.html(boxed(f'<p class="cx-decision" role="status" id="ctx-unblinded">{escape(verdict(choices).sentence)}</p>'))
    st.html(settings_html(pinned, session.now))
    words = question_words()
    rows = [(escape(words.get(query_id, query_id)), chip(who) if who != "same" else SAID[who]) for query_id, who in choices.items()]
    caption = f"{counted(len(choices), 'question')} judged, seed {session.blind_seed}"
    st.html(boxed(table_html(("Question", "preferred"), rows, caption=caption), "ctx-judgements"))
    with st.container(horizontal=True, gap="small"):
        if is_early:
            st.button("Go on", key="blind_go_on")
        st.button("Start again, shuffled anew", key="blind_again", on_click=_again)


def _again() -> None:
    session.blind_seed = session.blind_seed + 1
