"""A: the settings, or the prompt that was sent, that Compare holds the settings of Inspect against. Kept by the session, and part of
its address and of every link."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from ctxasm.app.ui.frame.session import session
from ctxasm.app.ui.frame.session_records import SENT, Pinned
from ctxasm.model.settings import AssemblySettings, specs
from ctxasm.model.settings_text import from_url, to_url

PIN = "a"
"""The URL parameter of A: its settings as they stand in an address of their own, or DEFAULTS."""
DEFAULTS = "default"


def pinned_address(pinned: Pinned | None) -> dict[str, str]:
    """What of an address says A; nothing where none is pinned."""
    if pinned is None or pinned == SENT:
        return {PIN: SENT} if pinned else {}
    return {PIN: urlencode(to_url(pinned)) or DEFAULTS}


def read_pinned(parameters: Mapping[str, str]) -> tuple[Pinned | None, tuple[str, ...]]:
    """A as an address says it, and sentences on what of it cannot be used."""
    text = parameters.get(PIN)
    if text == SENT:
        return SENT, ()
    if text is None or text == DEFAULTS:
        return (None if text is None else AssemblySettings()), ()
    try:
        said = dict(parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=len(specs())))
    except ValueError:
        said = {}
    if not said or said.keys() - {spec.url for spec in specs()}:
        return None, (f"A must be settings as an address has them, w=2&mt=4000, {DEFAULTS} or {SENT}, got {text[:60]!r}",)
    settings, rejected = from_url(said)
    return settings, tuple(f"of A, {error}" for error in rejected)


def pin(settings: Pinned) -> None:
    """Make these A (a callback)."""
    session.pinned = settings


def offer_pin(key: str = "pin") -> None:
    """A button that makes the settings of now A."""
    is_a = session.pinned == session.now
    help = "A on the page Compare: settings that are changed later (B) are held against these"
    label = "Pinned as A" if is_a else "Pin as A"
    st.button(label, key=key, on_click=pin, args=(session.now,), disabled=is_a, help=help, icon=":material/keep:", type="tertiary")
