"""One line of advice under the budget bar: a change that is shown to help on the labelled questions, what it does here, and *Apply*.

The changes are tried in a thread once the page is at rest, and given up as soon as the settings move. Where nothing is shown to help the
place is empty.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.address import compare_address
from ctxasm.app.ui.frame.browser import await_rest
from ctxasm.app.ui.frame.jobs import Job, asked_to_end
from ctxasm.app.ui.frame.session import Scene, session, take
from ctxasm.app.ui.frame.settings_panel import PAGE
from ctxasm.app.ui.frame.work import cancel_work, find_work, start_work
from ctxasm.app.ui.inspect.evidence import states_of
from ctxasm.app.ui.markup import boxed, state_link
from ctxasm.app.ui.words import plain
from ctxasm.model.errors import CtxasmError
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice import Advice, describe_effect
from ctxasm.tuning.engines import needs_this_process
from ctxasm.tuning.evidence import EvidenceState, evidence_text

ADVICE = "advice"
"""The fragment that runs alone when the page has come to rest, and the name of its work."""
LOOK_S = 0.05
"""Seconds between two looks at whether the work has ended, or anything was clicked."""
NOT_TRIED = "No advice: under these settings every trial would ask an embedder or a model."


@fragment(key=ADVICE)
def show_advice(scene: Scene) -> None:
    """The advice, in a place that keeps its height."""
    scene = replace(scene, settings=session.now)
    assembly = state.assemble_scene(server.workbench(), scene)
    at_rest = take("at_rest")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="advice"):
        if needs_this_process((scene.settings,)):
            _draw(NOT_TRIED)
            return
        job = _ended_job(scene, at_rest)
        if job is None:
            _wait(scene)
        elif isinstance(job.error, CtxasmError):
            _draw(f"No advice: {escape(str(job.error))}")
        elif (advice := job.result()) is None:
            _draw("")
        elif (effect := _effect_here(scene, assembly, advice, at_rest)) is None:
            _wait(scene)
        else:
            _offer(advice, effect)


def _draw(inner: str, kind: str = "none") -> None:
    st.html(
        boxed(f'<p class="cx-advice{" cx-mute" if kind != "offer" else ""}" data-advice="{kind}">{inner}</p>', "ctx-advice"),
        width="stretch",
    )


def _wait(scene: Scene) -> None:
    _draw("…", "waits")
    # Counted, because work that a click interrupted waits for rest once more, with nothing else changed.
    await_rest("advice_rest", f"{state.stamp_of(scene)} {session.rests}", _at_rest)


def _at_rest() -> None:
    session.at_rest = True
    session.rests = session.rests + 1


def cancel_outdated(scene: Scene) -> None:
    """Give up work for settings that are left, before the page is drawn: it would slow that down."""
    if find_work(ADVICE, _wanted(scene)) is None:
        cancel_work(ADVICE)


def _wanted(scene: Scene) -> Hashable:
    info = session.info
    return info and info.dataset_id, scene.dataset, session.loads, session.saves, scene.settings


def _ended_job(scene: Scene, at_rest: bool) -> Job | None:
    """The work for these settings, once it has ended: None until then. It begins when the page is at rest."""
    from ctxasm.app import tuned

    wanted = _wanted(scene)
    job = find_work(ADVICE, wanted)
    if job is not None and not job.running:
        return job
    if not at_rest:
        return None
    workbench = server.workbench()
    job = start_work(ADVICE, wanted, lambda _, cancelled: tuned.advice(workbench, scene.settings, scene.dataset, cancelled=cancelled))
    ended = asked_to_end()
    while not job.wait(LOOK_S):
        if ended():
            return None
    return job


def _effect_here(scene: Scene, assembly: Assembly, advice: Advice, at_rest: bool) -> str | None:
    """What the change does to this question; None where it is still to be tried, when the page is at rest."""
    kept = session.advice
    if kept is None or kept[0] is not assembly or kept[1] is not advice:
        if not at_rest:
            return None
        changed = replace(scene, settings=advice.settings)
        after = states_of(changed, state.assemble_anew(server.workbench(), changed))
        kept = session.advice = assembly, advice, describe_effect(states_of(scene, assembly), after, partial(_text, scene))
    return kept[2]


def _text(scene: Scene, piece: EvidenceState) -> str:
    return evidence_text(piece, server.workbench().document_chunks(piece.document_id, scene.dataset))


def _offer(advice: Advice, effect: str) -> None:
    address = compare_address(advice.decision.start, advice.settings, view="all")
    does = f"{escape(effect)}; " if effect else ""
    _draw(f"<b>{escape(advice.name)}</b>: {does}{state_link(address, advice.questions_text())}, {advice.tokens_text()}", "offer")
    label = plain(f"Apply {advice.name[:1].lower()}{advice.name[1:]}")
    help = plain(" ".join(advice.decision.sentences()[:2]))
    st.button(label, key="apply_advice", on_click=apply_advice, args=(advice.settings,), help=help, icon=":material/check:")


def apply_advice(changed: AssemblySettings) -> None:
    """Apply it (a callback): the whole page runs, not only the advice."""
    state.apply(changed)
    st.rerun(PAGE)
