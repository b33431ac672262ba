"""The cell that was clicked: what it holds, the questions that flip between it and another one, and where both open. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING

from ctxasm.app.ui.sweep.heatmap import values_of, varied
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import number, plural
from ctxasm.model.setting_labels import named
from ctxasm.model.settings import AssemblySettings

if TYPE_CHECKING:
    from ctxasm.tuning.sweep.results import SweepResult

LinkOf = Callable[[str | None, AssemblySettings, AssemblySettings | None], str]
"""The address of a question (None: that of now) under these settings, on Inspect, or on Compare against the last ones."""
MOST = 12
"""Questions that are linked on either side."""


def cell_html(found: SweepResult, at: int, against: int, words: Mapping[str, str], link_of: LinkOf) -> str:
    """What the clicked cell gains and loses against another one."""
    row, names = found.rows()[at], varied(found)
    settings, other = found.settings[at], found.settings[against]
    gained, lost = found.flips(at, against)
    whose = "your settings" if against == found.start else named(values_of(other, names))
    inspect = f'<a href="{escape(link_of(None, settings, None))}" target="_blank">Open in Inspect ↗</a>'
    compare = f'<a href="{escape(link_of(None, settings, other))}" target="_blank">Compare ↗</a>'
    holds = f"all evidence of {row.whole} of {plural(row.labelled, 'question')} at {number(row.tokens)} tokens each"

    def listed(what: str, ids: tuple[str, ...]) -> str:
        links = ", ".join(
            f'<a href="{escape(link_of(name, settings, other))}" target="_blank">{escape(_short(words.get(name, name)))}</a>'
            for name in ids[:MOST]
        )
        rest = f" and {len(ids) - MOST} more" if len(ids) > MOST else ""
        return f'<p data-flips="{what}" data-count="{len(ids)}"><b>{what} {len(ids)}</b> {links}{rest}</p>'

    flips = "" if at == against else f"<p>Against {escape(whose)}:</p>{listed('gains', gained)}{listed('loses', lost)}"
    title = escape(named(values_of(settings, names)))
    return boxed(
        f'<div class="cx-panel" role="status"><h3>{title}</h3><p>{holds}. {inspect} {compare}</p>{flips}</div>',
        "ctx-cell",
    )


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
