"""The settings in the sidebar: what leads, then a group per stage in the order of the pipeline.

Every widget is bound to the URL under its short key; a link is a configuration. Bound widgets are drawn on every page (a
widget that only one page has loses its parameter), so a setting without effect is disabled, never hidden: its help says why.
"""

from __future__ import annotations

import streamlit as st

from ctxasm.app.ui.frame import state
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.setting_widgets import Look, limit_widget, note_below, setting_widget, threshold_widget
from ctxasm.app.ui.frame.title import boundary_badge
from ctxasm.app.ui.words.idle import idle
from ctxasm.app.ui.words.setting_words import NO_BOUNDARIES, choice_sentence
from ctxasm.app.ui.words.words import plural, stage_name
from ctxasm.model.presets import PRESET_HELP, PRESETS, preset, preset_of
from ctxasm.model.settings import AssemblySettings, spec_of, specs
from ctxasm.model.specs import Spec

LEADING = ("expand_window", "max_tokens", "budget_policy", "oversized", "ordering", "format", "citation_unit")
"""Settings that the sidebar leads with; one that the policy does not use stands in its group."""
EXPLAINED = ("budget_policy", "ordering", "format")
"""Leading choices under which the sidebar says what the chosen one does."""
GROUPS = ("expand", "deduplicate", "compress", "budget", "zones", "order", "summarise", "supplement", "render", "answer")
"""The stages as groups of settings, in the order of the pipeline; the zones make the budget's limit."""
GROUP_NAMES = {"expand": "Retrieve and expand", "order": "Order level", "summarise": "Page summaries", "render": "Write"}
"""Groups whose settings say more than the name of their stage."""
CUSTOM = "custom"


def settings_controls() -> AssemblySettings:
    """Draw the settings and return what they say."""
    head, body = st.container(gap="small"), st.container(gap="small")
    before = state.settings_about_to_be_drawn()
    look = Look(before, idle(before))
    with body:
        _leading(look)
        _groups(look)
        _dots(look)
    settings, problems = state.settings_in_widgets()
    state.remember(settings)
    with head:
        _head(settings)
    for problem in problems:
        body.error(f"{problem}; the default stays in use.", icon="⚠️")
    return settings


def _head(settings: AssemblySettings) -> None:
    changed = settings.changed()
    st.html(f'<div class="cx cx-side-h"><span>Settings</span><span data-changed="{len(changed)}">{len(changed)} changed</span></div>')
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button("↶", key="undo", on_click=state.undo, disabled=not state.can_undo(), help="Undo the last change (Ctrl+Z)", width=44)
        st.button("↷", key="redo", on_click=state.redo, disabled=not state.can_redo(), help="Redo (Ctrl+Shift+Z)", width=44)
        label = f"Reset {plural(len(changed), 'change')}" if changed else "All defaults"
        st.button(label, key="reset", on_click=state.apply, args=(AssemblySettings(),), disabled=not changed, width="stretch")
    session.preset = preset_of(settings) or CUSTOM
    st.selectbox(
        "Preset",
        [*PRESETS, CUSTOM] if preset_of(settings) is None else list(PRESETS),
        key=Session.preset.key,
        format_func=lambda name: name.replace("_", " "),
        on_change=_take_preset,
        help="\n".join(f"- **{name.replace('_', ' ')}**: {text}" for name, text in PRESET_HELP.items()),
    )


def _take_preset() -> None:
    name = session.preset
    if name != CUSTOM:
        state.apply(preset(name))


def _leads(spec: Spec, look: Look) -> bool:
    return spec.name in LEADING and not (spec.name == "oversized" and look.settings.budget_policy != "drop_documents")


def _leading(look: Look) -> None:
    setting_widget(spec_of("enabled"), look)
    for spec in map(spec_of, LEADING):
        if not _leads(spec, look):
            continue
        _widget(spec, look)
        why = look.idle.get(spec.name)
        if spec.name == "max_tokens" and why:
            note_below(f"No effect now: {why}.")
        if spec.name in EXPLAINED and not why:
            note_below(choice_sentence(spec.name, getattr(look.settings, spec.name)))
        if spec.name == "format" and look.settings.format in NO_BOUNDARIES:
            st.html(f'<div class="cx cx-side" id="ctx-boundaries">{boundary_badge()}</div>')


def _groups(look: Look) -> None:
    with st.container(gap="xsmall"):
        for stage in GROUPS:
            own = [spec for spec in specs() if spec.stage == stage and not _leads(spec, look)]
            with st.expander(_group_label(stage, own, look), key=f"settings_{stage}"):
                reasons = dict.fromkeys(look.idle[spec.name] for spec in own if spec.name in look.idle)
                if reasons:
                    note_below(f"Greyed out is what has no effect now: {'; '.join(reasons)}.", pull=0)
                for spec in own:
                    _widget(spec, look)


def _dots(look: Look) -> None:
    """A dot before the label of every changed setting, as style: in the label itself it would be read aloud."""
    changed = [f".st-key-{spec.url} label p::before" for spec in specs() if look.is_changed(spec)]
    if changed:
        st.html(f'<style>{", ".join(changed)} {{ content: "● " / ""; color: light-dark(#005f94, #7cc7f2); }}</style>')


def group_name(stage: str) -> str:
    """What a group of settings is called."""
    return GROUP_NAMES.get(stage, stage_name(stage))


def _group_label(stage: str, own: list[Spec], look: Look) -> str:
    """The group, and how many of its settings differ from the default; grey where none of them has an effect."""
    changed = sum(map(look.is_changed, own))
    name = group_name(stage)
    if all(spec.name in look.idle for spec in own):
        name = f":gray[{name} · no effect now]"
    return f"{name} · {changed} changed :blue[●]" if changed else name


def _widget(spec: Spec, look: Look) -> None:
    match spec.name:
        case "max_tokens":
            limit_widget(spec, look)
        case "semantic_threshold":
            threshold_widget(spec, look)
        case _:
            setting_widget(spec, look)
