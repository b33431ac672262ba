"""The settings that were tried, the best first, each with a link to Inspect. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from ctxasm.app.ui.sweep.axes import said
from ctxasm.app.ui.sweep.heatmap import varied
from ctxasm.app.ui.widgets.chunk_clicks import state_link
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import number
from ctxasm.model.setting_labels import label_of
from ctxasm.model.settings import AssemblySettings, spec_of

if TYPE_CHECKING:
    from ctxasm.tuning.sweep.results import SettingRow, SweepResult

LinkOf = Callable[[AssemblySettings], str]
"""The address that opens Inspect with these settings."""


def settings_table(found: SweepResult, link_of: LinkOf) -> str:
    """All of them, in a box that scrolls."""
    start, names = found.settings[found.start], varied(found)
    rows = sorted(found.rows(), key=lambda row: (-row.whole, row.tokens))
    heads = ("Evidence whole", "Tokens a question", *(label_of(spec_of(name)) for name in names), "Open in")
    table = table_html(heads, [_cells(row, start, names, link_of) for row in rows], (0, 1), "Settings, the best first")
    return boxed(table, "ctx-swept")


def _cells(row: SettingRow, start: AssemblySettings, names: tuple[str, ...], link_of: LinkOf) -> list[str]:
    values = [said(name, getattr(row.settings, name)) for name in names]
    marks = [mark for mark, settings in (("yours", start), ("default", AssemblySettings())) if settings == row.settings]
    link = state_link(link_of(row.settings), "Inspect", label=f"Open {', '.join(values)} in Inspect")
    badges = " ".join(f'<span class="cx-badge">{mark}</span>' for mark in marks)
    return [f"{row.whole} of {row.labelled}", f"{badges} {number(row.tokens)}".strip(), *map(escape, values), link]
