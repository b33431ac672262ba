"""The controls at the top of Inspect and Ask: window, max tokens, on or off; everything else in a drawer beside the page.

The drawer is drawn only while it is open, and of its groups only those that are: a setting lives in the session's record, and
its widget is only a way to change it. A setting without effect is disabled, never hidden: its help says why.
"""

from __future__ import annotations

import streamlit as st

from ctxasm.app.ui.frame import state
from ctxasm.app.ui.frame.drawer import drawer, open_drawer
from ctxasm.app.ui.frame.pinned import offer_pin
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.setting_widgets import Look, limit_widget, neighbours_widget, note_below, setting_widget, threshold_widget
from ctxasm.app.ui.frame.sharing import copy_link, settings_written
from ctxasm.app.ui.words.idle import idle
from ctxasm.app.ui.words.setting_words import CHOICES, choice_sentence
from ctxasm.model.amounts import counted
from ctxasm.model.presets import PRESET_HELP, PRESETS, preset, preset_of
from ctxasm.model.setting_labels import label_of
from ctxasm.model.settings import AssemblySettings, spec_of, specs
from ctxasm.model.specs import Spec
from ctxasm.model.stage_labels import stage_name

EXPLAINED = ("budget_policy", "ordering", "format")
"""Choices under which the drawer says what the chosen one does."""
GROUPS = ("expand", "deduplicate", "compress", "budget", "zones", "order", "summarise", "supplement", "render", "answer")
"""The stages as groups of settings, in the order of the pipeline; the zones make the budget's limit."""
GROUP_NAMES = {"expand": "Retrieve and expand", "summarise": "Page summaries", "render": "Write"}
"""Groups whose settings say more than the name of their stage."""
SETTINGS = "settings"
"""The drawer of the settings."""
CUSTOM = "custom"


def show_controls(scene: Scene) -> AssemblySettings:
    """Draw the controls, and the drawer where it is open; return the settings and keep the address a link to them."""
    settings = session.now
    look = Look(settings, idle(settings))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="controls"):
        neighbours_widget(look, width=176)
        limit_widget(spec_of("max_tokens"), look)
        setting_widget(spec_of("enabled"), look, width="content")
        rest = sum(not look.leads(spec) for spec in specs())
        st.button(f"All settings ({rest})", key="all_settings", on_click=open_drawer, args=(SETTINGS,), icon=":material/tune:")
        st.button("↶", key="undo", on_click=state.undo, disabled=not session.past, help="Undo the last change (Ctrl+Z)")
        st.button("↷", key="redo", on_click=state.redo, disabled=not session.future, help="Redo (Ctrl+Shift+Z)")
        changed = len(settings.changed())
        help = f"{counted(changed, 'setting')} differ from the defaults" if changed else "All settings stand at their defaults"
        st.button(f"Reset {changed}", key="reset", on_click=state.apply, args=(AssemblySettings(),), disabled=not changed, help=help)
        copy_link(scene, settings)
    if session.drawer == SETTINGS:
        with drawer("All settings"):
            _all_settings(look)
    state.keep_address()
    return settings


def _all_settings(look: Look) -> None:
    """Presets, a search, and a group for each stage of which only an open one is drawn."""
    _preset(look.settings)
    st.text_input("Find a setting", key=Session.find_setting.key, placeholder="a word of its name or help", persist_state="session")
    if wanted := (session.find_setting or "").casefold().split():
        found = [spec for spec in specs() if not look.leads(spec) and all(word in _words_of(spec) for word in wanted)]
        if not found:
            note_below("No setting is called so, and none is explained so.", pull=0)
        for spec in found:
            _widget(spec, look)
    else:
        for stage in GROUPS:
            own = [spec for spec in specs() if spec.stage == stage and not look.leads(spec)]
            group = st.expander(_group_label(stage, own, look), key=f"settings_{stage}", on_change="rerun")
            if group.open:
                with group:
                    _group(own, look)
    settings_written(look.settings)
    offer_pin("pin_in_drawer")


def _words_of(spec: Spec) -> str:
    choices = " ".join(f"{value} {words}" for value, words in CHOICES.get(spec.name, {}).items())
    return f"{spec.name} {label_of(spec)} {spec.help} {choices}".casefold()


def _preset(settings: AssemblySettings) -> None:
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


def _group(own: list[Spec], look: Look) -> None:
    reasons = dict.fromkeys(look.idle[spec.name] for spec in own if spec.name in look.idle)
    if reasons:
        note_below(f"Greyed out is what has no effect now: {'; '.join(reasons)}.", pull=0)
    for spec in own:
        _widget(spec, look)


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
    if spec.name == "semantic_threshold":
        threshold_widget(spec, look)
    else:
        setting_widget(spec, look)
    if spec.name in EXPLAINED and spec.name not in look.idle:
        note_below(choice_sentence(spec.name, getattr(look.settings, spec.name)))
