"""Expand: the chunk map."""

from __future__ import annotations

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.hits_table import hits_html
from ctxasm.ui.pictures import boxed
from ctxasm.ui.stage_rows import chunk_map
from ctxasm.ui.state import pick_chunk
from ctxasm.ui.views.charts import show_chart
from ctxasm.ui.words import plural


def show_expand(assembly: Assembly) -> None:
    """Which chunks were retrieved, which came as neighbours, and which of them reached the context."""
    from ctxasm.ui.figures import chunk_map_figure

    rows = chunk_map(assembly)
    added = [point for point in rows.points if not point.retrieved]
    hits = len(rows.points) - len(added)
    if not assembly.settings.enabled:
        note = "Assembly is off: no neighbours are fetched."
    elif not assembly.settings.expand_window:
        note = "The expand window is 0: no neighbours are fetched. Raise it to see them appear."
    else:
        note = (
            f"{plural(hits, 'hit')} brought {plural(len(added), 'neighbour')} from up to "
            f"{plural(assembly.settings.expand_window, 'chunk')} away. Click a square to follow that chunk."
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
