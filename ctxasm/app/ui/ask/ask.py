"""Ask: an answer as a list of claims, each with its verdict, beside the passage that it stands on."""

from __future__ import annotations

import json
from functools import partial
from html import escape
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from ctxasm.app.ui.ask.kept_answers import answers_to, changes, keep, leave_known, relabelled, settle_in_place, stop_all
from ctxasm.app.ui.ask.prompt import asking_controls, prompt_words, show_prompt, show_warnings
from ctxasm.app.ui.ask.reader import reader_data, show_reader
from ctxasm.app.ui.ask.recorded import WHO, is_recorded, keep_recorded
from ctxasm.app.ui.ask.stream import settle, stream
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.conversation import offer_summary, show_turns
from ctxasm.app.ui.frame.gold import keep_marks, show_gold_problem
from ctxasm.app.ui.frame.links import compare_address, hear_clicks
from ctxasm.app.ui.frame.models import LEXICAL, RECHECK, SCORERS, Picked, pick_models
from ctxasm.app.ui.frame.recorded_answers import recorded_answers
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import SENT, Asked, Asking, Attempt, KeptAnswers, Scene
from ctxasm.app.ui.frame.state import unlabelled
from ctxasm.app.ui.frame.stopping import rerun_after_stop
from ctxasm.app.ui.frame.title import show_empty, show_trouble
from ctxasm.app.ui.frame.zones_state import zones_key
from ctxasm.app.ui.inspect.evidence import expected
from ctxasm.app.ui.widgets.chunk_clicks import state_link
from ctxasm.app.ui.widgets.expected import NONE_EXPECTED, marked_key, marked_of
from ctxasm.citations.axes import doubtful
from ctxasm.model.amounts import counted
from ctxasm.model.results import Assembly

KEY_FREE = "The extractive answer needs neither a model nor a key."
BUTTON_WIDTH = 190


def show_ask(scene: Scene, assembly: Assembly) -> None:
    """Ask, read the answer as it comes, then claim by claim beside its sources; what had arrived is never lost."""
    session.runs = session.runs + 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask_line"):
        button = st.empty()
        with st.popover("Change", key="asking"):
            picked = pick_models()
            asking = asking_controls(assembly)
        recheck, line = st.empty(), st.empty()
    show_gold_problem()
    problem = picked.problem or asking.problem
    asked = _asked(scene, picked, asking)
    show_warnings(assembly, asking)
    offer_summary(scene, assembly, picked)
    show_turns(assembly)
    if picked.untyped:
        show_empty("No endpoint yet", f"{problem} They stand under Change. {KEY_FREE}")
    elif problem:
        show_trouble("This model cannot be asked yet", problem, KEY_FREE)
    place = st.empty()
    if session.take(Session.asking) and not problem:
        line.html(_line_html(asked, picked, None))
        button.button("Stop answering", key="stop", on_click=stop_all, width=BUTTON_WIDTH)
        before = answers_to(asked)
        earlier = before.attempts if before is not None and before.asked == asked else ()
        try:
            for attempt in stream(assembly, picked.models, asking, place):
                # Kept before each drawing, because any click ends this run at once.
                keep(asked, assembly, (*earlier, attempt))
        except StopException:
            rerun_after_stop()
            raise
        leave_known(assembly, picked.models, asking, attempt)
    keep_recorded(asked, scene.dataset, assembly)
    kept = answers_to(asked)
    if kept is not None:
        kept = settle_in_place(kept, lambda attempt, of: settle(attempt, of, picked, place))
    label = "Ask again" if kept is not None else "Ask"
    button.button(label, key="ask", on_click=_begin, disabled=bool(problem), type="primary", shortcut="Ctrl+Enter", width=BUTTON_WIDTH)
    recorded = _recorded_html(scene) if kept is None else ""
    line.html(_line_html(asked, picked, kept, assembly.text) + recorded)
    kept = relabelled(kept, scene.query) if kept is not None else None
    _offer_recheck(recheck, kept, picked)
    with place.container():
        marks = expected(scene, kept.assembly) if kept is not None else NONE_EXPECTED
        show_reader(reader_data(kept.assembly if kept else assembly, kept.attempts if kept else (), marks), session.runs)
    hear_clicks(Session.question_clicks, partial(_picked, scene))
    details = st.expander("Prompt and export", key="prompt_and_export", on_change="rerun")
    if details.open:
        with details:
            _download(kept.attempts[-1] if kept else ())
            show_prompt(assembly, asking)


