"""Plots from rows: only plotly, no decisions. Imported late, because plotly is slow to start.

Neutral lines and marks are mid-grey, readable on both themes; streamlit's own theme sets the fonts and the background.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from ctxasm.ui.order_rows import MOST_BLOCKS, Place, SlopeLine, attention
from ctxasm.ui.stage_rows import ChunkMap, MapPoint, OverlapPair
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


def _lane_title(y: float, title: str) -> dict[str, Any]:
    """A document's title above its lane: readable at any width, where a tick label would eat the picture."""
    return {
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": y,
        "yanchor": "middle",
        "text": title,
        "showarrow": False,
        "font": {"size": 12},
    }


def chunk_map_figure(rows: ChunkMap) -> go.Figure:
    """Squares on document × chunk_index: filled = retrieved, open = added, crossed out = not sent. A lane per document."""
    figure = _shell(96 + 46 * len(rows.titles))
    for retrieved, name in ((True, "retrieved"), (False, "added neighbour")):
        points = [point for point in rows.points if point.retrieved is retrieved]
        if points:
            figure.add_trace(_points(points, name, retrieved))
    gone = [point for point in rows.points if point.fate in ("dropped", "duplicate_of")]
    if gone:
        figure.add_trace(_marks([p.chunk_index for p in gone], [p.row for p in gone], "not sent", "x-thin", 10, REMOVED))
    for kind, name, symbol, size in (("edge", "document edge", "line-ns", 18), ("gap", "not stored", "asterisk", 10)):
        edges = [edge for edge in rows.edges if (edge.kind == "gap") is (kind == "gap")]
        if edges:
            x = [edge.chunk_index + {"first": -0.5, "last": 0.5, "gap": 0}[edge.kind] for edge in edges]
            figure.add_trace(_marks(x, [edge.row for edge in edges], name, symbol, size, GREY))
    lanes = range(len(rows.titles))
    figure.update_layout(annotations=[_lane_title(row - 0.45, f"<b>{row + 1}</b>  {_plain(rows.titles[row])}") for row in lanes])
    figure.update_yaxes(
        range=[len(rows.titles) - 0.55, -0.8], showticklabels=False, tickvals=list(lanes), gridcolor="rgba(127,127,127,.22)", zeroline=False
    )
    figure.update_xaxes(title="chunk_index", showgrid=False, zeroline=False, automargin=True, tickformat="d", **_whole_ticks(rows))
    return figure


def _whole_ticks(rows: ChunkMap) -> dict[str, Any]:
    indexes = [point.chunk_index for point in rows.points]
    return {"dtick": 1} if indexes and max(indexes) - min(indexes) < 16 else {}


def _points(points: Sequence[MapPoint], name: str, retrieved: bool) -> go.Scatter:
    colour = RETRIEVED if retrieved else ADDED
    return go.Scatter(
        x=[point.chunk_index for point in points],
        y=[point.row for point in points],
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
    return (
        f"<b>{_plain(point.title)} #{point.chunk_index}</b><br>{origin}<br>score {decimal(point.score)}<br>"
        f"{fate.get(point.fate, 'dropped')}"
    )


def _marks(x: Sequence[float], y: Sequence[float], name: str, symbol: str, size: int, colour: str) -> go.Scatter:
    marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 2, "color": colour}}
    return go.Scatter(x=list(x), y=list(y), name=name, mode="markers", marker=marker, hoverinfo="skip")


def overlap_figure(pairs: Sequence[OverlapPair], threshold: int) -> go.Figure:
    """A bar per neighbouring pair, its overlap in characters; a line at the threshold. A title above each document's bars."""
    places, titles, y = [], [], -1.0
    for before, pair in zip([None, *pairs], pairs, strict=False):
        if before is None or before.document_id != pair.document_id:
            y += 1.0
            titles.append(_lane_title(y, f"<b>{_plain(pair.title)}</b>"))
        y += 1.0
        places.append(y)
    figure = _shell(int(110 + 23 * (y + 1)), bargap=0.3, barmode="overlay")
    for verdict, (label, colour, pattern) in _VERDICT_LOOK.items():
        own = [(place, pair) for place, pair in zip(places, pairs, strict=True) if pair.verdict == verdict]
        if own:
            figure.add_trace(_bars(own, label, colour, pattern))
    figure.add_vline(x=threshold, line={"color": GREY, "width": 2, "dash": "dash"})
    says = {
        "x": threshold,
        "y": 0,
        "yref": "paper",
        "yanchor": "top",
        "yshift": -22,
        "xanchor": "left",
        "showarrow": False,
        "font": {"color": GREY},
    }
    figure.update_layout(annotations=[*titles, {**says, "text": f"strip above {threshold}"}], margin={"b": 34})
    ticks = [f"{pair.first}→{pair.second} " for pair in pairs]
    figure.update_yaxes(range=[y + 0.6, -0.7], tickvals=places, ticktext=ticks, showgrid=False, zeroline=False, automargin=True)
    figure.update_xaxes(title="shared characters", rangemode="tozero", zeroline=False, gridcolor="rgba(127,127,127,.18)", automargin=True)
    return figure


