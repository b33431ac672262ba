"""One line of advice under the budget bar, the gravest: what was read, what was measured, and a button that applies the change.

Each piece was tried on this very query before it is shown, and counted on all labelled questions: what would not help the others is not
given, and where there are none it says that it explains this query alone. Under compression by a model, where a trial would cost calls, it
says that it was not. The trials stop after a moment: what was found stays. After a change they wait until the page is at rest.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame import server, state
from ctxasm.app.ui.frame.links import compare_address
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.setting_widgets import PAGE
from ctxasm.app.ui.inspect.advice_set import Effects, counted
from ctxasm.app.ui.widgets.chunk_clicks import state_link
from ctxasm.app.ui.widgets.rest import await_rest
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.advice_words import (
    ADVICE_EXPLAINS,
    SEVERITY_WORDS,
    THIS_QUERY,
    advice_sentence,
    changes_words,
    effect_words,
    recommended_sentence,
    set_words,
)
from ctxasm.app.ui.words.words import plain
from ctxasm.model.errors import CtxasmError
from ctxasm.model.presets import is_recommended, other_choice
from ctxasm.model.results import Assembly
from ctxasm.model.settings import AssemblySettings
from ctxasm.tuning.advice import Advice, Effect, advise, measured
from ctxasm.tuning.advice_set import SetEffect
from ctxasm.tuning.advice_view import View

ADVICE = "advice"
"""The fragment that runs alone when the page has come to rest."""
NOTHING_HELPS = "Nothing that was tried would make this context better."
PATIENCE = 0.2
"""Seconds of work after which no further change is tried; a busy machine does not shorten it."""


def _costs(scene: Scene) -> bool:
    """Whether assembling this query again would call a model."""
    return scene.settings.enabled and scene.settings.compression == "model"


def _how(scene: Scene) -> str:
    if _costs(scene):
        return "Not tried: compression by a model would cost calls."
    labelled = scene.query.is_labelled
    return f"Tried on this query, judged by {'its labelled evidence' if labelled else 'the rank of the hits: no evidence is labelled'}."


def row_html(advice: Advice, assembly: Assembly, alone: bool = False) -> str:
    """One piece of advice: its badge and what was read; `alone`: no other question can tell whether it helps."""
    badge = f'<span class="cx-badge{" warn" if advice.severity == "loss" else ""}">{SEVERITY_WORDS[advice.severity]}</span>'
    rest = f' <span class="cx-mute">{THIS_QUERY}</span>' if alone else ""
    return f'<p class="cx-advice" data-rule="{advice.rule}">{badge} {escape(advice_sentence(advice, assembly.trace.documents))}{rest}</p>'


def help_of_advice(advice: Advice, how: str, on_the_set: str = "") -> str:
    """What the button changes, and what the trial measured, here and on the set, as markdown."""
    measured = " · ".join(effect_words(advice.rule, advice.effect)) if advice.effect is not None else "not tried"
    others = f"Over all it {on_the_set}." if on_the_set else ADVICE_EXPLAINS
    return plain(f"{changes_words(advice.changes)}. Then {measured}. {how} {others} Undo takes it back.")


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
    """The gravest advice that helps other questions as well, and a way to the others, in a place that keeps its height."""
    scene = replace(scene, settings=session.now)
    assembly = state.assemble_scene(server.workbench(), scene)
    at_rest = session.take(Session.at_rest)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="advice"):
        if _waits(assembly) and not at_rest:
            _wait(scene)
            return
        tried, recommended = _advice(scene, assembly)
        effects, pending = counted(scene, tried, at_rest)
        if pending and not at_rest:
            _wait(scene)
            return
        given = tried if effects is None else tuple(each for each in tried if _helps_others(scene, each, effects))
        if not given:
            silent = "Nothing that was tried would help the other questions." if tried else NOTHING_HELPS
            quiet = f'<p class="cx-advice cx-mute" data-advice="0">{silent}</p>'
            st.html(boxed(quiet, "ctx-advice"), width="stretch")
        else:
            alone = effects is None and not pending
            st.html(boxed(row_html(given[0], assembly, alone), "ctx-advice"), width="stretch")
        _more(scene, assembly, given, recommended, effects)
        if given:
            # Last, though it stands before it: what comes at the end of the line must not push it aside.
            _offer_apply(scene, given[0], effects)


def _wait(scene: Scene) -> None:
    st.html(boxed('<p class="cx-advice cx-mute" data-waits="true">…</p>', "ctx-advice"), width="stretch")
    # Counted, because a count that a click ended waits for rest once more, with nothing else changed.
    await_rest("advice_rest", f"{state.stamp_of(scene)} {session.rests}", _at_rest)


def _at_rest() -> None:
    session.at_rest = True
    session.rests = session.rests + 1


def _helps_others(scene: Scene, advice: Advice, effects: Effects) -> bool:
    return _effect(scene, advice, effects).helps_others(advice.severity, scene.query.query_id)


def _effect(scene: Scene, advice: Advice, effects: Effects) -> SetEffect:
    return effects[scene.settings.replace(**advice.changes)]


def _more(scene: Scene, assembly: Assembly, given: Sequence[Advice], recommended: Effect | None, effects: Effects | None) -> None:
    """What the first piece does to the set, with the way to its questions; then the other pieces."""
    rest, first = given[1:], given[0] if given and effects is not None else None
    others = len(rest) + (recommended is not None)
    label = set_words(first.severity, _effect(scene, first, effects)) if first is not None and effects is not None else ""
    label = " · ".join(filter(None, (label, f"{others} more" if others else "")))
    if not label:
        return
    more = st.popover(label, key="advice_more", on_change="rerun", type="tertiary")
    if more.open:
        with more:
            if first is not None and effects is not None:
                _ways(scene, first, _effect(scene, first, effects))
            for advice in rest:
                st.html(boxed(row_html(advice, assembly, effects is None)), width="stretch")
                _offer_apply(scene, advice, effects)
            if recommended is not None:
                _recommended(recommended)


def _ways(scene: Scene, advice: Advice, effect: SetEffect) -> None:
    """To the questions that it helps, and those that it hurts, on Compare."""
    now, changed = scene.settings, scene.settings.replace(**advice.changes)
    ways = (("better", f"the {len(effect.better)} it helps", effect.better), ("worse", f"the {len(effect.worse)} it hurts", effect.worse))
    links = [state_link(compare_address(now, changed, view="all", only=only), label) for only, label, found in ways if found]
    if links:
        st.html(boxed(f'<p class="cx-note" id="ctx-ways">Compare {", ".join(links)}</p>'))


def _offer_apply(scene: Scene, advice: Advice, effects: Effects | None) -> None:
    changed = scene.settings.replace(**advice.changes)
    on_the_set = "" if effects is None else set_words(advice.severity, effects[changed])
    help = help_of_advice(advice, _how(scene), on_the_set)
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
