"""The page's own scripts and components, `assets/NAME.js` and `assets/NAME.css`; and whether the browser runs on this machine."""

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

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage


ASSETS = Path(__file__).parents[1] / "assets"
COMPONENTS = ("live_range", "copy", "chunk_clicks", "rest", "follow", "scroll")
"""Those whose script the page loads once, which puts the function to call under its name: with the script in every message, one changed
setting would send 5 kB more."""
CALL = """
export default c => {
 const run = () => window.ctxasmParts?.NAME;
 return run() ? run()(c) : void setTimeout(() => run()?.(c), 300);
}
"""
"""What is sent instead of the script; a page may draw the component just before the script is there."""


@cache
def component(name: str, html: str = '<span aria-hidden="true"></span>', base: str = "") -> Callable[..., Any]:
    """The component of this name. One that is not in COMPONENTS is sent with its script and style sheet; they extend those of `base`, whose
    own export is left out.
    """
    if name in COMPONENTS:
        return st.components.v2.component(f"ctxasm_{name}", html=html, js=CALL.replace("NAME", name))
    names = (base, name) if base else (name,)
    css, js = ([(ASSETS / f"{each}.{kind}").read_text(encoding="utf-8") for each in names] for kind in ("css", "js"))
    *extended, own = js
    script = "".join(each.partition("export default")[0] for each in extended) + own
    return st.components.v2.component(f"ctxasm_{name}", html=html, css="".join(css), js=script)


WIDTH = 150
"""Of the range in pixels."""
HTML = '<div class="wrap"><input id="range" type="range" aria-label="Max tokens, dragged"><output id="shown" hidden></output></div>'


class RangeData(TypedDict):
    """What the script of the range reads."""

    value: int
    min: int
    max: int
    step: int


def live_range(value: int, low: int, high: int, step: int, key: str, on_live: Callable[[], None], on_settled: Callable[[], None]) -> None:
    """Draw the range at `value`. The callbacks find a `RangeState` under `key`."""
    data: RangeData = {"value": value, "min": low, "max": high, "step": step}
    component("live_range", HTML)(
        data=data,
        default={"live": value},
        key=key,
        on_live_change=on_live,
        on_settled_change=on_settled,
        width=WIDTH,
        height="content",
    )


REST_MS = 500
"""Milliseconds without another change after which the page is at rest."""


class RestData(TypedDict):
    """What the script reads: what is drawn, a change of which begins the wait again, and how long it is."""

    stamp: str
    rest_ms: int


def await_rest(key: str, stamp: str, on_rest: Callable[[], None]) -> None:
    """Call `on_rest` once, and run the fragment that drew this, when `stamp` has stood for `REST_MS`."""
    data: RestData = {"stamp": stamp, "rest_ms": REST_MS}
    component("rest")(key=key, data=data, on_rest_change=on_rest, height=1)


class FollowData(TypedDict):
    """What the script reads that follows the link: once for each `turn`."""

    turn: int


class ScrollData(TypedDict):
    """What the script reads that scrolls: once for each `turn`, to what CSS selects."""

    turn: int
    selector: str


def bring_into_view(key: str, turn: int) -> None:
    """Scroll as far as needed to the container of this key, once for each `turn`."""
    data: ScrollData = {"turn": turn, "selector": f".st-key-{key}"}
    component("scroll")(data=data, key=f"scroll_to_{key}", height=1)


def follow(page: StreamlitPage | Path, label: str) -> None:
    """Draw the link and follow it, once.

    A run that switched the page by itself would forget the widgets of the frame.
    """
    session.moves = session.moves + 1
    with st.container(key="followed_link"):
        st.page_link(page, label=label)
    data: FollowData = {"turn": session.moves}
    component("follow")(data=data, key="follow_the_link", height=1)


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


SCRIPTS = (*COMPONENTS, "shortcuts", "address", "clicks", "linked_panes")


@cache
def script() -> str:
    """The scripts in one element. They are files of ours: no text of a source may ever be in them."""
    return f"<script>{''.join((ASSETS / f'{name}.js').read_text(encoding='utf-8') for name in SCRIPTS)}</script>"


def run_page_scripts() -> None:
    """Run them, once for each browser: before the address is written, and outside of what a changed setting draws."""
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
