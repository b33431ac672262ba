"""What a sweep tries, on top of the settings of Inspect: four lists in one line, and a list for any other setting that is added."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ctxasm.app.ui.frame.title import show_problem
from ctxasm.model.errors import InvalidInput
from ctxasm.model.setting_labels import label_of, value_words
from ctxasm.model.settings import AssemblySettings, spec_of, specs
from ctxasm.model.settings_text import write
from ctxasm.model.specs import Spec
from ctxasm.tuning.sweep.grid import axes_of

LISTED: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "expand_window": ((0, 1, 2, 3), (0, 1, 2)),
    "max_tokens": ((1000, 2000, 4000, 8000, 16000), (2000, 4000, 8000)),
    "budget_policy": (spec_of("budget_policy").choices, ("drop_documents", "segments")),
    "top_k": ((5, 10, 20, None), (None,)),
}
"""The settings that are always listed: the values that each can be tried at, and those that it is tried at before anybody chose."""
KEY = "sweep_"
"""How the keys of the lists begin."""
MORE = "sweep_more"


def choose_axes(start: AssemblySettings) -> dict[str, tuple[Any, ...]] | None:
    """The chosen values by setting; None where a list is empty or cannot be read, after saying so."""
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="sweep_axes"):
        chosen = {name: _picked(spec_of(name), *values) for name, values in LISTED.items()}
        added = st.multiselect(
            "Other settings", _others(), key=MORE, format_func=lambda name: label_of(spec_of(name)), persist_state="session", wrap=True
        )
    if added:
        with st.container(horizontal=True, gap="small", vertical_alignment="top", key="sweep_added"):
            for name in added:
                try:
                    chosen[name] = _values(spec_of(name))
                except InvalidInput as error:
                    show_problem(str(error))
                    return None
    if empty := [label_of(spec_of(name)) for name, values in chosen.items() if not values]:
        show_problem(f"Choose at least one value: {', '.join(empty)}.")
        return None
    # Without these, nothing of what is tried would have an effect.
    needed: dict[str, Any] = {"enabled": True, "budget_mode": "fixed"}
    return chosen | {name: (value,) for name, value in needed.items() if name not in chosen and getattr(start, name) != value}


def _others() -> list[str]:
    """The settings that may be added: those with words for values; texts are no axis."""
    return [spec.name for spec in specs() if spec.name not in LISTED and spec.kind != "text" and spec.stage not in ("zones", "answer")]


def _values(spec: Spec) -> tuple[Any, ...]:
    """Those of an added setting: all of a choice, or numbers as they are typed. Raises InvalidInput."""
    if spec.kind == "bool":
        return _picked(spec, (True, False), (True, False))
    if spec.kind == "choice":
        return _picked(spec, spec.choices, spec.choices)
    typed = st.text_input(
        label_of(spec), write(spec, spec.default), key=f"{KEY}{spec.name}", persist_state="session", help=f"{spec.allowed}; apart by commas"
    )
    return axes_of([f"{spec.name}={typed}"])[spec.name] if typed.strip() else ()


def _picked(spec: Spec, options: tuple[Any, ...], before: tuple[Any, ...]) -> tuple[Any, ...]:
    picked = st.multiselect(
        label_of(spec),
        options,
        before,
        format_func=lambda value: value_words(spec, value),
        key=f"{KEY}{spec.name}",
        persist_state="session",
        select_all=False,
        wrap=True,
    )
    return tuple(value for value in options if value in picked)


def said(name: str, value: Any) -> str:
    """A value of a setting as a person reads it: `4,000`, `drop documents`."""
    return value_words(spec_of(name), value)
