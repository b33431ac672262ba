"""Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y) anywhere on the page, except where text is being typed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

JS = """
export default function ({ setTriggerValue }) {
  const listen = event => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase(), at = event.composedPath()[0];
    if (key !== 'z' && key !== 'y') return;
    const kinds = ['range', 'checkbox', 'radio', 'number', 'button'];
    const plain = kinds.includes(at?.type) && !at.closest('[role=combobox], [data-baseweb=select]');
    const typed = at?.tagName === 'TEXTAREA' || at?.isContentEditable || (at?.tagName === 'INPUT' && !plain);
    if (typed) return;
    event.preventDefault();
    setTriggerValue(key === 'y' || event.shiftKey ? 'redo' : 'undo', Date.now());
  };
  document.addEventListener('keydown', listen, true);
  return () => document.removeEventListener('keydown', listen, true);
}
"""


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    return st.components.v2.component("ctxasm_shortcuts", html='<span aria-hidden="true"></span>', js=JS)


def undo_keys(on_undo: Callable[[], None], on_redo: Callable[[], None]) -> None:
    """Listen for the undo and redo keys."""
    _component()(key="undo_keys", on_undo_change=on_undo, on_redo_change=on_redo, height=1)
