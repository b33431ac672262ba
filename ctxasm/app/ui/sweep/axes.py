"""What a sweep tries, on top of the settings of Inspect: four lists in one line, and a list for any other setting that is added."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ctxasm.app.ui.frame.sweep_grid import KEY, LISTED, MORE, addable, is_number, options_of, read_values
from ctxasm.app.ui.frame.title import show_problem
from ctxasm.model.setting_labels import label_of, value_words
from ctxasm.model.settings import AssemblySettings, spec_of
from ctxasm.model.specs import Spec


def choose_axes(start: AssemblySettings) -> dict[str, tuple[Any, ...]] | None:
    """The chosen values by setting; None where a list is empty or has a value that cannot be used, after saying so."""
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="sweep_axes"):
        picked = {name: _picked(spec_of(name)) for name in LISTED}
        added = st.multiselect(
            "Other settings", addable(), key=MORE, format_func=lambda name: label_of(spec_of(name)), persist_state="session", wrap=True
        )
    if added:
        with st.container(horizontal=True, gap="small", vertical_alignment="top", key="sweep_added"):
            picked |= {name: _picked(spec_of(name)) for name in added}
    read = {name: read_values(spec_of(name), values) for name, values in picked.items()}
    if wrong := [problem for _, problems in read.values() for problem in problems]:
        show_problem(wrong[0])
        return None
    if empty := [label_of(spec_of(name)) for name, (values, _) in read.items() if not values]:
        show_problem(f"Choose at least one value: {', '.join(empty)}.")
        return None
    # Without these, nothing of what is tried would have an effect.
    needed: dict[str, Any] = {"enabled": True, "budget_mode": "fixed"}
    chosen = {name: values for name, (values, _) in read.items()}
    return chosen | {name: (value,) for name, value in needed.items() if name not in chosen and getattr(start, name) != value}


def _picked(spec: Spec) -> list[Any]:
    """A list to choose from; a number can be typed."""
    options, before = options_of(spec)
    return st.multiselect(
        label_of(spec),
        options,
        before,
        format_func=lambda value: value_words(spec, value),
        key=f"{KEY}{spec.name}",
        accept_new_options=is_number(spec),
        help=f"Or type one: {spec.allowed}" if is_number(spec) else None,
        persist_state="session",
        select_all=False,
        wrap=True,
    )


def said(name: str, value: Any) -> str:
    """A value of a setting as a person reads it: `4,000`, `drop documents`."""
    return value_words(spec_of(name), value)
