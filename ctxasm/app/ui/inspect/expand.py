"""Expand: every document a row, its chunks in reading order, with a break where the document goes on unread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from ctxasm.app.ui.widgets.chunk_clicks import pick_of
from ctxasm.app.ui.widgets.expected import Expected
from ctxasm.app.ui.widgets.fates import SENT
from ctxasm.app.ui.widgets.tables import boxed
from ctxasm.app.ui.words.words import decimal, fate_label, in_attribute, title_of
from ctxasm.model.amounts import counted
from ctxasm.model.events import Absent, Placed
from ctxasm.model.results import Assembly, Fate

COMPACT_BEYOND = 15
"""From more documents than this, rows are drawn closer and chunks without their number."""


class Edge(NamedTuple):
    """A known edge of a document (`first`, `last`) or a missing index in it (`gap`)."""

    row: int
    chunk_index: int
    kind: Literal["first", "last", "gap"]


@dataclass(frozen=True, slots=True)
class ChunkMap:
    """The candidates of each document in reading order, a row for each document in group order; `titles` and `edges` by row."""

    rows: tuple[tuple[Fate, ...], ...]
    edges: tuple[Edge, ...]
    titles: tuple[str, ...]


def chunk_map(assembly: Assembly) -> ChunkMap:
    """Every candidate, and the document edges that expansion met."""
    order = {document_id: row for row, document_id in enumerate(document_order(assembly))}
    own: defaultdict[str, list[Fate]] = defaultdict(list)
    for fate in sorted(assembly.trace.fates, key=lambda fate: fate.chunk_index):
        own[fate.document_id].append(fate)
    titles = tuple(title_of(assembly.trace.documents, document_id, 48) for document_id in order)
    return ChunkMap(tuple(tuple(own[document_id]) for document_id in order), tuple(_edges(assembly, order)), titles)


def _edges(assembly: Assembly, order: dict[str, int]) -> list[Edge]:
    record = assembly.trace.stage("expand")
    if record is None:
        return []
    gaps = {(e.document_id, e.chunk_index) for e in record.events if isinstance(e, Absent)}
    keys = {(f.document_id, f.chunk_index): f for f in assembly.trace.fates}
    edges = [Edge(order[document_id], index, "gap") for document_id, index in sorted(gaps) if document_id in order]
    for (document_id, index), hit in sorted(keys.items()):
        if index == 0:
            edges.append(Edge(order[document_id], 0, "first"))
        after = (document_id, index + 1)
        if assembly.settings.window and hit.retrieved and hit.reason != "missing" and after not in keys and after not in gaps:
            edges.append(Edge(order[document_id], index, "last"))
    return edges


def document_order(assembly: Assembly) -> tuple[str, ...]:
    """Documents in the order of the group stage; those without a place follow in order of appearance."""
    record = assembly.trace.stage("group")
    placed = sorted((e.position, e.document_id) for e in record.events if isinstance(e, Placed)) if record else []
    order = dict.fromkeys(document_id for _, document_id in placed)
    order.update(dict.fromkeys(fate.document_id for fate in assembly.trace.fates))
    return tuple(order)


def chunk_map_html(rows: ChunkMap, marks: Expected) -> str:
    """A row for each document: filled = found, hatched = a neighbour, crossed = not sent, a break where chunks in between are unread.

    What is expected has a dot.
    """
    compact = len(rows.titles) > COMPACT_BEYOND
    drawn = "".join(_row(rows, row, compact, marks) for row in range(len(rows.titles)))
    return f'<div class="cx-map{" compact" if compact else ""}" data-documents="{len(rows.titles)}">{drawn}</div>'


def _row(rows: ChunkMap, row: int, compact: bool, marks: Expected) -> str:
    fates = rows.rows[row]
    gaps = {edge.chunk_index for edge in rows.edges if edge.row == row and edge.kind == "gap"}
    ends = {(edge.chunk_index, edge.kind) for edge in rows.edges if edge.row == row}
    by_index = {fate.chunk_index: fate for fate in fates}
    indexes = sorted({*by_index, *gaps})
    cells = []
    if indexes and indexes[0] > 0:
        cells.append(_break(indexes[0]))
    for before, index in zip([None, *indexes], indexes, strict=False):
        if before is not None and index > before + 1:
            cells.append(_break(index - before - 1))
        cells.append(_cell(rows.titles[row], by_index[index], ends, compact, marks) if index in by_index else _gap(index))
    if indexes and (indexes[-1], "last") not in ends:
        cells.append('<i class="cx-break" title="the document goes on"></i>')
    return f'<div class="cx-lane"><span dir="auto" title="{in_attribute(rows.titles[row])}">{row + 1} {escape(rows.titles[row])}</span>' + (
        f'<div class="cx-cells">{"".join(cells)}</div></div>'
    )


def _break(count: int) -> str:
    return f'<i class="cx-break" title="{counted(count, "chunk")} not read"></i>'


def _gap(index: int) -> str:
    return f'<span class="cx-cell gap" title="#{index} is not stored"></span>'


def _cell(title: str, fate: Fate, ends: Collection[tuple[int, str]], compact: bool, marks: Expected) -> str:
    origin = f"found at rank {fate.rank}" if fate.retrieved else f"neighbour of {', '.join(f'#{p}' for p in fate.parents) or 'its hit'}"
    says = f"{title} #{fate.chunk_index}: {origin}, score {decimal(fate.score)}, {fate_label(fate)}"
    key = (fate.document_id, fate.chunk_index)
    says += ", expected" if marks.holds(key) else ""
    look = "k-retrieved" if fate.retrieved else "k-added"
    look += "" if fate.fate in SENT else " gone"
    look += " wanted" if marks.holds(key) else ""
    look += "".join(f" {kind}" for kind in ("first", "last") if (fate.chunk_index, kind) in ends)
    return (
        f'<button type="button" class="cx-cell {look}" title="{in_attribute(says)}" '
        f"{pick_of(key)}>{'' if compact else f'<b>{fate.chunk_index}</b>'}</button>"
    )


def show_expand(assembly: Assembly, marks: Expected) -> None:
    """Which chunks were found, which came as neighbours, and which of them reached the context."""
    st.html(boxed(chunk_map_html(chunk_map(assembly), marks), "ctx-map"))
