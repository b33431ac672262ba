"""The page: all steps under one another. `?step=3` scrolls to the third."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.browser_moves import bring_into_view
from ctxasm.app.ui.frame.title import show_empty, show_problem, show_title, show_trouble
from ctxasm.app.ui.show_me.steps import question_html, step_html, steps
from ctxasm.app.ui.show_me.story import Story, tell
from ctxasm.model.errors import InvalidInput, NotFound, StoreUnavailable

STYLE = Path(__file__).parents[1] / "assets" / "show_me.css"
PARAMETER = "step"
"""In the address: the step to scroll to."""


def show_steps() -> None:
    """Everything that Show me draws."""
    show_title(
        "Show me",
        "What you retrieve is not what the model reads",
        "Search finds pieces of pages; assembly makes of them what a model reads. Five steps, worked out now, no model needed.",
    )
    story = _story()
    if story is None:
        return
    st.html(STYLE)
    drawn = steps(story)
    asked, known = st.query_params.get(PARAMETER), [str(at) for at in range(1, len(drawn) + 1)]
    if asked is not None and asked not in known:
        show_problem(f"{PARAMETER} must be one of {', '.join(known)}, got {asked[:60]!r}")
    st.html(question_html(story))
    for at, step in enumerate(drawn, 1):
        with st.container(key=f"step_{at}"):
            st.html(step_html(at, step))
    if asked in known:
        # Below zero: reports of loads, which are scrolled to as well, count upwards from one.
        bring_into_view(f"step_{asked}", -int(asked))


def _story() -> Story | None:
    try:
        return tell(server.workbench())
    except (NotFound, InvalidInput):
        show_empty("The sample is not here as it ships", "Open Load, Sample, and load it: one click, no network.")
        return None
    except StoreUnavailable as error:
        show_trouble("The data cannot be read", str(error), "Nothing was changed. Reload this page when it is fixed.")
        return None
