"""Two settings of a sweep as a picture, each cell the share of questions whose evidence is whole, and a button. Escaped HTML, pure."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.app.ui.sweep.axes import said
from ctxasm.app.ui.widgets.chunk_clicks import pick_of
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted, percent
from ctxasm.model.setting_labels import label_of
from ctxasm.model.settings import AssemblySettings, spec_of

if TYPE_CHECKING:
    from ctxasm.tuning.sweep_results import SettingRow, SweepResult

BRIGHT = 0.47
"""From this part of the colours on black is written, before it white: each has at least 4.5 to 1 there."""
CIVIDIS = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838")
"""The colours from the lowest to the highest share: a scale that is read alike by those who see no red or green."""


class Heatmap(NamedTuple):
    """What is drawn: the places of the settings in the sweep, by the values of `down` and of `across`; `best` is the place of the best."""

    down: str
    across: str
    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    cells: tuple[tuple[int, ...], ...]
    best: int


def varied(found: SweepResult) -> tuple[str, ...]:
    """The settings that were tried at more than one value."""
    return tuple(name for name, values in found.axes.items() if len(values) > 1)


def values_of(settings: AssemblySettings, names: tuple[str, ...]) -> dict[str, Any]:
    """Some of the settings by name."""
    return {name: getattr(settings, name) for name in names}


def share(row: SettingRow) -> float:
    """The share of labelled questions whose evidence is whole."""
    return row.whole / row.labelled if row.labelled else 0.0


def best_of(found: SweepResult) -> int:
    """The place of the setting of the grid that holds most; of those that hold the same the one with the fewest tokens."""
    rows = found.rows()
    return min(_grid(found).values(), key=lambda at: (-rows[at].whole, rows[at].tokens))


def _grid(found: SweepResult) -> dict[tuple[Any, ...], int]:
    """The places of the settings by their values on all axes."""
    start, grid = found.settings[found.start], {}
    for at, settings in enumerate(found.settings):
        values = {name: getattr(settings, name) for name in found.axes}
        if settings == start.replace(**values) and all(value in found.axes[name] for name, value in values.items()):
            grid[tuple(values.values())] = at
    return grid


def heatmap_of(found: SweepResult, down: str, across: str, others: Mapping[str, Any]) -> Heatmap:
    """What is drawn of two settings, the `others` standing at these values."""
    grid = _grid(found)
    rows, columns = (_ordered(found.axes[name]) for name in (down, across))

    def place(low: Any, right: Any) -> int:
        values = {**others, down: low, across: right}
        return grid[tuple(values[name] if name in values else found.axes[name][0] for name in found.axes)]

    cells = tuple(tuple(place(low, right) for right in columns) for low in rows)
    table = found.rows()
    best = min((at for row in cells for at in row), key=lambda at: (-table[at].whole, table[at].tokens))
    return Heatmap(down, across, rows, columns, cells, best)


def _ordered(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers ascending, what stands for all of them last; words as they were given."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return (*sorted(numbers), *(value for value in values if value not in numbers)) if numbers else values


def heatmap_html(found: SweepResult, drawn: Heatmap, picked: tuple[int, ...]) -> str:
    """The picture as a table of buttons. Colour only repeats the number in the cell; the best has a star, what is picked a frame."""
    rows = found.rows()
    shares = [share(rows[at]) for line in drawn.cells for at in line]
    low, high = min(shares), max(shares)

    def cell(at: int) -> str:
        row = rows[at]
        part = (share(row) - low) / (high - low) if high > low else 0.0
        says = f"{row.whole} of {counted(row.labelled, 'question')}, {number(row.tokens)} tokens each"
        star = "★ " if at == drawn.best else ""
        ink = "#000" if part >= BRIGHT else "#fff"
        pressed = "true" if at in picked else "false"
        return (
            f'<td><button type="button" class="cx-heat-cell" style="background:{colour_of(part)};color:{ink}" {pick_of(str(at))} '
            f'data-at="{at}" aria-pressed="{pressed}" title="{says}">{star}{percent(share(row))} <small>{number(row.tokens)}</small>'
            "</button></td>"
        )

    heads = "".join(f'<th scope="col">{escape(said(drawn.across, value))}</th>' for value in drawn.columns)
    lines = "".join(
        f'<tr><th scope="row">{escape(said(drawn.down, value))}</th>{"".join(map(cell, line))}</tr>'
        for value, line in zip(drawn.rows, drawn.cells, strict=True)
    )
    corner = " ".join(
        escape(f"{label_of(spec_of(name))} {to}").replace(" ", "&nbsp;") for name, to in ((drawn.down, "↓"), (drawn.across, "→"))
    )
    return boxed(
        f'<div class="cx-table-wrap" tabindex="0" role="group" aria-label="Heatmap"><table class="cx-heat"><thead><tr><th>{corner}</th>'
        f"{heads}</tr></thead><tbody>{lines}</tbody></table></div>",
        "ctx-heatmap",
    )


def colour_of(part: float) -> str:
    """The colour at a part of the scale, between its two neighbours."""
    at = part * (len(CIVIDIS) - 1)
    low = min(int(at), len(CIVIDIS) - 2)
    one, other = (tuple(int(CIVIDIS[step][1 + 2 * n : 3 + 2 * n], 16) for n in range(3)) for step in (low, low + 1))
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02x}" for a, b in zip(one, other, strict=True))
