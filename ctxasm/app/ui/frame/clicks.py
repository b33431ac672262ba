"""Clicks on what stands for a chunk, a question or a cell in the HTML of a page: one listener for the page, and none of them is lost.

What is drawn as HTML cannot call back by itself, and is there before its listener: the script of the frame (`assets/clicks.js`) keeps a
click that comes between. Of two values that a listener says while the server is busy the later takes the earlier's place: so it says
every click that it has not been told was heard.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypedDict

from ctxasm.app.ui.frame.session import Widget, session
from ctxasm.app.ui.widgets.chunk_clicks import ClickState
from ctxasm.app.ui.widgets.components import component


class ClickData(TypedDict):
    """What the script reads: the number of the last click that was heard."""

    heard: int


def listen(clicks: Widget[ClickState | None], on_picked: Callable[[str], bool]) -> None:
    """Call `on_picked` with what a clicked element carries: once for each click, in their order (a callback).

    Then the fragment runs that listens; the whole page where `on_picked` says so. It does not ask for that run itself: that would end
    the callback before the clicks that came after.
    """
    data: ClickData = {"heard": session.clicks_heard}
    component("chunk_clicks")(key=clicks.key, data=data, on_picked_change=partial(_hear, clicks, on_picked), height=1)


def _hear(clicks: Widget[ClickState | None], on_picked: Callable[[str], bool]) -> None:
    import streamlit as st

    state, is_whole = session.read(clicks), False
    for number, said in said_clicks(state.picked if state is not None else None):
        if number > session.clicks_heard:
            session.clicks_heard = number
            is_whole = on_picked(said) or is_whole
    if is_whole:
        st.rerun()


def said_clicks(picked: object) -> list[tuple[int, str]]:
    """The clicks; none of what a page cannot have said."""
    pairs = picked if isinstance(picked, list) else []
    return [(pair[0], pair[1]) for pair in pairs if isinstance(pair, list) and list(map(type, pair)) == [int, str]]
