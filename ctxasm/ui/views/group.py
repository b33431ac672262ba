"""Group: from order by score to position in the context, and what that does to citation numbers."""

from __future__ import annotations

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.order_rows import citation_shift, slope
from ctxasm.ui.pictures import boxed, shift_html
from ctxasm.ui.views.charts import show_chart
from ctxasm.ui.words import plural


def show_group(assembly: Assembly) -> None:
    """The slope, with the citation shift table beside it."""
    from ctxasm.ui.figures import slope_figure

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
