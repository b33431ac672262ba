"""Plots from rows: only plotly, no decisions. Imported late, because plotly is slow to start.

Neutral lines and marks are mid-grey, readable on both themes; streamlit's own theme sets the fonts and the background.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from ctxasm.ui.stage_rows import ChunkMap, MapPoint, OverlapPair, SlopeLine
from ctxasm.ui.words import decimal

RETRIEVED, ADDED, REMOVED, OK, DROPPED, GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#7F7F7F", "#8A8F98"
_VERDICT_LOOK = {
    "stripped": ("stripped", REMOVED, ""),
    "merged": ("merged whole", OK, "x"),
    "below": ("kept: at or below the threshold", RETRIEVED, "/"),
    "coincidence": ("kept: coincidence", "#CC79A7", "."),
    "none": ("nothing shared", DROPPED, ""),
}


def _shell(height: int, **layout: Any) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        hoverlabel={"align": "left"},
        dragmode=False,
        **layout,
    )
    return figure


def _plain(text: str) -> str:
    """Text from outside, as plotly may show it: it reads a few HTML tags, so these are escaped."""
    return escape(text, quote=False)


def chunk_map_figure(rows: ChunkMap) -> go.Figure:
    """Squares on document × chunk_index: filled = retrieved, open = added, grey cross = not sent."""
    names = [f"{row + 1}  {_plain(title)}" for row, title in enumerate(rows.titles)]
    figure = _shell(90 + 34 * len(names))
    for retrieved, name in ((True, "retrieved"), (False, "added neighbour")):
        points = [point for point in rows.points if point.retrieved is retrieved]
        if points:
            figure.add_trace(_points(points, names, name, retrieved))
    gone = [point for point in rows.points if point.fate in ("dropped", "duplicate_of")]
    if gone:
        figure.add_trace(_marks([p.chunk_index for p in gone], [names[p.row] for p in gone], "not sent", "x-thin", 11, "#D55E00"))
    for kind, name, symbol in (("first", "document edge", "line-ns"), ("gap", "not stored", "asterisk")):
        edges = [edge for edge in rows.edges if edge.kind == kind or (kind == "first" and edge.kind == "last")]
        if edges:
            x = [edge.chunk_index + {"first": -0.5, "last": 0.5, "gap": 0}[edge.kind] for edge in edges]
            figure.add_trace(_marks(x, [names[edge.row] for edge in edges], name, symbol, 20 if kind == "first" else 10, GREY))
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=names[::-1], showgrid=True, gridcolor="rgba(127,127,127,.18)", automargin=True)
    figure.update_xaxes(title="chunk_index", showgrid=False, zeroline=False, automargin=True, tickformat="d", **_whole_ticks(rows))
    return figure


def _whole_ticks(rows: ChunkMap) -> dict[str, Any]:
    indexes = [point.chunk_index for point in rows.points]
    return {"dtick": 1} if indexes and max(indexes) - min(indexes) < 16 else {}


def _points(points: Sequence[MapPoint], names: Sequence[str], name: str, retrieved: bool) -> go.Scatter:
    colour = RETRIEVED if retrieved else ADDED
    return go.Scatter(
        x=[point.chunk_index for point in points],
        y=[names[point.row] for point in points],
        name=name,
        mode="markers",
        marker={"symbol": "square" if retrieved else "square-open", "size": 17, "color": colour, "line": {"width": 2.5, "color": colour}},
        customdata=[[point.document_id, point.chunk_index] for point in points],
        hovertext=[_hover(point) for point in points],
        hoverinfo="text",
    )


def _hover(point: MapPoint) -> str:
    origin = f"retrieved, rank {point.rank}" if point.retrieved else f"added by {', '.join(f'#{p}' for p in point.parents) or 'its hit'}"
    fate = {"kept": "sent", "truncated": "sent, cut", "merged": "sent inside its neighbour", "duplicate_of": "left out as a duplicate"}
    return f"<b>{_plain(point.title)} #{point.chunk_index}</b><br>{origin}<br>score {decimal(point.score)}<br>{fate.get(point.fate, 'dropped')}"


def _marks(x: Sequence[float], y: Sequence[str], name: str, symbol: str, size: int, colour: str) -> go.Scatter:
    marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 2, "color": colour}}
    return go.Scatter(x=list(x), y=list(y), name=name, mode="markers", marker=marker, hoverinfo="skip")


def overlap_figure(pairs: Sequence[OverlapPair], threshold: int) -> go.Figure:
    """A bar per neighbouring pair, its overlap in characters; a line at the threshold."""
    names = [f"{_plain(pair.title)}  {pair.first}→{pair.second}" for pair in pairs]
    figure = _shell(96 + 25 * len(names), bargap=0.35, barmode="overlay")
    for verdict, (label, colour, pattern) in _VERDICT_LOOK.items():
        own = [(name, pair) for name, pair in zip(names, pairs, strict=True) if pair.verdict == verdict]
        if own:
            figure.add_trace(_bars(own, label, colour, pattern))
    figure.add_vline(x=threshold, line={"color": GREY, "width": 2, "dash": "dash"})
    figure.add_annotation(
        x=threshold, y=0, yref="paper", yanchor="top", yshift=-26, xanchor="left", text=f"strip above {threshold}", showarrow=False, font={"color": GREY}
    )
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=names[::-1], automargin=True)
    figure.update_xaxes(title="shared characters", rangemode="tozero", zeroline=False, gridcolor="rgba(127,127,127,.18)", automargin=True)
    figure.update_layout(margin={"b": 34})
    return figure


def _bars(own: Sequence[tuple[str, OverlapPair]], label: str, colour: str, pattern: str) -> go.Bar:
    return go.Bar(
        y=[name for name, _ in own],
        x=[pair.chars for _, pair in own],
        name=label,
        orientation="h",
        marker={"color": colour, "pattern": {"shape": pattern, "fgcolor": "rgba(255,255,255,.8)", "size": 6}},
        customdata=[[pair.document_id, pair.second] for _, pair in own],
        hovertemplate="%{y}: %{x} characters<extra></extra>",
        text=[str(pair.chars) for _, pair in own],
        textposition="outside",
        cliponaxis=False,
    )


def slope_figure(lines: Sequence[SlopeLine]) -> go.Figure:
    """From order by score (left) to position in the context (right); what is not in it ends at the foot, dashed."""
    sent = max((line.in_context or 0 for line in lines), default=0)
    figure = _shell(90 + 27 * max(len(lines), sent + 1), showlegend=False)
    for line in lines:
        figure.add_trace(_slope_line(line, sent + 1.4))
    gone = any(line.in_context is None for line in lines)
    notes = [(0, "order by score"), (1, "position in the context")]
    for x, text in notes:
        figure.add_annotation(x=x, y=0.2, text=f"<b>{text}</b>", showarrow=False, xanchor="right" if x == 0 else "left", yanchor="bottom")
    if gone:
        figure.add_annotation(x=1, xshift=12, y=sent + 1.4, text="not in the context", showarrow=False, xanchor="left", font={"color": GREY})
    figure.update_xaxes(visible=False, range=[-0.95, 1.75])
    figure.update_yaxes(visible=False, range=[max(len(lines), sent + 1) + 0.9, -0.6])
    return figure


def _slope_line(line: SlopeLine, foot: float) -> go.Scatter:
    gone = line.in_context is None
    colour = DROPPED if gone else RETRIEVED if line.retrieved else ADDED
    label = _plain(line.label)
    symbol = "x" if gone else "square" if line.retrieved else "square-open"
    return go.Scatter(
        x=[0, 1],
        y=[line.by_score, foot if gone else line.in_context],
        mode="lines+markers+text",
        line={"color": colour, "width": 2, "dash": "dot" if gone else "solid"},
        marker={"symbol": symbol, "size": 10, "line": {"width": 2, "color": colour}},
        text=[f"{label}  <b>{line.by_score}</b> ", "" if gone else f" <b>{line.in_context}</b>  {label}"],
        textposition=["middle left", "middle right"],
        hoverinfo="skip",
        opacity=0.55 if gone else 1,
        cliponaxis=False,
        name=label,
    )
