"""Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y) anywhere on the page, except where text is being typed; and Ctrl+Enter before its button.

Streamlit listens for the shortcut of a button from when the button is drawn, which is after the server has sent it and the
browser has fetched its script. A person presses Ctrl+Enter when the question can be read: that is earlier, by seconds where
either is busy, and the key was lost. So the frame listens from the start, and presses the button as soon as it is there.
A plain script, because a component is fetched later than the question too.
"""

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
ASK_JS = """
(() => {
  if (window.ctxasmAsks) return;
  window.ctxasmAsks = true;
  let waiting = null;
  const here = () => location.pathname.endsWith('/ask');
  const press = () => {
    const button = here() && document.querySelector('.st-key-ask button');
    if (here() && !button) return false;
    waiting?.disconnect();
    waiting = null;
    if (button && !button.disabled) button.click();
    return true;
  };
  window.addEventListener('keydown', event => {
    // Whoever hears the key prevents its default: then there is nothing left to do.
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented || !here()) return;
    if (press() || waiting) return;
    waiting = new MutationObserver(press);
    waiting.observe(document.body, { childList: true, subtree: true });
  });
})();
"""


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    return st.components.v2.component("ctxasm_shortcuts", html='<span aria-hidden="true"></span>', js=JS)


def undo_keys(on_undo: Callable[[], None], on_redo: Callable[[], None]) -> None:
    """Listen for the undo and redo keys."""
    _component()(key="undo_keys", on_undo_change=on_undo, on_redo_change=on_redo, height=1)


def early_ask_key() -> None:
    """Keep a Ctrl+Enter on Ask that comes before its button. The script is a constant: no text of a source may ever be in it."""
    import streamlit as st

    st.html(f"<script>{ASK_JS}</script>", unsafe_allow_javascript=True)
