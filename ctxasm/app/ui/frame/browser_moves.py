"""A link to another page that follows itself, so that the browser takes the address and every setting along.

`st.switch_page` would first clear the address, which Streamlit refuses where widgets are bound to it. Where the script of the
link does not run, the link itself stays to be clicked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
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


@cache
def _scrolling() -> Callable[..., Any]:
    return st.components.v2.component("ctxasm_scroll", html='<span aria-hidden="true"></span>', js=SCROLL)


def bring_into_view(key: str, turn: int) -> None:
    """Scroll as far as needed to the container of this key, once for each `turn`."""
    _scrolling()(data={"turn": turn, "selector": f".st-key-{key}"}, key=f"scroll_to_{key}", height=1)


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component("ctxasm_follow", html='<span aria-hidden="true"></span>', js=JS)


def follow(page: StreamlitPage, label: str, turn: int) -> None:
    """Draw the link and follow it, once for each `turn`."""
    with st.container(key=KEY):
        st.page_link(page, label=label)
    _component()(data={"turn": turn}, key="follow_the_link", height=1)
