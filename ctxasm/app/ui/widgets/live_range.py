"""A range input that reports while it is dragged; `st.slider` reports on release only.

While dragged it sends `live`, the next one as soon as the budget bar shows the last, or a quarter of a second later (asked
for earlier, runs would only queue); a page without a budget bar is left in peace. On release, or by key,
it sends `settled` once. A value that comes from the server moves the handle only when nobody holds it, and not before the
server has caught up with the last release.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, TypedDict

WIDTH = 150
"""Of the range in pixels."""
HTML = '<div class="wrap"><input id="range" type="range" aria-label="Max tokens, dragged"><output id="shown" hidden></output></div>'
CSS = """
.wrap { position: relative; height: 38px; font-family: var(--st-font); color: var(--st-text-color); }
input { display: block; width: 100%; height: 100%; margin: 0; accent-color: var(--st-primary-color); cursor: grab; }
input:active { cursor: grabbing; }
input:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; border-radius: 4px; }
output {
  position: absolute; inset: -8px 0 auto; pointer-events: none;
  font-size: 13px; font-variant-numeric: tabular-nums; text-align: center;
}
"""
JS = """
export default function (component) {
  const { data, parentElement, setStateValue, setTriggerValue } = component;
  const range = parentElement.querySelector('#range'), shown = parentElement.querySelector('#shown');
  const own = (range.__own ??= { held: false, busy: false, waitingFor: null, frame: 0, patience: 0 });
  const show = () => {
    shown.value = Number(range.value).toLocaleString('en');
    shown.hidden = !own.held;
    range.setAttribute('aria-valuetext', range.value + ' tokens');
  };
  const follow = () => { own.waitingFor = null; range.value = data.value; show(); };
  Object.assign(range, { min: data.min, max: data.max, step: data.step });
  if (own.waitingFor === null || own.waitingFor === data.value) { if (!own.held) follow(); }
  clearTimeout(own.patience);
  own.patience = setTimeout(() => { if (!own.held) follow(); }, 1500);
  show();
  const bar = () => document.getElementById('ctx-budget');
  const emit = () => {
    if (!bar() || !own.held) return;
    const sent = range.value, began = performance.now();
    own.busy = true;
    setStateValue('live', +sent);
    const wait = () => {
      if (bar()?.dataset.limit !== sent && performance.now() - began < 250) { own.frame = requestAnimationFrame(wait); return; }
      own.busy = false;
      if (range.value !== sent) emit();
    };
    own.frame = requestAnimationFrame(wait);
  };
  range.onpointerdown = () => { own.held = true; };
  range.onpointerup = range.onpointercancel = () => { own.held = false; };
  range.oninput = () => { show(); if (own.held && !own.busy) emit(); };
  range.onchange = () => {
    cancelAnimationFrame(own.frame); clearTimeout(own.patience);
    own.held = own.busy = false; own.waitingFor = +range.value;
    setTriggerValue('settled', +range.value);
  };
}
"""


class RangeData(TypedDict):
    """What the script of the range reads."""

    value: int
    min: int
    max: int
    step: int


class RangeState(Protocol):
    """What the callbacks find under the key of the range."""

    live: int
    settled: int | None


@cache
def _component() -> Callable[..., Any]:
    import streamlit as st

    return st.components.v2.component("ctxasm_live_range", html=HTML, css=CSS, js=JS)


def live_range(value: int, low: int, high: int, step: int, key: str, on_live: Callable[[], None], on_settled: Callable[[], None]) -> None:
    """Draw the range at `value`. The callbacks find a `RangeState` under `key`."""
    data: RangeData = {"value": value, "min": low, "max": high, "step": step}
    _component()(
        data=data,
        default={"live": value},
        key=key,
        on_live_change=on_live,
        on_settled_change=on_settled,
        width=WIDTH,
        height="content",
    )
