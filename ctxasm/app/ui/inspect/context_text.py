"""The assembled text, as the model reads it, and the accounting line at its foot."""

from __future__ import annotations

import streamlit as st

from ctxasm.app.ui.frame.title import show_empty
from ctxasm.app.ui.inspect.accounting import ledger, ledger_html
from ctxasm.app.ui.inspect.before_after import fresh_chunks
from ctxasm.app.ui.widgets.context_marks import text_html
from ctxasm.model.results import Assembly


def show_context_text(assembly: Assembly, stamp: str) -> None:
    """Cards per block with provenance."""
    if not assembly.text:
        why = (
            "Retrieval returned nothing for this query." if not assembly.trace.fates else "No chunk fits into this limit: raise max tokens."
        )
        show_empty("The context is empty", f"{why} The model is not called with an empty context.")
    else:
        st.html(text_html(assembly, stamp))


def show_ledger(assembly: Assembly) -> None:
    """Every chunk and every token accounted for."""
    st.html(ledger_html(ledger(assembly), len(fresh_chunks(assembly))), width="stretch")
