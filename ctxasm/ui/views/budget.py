"""Budget: the token axis in numbers, unused tokens and packing regret."""

from __future__ import annotations

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.pictures import boxed, budget_table_html
from ctxasm.ui.regret_picture import regret_html
from ctxasm.ui.rows import budget_bar


def show_budget(assembly: Assembly) -> None:
    """The bar above, document by document."""
    st.html(boxed(f'{regret_html(assembly)}<div style="height:10px"></div>{budget_table_html(budget_bar(assembly))}', "ctx-budget-table"))
