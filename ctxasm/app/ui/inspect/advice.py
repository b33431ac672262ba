"""One line of advice under the budget bar, the gravest: what was read, what was measured, and a button that applies the change.

Each piece was tried on this very query before it is shown; under compression by a model, where a trial would cost calls, it
says that it was not. The trials stop after a moment: what was found stays. After a change they wait until the page is at rest.
"""

from __future__ import annotations

import time
from dataclasses import replace
from html import escape

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.setting_widgets import PAGE
from ctxasm.app.ui.widgets.rest import await_rest
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.advice_words import (
    ADVICE_EXPLAINS,
    SEVERITY_WORDS,
    advice_sentence,
    changes_words,
    effect_words,
    recommended_sentence,
)
from ctxasm.app.ui.words.label_text import plain
from ctxasm.model.errors import CtxasmError
from ctxasm.model.presets import is_recommended, other_choice
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice import Advice, Effect, advise, measured
from ctxasm.tuning.advice_view import View

ADVICE = "advice"
"""The fragment that runs alone when the page has come to rest."""
PATIENCE = 0.2
"""Seconds of work after which no further change is tried; a busy machine does not shorten it."""


def _costs(scene: Scene) -> bool:
    """Whether assembling this query again would call a model."""
    return scene.settings.enabled and scene.settings.compression == "model"


def _how(scene: Scene) -> str:
    if _costs(scene):
        return "Not tried: compression by a model would cost calls."
    labelled = bool(scene.query.gold or scene.query.spans)
    return f"Tried on this query, judged by {'its labelled evidence' if labelled else 'the rank of the hits: no evidence is labelled'}."


def row_html(advice: Advice, assembly: Assembly) -> str:
    """One piece of advice: its badge and what was read."""
    badge = f'<span class="cx-badge{" warn" if advice.severity == "loss" else ""}">{SEVERITY_WORDS[advice.severity]}</span>'
    return f'<p class="cx-advice" data-rule="{advice.rule}">{badge} {escape(advice_sentence(advice, assembly.trace.documents))}</p>'


def help_of_advice(advice: Advice, how: str) -> str:
    """What the button changes, and what the trial measured, as markdown."""
    measured = " · ".join(effect_words(advice.rule, advice.effect)) if advice.effect is not None else "not tried"
    return plain(f"{changes_words(advice.changes)}. Then {measured}. {how} {ADVICE_EXPLAINS} Undo takes it back.")


def _recommended(effect: Effect) -> None:
    """What the recommended preset does to this query, or the five stages where it is in use, and a button that takes it."""
    takes = is_recommended(session.now)
    st.html(boxed(f'<p class="cx-note">{escape(recommended_sentence(takes, effect))}</p>'), width="stretch")
    label = "Back to the five stages" if takes else "Use recommended"
    st.button(label, key="recommended_or_back", on_click=apply_advice, args=(other_choice(session.now),), icon=":material/check:")


def _waits(assembly: Assembly) -> bool:
    """Whether advice on this assembly is still to be worked out: not for the first one, which nobody is changing yet."""
    return session.advice is not None and session.advice[0] is not assembly


@fragment(key=ADVICE)
def show_advice(scene: Scene) -> None:
    """The gravest advice and a way to the others, in a place that keeps its height."""
    assembly = state.assemble_scene(server.workbench(), replace(scene, settings=session.now))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="advice"):
        if _waits(assembly) and not session.take(Session.at_rest):
            st.html(boxed('<p class="cx-advice cx-mute" data-waits="true">…</p>', "ctx-advice"), width="stretch")
            await_rest("advice_rest", state.stamp_of(scene), _at_rest)
            return
        given, recommended = _advice(replace(scene, settings=session.now), assembly)
        if not given:
            quiet = '<p class="cx-advice cx-mute" data-advice="0">Nothing that was tried would make this context better.</p>'
            st.html(boxed(quiet, "ctx-advice"), width="stretch")
        else:
            _row(scene, assembly, given[0], "ctx-advice")
        rest = given[1:]
        if others := len(rest) + (recommended is not None):
            more = st.popover(f"{others} more", key="advice_more", on_change="rerun", type="tertiary")
            if more.open:
                with more:
                    for advice in rest:
                        _row(scene, assembly, advice)
                    if recommended is not None:
                        _recommended(recommended)


def _at_rest() -> None:
    session.at_rest = True


def _row(scene: Scene, assembly: Assembly, advice: Advice, id: str = "") -> None:
    st.html(boxed(row_html(advice, assembly), id), width="stretch")
    changed = session.now.replace(**advice.changes)
    help = help_of_advice(advice, _how(scene))
    st.button("Apply", key=f"advice_{advice.rule}", on_click=apply_advice, args=(changed,), help=help, icon=":material/check:")


def apply_advice(changed: AssemblySettings) -> None:
    """Apply it (a callback): the whole page runs, not only the advice."""
    state.apply(changed)
    st.rerun(PAGE)


def _advice(scene: Scene, assembly: Assembly) -> tuple[tuple[Advice, ...], Effect | None]:
    """The advice on this assembly; the last one of the session is kept, so that a step that is chosen tries nothing again."""
    kept = session.advice
    if kept is None or kept[0] is not assembly:
        kept = (assembly, (_tried(scene, assembly), _difference(scene, assembly)))
        session.advice = kept
    given: tuple[tuple[Advice, ...], Effect | None] = kept[1]
    return given


def _difference(scene: Scene, assembly: Assembly) -> Effect | None:
    """What choosing the other way does to this query; None where the context stays the same, or trying it would call a model."""
    if _costs(scene) or not scene.settings.enabled:
        return None
    workbench = server.workbench()
    try:
        other = state.assemble_anew(workbench, replace(scene, settings=other_choice(scene.settings)))
    except CtxasmError:
        return None
    if other.text == assembly.text:
        return None
    before, after = (measured(View(each, lambda done: workbench.evidence(done, scene.dataset))) for each in (assembly, other))
    return Effect(before, after)


def _tried(scene: Scene, assembly: Assembly) -> tuple[Advice, ...]:
    workbench, until = server.workbench(), time.thread_time() + PATIENCE

    def assemble_with(settings: AssemblySettings) -> Assembly:
        return state.assemble_anew(workbench, replace(scene, settings=settings))

    return advise(
        assembly,
        evidence=lambda other: workbench.evidence(other, scene.dataset),
        assemble_with=None if _costs(scene) else assemble_with,
        cancel=lambda: time.thread_time() > until,
    )
