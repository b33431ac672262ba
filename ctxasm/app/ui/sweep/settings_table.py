"""The settings that were tried, the best first, each with a link to Inspect: a table that can be sorted and downloaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from ctxasm.app.ui.frame.sweep_grid import is_number
from ctxasm.app.ui.sweep.axes import said
from ctxasm.app.ui.sweep.heatmap import varied
from ctxasm.model.setting_labels import label_of
from ctxasm.model.settings import AssemblySettings, spec_of

if TYPE_CHECKING:
    from ctxasm.model.frames import DataFrame
    from ctxasm.tuning.sweep_results import SweepResult

LinkOf = Callable[[AssemblySettings], str]
"""The address that opens Inspect with these settings."""
OPEN, MARK = "Open in", "Mark"


def settings_frame(found: SweepResult, link_of: LinkOf) -> DataFrame:
    """All of them by the words of the page. Numbers stay numbers, so that they are sorted as such."""
    made = found.to_pandas()
    marks = {AssemblySettings(): "default", found.settings[found.start]: "yours"}
    made[MARK] = [marks.get(settings, "") for settings in found.settings]
    made[OPEN] = [link_of(settings) for settings in found.settings]
    names = varied(found)
    for name in names:
        if not is_number(spec_of(name)) or made[name].isna().any():
            made[name] = [said(name, getattr(settings, name)) for settings in found.settings]
    made = made.sort_values(["whole", "tokens"], ascending=[False, True])
    labels = {
        "whole": "Evidence whole",
        "labelled": "of",
        "tokens": "Tokens a question",
        **{name: label_of(spec_of(name)) for name in names},
    }
    return made[[*labels, MARK, OPEN]].rename(columns=labels)


def show_settings(found: SweepResult, link_of: LinkOf) -> None:
    """The table. A link opens another tab: that is what a table of Streamlit can do."""
    whole_numbers = ["Tokens a question", *(label_of(spec_of(name)) for name in varied(found) if spec_of(name).kind == "int")]
    number = st.column_config.NumberColumn(format="%,.0f")
    config = {**dict.fromkeys(whole_numbers, number), OPEN: st.column_config.LinkColumn(display_text="Inspect")}
    st.dataframe(settings_frame(found, link_of), hide_index=True, column_config=config, key="swept")
