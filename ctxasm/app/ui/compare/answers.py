"""The answers under A and B: over all questions, begun by a button after what they take is said; and those to one question."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.compare.all_questions import question_words
from ctxasm.app.ui.compare.answer_figures import estimate_words, figures_html, questions_html
from ctxasm.app.ui.compare.asking import Line, asking_line
from ctxasm.app.ui.compare.claim_flips import claims_html
from ctxasm.app.ui.compare.differences import texts_html
from ctxasm.app.ui.compare.sides import Sides, sides_of
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.awaited_work import awaited, give_up
from ctxasm.app.ui.frame.jobs import Job
from ctxasm.app.ui.frame.links import compare_address, hear_clicks
from ctxasm.app.ui.frame.recorded_answers import data_key
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.title import show_problem
from ctxasm.app.ui.load.load_jobs import PATIENCE_S, REDRAWN_S, job_card
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted
from ctxasm.model.errors import CtxasmError
from ctxasm.model.records import Query
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.answering.prompts import PromptChoice
    from ctxasm.answering.sent_tokens import SentTokens
    from ctxasm.model.ports import TokenCounter
    from ctxasm.tuning.compare_answers import AnswerComparison, AnswerEstimate

ESTIMATE, BOTH = "answers_estimate", "ask_both"


def show_answers(scene: Scene, pinned: AssemblySettings) -> None:
    """What asking takes, Start, how far it is, and what came of it."""
    try:
        line = asking_line(sides_of(scene, pinned).b)
    except CtxasmError as error:
        show_problem(str(error))
        return
    if line is None:
        return
    about = about_answers(scene.dataset, pinned, line)
    _take_ended(scene, about)
    job = _job(scene)
    if job is not None:
        fragment(_running, run_every=REDRAWN_S, key="running_answers")(job)
        return
    kept = session.answered
    if kept is None or kept[0] != about:
        if session.answers_problem:
            show_problem(session.answers_problem)
        _offer(scene, pinned, line, about)
        return
    _show(kept[1])


def about_answers(dataset: str, pinned: AssemblySettings, line: Line) -> tuple[Hashable, ...]:
    """What answers are of."""
    return (data_key(dataset), pinned, session.now, line.name, line.prices)


def _key(scene: Scene) -> str:
    return f"answers {scene.dataset}"


def _job(scene: Scene) -> Job | None:
    return next((job for job in server.jobs().seen() if job.key == _key(scene)), None)


def _take_ended(scene: Scene, about: Hashable) -> None:
    job = _job(scene)
    if job is None or job.running:
        return
    server.jobs().dismiss(job)
    give_up(ESTIMATE)  # less is left to ask now
    if isinstance(job.error, CtxasmError):
        session.answers_problem = str(job.error)
    else:
        session.answered = job.result()


def _running(job: Job) -> None:
    if not job.running:
        st.rerun()
    job_card(job)


def _offer(scene: Scene, pinned: AssemblySettings, line: Line, about: tuple[Hashable, ...]) -> None:
    from ctxasm.app.tuned import answer_desk

    workbench, now = server.workbench(), session.now
    try:
        told: AnswerEstimate = awaited(
            ESTIMATE,
            about,
            lambda report, cancelled: answer_desk(workbench, line.how, scene.dataset).estimate(pinned, now, line.prices, report, cancelled),
        )
    except CtxasmError as error:
        show_problem(str(error))
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Ask all questions", key="start_answers", type="primary", icon=":material/play_arrow:"):
            _begin(scene, pinned, line, about)
        st.html(boxed(f'<p class="cx-note" role="status" id="ctx-answers-plan">{escape(estimate_words(told))}</p>'))


def _begin(scene: Scene, pinned: AssemblySettings, line: Line, about: tuple[Hashable, ...]) -> None:
    from ctxasm.app.tuned import answer_desk

    workbench, now, dataset = server.workbench(), session.now, scene.dataset
    session.answers_problem = None
    try:
        job = server.jobs().start(
            _key(scene),
            f"Asking {line.how.model.name} about {dataset}",
            dataset,
            lambda report, cancelled: (
                about,
                answer_desk(workbench, line.how, dataset).compare(pinned, now, line.prices, report, cancelled),
            ),
            about,
        )
    except CtxasmError as error:
        session.answers_problem = str(error)
    else:
        with st.spinner("Asking …", show_time=True):
            job.wait(PATIENCE_S)
    st.rerun()


def _show(found: AnswerComparison) -> None:
    if found.cancelled:
        st.html(
            boxed(
                f'<p class="cx-note" role="status">Cancelled after {counted(len(found.pairs), "question")}; what was answered is kept.</p>'
            )
        )
    if found.failures:
        name, why = next(iter(found.failures.items()))
        show_problem(f"{counted(len(found.failures), 'question')} not answered, {name} among them: {why}")
    if found.cancelled or found.failures:
        st.button("Go on", key="answers_go_on", on_click=_forget)
    if found.pairs:
        st.html(figures_html(found))
        text = json.dumps(found.to_dict(), ensure_ascii=False)
        st.download_button("JSON", text, "answers.json", "application/json", key="answers_json", on_click="ignore")
        st.html(questions_html(found, question_words(), partial(compare_address, found.a, found.b)))
        hear_clicks(Session.question_clicks)


def _forget() -> None:
    session.answered = None
    give_up(ESTIMATE)


class GivenSides:
    """The contexts that the page has already. An `AnswerTools`."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides

    def assemble(self, query: Query, settings: AssemblySettings, choice: PromptChoice) -> Assembly:
        """See `AnswerTools`."""
        return next(side for side in self._sides if side.settings == settings)

    def counter(self, encoding: str) -> TokenCounter:
        """See `AnswerTools`."""
        return server.workbench().counter(encoding)

    def learn(self, model: str, sent: SentTokens | None) -> None:
        """See `AnswerTools`."""
        server.workbench().zones.ratios.learn(model, sent)


def show_answers_to_one(scene: Scene, sides: Sides) -> None:
    """The answers to one question where they are kept: claims whose verdict flipped, then the words that differ; else a way to ask."""
    from ctxasm import __version__
    from ctxasm.tuning.compare_answers import AnswerDesk

    line = asking_line(sides.b)
    if line is None:
        return
    workbench = server.workbench()
    desk = AnswerDesk(GivenSides(sides), [scene.query], line.how, workbench.open_scorer(), __version__, workbench.store)
    a, b = sides.a.settings, sides.b.settings
    about = (*about_answers(scene.dataset, a, line), scene.query)
    try:
        if session.asked_both == about:
            found: AnswerComparison = awaited(
                BOTH, about, lambda report, cancelled: desk.compare(a, b, line.prices, report, cancelled), "Cancel"
            )
            for why in found.failures.values():
                show_problem(why)
        pair = desk.kept_pair(scene.query, a, b)
    except CtxasmError as error:
        show_problem(str(error))
        return
    if pair is None:
        sent = sum(side.token_count for side in sides)
        help = f"The same model and prompt under both: about {number(sent)} tokens to send."
        line.row.button("Ask both", key="ask_both", on_click=_ask_both, args=(about,), help=help, icon=":material/forum:")
        return
    st.html(claims_html(pair))
    st.html(texts_html(pair.a.answer, pair.b.answer, "Answers, word by word", "ctx-answers"))


def _ask_both(about: Hashable) -> None:
    give_up(BOTH)
    session.asked_both = about
