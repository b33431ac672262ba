"""A range input that reports while it is dragged; `st.slider` reports on release only.

While dragged it sends `live`, the next one as soon as the budget bar shows the last, or a quarter of a second later (asked
for earlier, runs would only queue); a page without a budget bar is left in peace. On release, or by key,
it sends `settled` once. A value that comes from the server moves the handle only when nobody holds it, and not before the
server has caught up with the last release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypedDict

from ctxasm.app.ui.widgets.components import component

WIDTH = 150
"""Of the range in pixels."""
HTML = '<div class="wrap"><input id="range" type="range" aria-label="Max tokens, dragged"><output id="shown" hidden></output></div>'


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
