"""What a page asks of the browser: to follow a link, to scroll, to say what was clicked; and whether it runs on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import streamlit as st

from ctxasm.app.hosts import read_hosts
from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.widgets import components
from ctxasm.app.ui.widgets.components import component

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


class ClickData(TypedDict):
    """What the script reads: the number of the last click that was heard."""

    heard: int


def listen(clicks: str, on_picked: Callable[[str], bool]) -> None:
    """Call `on_picked` with what a clicked element carries: once for each click, in their order (a callback).

    Then the fragment runs that listens; the whole page where `on_picked` says so. It does not ask for that run itself: that would end
    the callback before the clicks that came after.
    """
    data: ClickData = {"heard": session.clicks_heard}
    component("chunk_clicks")(key=clicks, data=data, on_picked_change=partial(_hear, clicks, on_picked), height=1)


def _hear(clicks: str, on_picked: Callable[[str], bool]) -> None:
    import streamlit as st

    state, is_whole = getattr(session, clicks), False
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


ASSETS = Path(__file__).parents[1] / "assets"
NAMES = (*(f"{name}.js" for name in components.NAMES), "shortcuts.js", "address.js", "clicks.js", "linked_panes.js")


@cache
def script() -> str:
    """The scripts in one element. They are files of ours: no text of a source may ever be in them."""
    return f"<script>{''.join((ASSETS / name).read_text(encoding='utf-8') for name in NAMES)}</script>"


def run_page_scripts() -> None:
    """Run them, once for each browser: before the address is written, and outside of what a changed setting draws."""
    import streamlit as st

    st.html(script(), unsafe_allow_javascript=True)


FORWARDED = ("x-forwarded-for", "x-forwarded-host", "x-real-ip", "forwarded", "via")
"""Headers by which a proxy tells that the browser is somewhere else."""


def on_this_machine() -> bool:
    """Whether this session's browser is at the server's own machine.

    Never where the server was given names: it is meant for others then, and a proxy that passes on neither the host that was asked for
    nor who asks makes all of them look like this machine.
    """
    if read_hosts(os.environ).named:
        return False
    headers = {name.lower(): value for name, value in st.context.headers.items()}
    return is_local(st.get_option("server.address"), headers, st.context.ip_address)


def is_local(bound_to: str | None, headers: Mapping[str, str], caller: str | None) -> bool:
    """Whether a server that listens on `bound_to` was called from its own machine, by a name of it, without a proxy.

    The name in the address counts too: a page elsewhere can make a browser call 127.0.0.1 under another name. `headers` have
    lower-case names, and those of a browser an origin; `caller` is None for loopback.
    """
    host = headers.get("host")
    is_program = host is not None and "origin" not in headers  # Streamlit does not say where a caller of its agent API is
    if is_program or any(name in headers for name in FORWARDED):
        return False
    return _is_loopback(bound_to) and (caller is None or _is_loopback(caller)) and (host is None or _is_loopback(_without_port(host)))


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host


def _is_loopback(name: str | None) -> bool:
    if name is None:
        return False
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
