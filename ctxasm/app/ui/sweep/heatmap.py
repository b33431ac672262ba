"""Neighbours × max tokens under one policy as a picture: in each cell the share of questions whose evidence is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.app.ui.sweep.axes import said
from ctxasm.app.ui.words.words import number, plural

if TYPE_CHECKING:
    from ctxasm.tuning.sweep.results import SettingRow, SweepResult

ROW, REST = 54, 92
"""Height of a row of cells in pixels, and of what stands around them."""
BRIGHT = 0.45
"""From this part of the colours on, black is read better than white: both have at least 4.5 to 1 there."""


class Heatmap(NamedTuple):
    """The rows of the table that are drawn, by neighbours (down) and max tokens (across); `best` is the place of the best."""

    policy: str
    windows: tuple[int, ...]
    limits: tuple[int, ...]
    cells: tuple[tuple[SettingRow, ...], ...]
    best: tuple[int, int]

    @property
    def alt(self) -> str:
        """The picture in words."""
        rows = (
            f"{plural(window, 'neighbour')}: "
            + ", ".join(f"{share(cell):.0%} at {said(limit)} tokens" for limit, cell in zip(self.limits, row, strict=True))
            for window, row in zip(self.windows, self.cells, strict=True)
        )
        return f"Share of questions with all their evidence under {said(self.policy)}. {'; '.join(rows)}."


def share(row: SettingRow) -> float:
    """The share of labelled questions whose evidence is whole."""
    return row.whole / row.labelled if row.labelled else 0.0


def heatmap_of(found: SweepResult, policy: str) -> Heatmap:
    """What is drawn of one policy. Of cells that hold the same the best is the one with the fewest tokens."""
    place = dict(zip(found.settings, found.rows(), strict=True))
    start, fixed = found.settings[found.start], {name: values[0] for name, values in found.axes.items() if len(values) == 1}
    windows, limits = tuple(sorted(found.axes["expand_window"])), tuple(sorted(found.axes["max_tokens"]))
    cells = tuple(
        tuple(place[start.replace(**fixed | {"expand_window": window, "max_tokens": limit, "budget_policy": policy})] for limit in limits)
        for window in windows
    )
    places = ((down, across) for down in range(len(windows)) for across in range(len(limits)))
    best = min(places, key=lambda at: (-cells[at[0]][at[1]].whole, cells[at[0]][at[1]].tokens))
    return Heatmap(policy, windows, limits, cells, best)


def figure_of(drawn: Heatmap) -> Any:
    """The Plotly figure. Colour only repeats the number in the cell; the best is outlined."""
    from plotly import graph_objects

    shares = [[share(cell) for cell in row] for row in drawn.cells]
    low, high = min(map(min, shares)), max(map(max, shares))
    hovers = [[f"{cell.whole} of {cell.labelled} questions, {number(cell.tokens)} tokens each" for cell in row] for row in drawn.cells]
    figure = graph_objects.Figure(
        graph_objects.Heatmap(
            z=shares,
            x=[said(limit) for limit in drawn.limits],
            y=[str(window) for window in drawn.windows],
            customdata=hovers,
            hovertemplate="%{y} neighbours, %{x} tokens: %{customdata}<extra></extra>",
            colorscale="Cividis",
            zmin=low,
            zmax=high if high > low else low + 1,
            showscale=high > low,
            colorbar={"tickformat": ".0%", "thickness": 12, "outlinewidth": 0, "nticks": 5},
            xgap=2,
            ygap=2,
        )
    )
    for down, row in enumerate(shares):
        for across, value in enumerate(row):
            bright = high > low and (value - low) / (high - low) >= BRIGHT
            text = f"{'★ ' if (down, across) == drawn.best else ''}{value:.0%}"
            font = {"color": "#000000" if bright else "#FFFFFF", "size": 15}
            figure.add_annotation(x=across, y=down, text=text, showarrow=False, font=font)
    down, across = drawn.best
    edges = {"type": "rect", "x0": across - 0.5, "x1": across + 0.5, "y0": down - 0.5, "y1": down + 0.5}
    for colour, width in (("#FFFFFF", 6), ("#000000", 3)):
        figure.add_shape(**edges, line={"color": colour, "width": width})
    figure.update_xaxes(type="category", title="Max tokens", showgrid=False, zeroline=False)
    figure.update_yaxes(type="category", title="Neighbours", showgrid=False, zeroline=False)
    figure.update_layout(height=ROW * len(drawn.windows) + REST, margin={"l": 8, "r": 8, "t": 12, "b": 8})
    return figure
