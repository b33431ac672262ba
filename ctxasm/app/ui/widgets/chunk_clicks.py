"""Clicks on what stands for a chunk, a question or a cell in the HTML of a page.

One listener for the page: what is drawn as HTML cannot call back by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any, Protocol

from ctxasm.model.results import Key

JS = """
export default function ({ setTriggerValue }) {
  const pick = event => {
    const at = event.target.closest?.('[data-pick]');
    if (at) setTriggerValue('picked', at.dataset.pick);
  };
  document.addEventListener('click', pick);
  document.documentElement.dataset.chunkClicks = 'heard';
  return () => document.removeEventListener('click', pick);
}
"""


class ClickState(Protocol):
    """What the callback finds under the key of the listener."""

    picked: str | None


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    return st.components.v2.component("ctxasm_chunk_clicks", html='<span aria-hidden="true"></span>', js=JS)


def chunk_clicks(key: str, on_picked: Callable[[], None]) -> None:
    """Listen. The callback finds a `ClickState` under `key`."""
    _component()(key=key, on_picked_change=on_picked, height=1)


def pick_of(key: Key | str | tuple[str, int, str]) -> str:
    """What an element carries that stands for a chunk (with a word: for a sign at it), or by a text for a question or a cell."""
    return f'data-pick="{escape(json.dumps(key))}"'


def at_of(document_id: str, chunk_index: int | None = None) -> str:
    """What an element of the picture carries that stands for a chunk, or for a document, and is no button: the text scrolls to it."""
    at = [document_id] if chunk_index is None else [document_id, chunk_index]
    return f'data-at="{escape(json.dumps(at))}"'


def picked_key(said: str | None) -> Key | None:
    """The chunk that was clicked; None for what a page cannot have drawn."""
    try:
        document_id, index = json.loads(said or "")
    except (TypeError, ValueError):
        return None
    return (document_id, index) if isinstance(document_id, str) and isinstance(index, int) else None


def picked_text(said: str | None) -> str | None:
    """The text of what was clicked; None for what a page cannot have drawn."""
    try:
        text = json.loads(said or "")
    except ValueError:
        return None
    return text if isinstance(text, str) else None
