"""Prefixes and citations: the token axis of the context, the summaries, the numbered list."""

from __future__ import annotations

from html import escape

import streamlit as st

from ctxasm.model.results import Assembly
from ctxasm.ui.bars import strip_html
from ctxasm.ui.pictures import boxed, number_chip, prefixes_html, table_html
from ctxasm.ui.stage_rows import prefixes
from ctxasm.ui.words import title_of


def show_prefixes(assembly: Assembly) -> None:
    """Where the tokens of the context are, and what each number means."""
    middle = st.toggle(
        "Shade the middle of the context",
        key="shade_middle",
        persist_state="session",
        help="Position effect, Liu et al. 2024, illustrative.",
    )
    written = prefixes(assembly)
    summaries = prefixes_html(written) if written else '<p class="cx-note">No page summaries in this context.</p>'
    st.html(strip_html(assembly, middle))
    st.html(boxed(f'<div style="display:grid;gap:14px">{_citations(assembly)}{summaries}</div>', "ctx-citations"))


def _citations(assembly: Assembly) -> str:
    rows = []
    for citation in assembly.citations:
        also = ", ".join(escape(title_of(assembly.trace.documents, key, 40)) for key in dict.fromkeys(key for key, _ in citation.also_in))
        page = (
            f"page {citation.page_number}"
            if citation.page_number is not None
            else f"row {citation.row_number}"
            if citation.row_number is not None
            else ""
        )
        chunks = ", ".join(f"#{index}" for index in citation.chunk_indexes)
        source = (
            f'{escape(title_of(assembly.trace.documents, citation.document_id))}<br><span class="cx-mute cx-small">'
            f"{escape(citation.ref)} {page}</span>"
        )
        rows.append((number_chip(citation.number), source, chunks, escape(citation.snippet), also))
    heads = ("number", "source", "chunks", "snippet of the best hit", "also in")
    width = len(heads) if any(row[-1] for row in rows) else len(heads) - 1
    return table_html(heads[:width], [row[:width] for row in rows], caption="Citations, built from the rendered blocks")
