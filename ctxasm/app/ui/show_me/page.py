"""The page: all steps under one another. `?step=3` scrolls to the third."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.runtime.caching import cache_resource

from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.browser_moves import bring_into_view
from ctxasm.app.ui.frame.title import show_empty, show_problem, show_title, show_trouble
from ctxasm.app.ui.load.ways import DOCUMENTS, WAY
from ctxasm.app.ui.show_me.steps import benefit_html, question_html, step_html, steps
from ctxasm.app.ui.show_me.story import Story, benefit_settings, tell
from ctxasm.app.workbench import SAMPLE
from ctxasm.config import shipped
from ctxasm.model.errors import InvalidInput, NotFound, StoreUnavailable
from ctxasm.tuning.compare import Comparison

STYLE = Path(__file__).parents[1] / "assets" / "show_me.css"
PARAMETER = "step"
"""In the address: the step to scroll to."""
OWN = {"Your documents": {WAY: DOCUMENTS}, "Your log": {}}
"""The ways on, and what of the address opens their tab of Load: files are what it opens with."""


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
    _show_benefit()
    if asked in known:
        # Below zero: reports of loads, which are scrolled to as well, count upwards from one.
        bring_into_view(f"step_{asked}", -int(asked))


def _show_benefit() -> None:
    """The last sentence, counted anew for each load of the sample, and the ways to one's own data."""
    info = next(info for info in server.datasets() if info.name == SAMPLE)
    with st.container(key="benefit"):
        with st.spinner("Counting over all questions …"):
            st.html(benefit_html(_benefit(server.workbench().config.database_url, info.dataset_id)))
        with st.container(horizontal=True):
            here = {name: value for name, value in st.query_params.to_dict().items() if name != PARAMETER}
            for label, way in OWN.items():
                st.page_link(shipped("pages") / "load.py", label=label, icon=":material/arrow_forward:", query_params={**here, **way})


@cache_resource(max_entries=4, show_spinner=False)
def _benefit(database_url: str, dataset_id: int) -> Comparison:
    from ctxasm.app.tuned import compared

    return compared(server.workbench(), *benefit_settings(), SAMPLE)


def _story() -> Story | None:
    try:
        return tell(server.workbench())
    except (NotFound, InvalidInput):
        show_empty("The sample is not here as it ships", "Open Load, Sample, and load it: one click, no network.")
        return None
    except StoreUnavailable as error:
        show_trouble("The data cannot be read", str(error), "Nothing was changed. Reload this page when it is fixed.")
        return None
