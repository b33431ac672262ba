"""Widgets for the settings. Each is bound to the URL under its short key; a link is a configuration.

Bound widgets are drawn on every page (a widget that only one page has loses its parameter) and changed in callbacks only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.model.presets import PRESET_HELP, PRESETS, preset, preset_of
from ctxasm.model.settings import AssemblySettings, spec_of, specs
from ctxasm.model.specs import Spec
from ctxasm.ui import state
from ctxasm.ui.live_range import live_range
from ctxasm.ui.words import plural, stage_name

FRAME = ("expand_window", "max_tokens", "oversized", "budget_policy", "ordering", "format", "citation_unit")
"""Settings that the sidebar leads with, where they are choices at all."""
CUSTOM = "custom"
SMALLEST = 0.001
"""The lowest number that a widget takes where the bound itself is excluded."""
LABELS = {
    "enabled": "Assembly on",
    "top_k": "Only the first k hits",
    "expand_window": "Expand window",
    "decay": "Decay of a neighbour's score",
    "decay_mode": "Decay mode",
    "min_overlap_chars": "Strip overlap above (characters)",
    "dedup_exact": "Drop exact duplicates",
    "max_tokens": "Max tokens",
    "budget_scope": "What counts against the limit",
    "oversized": "Oversized best document",
    "encoding": "Token vocabulary",
    "summary_prefix": "Page summaries",
    "summary_template": "Summary template",
    "citation_unit": "One citation number per",
    "gap_mark": "Gap mark",
    "marker_collisions": "Markers inside source text",
    "channel": "Answer channel",
}


def is_choice(spec: Spec) -> bool:
    """Whether a setting has more than one value yet."""
    return spec.kind != "choice" or len(spec.choices) > 1


def settings_controls() -> AssemblySettings:
    """Draw the settings and return what they say."""
    head, body = st.container(gap="small"), st.container(gap="small")
    led = [spec for spec in specs() if spec.name in FRAME and is_choice(spec)]
    others = [spec for spec in specs() if spec.name not in FRAME and is_choice(spec)]
    with body:
        for spec in sorted(led, key=lambda spec: FRAME.index(spec.name)):
            _leading_widget(spec)
        _all_settings(others)
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
    st.session_state["_preset"] = preset_of(settings) or CUSTOM
    st.selectbox(
        "Preset",
        [*PRESETS, CUSTOM] if preset_of(settings) is None else list(PRESETS),
        key="_preset",
        format_func=lambda name: name.replace("_", " "),
        on_change=_take_preset,
        help="\n".join(f"- **{name.replace('_', ' ')}**: {text}" for name, text in PRESET_HELP.items()),
    )


def _take_preset() -> None:
    name = st.session_state["_preset"]
    if name != CUSTOM:
        state.apply(preset(name))


def _marked(spec: Spec) -> str:
    """The label of a setting, with a dot where it differs from its default."""
    label = LABELS.get(spec.name, spec.name.replace("_", " ").capitalize())
    return f"{label} :blue[●]" if st.session_state.get(spec.url, spec.default) != spec.default else label


def _leading_widget(spec: Spec) -> None:
    if spec.name == "max_tokens":
        _max_tokens(spec)
    elif spec.name == "expand_window":
        options = list(range(int(spec.low or 0), int(spec.high or 3) + 1))
        _segmented(spec, options)
    elif spec.kind == "choice" and len(spec.choices) == 2:
        _segmented(spec, spec.choices)
    else:
        setting_widget(spec)


def _segmented(spec: Spec, options: Sequence[Any]) -> None:
    st.segmented_control(
        _marked(spec), options, default=spec.default, required=True, key=spec.url, bind="query-params", help=spec.help, width="stretch"
    )


def _max_tokens(spec: Spec) -> None:
    low, high = int(spec.low or 1), int(spec.high or 16000)
    st.number_input(_marked(spec), low, high, spec.default, 100, key=spec.url, bind="query-params", help=spec.help)
    st.session_state.pop("_settled", None)
    _hand(low, high)


@fragment(key="max_tokens_hand")
def _hand(low: int, high: int) -> None:
    """The range under the hand; a fragment, so that the page is not told of a new run with every step."""
    live_range(st.session_state[spec_of("max_tokens").url], low, high, 100, "max_tokens_range", _drag, _release)


def _drag() -> None:
    """While dragged: only the fragment of the budget bar runs, where there is one."""
    live = int(st.session_state["max_tokens_range"].live)
    if live == st.session_state.get("_released_at"):
        return
    st.session_state["_live"], st.session_state["_released_at"] = live, None
    if st.session_state.get("_budget_shown"):
        st.rerun("budget")


def _release() -> None:
    """Let go: everything runs, and outweighs a step that was sent just before."""
    settled = st.session_state["max_tokens_range"].settled
    if settled is not None:
        # Not into the number box here: the run of this callback ends before the box is drawn, and it would not be told.
        st.session_state["_settled"] = int(settled)
        # The last step of the drag may still be on its way; it is over now, and must not be drawn after the release.
        st.session_state["_released_at"] = int(st.session_state["max_tokens_range"].live)
        st.rerun()


def _all_settings(others: Sequence[Spec]) -> None:
    changed = sum(st.session_state.get(spec.url, spec.default) != spec.default for spec in others)
    label = f"All settings · {changed} changed :blue[●]" if changed else "All settings"
    with st.expander(label, key="all_settings"):
        for stage, group in groupby(others, key=lambda spec: spec.stage):
            st.html(f'<div class="cx cx-stage-h">{stage_name(stage)}</div>')
            for spec in group:
                setting_widget(spec)


def setting_widget(spec: Spec) -> None:
    """The widget of one setting, by its kind."""
    label = _marked(spec)
    bound: dict[str, Any] = {"key": spec.url, "bind": "query-params", "help": spec.help}
    match spec.kind:
        case "bool":
            st.toggle(label, spec.default, **bound)
        case "int":
            low, high = _whole(spec)
            st.number_input(label, low, high, value=spec.default, step=1, placeholder="all" if spec.optional else None, **bound)
        case "float":
            lowest = SMALLEST if spec.open_low else float(spec.low or 0)
            highest = None if spec.high is None else float(spec.high)
            st.number_input(label, lowest, highest, value=spec.default, step=0.05, format="%g", **bound)
        case "choice":
            st.selectbox(label, spec.choices, index=spec.choices.index(spec.default), **bound)
        case "text":
            st.text_input(label, spec.default, max_chars=500, **bound)


def _whole(spec: Spec) -> tuple[int | None, int | None]:
    return (None if spec.low is None else int(spec.low)), (None if spec.high is None else int(spec.high))
