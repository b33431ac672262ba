"""The widget of one setting, by its kind: bound to the URL, marked where it differs from the default, disabled where it is idle."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import streamlit as st

from ctxasm.model.settings import AssemblySettings
from ctxasm.model.specs import LARGEST, MAX_TEXT, Spec
from ctxasm.ui.setting_words import help_of, label_of

SMALLEST = 0.001
"""The lowest number that a widget takes where the bound itself is excluded."""
MOST_SEGMENTS = 4
"""Choices that stand side by side; more of them fold into a list."""


class Look(NamedTuple):
    """How the settings are about to be drawn: their values, and the idle ones with the reason."""

    settings: AssemblySettings
    idle: Mapping[str, str]

    def marked(self, spec: Spec) -> str:
        """The label of a setting, with a dot where it differs from its default."""
        label = label_of(spec)
        return f"{label} :blue[●]" if getattr(self.settings, spec.name) != spec.default else label

    def bound(self, spec: Spec) -> dict[str, Any]:
        """What every bound widget is told. A disabled one still binds."""
        why = self.idle.get(spec.name)
        return {"key": spec.url, "bind": "query-params", "help": help_of(spec, why), "disabled": why is not None}


def setting_widget(spec: Spec, look: Look) -> None:
    """Draw the widget of a setting. A format function would write its words into the URL: values are shown as they are."""
    label, bound = look.marked(spec), look.bound(spec)
    match spec.kind:
        case "bool":
            st.toggle(label, spec.default, **bound)
        case "int" if spec.low is not None and spec.high is not None and spec.high - spec.low < MOST_SEGMENTS:
            _segmented(label, list(range(int(spec.low), int(spec.high) + 1)), spec, bound)
        case "int" | "float":
            number_widget(spec, look)
        case "choice" if len(spec.choices) <= MOST_SEGMENTS:
            _segmented(label, list(spec.choices), spec, bound)
        case "choice":
            st.selectbox(label, spec.choices, index=spec.choices.index(spec.default), **bound)
        case "text":
            st.text_input(label, spec.default, max_chars=MAX_TEXT, placeholder="none" if not spec.default else None, **bound)


def note_below(sentence: str, pull: int = 10) -> None:
    """A sentence under a widget, as text and not as markdown, `pull` pixels closer to it than widgets stand apart."""
    st.html(f'<div class="cx cx-side cx-mute" style="margin-top:-{pull}px;line-height:1.4">{escape(sentence)}</div>')


def _segmented(label: str, options: list[Any], spec: Spec, bound: dict[str, Any]) -> None:
    st.segmented_control(label, options, default=spec.default, required=True, width="stretch", **bound)


def number_widget(spec: Spec, look: Look) -> None:
    """A number box. An optional number may be empty; the box then says what stands for it."""
    bound = look.bound(spec) | ({"placeholder": spec.none} if spec.optional else {})
    # Without a bound of its own the widget would take an infinity from a link, and fail on it.
    low, high = -LARGEST if spec.low is None else spec.low, LARGEST if spec.high is None else spec.high
    bounds: dict[str, Any]
    if spec.kind == "int":
        bounds = {"min_value": int(low), "max_value": int(high), "step": _step(spec)}
    else:
        lowest = SMALLEST if spec.open_low else float(low)
        bounds = {"min_value": lowest, "max_value": float(high), "step": 0.01 if high - lowest <= 0.5 else 0.05, "format": "%g"}
    st.number_input(look.marked(spec), value=spec.default, **bounds, **bound)


def _step(spec: Spec) -> int:
    """How far one click goes: a hundred tokens where there are thousands, else one."""
    if spec.name == "max_chars":
        return 500
    return 100 if spec.name.endswith("_tokens") and spec.name != "min_chunk_tokens" else 1