def _begin() -> None:
    session.asking = True


def _offer_recheck(place: Any, kept: KeptAnswers | None, picked: Picked) -> None:
    """What it would cost to have a language model look at the claims that words did not find; the button has it look from then on."""
    from ctxasm.citations.grounds import grounds_of_assembly
    from ctxasm.citations.scorers.judge import prompt_cost

    checks = [told.check for told in kept.attempts[-1] if told.check] if kept is not None and picked.scorer == LEXICAL else []
    claims = [claim.claim.text for check in checks for claim in doubtful(check)]
    if kept is None or not claims:
        return
    with place.popover(f"Re-check {counted(len(claims), 'claim')}", key="recheck"):
        cost = prompt_cost(claims, grounds_of_assembly(kept.assembly).sources, kept.asked.query.query)
        st.markdown(
            f"A language model would look at the claims that words do not find: **{counted(cost.calls, 'call')}, "
            f"about {counted(cost.tokens_in, 'token')}**, and what it replies."
        )
        if not server.workbench().config.has_endpoint:
            st.caption("It needs an endpoint: type one under Change.")
        st.button("Re-check", key="recheck_now", on_click=_recheck, type="primary")


def _picked(scene: Scene, said: str) -> bool:
    """A passage that a claim cites was approved: it is expected from now on; or that was taken back (a callback)."""
    if (key := marked_key(said)) is None:
        return False
    keep_marks(scene, [key], "remove" if key in marked_of(scene.query) else "add", "cited")
    return True


def _recheck() -> None:
    session.scorer_name = RECHECK


def _asked(scene: Scene, picked: Picked, asking: Asking) -> Asked:
    data = (scene.dataset, session.info.dataset_id if session.info else 0, session.loads)
    models = tuple(model.name for model in picked.models)
    return Asked(data, unlabelled(scene.query), scene.settings, zones_key(scene.settings), models, asking)


def _line_html(asked: Asked, picked: Picked, kept: KeptAnswers | None, text: str = "") -> str:
    """Who answers, who checks, how it is asked; and what changed since the answer that is shown. `text` is the context as it is now."""
    models = WHO if kept is not None and is_recorded(kept) else " and ".join(asked.models) or "no model yet"
    scorer = SCORERS.get(picked.scorer, picked.scorer).partition(" (")[0]
    told = " · ".join(filter(None, (models, f"checked by {scorer}", prompt_words(asked.asking))))
    since = changes(kept.asked, asked) if kept is not None and asked.models else ""
    same = " The context is still the same." if kept is not None and kept.assembly.text == text else ""
    note = f'<p id="ctx-since" role="status"><b>◆ Answered with {escape(since)}.</b>{same}</p>' if since else ""
    return f'<div class="cx" id="ctx-asked"><p class="cx-mute cx-small">{escape(told)}</p>{note}</div>'


def _recorded_html(scene: Scene) -> str:
    """Where an answer that came with the data is judged beside what was sent for it; empty where none did."""
    if scene.query.query_id not in recorded_answers(scene.dataset):
        return ""
    link = state_link(compare_address(SENT, scene.settings), "read it beside what was sent")
    return f'<p class="cx cx-small" id="ctx-recorded">An answer is recorded: {link}</p>'


def _download(attempt: Attempt) -> None:
    """The check of the newest answer as JSON; of two models, a list."""
    checks = [told.check.to_dict() | {"model": told.model} for told in attempt if told.check]
    if checks:
        text = json.dumps(checks[0] if len(checks) == 1 else checks, ensure_ascii=False, indent=2)
        st.download_button("Check as JSON", text, "check.json", "application/json", key="check_json", on_click="ignore")
