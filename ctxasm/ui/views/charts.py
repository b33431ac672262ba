"""A Plotly chart as every page shows it."""

from __future__ import annotations

from typing import Any

import streamlit as st


def show_chart(figure: Any, key: str, alt: str, clickable: bool = True) -> list[Any] | None:
    """Draw a figure; returns the `customdata` of the point clicked last, while the figure is unchanged.

    A selection is lost when the figure changes: callers keep what they need of it.
    """
    config = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}
    if not clickable:
        st.plotly_chart(figure, key=key, alt=alt, config=config)
        return None
    event: Any = st.plotly_chart(figure, key=key, alt=alt, config=config, on_select="rerun", selection_mode="points")
    points = event.get("selection", {}).get("points", []) if event else []
    return points[0].get("customdata") if points else None
