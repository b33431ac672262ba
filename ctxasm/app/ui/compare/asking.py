"""Who is asked under A and B, and how: the pickers of Ask, in a line."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from ctxasm.app.ui.ask.page import asking_controls, prompt_words
from ctxasm.app.ui.frame.models import pick_models
from ctxasm.app.ui.frame.title import show_problem
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.model.results import Assembly

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from ctxasm.tuning.compare_answers import How, Prices


class Line(NamedTuple):
    """How to ask, what a million tokens cost, and the row for a button. `name` is the same where the same is asked: it holds no key."""

    how: How
    prices: Prices
    name: tuple[object, ...]
    row: DeltaGenerator


def asking_line(assembly: Assembly) -> Line | None:
    """Draw the line; None where the model cannot be asked, which is said."""
    from ctxasm.tuning.compare_answers import How, Prices

    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with row:
        with st.popover("Change", key="compare_asking"):
            picked = pick_models()
            asking = asking_controls(assembly)
            with st.container(horizontal=True, gap="small"):
                sent = st.number_input(
                    "Price of a million tokens sent", 0.0, 1e6, 0.0, key="price_sent", persist_state="session", width=230
                )
                written = st.number_input("… written", 0.0, 1e6, 0.0, key="price_written", persist_state="session", width=150)
        problem = picked.problem or asking.problem
        if problem:
            show_problem(problem)
            return None
        model = picked.models[0]
        told = ", ".join(filter(None, (model.name, prompt_words(asking))))
        st.html(boxed(f'<p class="cx-mute cx-small" id="ctx-asked-by">{escape(told)}</p>'))
    how = How(model, asking.choice, asking.temperature, asking.max_tokens)
    return Line(how, Prices(sent, written), (model.name, asking), row)
