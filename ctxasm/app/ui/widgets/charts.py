"""A Plotly chart as every page shows it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

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


if TYPE_CHECKING:
    import plotly.graph_objects as go
else:

    class _Plotly:
        """plotly, imported when something is drawn with it: it is slow to start."""

        def __getattr__(self, name: str) -> Any:
            import plotly.graph_objects as graph_objects

            return getattr(graph_objects, name)

    go = _Plotly()

__all__ = ["ADDED", "DROPPED", "GREY", "OK", "REMOVED", "RETRIEVED", "chart_shell", "chart_text", "go", "show_chart"]
RETRIEVED, ADDED, REMOVED, OK, DROPPED, GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#7F7F7F", "#8A8F98"


def chart_shell(height: int, **layout: Any) -> go.Figure:
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


def chart_text(text: str) -> str:
    """Text from outside, as plotly may show it: it reads a few HTML tags, so these are escaped."""
    return escape(text, quote=False)
