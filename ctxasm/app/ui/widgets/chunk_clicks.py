"""Clicks on what stands for a chunk or a cell in the HTML of a page, and on links to another state of the workbench.

One listener for the page: what is drawn as HTML cannot call back by itself. A link that is clicked plainly stays in this tab, and in this
session; with a key held, by the middle button, or before anybody listens, the browser opens it as any other link, in a tab of its own.
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
    const at = event.target.closest?.('[data-pick], a[data-state]');
    if (!at) return;
    if (at.dataset.pick !== undefined) return setTriggerValue('picked', at.dataset.pick);
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    setTriggerValue('followed', at.getAttribute('href'));
  };
  document.addEventListener('click', pick);
  document.documentElement.dataset.chunkClicks = 'heard';
  return () => document.removeEventListener('click', pick);
}
"""


class ClickState(Protocol):
    """What the callback finds under the key of the listener."""

    picked: str | None
    followed: str | None


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    return st.components.v2.component("ctxasm_chunk_clicks", html='<span aria-hidden="true"></span>', js=JS)


def chunk_clicks(key: str, on_picked: Callable[[], None], on_followed: Callable[[], None]) -> None:
    """Listen. The callbacks find a `ClickState` under `key`."""
    _component()(key=key, on_picked_change=on_picked, on_followed_change=on_followed, height=1)


def state_link(address: str, words: str, label: str = "") -> str:
    """A link to another state of the workbench, `./compare?…`; `label` is what it is called where its words do not say it."""
    named = f' aria-label="{escape(label)}"' if label else ""
    return f'<a data-state href="{escape(address)}" target="_blank"{named}>{escape(words)}</a>'


def pick_of(key: Key | str | tuple[str, int, str]) -> str:
    """What an element carries that stands for a chunk (with a word: for a sign at it), or by a text for a cell."""
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
