"""The cell that was clicked: what it holds, the questions that flip between it and another one, and where both open. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING

from ctxasm.app.ui.sweep.heatmap import values_of, varied
from ctxasm.app.ui.widgets.chunk_clicks import state_link
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted
from ctxasm.model.setting_labels import named

if TYPE_CHECKING:
    from ctxasm.tuning.sweep_results import SweepResult

LinkOf = Callable[[str | None], str]
"""The address of Compare, of the other cell and this one: on a question, or on all of them."""
MOST = 12
"""Questions that are linked on either side."""


def cell_html(found: SweepResult, at: int, against: int, words: Mapping[str, str], inspected: str, link_of: LinkOf) -> str:
    """What the clicked cell gains and loses against another one. `inspected` is the address of Inspect with its settings."""
    row, names = found.rows()[at], varied(found)
    settings, other = found.settings[at], found.settings[against]
    gained, lost = found.flips(at, against)
    whose = "your settings" if against == found.start else named(values_of(other, names))
    inspect, compare = state_link(inspected, "Inspect"), state_link(link_of(None), "Compare")
    holds = f"All evidence of {row.whole} of {counted(row.labelled, 'question')} at {number(row.tokens)} tokens each"

    def listed(what: str, ids: tuple[str, ...]) -> str:
        links = " ".join(state_link(link_of(name), _short(words.get(name, name))) for name in ids[:MOST])
        rest = f" and {len(ids) - MOST} more" if len(ids) > MOST else ""
        return f'<p data-flips="{what}" data-count="{len(ids)}"><b>{what} {len(ids)}</b> {links}{rest}</p>'

    flips = "" if at == against else f"<p>Against {escape(whose)}:</p>{listed('gains', gained)}{listed('loses', lost)}"
    title = escape(named(values_of(settings, names)))
    return boxed(
        f'<div class="cx-panel" role="status"><h3>{title}</h3><p>{holds}. {inspect} · {compare}</p>{flips}</div>',
        "ctx-cell",
    )


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
