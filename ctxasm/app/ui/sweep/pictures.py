"""What a sweep came to as pictures: the heatmap with the cell that was clicked, the front, the importance of each setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxasm.app.ui.widgets.html import boxed, pick_of, state_link
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import counted, percent
from ctxasm.model.setting_labels import label_of, named, value_words
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


def said(name: str, value: Any) -> str:
    """A value of a setting as a person reads it: `4,000`, `drop documents`."""
    return value_words(spec_of(name), value)


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


HEIGHT = 320
INK = "#7F8896"
"""Read in both themes."""
SYMBOLS = ("circle", "triangle-up", "x", "star", "cross", "hexagon")
"""Tell windows apart, from the narrowest on."""


def front_alt(found: SweepResult) -> str:
    """The picture in words."""
    rows = found.rows()
    said = "; ".join(f"{number(rows[at].tokens)} tokens: {percent(share(rows[at]))}" for at in found.front())
    return f"Share of questions with all their evidence by tokens a question. The front: {said}. Ceiling: {percent(ceiling(found))}."


def ceiling(found: SweepResult) -> float:
    """The share of labelled questions whose evidence the hits could give at all."""
    return float(found.reachable.mean()) if found.labelled else 0.0


def rivals_of(found: SweepResult) -> Heatmap | None:
    """Windows by numbers of hits, where both were tried; the other settings stand at what the best has."""
    names = varied(found)
    if not {"expand_window", "top_k"} <= set(names):
        return None
    return heatmap_of(found, "expand_window", "top_k", values_of(found.settings[best_of(found)], names))


def rivals_words(found: SweepResult) -> str:
    """What the lines are: `Dotted: more hits, the neighbours as they are (Max tokens 4,000). …`; nothing without lines."""
    grid = rivals_of(found)
    if grid is None:
        return ""
    others = tuple(name for name in varied(found) if name not in (grid.down, grid.across))
    at = f" ({named(values_of(found.settings[grid.best], others))})" if others else ""
    return f"Dotted: more hits, the same neighbours{at}. Straight above each other: equal tokens."


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


def importances(found: SweepResult) -> list[tuple[str, float]]:
    """How much of what varies in evidence each setting explains by itself, the most first, then what is due to settings together; nothing
    where nothing varies.
    """
    shares = {name: part for name, part in found.importance().items() if name in varied(found)}
    if not any(shares.values()):
        return []
    ordered = [(label_of(spec_of(name)), part) for name, part in sorted(shares.items(), key=lambda each: -each[1])]
    together = 1 - sum(shares.values())
    return [*ordered, *([("settings together", together)] if together >= 0.005 else [])]


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
