"""What a sweep came to as pictures: the heatmap with the cell that was clicked, the front, the importance of each setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Any

from ctxasm.app.ui.markup import boxed, pick_of, state_link
from ctxasm.app.ui.words import number
from ctxasm.model.amounts import counted, percent
from ctxasm.model.settings import AssemblySettings, label_of, named, spec_of, value_words
from ctxasm.tuning.sweep_figures import (
    BRIGHT,
    Heatmap,
    ceiling,
    colour_of,
    rivals_of,
    share,
    values_of,
    varied,
)

if TYPE_CHECKING:
    from ctxasm.tuning.sweep_results import SweepResult


def said(name: str, value: Any) -> str:
    """A value of a setting as a person reads it: `4,000`, `drop documents`."""
    return value_words(spec_of(name), value)


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


HEIGHT = 320
INK = "#7F8896"
"""Read in both themes."""
SYMBOLS = ("circle", "triangle-up", "x", "star", "cross", "hexagon")
"""Tell windows apart, from the narrowest on."""


def front_of(found: SweepResult) -> Any:
    """The Plotly figure."""
    from plotly import graph_objects

    rows, names, front = found.rows(), varied(found), found.front()

    def points(name: str, places: Sequence[int], marker: dict[str, Any], line: dict[str, Any] | None = None) -> Any:
        return graph_objects.Scatter(
            x=[rows[at].tokens for at in places],
            y=[share(rows[at]) for at in places],
            customdata=[named(values_of(rows[at].settings, names)) for at in places],
            hovertemplate="%{customdata}: %{y:.0%} at %{x:,.0f} tokens<extra></extra>",
            name=name,
            mode="lines+markers" if line else "markers",
            marker=marker,
            line=line,
        )

    drawn = [points("tried", range(len(rows)), {"color": INK, "size": 7, "symbol": "circle-open"})]
    drawn += [points("front", front, {"color": "#0072B2", "size": 9}, {"shape": "hv", "color": "#0072B2", "width": 2})]
    if (grid := rivals_of(found)) is not None:
        neighbours = label_of(spec_of(grid.down))
        for window, line, symbol in zip(grid.rows, grid.cells, cycle(SYMBOLS)):
            look = {"color": "#009E73", "dash": "dot", "width": 1.5}
            drawn += [points(f"{neighbours} {window}", line, {"color": "#009E73", "size": 9, "symbol": symbol}, look)]
    drawn += [points("yours", [found.start], {"color": "#E69F00", "size": 13, "symbol": "diamond", "line": {"color": "#000", "width": 1}})]
    if (default := AssemblySettings()) in found.settings and found.settings[found.start] != default:
        place = found.settings.index(default)
        drawn += [points("default", [place], {"color": "#CC79A7", "size": 12, "symbol": "square", "line": {"color": "#000", "width": 1}})]
    figure = graph_objects.Figure(drawn)
    most = ceiling(found)
    figure.add_hline(
        most, line={"color": INK, "dash": "dash"}, annotation_text=f"ceiling {percent(most)}", annotation_position="bottom left"
    )
    figure.update_xaxes(title="Tokens a question", tickformat=",d", rangemode="tozero", showgrid=False, zeroline=False)
    figure.update_yaxes(title="Questions with all evidence", tickformat=".0%", gridcolor="rgba(127,136,150,.25)", zeroline=False)
    legend = {"orientation": "h", "x": 0, "y": 1.08, "yanchor": "bottom"}  # so that more lines of it push the plot down
    figure.update_layout(height=HEIGHT, margin={"l": 8, "r": 8, "t": 24, "b": 8}, legend=legend)
    return figure


def importance_figure(parts: Sequence[tuple[str, float]]) -> Any:
    """The same as a Plotly figure."""
    from plotly import graph_objects

    labels, values = [label for label, _ in parts], [part for _, part in parts]
    bars = graph_objects.Bar(
        x=values,
        y=labels,
        orientation="h",
        marker={"color": INK},
        text=[percent(part) for part in values],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{text}<extra></extra>",
    )
    figure = graph_objects.Figure(bars)
    figure.update_xaxes(visible=False, range=[0, 1.1 * max(values)], fixedrange=True)
    figure.update_yaxes(type="category", autorange="reversed", ticksuffix="  ", fixedrange=True)
    figure.update_layout(height=28 * len(parts) + 24, margin={"l": 8, "r": 40, "t": 8, "b": 8}, bargap=0.4)
    return figure


LinkOf = Callable[[str | None], str]
"""The address of Compare, of the other cell and this one: on a question, or on all of them."""
MOST = 12
"""Questions that are linked on either side."""


def cell_html(
    found: SweepResult, at: int, against: int, words: Mapping[str, str], inspected: str, link_of: LinkOf, id: str = "ctx-cell"
) -> str:
    """What the setting that was picked gains and loses against another one. `inspected` is the address of Inspect with its settings."""
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
        id,
    )


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
