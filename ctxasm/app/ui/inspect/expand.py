"""Expand: the chunk map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import streamlit as st

from ctxasm.app.ui.frame.state import pick_chunk
from ctxasm.app.ui.inspect.hits import hits_html
from ctxasm.app.ui.widgets.charts import ADDED, GREY, REMOVED, RETRIEVED, chart_shell, chart_text, go, show_chart
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import decimal, plural, title_of
from ctxasm.model.events import Absent, Placed
from ctxasm.model.results import Assembly


class MapPoint(NamedTuple):
    """A candidate on the chunk map. `row` is the place of its document, 0 = top."""

    document_id: str
    title: str
    row: int
    chunk_index: int
    retrieved: bool
    score: float
    rank: int
    parents: tuple[int, ...]
    fate: str


class Edge(NamedTuple):
    """A known edge of a document (`first`, `last`) or a missing index in it (`gap`)."""

    row: int
    chunk_index: int
    kind: Literal["first", "last", "gap"]


@dataclass(frozen=True, slots=True)
class ChunkMap:
    """Points and edges of the chunk map; `titles` by row."""

    points: tuple[MapPoint, ...]
    edges: tuple[Edge, ...]
    titles: tuple[str, ...]


def chunk_map(assembly: Assembly) -> ChunkMap:
    """x = chunk_index, y = document in group order; every candidate, and the document edges that expansion met."""
    order = {document_id: row for row, document_id in enumerate(document_order(assembly))}
    titles = tuple(title_of(assembly.trace.documents, document_id, 48) for document_id in order)
    points = tuple(
        MapPoint(
            f.document_id,
            titles[order[f.document_id]],
            order[f.document_id],
            f.chunk_index,
            f.retrieved,
            f.score,
            f.rank,
            f.parents,
            f.fate,
        )
        for f in assembly.trace.fates
    )
    return ChunkMap(points, tuple(_edges(assembly, order)), titles)


def _edges(assembly: Assembly, order: dict[str, int]) -> list[Edge]:
    record = assembly.trace.stage("expand")
    if record is None:
        return []
    gaps = {(e.document_id, e.chunk_index) for e in record.events if isinstance(e, Absent)}
    keys = {(f.document_id, f.chunk_index) for f in assembly.trace.fates}
    edges = [Edge(order[document_id], index, "gap") for document_id, index in sorted(gaps) if document_id in order]
    for document_id, index in sorted(keys):
        if index == 0:
            edges.append(Edge(order[document_id], 0, "first"))
        after = (document_id, index + 1)
        hit = next(f for f in assembly.trace.fates if (f.document_id, f.chunk_index) == (document_id, index))
        if assembly.settings.window and hit.retrieved and hit.reason != "missing" and after not in keys | gaps:
            edges.append(Edge(order[document_id], index, "last"))
    return edges


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


def _whole_ticks(rows: ChunkMap) -> dict[str, Any]:
    indexes = [point.chunk_index for point in rows.points]
    return {"dtick": 1} if indexes and max(indexes) - min(indexes) < 16 else {}


def document_order(assembly: Assembly) -> tuple[str, ...]:
    """Documents in the order of the group stage; those without a place follow in order of appearance."""
    record = assembly.trace.stage("group")
    placed = sorted((e.position, e.document_id) for e in record.events if isinstance(e, Placed)) if record else []
    order = dict.fromkeys(document_id for _, document_id in placed)
    order.update(dict.fromkeys(fate.document_id for fate in assembly.trace.fates))
    return tuple(order)


def chunk_map_figure(rows: ChunkMap) -> go.Figure:
    """Squares on document × chunk_index: filled = retrieved, open = added, crossed out = not sent. A lane per document."""
    figure = chart_shell(96 + 46 * len(rows.titles))
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
    figure.update_layout(annotations=[_lane_title(row - 0.45, f"<b>{row + 1}</b>  {chart_text(rows.titles[row])}") for row in lanes])
    figure.update_yaxes(
        range=[len(rows.titles) - 0.55, -0.8], showticklabels=False, tickvals=list(lanes), gridcolor="rgba(127,127,127,.22)", zeroline=False
    )
    figure.update_xaxes(title="chunk_index", showgrid=False, zeroline=False, automargin=True, tickformat="d", **_whole_ticks(rows))
    return figure


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
        f"<b>{chart_text(point.title)} #{point.chunk_index}</b><br>{origin}<br>score {decimal(point.score)}<br>"
        f"{fate.get(point.fate, 'dropped')}"
    )


def _marks(x: Sequence[float], y: Sequence[float], name: str, symbol: str, size: int, colour: str) -> go.Scatter:
    marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 2, "color": colour}}
    return go.Scatter(x=list(x), y=list(y), name=name, mode="markers", marker=marker, hoverinfo="skip")


def show_expand(assembly: Assembly) -> None:
    """Which chunks were retrieved, which came as neighbours, and which of them reached the context."""

    rows = chunk_map(assembly)
    added = [point for point in rows.points if not point.retrieved]
    hits = len(rows.points) - len(added)
    if not assembly.settings.enabled:
        note = "Assembly is off: no neighbours are fetched."
    elif not assembly.settings.window:
        note = "The expand window is 0: no neighbours are fetched. Raise it to see them appear."
    else:
        note = (
            f"{plural(hits, 'hit')} brought {plural(len(added), 'neighbour')} from up to "
            f"{plural(assembly.settings.window, 'chunk')} away. Click a square to follow that chunk."
        )
    st.html(boxed(f'<p class="cx-note">{note}</p>'))
    alt = f"Chunk map: {hits} retrieved and {len(added)} added chunks in {plural(len(rows.titles), 'document')}, by chunk index."
    picked = show_chart(chunk_map_figure(rows), "chunk_map", alt)
    if picked:
        pick_chunk((str(picked[0]), int(picked[1])))
    table = st.expander(
        f"{plural(len(assembly.query.retrieved), 'hit')}, each with its rank under every method", key="hits", on_change="rerun"
    )
    if table.open:
        table.html(boxed(hits_html(assembly), "ctx-hits"))
