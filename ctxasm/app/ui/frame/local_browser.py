"""Whether the browser sits at the machine that serves it: only then may a path or address on that machine be typed into a page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import ip_address

import streamlit as st

from ctxasm.app.hosts import read_hosts

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
