"""The page, all of it above the fold of a laptop: controls, funnel, budget bar, account, advice, the chosen step beside the text.

Every part has a place of its own height, so that nothing jumps when a setting changes; picture and text scroll together, in themselves.
The account stands under the bar until a setting is changed; then what the change did stands there, and the account at the foot.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.runtime.fragment import fragment

from ctxasm.app.ui.frame.controls import show_controls
from ctxasm.app.ui.frame.drawer import DETAILS, EVIDENCE, open_drawer
from ctxasm.app.ui.frame.gold import keep_marks, show_gold_problem
from ctxasm.app.ui.frame.links import hear_clicks
from ctxasm.app.ui.frame.pinned import offer_pin
from ctxasm.app.ui.frame.scenes import current_assembly
from ctxasm.app.ui.frame.session import Session, session
from ctxasm.app.ui.frame.session_records import Scene
from ctxasm.app.ui.frame.setting_widgets import PAGE
from ctxasm.app.ui.frame.state import stamp_of
from ctxasm.app.ui.frame.title import show_query_title
from ctxasm.app.ui.inspect.advice import cancel_outdated, show_advice
from ctxasm.app.ui.inspect.before_after import settle, show_before_after
from ctxasm.app.ui.inspect.budget_bar import show_budget_bar
from ctxasm.app.ui.inspect.closer import follow_chunk, show_closer
from ctxasm.app.ui.inspect.context_text import show_context_text, show_ledger
from ctxasm.app.ui.inspect.evidence import states_of
from ctxasm.app.ui.inspect.funnel import show_funnel, steps
from ctxasm.app.ui.inspect.stages import show_picture
from ctxasm.app.ui.widgets.chunk_clicks import picked_key, picked_text
from ctxasm.app.ui.widgets.expected import OFFER, marked_key, marked_of


@fragment(key=PAGE)
def show_inspect(scene: Scene) -> None:
    """Everything that Inspect draws of a query; a changed setting runs this and nothing of the frame."""
    del session.live
    scene = replace(scene, settings=session.now)
    cancel_outdated(scene)
    stamp, assembly = stamp_of(scene), current_assembly(scene)
    if assembly is not None:
        settle(scene, assembly)
    show_query_title("Inspect", scene, assembly, stamp)
    show_gold_problem()
    show_controls(scene)
    if assembly is None:
        show_budget_bar(scene)
        return
    step = show_funnel(steps(assembly, states_of(scene, assembly)))
    show_budget_bar(scene)
    is_changed = show_before_after(scene, assembly, stamp)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="said"):
        show_advice(scene)
        if is_changed:
            offer_pin()
        st.button("Details", key="details", on_click=open_drawer, args=(DETAILS,), icon=":material/search:", type="tertiary")
    with st.container(horizontal=True, gap="small", key="halves"):
        picture = st.container(key="picture", gap="small")
        show_context_text(assembly, stamp)
        with picture:
            show_picture(step, scene, assembly)
    if is_changed:
        show_ledger(assembly)
    hear_clicks(Session.clicks, partial(_picked, scene))
    show_closer(scene, assembly)


def _picked(scene: Scene, said: str) -> bool:
    """A chunk was clicked, which opens its life; the sign at one, which marks it as expected, or not, for the whole page; or the way to
    gold (a callback).
    """
    if (key := picked_key(said)) is not None:
        follow_chunk(key)
    elif (key := marked_key(said)) is not None:
        keep_marks(scene, [key], "remove" if key in marked_of(scene.query) else "add")
        return True
    elif picked_text(said) == OFFER:
        session.closer, session.drawer = EVIDENCE, DETAILS
    return False
