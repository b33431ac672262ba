"""Group: from order by score to position in the context, and what that does to citation numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import NamedTuple

import streamlit as st

from ctxasm.app.ui.widgets.charts import ADDED, DROPPED, GREY, RETRIEVED, chart_shell, chart_text, go, show_chart
from ctxasm.app.ui.widgets.context_marks import number_chip
from ctxasm.app.ui.widgets.tables import boxed, table_html
from ctxasm.app.ui.words.words import plural, title_of
from ctxasm.model.results import Assembly

SLOPE_LIMIT = 15
"""Above this many chunks the slope is drawn by document."""


class SlopeLine(NamedTuple):
    """From a place by score (1 = best) to a place in the context (None: not in it)."""

    label: str
    document_id: str
    chunk_index: int | None
    by_score: int
    in_context: int | None
    retrieved: bool


class Shift(NamedTuple):
    """A marker of the list built before assembly, and the markers that point to the same document after it."""

    before: int
    document_id: str
    title: str
    after: tuple[int, ...]

    @property
    def wrong(self) -> bool:
        """Whether the old number would point at another source, or at none."""
        return self.before not in self.after


def slope(assembly: Assembly) -> tuple[SlopeLine, ...]:
    """Order by score against position in the context, by chunk; by document above SLOPE_LIMIT chunks."""
    fates = sorted(assembly.trace.fates, key=lambda f: (-f.score, f.rank, f.document_id, f.chunk_index))
    shown = dict.fromkeys((s.document_id, s.chunk_index) for s in assembly.segments if s.kind == "chunk")
    places = {key: place for place, key in enumerate(shown, 1)}
    if len(fates) <= SLOPE_LIMIT:
        names = {key: title_of(assembly.trace.documents, key, 28) for key in assembly.trace.documents}
        return tuple(
            SlopeLine(
                f"{by_score}. #{f.chunk_index} {names.get(f.document_id, f.document_id)}",
                f.document_id,
                f.chunk_index,
                by_score,
                places.get((f.document_id, f.chunk_index)),
                f.retrieved,
            )
            for by_score, f in enumerate(fates, 1)
        )
    documents = dict.fromkeys(key for key, _ in shown if key is not None)
    document_places = {key: place for place, key in enumerate(documents, 1)}
    best = dict.fromkeys(f.document_id for f in fates)
    return tuple(
        SlopeLine(f"{by_score}. {title_of(assembly.trace.documents, key, 36)}", key, None, by_score, document_places.get(key), True)
        for by_score, key in enumerate(best, 1)
    )


def citation_shift(assembly: Assembly) -> tuple[Shift, ...]:
    """`before [2] → after [1]`, an entry for each number of the list built before assembly."""
    after: dict[str, list[int]] = {}
    for citation in assembly.citations:
        for document_id in {citation.document_id, *(key for key, _ in citation.also_in)}:
            after.setdefault(document_id, []).append(citation.number)
    titles = assembly.trace.documents
    return tuple(
        Shift(p.number, p.document_id, title_of(titles, p.document_id), tuple(after.get(p.document_id, ())))
        for p in assembly.trace.before_assembly
    )


def slope_figure(lines: Sequence[SlopeLine]) -> go.Figure:
    """From order by score (left) to position in the context (right); what is not in it ends at the foot, dashed."""
    sent = max((line.in_context or 0 for line in lines), default=0)
    gone = any(line.in_context is None for line in lines)
    places = max(len(lines), sent + 1.4 * gone)
    figure = chart_shell(int(70 + 38 * places), showlegend=False)
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
    label = "<br>".join(chart_text(part) for part in wrap(line.label, 21)[:2])
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
        name=chart_text(line.label),
        textfont={"size": 11},
    )


def shift_html(shifts: Sequence[Shift]) -> str:
    """`before [2] → after [1]`: what the numbers would have meant if the list had been built before assembly."""
    rows = []
    for shift in shifts:
        after = " ".join(number_chip(n) for n in shift.after) or '<span class="cx-mute">gone</span>'
        mark = '<span class="cx-need">▲ wrong</span>' if shift.wrong else '<span class="cx-mute">● same</span>'
        rows.append((f'<span class="cx-nowrap"><b class="cx-mono">[{shift.before}]</b> → {after}</span>', escape(shift.title), mark))
    return table_html(("before → after", "source", "old number"), rows, caption="Citation shift")


def show_group(assembly: Assembly) -> None:
    """The slope, with the citation shift table beside it."""

    lines = slope(assembly)
    shifts = citation_shift(assembly)
    wrong = sum(shift.wrong for shift in shifts)
    by = "document" if lines and lines[0].chunk_index is None else "chunk"
    plain = assembly.settings.ordering == "document_first" or not assembly.settings.enabled
    after = "" if plain else f" The context then puts its blocks in another order ({assembly.settings.ordering}): see Order."
    left, right = st.columns([4, 3], gap="medium")
    with left:
        off = "Assembly is off: every hit stands where retrieval put it."
        note = (
            off
            if not assembly.settings.enabled
            else f"By {by}. Documents follow their best score; inside a document chunks are read in order.{after}"
        )
        st.html(boxed(f'<p class="cx-note">{note}</p>'))
        moved = sum(line.in_context is not None and line.in_context != line.by_score for line in lines)
        show_chart(
            slope_figure(lines),
            "slope",
            f"Slope of {plural(len(lines), by)} from order by score to position in the context; {moved} moved.",
            clickable=False,
        )
    with right:
        says = (
            f"{plural(wrong, 'number')} of {len(shifts)} would point at the wrong source, had the list been built before assembly."
            if shifts
            else "Nothing was retrieved."
        )
        st.html(
            boxed(f'<p class="cx-note" style="padding-bottom:8px">{says}</p><div class="cx-scroll">{shift_html(shifts)}</div>', "ctx-shift")
        )
