"""What a sweep tries: three lists in one line, on top of the settings of Inspect."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ctxasm.app.ui.words.words import number
from ctxasm.model.setting_labels import label_of
from ctxasm.model.settings import AssemblySettings, spec_of

PRESET: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "expand_window": ((0, 1, 2, 3), (0, 1, 2)),
    "max_tokens": ((1000, 2000, 4000, 8000, 16000), (2000, 4000, 8000)),
    "budget_policy": (spec_of("budget_policy").choices, ("drop_documents", "segments")),
}
"""The values that each setting can be tried at, and those that it is tried at before anybody chose."""
KEY = "sweep_"
"""How the keys of the lists begin."""


def choose_axes(start: AssemblySettings) -> dict[str, tuple[Any, ...]] | None:
    """The chosen values by setting; None where a list is empty, after saying so."""
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="sweep_axes"):
        chosen = {name: _values(name, *values) for name, values in PRESET.items()}
    if empty := [label_of(spec_of(name)) for name, values in chosen.items() if not values]:
        st.html(f'<div class="cx cx-problem" role="alert">Choose at least one value: {", ".join(empty)}.</div>')
        return None
    # Without these, nothing of what is tried would have an effect.
    needed: dict[str, Any] = {"enabled": True, "budget_mode": "fixed"}
    return chosen | {name: (value,) for name, value in needed.items() if getattr(start, name) != value}


def _values(name: str, options: tuple[Any, ...], before: tuple[Any, ...]) -> tuple[Any, ...]:
    picked = st.multiselect(
        label_of(spec_of(name)), options, before, format_func=said, key=f"{KEY}{name}", persist_state="session", select_all=False, wrap=True
    )
    return tuple(value for value in options if value in picked)


def said(value: Any) -> str:
    """A value as a person reads it: `4 000`, `drop documents`."""
    return number(value) if isinstance(value, int) else str(value).replace("_", " ")