def _bars(own: Sequence[tuple[float, OverlapPair]], label: str, colour: str, pattern: str) -> go.Bar:
    return go.Bar(
        y=[place for place, _ in own],
        x=[pair.chars for _, pair in own],
        name=label,
        orientation="h",
        width=0.72,
        marker={"color": colour, "pattern": {"shape": pattern, "fgcolor": "rgba(255,255,255,.8)", "size": 6}},
        customdata=[[pair.document_id, pair.second] for _, pair in own],
        hovertext=[f"{_plain(pair.title)} {pair.first}→{pair.second}: {pair.chars} characters" for _, pair in own],
        hoverinfo="text",
        text=[str(pair.chars) for _, pair in own],
        textposition="outside",
        cliponaxis=False,
    )


def slope_figure(lines: Sequence[SlopeLine]) -> go.Figure:
    """From order by score (left) to position in the context (right); what is not in it ends at the foot, dashed."""
    sent = max((line.in_context or 0 for line in lines), default=0)
    gone = any(line.in_context is None for line in lines)
    places = max(len(lines), sent + 1.4 * gone)
    figure = _shell(int(70 + 38 * places), showlegend=False)
    for line in lines:
        figure.add_trace(_slope_line(line, sent + 1.4))
    notes = [(0, "order by score"), (1, "position in the context")]
    for x, text in notes:
        figure.add_annotation(x=x, y=0.2, text=f"<b>{text}</b>", showarrow=False, xanchor="right" if x == 0 else "left", yanchor="bottom")
    if gone:
        figure.add_annotation(
            x=1, xshift=12, y=sent + 1.4, text="not in the context", showarrow=False, xanchor="left", font={"color": GREY}
        )
    figure.update_xaxes(visible=False, range=[-1.25, 2.25])
    figure.update_yaxes(visible=False, range=[places + 0.6, -0.6])
    return figure


def _slope_line(line: SlopeLine, foot: float) -> go.Scatter:
    gone = line.in_context is None
    colour = DROPPED if gone else RETRIEVED if line.retrieved else ADDED
    label = "<br>".join(_plain(part) for part in wrap(line.label, 21)[:2])
    symbol = "x" if gone else "square" if line.retrieved else "square-open"
    return go.Scatter(
        x=[0, 1],
        y=[line.by_score, foot if gone else line.in_context],
        mode="lines+markers+text",
        line={"color": colour, "width": 2, "dash": "dot" if gone else "solid"},
        marker={"symbol": symbol, "size": 10, "line": {"width": 2, "color": colour}},
        text=[f"{label}  ", "" if gone else f"  {label}"],
        textposition=["middle left", "middle right"],
        hoverinfo="skip",
        opacity=0.85 if gone else 1,
        cliponaxis=False,
        name=_plain(line.label),
        textfont={"size": 11},
    )


def order_figure(places: Sequence[Place]) -> go.Figure:
    """From relevance (left) to position in the context (right), with the attention that a model pays to each position."""
    drawn, blocks = places[:MOST_BLOCKS], len(places)
    figure = _shell(int(80 + 30 * max(2, min(blocks, MOST_BLOCKS))), showlegend=False)
    figure.add_trace(_attention_curve(blocks))
    for place in drawn:
        figure.add_trace(_order_line(place))
    heads = ((0, "by relevance", "right"), (1, "position", "left"), (2.1, "read best", "left"))
    for x, text, side in heads:
        figure.add_annotation(x=x, y=0.35, text=f"<b>{text}</b>", showarrow=False, xanchor=side, yanchor="bottom")
    figure.update_xaxes(visible=False, range=[-1.35, 2.75])
    figure.update_yaxes(visible=False, range=[blocks + 0.6, -0.5])
    return figure


def _attention_curve(blocks: int) -> go.Scatter:
    y = [1 + step / 16 * (blocks - 1) for step in range(17)] if blocks > 1 else [0.7, 1.3]
    edge = [2.1 + 0.55 * attention(at, blocks) for at in y]
    line = {"width": 1, "color": OK}
    x, outline = [2.1] * len(y) + edge[::-1], [*y, *y[::-1]]
    return go.Scatter(x=x, y=outline, fill="toself", mode="lines", line=line, fillcolor="rgba(0,158,115,.22)", hoverinfo="skip")


def _order_line(place: Place) -> go.Scatter:
    moved = place.relevance != place.position
    label = "<br>".join(_plain(part) for part in wrap(f"{place.relevance}. {place.label}", 26)[:2])
    return go.Scatter(
        x=[0, 1],
        y=[place.relevance, place.position],
        mode="lines+markers+text",
        line={"color": REMOVED if moved else RETRIEVED, "width": 2 if moved else 1.5},
        marker={"symbol": "square", "size": 9, "color": RETRIEVED},
        text=[f"{label}  ", f"  [{place.position}] score {decimal(place.score)}"],
        textposition=["middle left", "middle right"],
        hoverinfo="skip",
        cliponaxis=False,
        name=_plain(place.label),
        textfont={"size": 11},
    )
