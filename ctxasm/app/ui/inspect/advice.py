"""Advice on the assembly under the budget bar: what was read, what was measured, and a button that applies the change.

Each piece was tried on this very query before it is shown; under compression by a model, where a trial would cost calls, it
says that it was not. The trials stop after a moment: what was found stays.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.advice_words import (
    ADVICE_EXPLAINS,
    SEVERITY_WORDS,
    advice_sentence,
    changes_words,
    effect_words,
    recommended_sentence,
)
from ctxasm.app.ui.words.words import plural
from ctxasm.model.errors import CtxasmError
from ctxasm.model.presets import is_recommended, other_choice
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice import Advice, Effect, advise, measured
from ctxasm.tuning.advice_view import View

FIRST = 3
"""Pieces of advice that stand open; the others fold away."""
PATIENCE = 0.2
"""Seconds of work after which no further change is tried; a busy machine does not shorten it."""


def _costs(scene: Scene) -> bool:
    """Whether assembling this query again would call a model."""
    return scene.settings.enabled and scene.settings.compression == "model"


def _how(scene: Scene) -> str:
    if _costs(scene):
        return ", not tried: compression by a model would cost calls"
    labelled = bool(scene.query.gold or scene.query.spans)
    return f" tried on this query, judged by {'gold evidence' if labelled else 'the rank of the hits: it has no gold evidence'}"


def row_html(advice: Advice, assembly: Assembly) -> str:
    """One piece of advice: its badge, what was read, and what the trial measured."""
    badge = f'<span class="cx-badge{" warn" if advice.severity == "loss" else ""}">{SEVERITY_WORDS[advice.severity]}</span>'
    measured = " · ".join(effect_words(advice.rule, advice.effect)) if advice.effect is not None else "not tried"
    return (
        f'<div data-rule="{advice.rule}">{badge} {escape(advice_sentence(advice, assembly.trace.documents))}'
        f'<br><span class="cx-mute cx-small">With the change: {escape(measured)}</span></div>'
    )


def advice_panel(scene: Scene, assembly: Assembly) -> None:
    """The advice for this assembly, gravest first; one quiet line where nothing that was tried helps."""
    given, recommended = _advice(scene, assembly)
    if not given:
        st.html(boxed('<p class="cx-note cx-small">Advice: nothing that was tried would make this context better.</p>', "ctx-advice"))
        _recommended_row(scene, recommended)
        return
    head = f"Advice <small>{plural(len(given), 'change')}{_how(scene)}. {ADVICE_EXPLAINS}</small>"
    with st.container(gap="small", key="advice"):
        st.html(boxed(f'<h2 class="cx-h" data-advice="{len(given)}">{head}</h2>', "ctx-advice"))
        _rows(scene, assembly, given[:FIRST])
        if rest := given[FIRST:]:
            with st.expander(f"and {plural(len(rest), 'more change')}", key="advice_more"):
                _rows(scene, assembly, rest)
        _recommended_row(scene, recommended)


def _recommended_row(scene: Scene, effect: Effect | None) -> None:
    """What the recommended preset does to this query, or the five stages where it is in use; nothing where neither changes anything."""
    if effect is None:
        return
    takes = is_recommended(scene.settings)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="recommended"):
        st.html(
            boxed(f'<div class="cx-small" data-recommended="{takes}">{escape(recommended_sentence(takes, effect))}</div>'), width="stretch"
        )
        label = "Back to the five stages" if takes else "Use recommended"
        st.button(
            label, key="recommended_or_back", on_click=state.apply, args=(other_choice(scene.settings),), icon=":material/swap_horiz:"
        )


def _rows(scene: Scene, assembly: Assembly, given: Sequence[Advice]) -> None:
    for advice in given:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.html(boxed(row_html(advice, assembly)), width="stretch")
            label = changes_words(advice.changes)
            changed = scene.settings.replace(**advice.changes)
            help = "Apply this change. Undo takes it back."
            st.button(label, key=f"advice_{advice.rule}", on_click=state.apply, args=(changed,), help=help, icon=":material/check:")


def _advice(scene: Scene, assembly: Assembly) -> tuple[tuple[Advice, ...], Effect | None]:
    """The advice on this assembly; the last one of the session is kept, so that a tab that opens tries nothing again."""
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
