"""What moves the browser: a link to another page that follows itself, and a scroll to what is new."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict

import streamlit as st

from ctxasm.app.ui.frame.session import session

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.navigation.page import StreamlitPage

KEY = "followed_link"
JS = """
export default function ({ data, parentElement }) {
  if (parentElement.__followed === data.turn) return;
  parentElement.__followed = data.turn;
  const began = performance.now();
  const follow = () => {
    const link = document.querySelector('.st-key-followed_link a');
    if (link) link.click(); else if (performance.now() - began < 3000) requestAnimationFrame(follow);
  };
  follow();
}
"""
SCROLL = """
export default function ({ data }) {
  if (window.__ctxasmShown === data.turn) return;
  window.__ctxasmShown = data.turn;
  const show = () => document.querySelector(data.selector)?.scrollIntoView({ block: 'nearest' });
  // What stood above goes away only when the page is drawn to its end.
  for (const wait of [50, 400, 1200]) setTimeout(show, wait);
}
"""


class FollowData(TypedDict):
    """What the script reads that follows the link."""

    turn: int


class ScrollData(TypedDict):
    """What the script reads that scrolls: what to, as CSS selects it."""

    turn: int
    selector: str


@cache
def _scrolling() -> Callable[..., Any]:
    return st.components.v2.component("ctxasm_scroll", html='<span aria-hidden="true"></span>', js=SCROLL)


def bring_into_view(key: str, turn: int) -> None:
    """Scroll as far as needed to the container of this key, once for each `turn`."""
    data: ScrollData = {"turn": turn, "selector": f".st-key-{key}"}
    _scrolling()(data=data, key=f"scroll_to_{key}", height=1)


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component("ctxasm_follow", html='<span aria-hidden="true"></span>', js=JS)


def follow(page: StreamlitPage | Path, label: str) -> None:
    """Draw the link and follow it, once.

    A run that switched the page by itself would forget the widgets of the frame.
    """
    session.moves = session.moves + 1
    with st.container(key=KEY):
        st.page_link(page, label=label)
    data: FollowData = {"turn": session.moves}
    _component()(data=data, key="follow_the_link", height=1)
