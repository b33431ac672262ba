"""Tokens against evidence: every setting a point, the front of those that no other beats, the ceiling, yours and the default."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Any

from ctxasm.app.ui.sweep.heatmap import Heatmap, best_of, heatmap_of, share, values_of, varied
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import number
from ctxasm.model.amounts import percent
from ctxasm.model.setting_labels import label_of, named
from ctxasm.model.settings import AssemblySettings, spec_of

if TYPE_CHECKING:
    from ctxasm.tuning.sweep_results import SweepResult

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
    figure.add_hline(ceiling(found), line={"color": INK, "dash": "dash"}, annotation_text=f"ceiling {percent(ceiling(found))}")
    figure.update_xaxes(title="Tokens a question", tickformat=",d", rangemode="tozero", showgrid=False, zeroline=False)
    figure.update_yaxes(title="All evidence there", tickformat=".0%", gridcolor="rgba(127,136,150,.25)", zeroline=False)
    legend = {"orientation": "h", "x": 0, "y": 1.08, "yanchor": "bottom"}  # so that more lines of it push the plot down
    figure.update_layout(height=HEIGHT, margin={"l": 8, "r": 8, "t": 24, "b": 8}, legend=legend)
    return figure


def importance_html(found: SweepResult) -> str:
    """How much of what varies in evidence each setting explains by itself; the rest is due to settings together."""
    shares = {name: part for name, part in found.importance().items() if name in varied(found)}
    if not any(shares.values()):
        return ""
    together = max(0.0, 1 - sum(shares.values()))
    ordered = [(label_of(spec_of(name)), part) for name, part in sorted(shares.items(), key=lambda each: -each[1])]
    rows = "".join(
        f'<div class="cx-value"><span>{escape(label)}</span><div><i class="k-body" style="width:{100 * part:.1f}%"></i></div>'
        f"<b>{percent(part)}</b></div>"
        for label, part in [*ordered, *([("settings together", together)] if together >= 0.005 else [])]
    )
    return boxed(f'<h2 class="cx-h">What makes the difference</h2><div class="cx-values">{rows}</div>', "ctx-importance")
