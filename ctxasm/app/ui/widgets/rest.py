"""The moment when a person has stopped changing things, and the page has answered.

It is drawn by what waits for it, so that the run it asks for is that fragment's own. Asked for in a callback instead, the run of one
fragment would take the place of the run that a click of the same moment is owed, and the click would seem lost. For the same reason it
comes neither just after a click nor while a run goes on: where the run of one fragment follows that of another at once, Streamlit may
tell the browser that the first was interrupted, and what it no longer draws stays on the page.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypedDict

REST_MS = 500
"""Milliseconds without another change after which the page is at rest."""
JS = """
const TOUCHES = ['pointerdown', 'keydown', 'click'];
export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.__stop?.();
  let timer = 0;
  const isBusy = () => (document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState ?? 'notRunning') !== 'notRunning';
  const wait = () => { clearTimeout(timer); timer = setTimeout(() => isBusy() ? wait() : rest(), data.rest_ms); };
  const stop = () => { clearTimeout(timer); TOUCHES.forEach(touch => document.removeEventListener(touch, wait, true)); };
  const rest = () => { stop(); setTriggerValue('rest', data.stamp); };
  TOUCHES.forEach(touch => document.addEventListener(touch, wait, true));
  wait();
  parentElement.__stop = stop;
  return stop;
}
"""


class RestData(TypedDict):
    """What the script reads: what is drawn, a change of which begins the wait again, and how long it is."""

    stamp: str
    rest_ms: int


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    return st.components.v2.component("ctxasm_rest", html='<span aria-hidden="true"></span>', js=JS)


def await_rest(key: str, stamp: str, on_rest: Callable[[], None]) -> None:
    """Call `on_rest` once, and run the fragment that drew this, when `stamp` has stood for `REST_MS`."""
    data: RestData = {"stamp": stamp, "rest_ms": REST_MS}
    _component()(key=key, data=data, on_rest_change=on_rest, height=1)
